package main

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	_ "gonum.org/v1/plot/vg/vgimg" // PNG
	_ "gonum.org/v1/plot/vg/vgsvg" // SVG

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/logaxis"
)

// plotFormats are the file names that --plot takes.
var plotFormats = []string{".svg", ".png"}

// plotPoints is how many numbers of queries a curve is drawn through.
const plotPoints = 40

// methodStyle is how a bound is drawn: Okabe and Ito's colours, which every kind of
// colour vision tells apart, and dashes for curves that often lie on each other.
var methodStyle = map[accountant.Method]struct {
	color  color.RGBA
	dashes []vg.Length
}{
	accountant.MethodBasic:    {color: color.RGBA{R: 0x99, G: 0x99, B: 0x99, A: 0xff}},
	accountant.MethodGeneral:  {color: color.RGBA{R: 0xE6, G: 0x9F, B: 0x00, A: 0xff}},
	accountant.MethodOptimal:  {color: color.RGBA{R: 0x00, G: 0x72, B: 0xB2, A: 0xff}},
	accountant.MethodGaussian: {color: color.RGBA{R: 0x56, G: 0xB4, B: 0xE9, A: 0xff}},
	accountant.MethodZCDP:     {color: color.RGBA{R: 0xCC, G: 0x79, B: 0xA7, A: 0xff}},
	accountant.MethodRDP:      {color: color.RGBA{R: 0xD5, G: 0x5E, B: 0x00, A: 0xff}},
	accountant.MethodPLD:      {color: color.RGBA{R: 0x00, G: 0x9E, B: 0x73, A: 0xff}, dashes: []vg.Length{vg.Points(4), vg.Points(3)}},
}

// draw writes ε against Q, both axes logarithmic.
func (s *statement) draw(w io.Writer, format string) error {
	p := newPlot("Q, answers released", "ε of all of them, rounded up")
	p.Title.Text = fmt.Sprintf("%d teachers, one answer (%g, %.3g)-DP, δ' = %g", s.problem.K, s.per.Epsilon, s.per.Delta, s.slack)
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(decades), plot.TickerFunc(decades)
	first, last := float64(s.rows[0].queries), float64(s.rows[len(s.rows)-1].queries)
	if s.showsFresh() {
		for _, m := range s.methods {
			var points plotter.XYs
			for _, r := range s.rows {
				if b, ok := r.bound(m); ok && b.Cost.Epsilon > 0 {
					points = append(points, plotter.XY{X: float64(r.queries), Y: b.Cost.Epsilon})
				}
			}
			style := methodStyle[m]
			name := "fresh teachers, " + string(m)
			if s.frozen == nil {
				name = string(m)
			}
			if err := addLine(p, name, points, style.color, style.dashes); err != nil {
				return err
			}
		}
	}
	if s.showsFresh() && s.showsVotes() {
		var points plotter.XYs
		for _, r := range s.rows {
			if r.votes != nil && r.votes.Cost.Epsilon > 0 {
				points = append(points, plotter.XY{X: float64(r.queries), Y: r.votes.Cost.Epsilon})
			}
		}
		if err := addLine(p, "fresh teachers, by their votes", points, color.RGBA{R: 0xF0, G: 0xC5, B: 0x42, A: 0xff}, nil); err != nil {
			return err
		}
	}
	if s.showsFrozen() && s.frozen.Cost.Epsilon > 0 {
		points := plotter.XYs{{X: first, Y: s.frozen.Cost.Epsilon}, {X: last, Y: s.frozen.Cost.Epsilon}}
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

// newPlot returns an empty figure in the style of all of them.
func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = color.White
	p.Title.TextStyle.Font.Size = 13
	p.Title.Padding = 10
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font.Size = 12
		axis.Tick.Label.Font.Size = 11
		axis.Padding = 6
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color = color.Gray{Y: 224}
	grid.Horizontal.Color = color.Gray{Y: 224}
	p.Add(grid)
	p.Legend.XOffs, p.Legend.YOffs = vg.Points(10), vg.Points(-10)
	p.Legend.TextStyle.Font.Size = 11
	p.Legend.Padding = vg.Points(3)
	p.Legend.ThumbnailWidth = vg.Points(32)
	return p
}

func addLine(p *plot.Plot, name string, points plotter.XYs, c color.Color, dashes []vg.Length) error {
	if len(points) == 0 {
		return nil
	}
	curve, err := plotter.NewLine(points)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	curve.Color, curve.Dashes, curve.Width = c, dashes, vg.Points(1.8)
	p.Add(curve)
	p.Legend.Add(name, curve)
	return nil
}

func writePlot(w io.Writer, p *plot.Plot, format string) error {
	to, err := p.WriterTo(6.5*vg.Inch, 4.5*vg.Inch, format)
	if err != nil {
		return err
	}
	_, err = to.WriteTo(w)
	return err
}

// decades marks powers of ten with their value, and 2 to 9 times them without.
func decades(lo, hi float64) []plot.Tick {
	var ticks []plot.Tick
	for _, m := range logaxis.Marks(lo, hi) {
		label := ""
		if m.Digit == 1 {
			label = strconv.FormatFloat(m.Value, 'g', -1, 64)
		}
		ticks = append(ticks, plot.Tick{Value: m.Value, Label: label})
	}
	return ticks
}
