package mechanisms

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/plurality/solve"
)

// gammaPicture draws γ and the baselines against the votes, each with its value of the table's
// metric, or the probability of label 1 where the labels are told apart.
func gammaPicture(t *gamma.Table) (figure.Sheet, error) {
	p := t.Func()
	problem := t.Problem()
	m := metrics(t)[0]
	byName, drawn := t.Shape == gamma.ByName, "γ(l)"
	if byName {
		drawn = "Pr[label = 1]"
	}
	c := figure.NewChart(fmt.Sprintf("%d teachers, one answer (%s, %.3g)-DP", problem.K,
		problem.TotalDecimal(), problem.Delta), "l, votes for 1", drawn)
	add := func(i int, name string, f gamma.Func) error {
		var points plotter.XYs
		for l, phi := range f.Phi() {
			switch {
			case byName:
				points = append(points, plotter.XY{X: float64(l), Y: float64((1 + phi) / 2)})
			case 2*l != p.K(): // a tie is a coin, whatever γ
				points = append(points, plotter.XY{X: float64(l), Y: f.At(l)})
			}
		}
		return c.Curve(i, fmt.Sprintf("%s: %s %.3g", name, m.name, m.of(f)), points)
	}
	if err := add(0, ensemble.NoiseName(t), p); err != nil {
		return figure.Sheet{}, err
	}
	for i, b := range t.Baselines {
		if err := add(1+i, b.Title(), b.Certified.Func()); err != nil {
			return figure.Sheet{}, err
		}
	}
	c.Y.Min, c.Y.Max = min(0, 1.04*c.Y.Min), 1.04 // as low as γ goes
	c.X.Min, c.X.Max = 0, float64(p.K())
	sheet := c.Sheet()
	if !byName && gamma.Dips(p.Values()) {
		sheet.Note = gamma.WhyItDips
	}
	return sheet, nil
}

// marginPicture draws how often the answer is right against the lead of the first class, for the
// table and for the baselines, each with its value.
func marginPicture(t *plurality.Table) (figure.Sheet, error) {
	p := t.Problem()
	margins := t.Margins(0)
	baselines := t.Baselines()
	c := figure.NewChart(fmt.Sprintf("%d teachers, %d classes, one answer (%v, %.3g)-DP", p.K,
		p.Classes,
		p.Epsilon, p.Delta),
		"lead of the first class, in votes", "Pr[a plurality class]")
	add := func(i int, name string, of func(plurality.Margin) float64) error {
		var points plotter.XYs
		for _, m := range margins {
			points = append(points, plotter.XY{X: float64(m.Lead), Y: of(m)})
		}
		return c.Curve(i, name, points)
	}
	if err := add(0, fmt.Sprintf("this table: value %.4f", t.Value),
		func(m plurality.Margin) float64 { return m.Right }); err != nil {
		return figure.Sheet{}, err
	}
	if p.Abstain {
		if err := add(1, "no answer", func(m plurality.Margin) float64 { return m.Abstained }); err !=
			nil {
			return figure.Sheet{}, err
		}
	}
	for i, b := range baselines {
		if err := add(2+i, fmt.Sprintf("%s: %.4f", b.Name, b.Value),
			func(m plurality.Margin) float64 { return m.Baselines[i] }); err != nil {
			return figure.Sheet{}, err
		}
	}
	c.Y.Min, c.Y.Max = 0, 1.04
	c.X.Min, c.X.Max = 0, max(1, float64(margins[len(margins)-1].Lead))
	c.X.Tick.Marker = plot.TickerFunc(figure.WholeTicks)
	return c.Sheet(), nil
}

// answersPicture draws how often an answer is a class with the most votes against the lead of the first
// class: in the mean over the histograms of each lead by the table's prior, beside a guess.
func answersPicture(ctx context.Context, t *answers.Table) (figure.Sheet, error) {
	p, s := t.Problem(), t.System()
	weights, err := t.Prior.Weights(ctx, s)
	if err != nil {
		return figure.Sheet{}, err
	}
	right, guess, share := make([]float64, p.K+1), make([]float64, p.K+1), make([]float64, p.K+1)
	space := s.Space()
	n, variables := space.Histograms(), space.Variables()
	for i, w := range weights.High { // of each label that has masses of its own, one after the other
		label, h := i/n, i%n
		lead := s.Lead(h)
		first, end := space.Range(h)
		most := slices.Max(space.Histogram(h))
		for i := first; i < end; i++ {
			if space.Votes(i) == most {
				right[lead] += w * float64(t.Mass(label*variables+i)) / float64(plurality.One)
				guess[lead] += w * float64(space.ClassesOf(i)) / float64(p.Classes)
			}
		}
		share[lead] += w
	}
	var points, guesses plotter.XYs
	for lead, w := range share {
		if w > 0 {
			points = append(points, plotter.XY{X: float64(lead), Y: right[lead] / w})
			guesses = append(guesses, plotter.XY{X: float64(lead), Y: guess[lead] / w})
		}
	}
	c := figure.NewChart(fmt.Sprintf("%d teachers, %d classes, %d answers (%v, %.3g)-DP together", p.K, p.Classes,
		p.Answers, p.Epsilon, p.Delta), "lead of the first class, in votes", "Pr[a plurality class]")
	if err := cmp.Or(c.Curve(0, fmt.Sprintf("this table: value %.4f", t.Value), points),
		c.Line("a guess", guesses, figure.Line(figure.Grey, 1, 3))); err != nil {
		return figure.Sheet{}, err
	}
	c.Y.Min, c.Y.Max = 0, 1.04
	c.X.Min, c.X.Max = 0, float64(p.K)
	c.X.Tick.Marker = plot.TickerFunc(figure.WholeTicks)
	return c.Sheet(), nil
}

// gapPicture draws the gap against the time that it took to prove it.
func gapPicture(t *plurality.Table, gaps []solve.Progress) (figure.Sheet, error) {
	p := t.Problem()
	c := figure.NewChart(fmt.Sprintf("%d teachers, %d classes: how far from the optimum", p.K,
		p.Classes),
		"seconds", "gap between value and bound")
	var points plotter.XYs
	low, high := math.Inf(1), 0.0
	for _, at := range gaps {
		// A gap of 0 has no place on a logarithmic axis.
		y := max(at.Gap(), 1e-16)
		points = append(points, plotter.XY{X: at.Elapsed.Seconds(), Y: y})
		low, high = min(low, y), max(high, y)
	}
	if err := c.Curve(0, t.Solver, points); err != nil {
		return figure.Sheet{}, err
	}
	c.Y.Min, c.Y.Max = figure.Fit(low, high)
	c.Y.Scale, c.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(figure.LogTicks)
	c.X.Min, c.X.Max = 0, max(1e-3, points[len(points)-1].X)
	return c.Sheet(), nil
}
