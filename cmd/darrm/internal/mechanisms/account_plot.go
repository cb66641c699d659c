package mechanisms

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/picture"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/figure"
)

// plotPoints is the number of points of a curve, each for one number of queries.
const plotPoints = 40

// methodStyle gives the line style of each bound. Bounds often agree. The first ones drawn are
// wider and the last ones dashed, so that each is seen where it lies on another.
var methodStyle = map[string]draw.LineStyle{
	string(accountant.MethodBasic):    wide(figure.Grey, 5.4),
	string(accountant.MethodGeneral):  wide(figure.Orange, 3.6),
	string(accountant.MethodOptimal):  figure.Line(figure.Blue),
	string(accountant.MethodGaussian): figure.Line(figure.Sky),
	string(accountant.MethodZCDP):     figure.Line(figure.Purple, 6, 2),
	string(accountant.MethodRDP):      figure.Line(figure.Vermillion),
	string(accountant.MethodPLD):      figure.Line(figure.Green, 4, 3),
	ensemble.ByVotes:                  figure.Line(figure.Purple, 2, 4),
}

// wide returns a line of a width in points.
func wide(c color.Color, width float64) draw.LineStyle {
	line := figure.Line(c)
	line.Width = vg.Points(width)
	return line
}

// statementPicture draws ε against Q, both axes logarithmic.
func statementPicture(s *ensemble.Statement, o ensemble.StatementOptions) (figure.Sheet, error) {
	p := picture.NewChart(fmt.Sprintf("%d teachers, one answer (%g, %.3g)-DP, δ' = %g", s.K,
		s.PerAnswer.Epsilon, s.PerAnswer.Delta, s.Slack), "Q, answers released",
		"ε of all of them, rounded up")
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(figure.LogTicks),
		plot.TickerFunc(figure.LogTicks)
	first, last := float64(o.Queries[0]), float64(o.Queries[len(o.Queries)-1])
	for _, m := range s.Methods() {
		var points plotter.XYs
		for _, r := range s.Fresh {
			if epsilon, ok := r.Bound(m); ok && epsilon > 0 {
				points = append(points, plotter.XY{X: float64(r.Queries), Y: epsilon})
			}
		}
		name := m
		switch {
		case m == ensemble.ByVotes:
			name = "fresh teachers, by their votes"
		case !promiseNothing(o.Problem):
			name = "fresh teachers, " + m
		}
		if err := p.Line(name, points, methodStyle[m]); err != nil {
			return figure.Sheet{}, err
		}
	}
	if s.Frozen != nil && s.Frozen.Epsilon > 0 {
		points := plotter.XYs{{X: first, Y: s.Frozen.Epsilon}, {X: last, Y: s.Frozen.Epsilon}}
		if err := p.Line("frozen teachers, whatever Q", points, figure.Line(figure.Ink, 1, 3)); err !=
			nil {
			return figure.Sheet{}, err
		}
	}
	p.X.Min, p.X.Max = figure.Fit(first, last)
	// Whole powers of ten, where there are such numbers.
	lo, hi := figure.Fit(p.Y.Min, p.Y.Max)
	p.Y.Min, p.Y.Max = figure.Fit(math.Pow10(int(math.Floor(math.Log10(lo)))),
		math.Pow10(int(math.Ceil(math.Log10(hi)))))
	return p.Sheet(), nil
}
