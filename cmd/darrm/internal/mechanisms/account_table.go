package mechanisms

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
)

// methodTitle returns the title of a method's column.
func methodTitle(method string) string {
	if method == ensemble.ByVotes {
		return "by the votes"
	}
	return method
}

// renderStatement writes the total cost of answers as a table, a row for each number.
func renderStatement(w *terminal.Page, s *ensemble.Statement, o ensemble.StatementOptions) error {
	w.Text("  ", fmt.Sprintf("K = %d teachers, %s; one record reaches %d of them", s.K,
		teachers(o.Problem), s.Affected))
	one := fmt.Sprintf("one answer: %s-DP", s.PerAnswer.Short())
	if o.Together.Most > 0 {
		one = fmt.Sprintf("up to %d answers of this table, charged once: %s-DP", o.Together.Most,
			s.PerAnswer.Short())
	}
	if _, plain := o.Answer.(accountant.ApproxDP); !plain {
		one += fmt.Sprintf(", %v", o.Answer)
	}
	w.Text("  ", one)
	w.Printf("\n")
	if s.Fresh != nil {
		if promiseNothing(o.Problem) {
			w.Text("  ", "Q answers, each with fresh noise of the mechanism's own")
		} else {
			w.Text("  ", "Q answers of FRESH teachers: each vote is a new run of a private mechanism")
		}
		w.Printf("\n")
		if err := renderFresh(w, s); err != nil {
			return err
		}
	}
	if s.Fresh != nil && s.Frozen != nil {
		w.Printf("\n")
	}
	if s.Frozen != nil {
		w.Text("  ", fmt.Sprintf("Q answers of FROZEN teachers, trained once: %s-DP, however many",
			s.Frozen.Cost.Short()))
		w.Hang("  ", "  ", fmt.Sprintf("(%s; the answers are post-processing of the training)",
			s.Frozen.Rule))
	}
	return nil
}

func renderFresh(w *terminal.Page, s *ensemble.Statement) error {
	header, methods := []string{"Q", "δ of all", "smallest ε of all"}, s.Methods()
	for _, m := range methods {
		header = append(header, methodTitle(m))
	}
	var rows [][]string
	for _, r := range s.Fresh {
		row := []string{strconv.Itoa(r.Queries), num.Outward(r.Delta, 6, true), "no promise"}
		if r.Epsilon != nil {
			row[2] = num.Outward(*r.Epsilon, 6, true)
		}
		for _, m := range methods {
			cell := "-"
			if epsilon, ok := r.Bound(m); ok {
				cell = num.Outward(epsilon, 6, true)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return w.Table(terminal.TextTable{Header: header, Rows: rows})
}

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
	p := figure.NewChart(fmt.Sprintf("%d teachers, one answer (%g, %.3g)-DP, δ' = %g", s.K,
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
