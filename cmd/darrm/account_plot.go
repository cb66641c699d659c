package main

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/logaxis"
)

// plotPoints is how many numbers of queries a curve is drawn through.
const plotPoints = 40

// methodStyle is how a bound is drawn: Okabe and Ito's colours, which every kind of
// colour vision tells apart, and dashes for curves that often lie on each other.
var methodStyle = map[string]struct {
	color  color.RGBA
	dashes []vg.Length
}{
	string(accountant.MethodBasic):    {color: color.RGBA{R: 0x99, G: 0x99, B: 0x99, A: 0xff}},
	string(accountant.MethodGeneral):  {color: color.RGBA{R: 0xE6, G: 0x9F, B: 0x00, A: 0xff}},
	string(accountant.MethodOptimal):  {color: color.RGBA{R: 0x00, G: 0x72, B: 0xB2, A: 0xff}},
	string(accountant.MethodGaussian): {color: color.RGBA{R: 0x56, G: 0xB4, B: 0xE9, A: 0xff}},
	string(accountant.MethodZCDP):     {color: color.RGBA{R: 0xCC, G: 0x79, B: 0xA7, A: 0xff}},
	string(accountant.MethodRDP):      {color: color.RGBA{R: 0xD5, G: 0x5E, B: 0x00, A: 0xff}},
	string(accountant.MethodPLD):      {color: color.RGBA{R: 0x00, G: 0x9E, B: 0x73, A: 0xff}, dashes: []vg.Length{vg.Points(4), vg.Points(3)}},
	ensemble.ByVotes:                  {color: color.RGBA{R: 0xF0, G: 0xC5, B: 0x42, A: 0xff}},
}

// drawStatement draws ε against Q, both axes logarithmic.
func drawStatement(w io.Writer, format string, s *ensemble.Statement, o ensemble.StatementOptions) error {
	p := newPlot("Q, answers released", "ε of all of them, rounded up")
	p.Title.Text = fmt.Sprintf("%d teachers, one answer (%g, %.3g)-DP, δ' = %g", s.K, s.PerAnswer.Epsilon, s.PerAnswer.Delta, s.Slack)
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(decades), plot.TickerFunc(decades)
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
		if err := addLine(p, name, points, methodStyle[m].color, methodStyle[m].dashes); err != nil {
			return err
		}
	}
	if s.Frozen != nil && s.Frozen.Epsilon > 0 {
		points := plotter.XYs{{X: first, Y: s.Frozen.Epsilon}, {X: last, Y: s.Frozen.Epsilon}}
		if err := addLine(p, "frozen teachers, whatever Q", points, color.RGBA{A: 0xff}, []vg.Length{vg.Points(1), vg.Points(3)}); err != nil {
			return err
		}
	}
	p.X.Min, p.X.Max = logaxis.Fit(first, last)
	// Whole powers of ten, where there are such numbers.
	lo, hi := logaxis.Fit(p.Y.Min, p.Y.Max)
	p.Y.Min, p.Y.Max = logaxis.Fit(math.Pow10(int(math.Floor(math.Log10(lo)))), math.Pow10(int(math.Ceil(math.Log10(hi)))))
	p.Legend.Top, p.Legend.Left = true, true
	return writePlot(w, p, format)
}
