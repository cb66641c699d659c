package page

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/release"
)

// most is the most points of a curve: more would not be seen.
const most = 100

// mechanismPicture draws γ of DaRRM, or how often the second class is the answer where the classes are told apart, and
// of what has no γ how often the leading class is the answer. Nothing of it is computed from anybody's votes.
func mechanismPicture(plan release.Plan) (figure.Sheet, string, error) {
	k := plan.Mechanism().Setting().K
	if plan.Mechanism().NoiseFunction() == nil {
		return leadPicture(plan)
	}
	c := figure.NewChart(fmt.Sprintf("%d teachers, one answer %v-DP", plan.Several().TeachersOf(k),
		plan.Mechanism().PerAnswer()), "l, votes for the second class", "γ(l)")
	f := plan.Mechanism().NoiseFunction().Func()
	var points plotter.XYs
	c.X.Min, c.X.Max = 0, float64(k)
	c.X.Tick.Marker = plot.TickerFunc(figure.WholeTicks)
	if !f.Symmetric() {
		for l, phi := range f.Phi() {
			points = append(points, plotter.XY{X: float64(l), Y: float64((1 + phi) / 2)})
		}
		err := c.Dots("the second class is the answer", points, figure.Line(figure.Vermillion))
		c.Y.Label.Text, c.Y.Min, c.Y.Max = "probability", 0, 1.04
		return c.Sheet(), "How often the second class is the answer, against its votes", err
	}
	for l := range k + 1 {
		if 2*l != k { // a tie is a coin, whatever γ
			points = append(points, plotter.XY{X: float64(l), Y: f.At(l)})
		}
	}
	says := "γ: the majority is the answer so often; a coin otherwise"
	if !f.Truthful() {
		says = "γ: the majority is the answer so often, the minority where γ < 0; a coin otherwise"
	}
	if err := c.Dots(says, points,
		figure.Line(figure.Vermillion)); err != nil {
		return figure.Sheet{}, "", err
	}
	c.Y.Min, c.Y.Max = min(0, 1.04*c.Y.Min), 1.04 // as low as γ goes
	return c.Sheet(), "The noise function γ against the votes", nil
}

// leadPicture draws Pr[the leading class] against its votes, where all others are for one other
// class, and where they are spread over all others. Of classes that are told apart it draws the first few, each where it
// leads and all others are for one other class.
func leadPicture(plan release.Plan) (figure.Sheet, string, error) {
	m := plan.Mechanism()
	s := m.Setting()
	of := "one answer"
	if most := m.Together().Most; most > 0 {
		of = fmt.Sprintf("up to %d answers", most)
	}
	c := figure.NewChart(fmt.Sprintf("%d teachers, %d classes, %s %v-DP", plan.Several().TeachersOf(s.K), s.Classes, of,
		m.PerAnswer()), "votes for the leading class", "probability")
	curve := func(name string, class, others int, line draw.LineStyle, of func([]float64) float64) error {
		first := (s.K + others) / (others + 1) // as many as any other has
		step := max(1, (s.K-first)/most)
		var points plotter.XYs
		for l := first; l <= s.K; l += step {
			law, err := m.Probabilities(spread(class, l, s.K-l, others, s.Classes))
			if err != nil {
				return err
			}
			points = append(points, plotter.XY{X: float64(l), Y: of(law)})
		}
		c.X.Min = min(c.X.Min, float64(first))
		return c.Dots(name, points, line)
	}
	c.X.Min, c.X.Max = float64(s.K), float64(s.K)
	c.Y.Min, c.Y.Max = 0, 1.04
	c.X.Tick.Marker = plot.TickerFunc(figure.WholeTicks)
	says := "How often the leading class is the answer, against its votes"
	if t := m.AnswersTable(); t != nil && t.Problem().Labels > 0 {
		shown := min(t.Problem().Labels, 4)
		for label, colour := range []color.Color{figure.Vermillion, figure.Blue, figure.Green, figure.Purple}[:shown] {
			var err error
			if m, err = plan.Mechanism().OfLabel(label); err != nil {
				return figure.Sheet{}, "", err
			}
			if err := curve(fmt.Sprintf("yes leads and is the answer to the label number %d (from 0)", label), 1, 1,
				figure.Line(colour), func(law []float64) float64 { return law[1] }); err != nil {
				return figure.Sheet{}, "", err
			}
		}
		return c.Sheet(), says, nil
	}
	if t := m.AnswersTable(); t != nil && t.Problem().Named {
		colours := []color.Color{figure.Vermillion, figure.Blue, figure.Green, figure.Purple}
		for class, colour := range colours[:min(s.Classes, len(colours))] {
			if err := curve(fmt.Sprintf("the class number %d (from 0) leads and is the answer, all other votes for one class", class), class, 1,
				figure.Line(colour), func(law []float64) float64 { return law[class] }); err != nil {
				return figure.Sheet{}, "", err
			}
		}
		return c.Sheet(), says, nil
	}
	leading := func(law []float64) float64 { return law[0] }
	if err := curve("it is the answer, all other votes for one class", 0, 1,
		figure.Line(figure.Vermillion), leading); err != nil {
		return figure.Sheet{}, "", err
	}
	if s.Classes > 2 {
		if err := curve("it is the answer, the other votes spread evenly", 0, s.Classes-1,
			figure.Line(figure.Blue, 5, 3), leading); err != nil {
			return figure.Sheet{}, "", err
		}
	}
	if m.Abstains() {
		if err := curve("no answer, all other votes for one class", 0, 1, figure.Line(figure.Grey, 1, 2),
			func(law []float64) float64 { return law[s.Classes] }); err != nil {
			return figure.Sheet{}, "", err
		}
	}
	return c.Sheet(), says, nil
}

// spread returns counts where a class has lead votes and rest are spread over the next classes, the first after the last.
func spread(class, lead, rest, others, classes int) []int {
	counts := make([]int, classes)
	counts[class] = lead
	for i := range rest {
		counts[(class+1+i%others)%classes]++
	}
	return counts
}
