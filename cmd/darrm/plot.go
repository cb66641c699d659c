package main

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/figure"
)

// plotPoints is how many numbers of queries a curve is drawn through.
const plotPoints = 40

// checkPlot looks at the value of --plot, "" for no picture.
func checkPlot(file string) error {
	if _, ok := figure.Format(file); file != "" && !ok {
		return usagef("plot = %q, but the name must end in "+figure.Formats, file)
	}
	return nil
}

// deliverPlot draws s into the file, in the format of its name.
func (a *app) deliverPlot(file string, s figure.Sheet) error {
	format, _ := figure.Format(file)
	return a.deliver(file, func(w io.Writer) error { return s.Encode(w, format) })
}

// chart is a picture of one panel that is being drawn.
type chart struct {
	*plot.Plot
	legend []figure.Entry
}

func newChart(title, x, y string) *chart { return &chart{Plot: figure.New(title, x, y)} }

func (c *chart) sheet() figure.Sheet {
	return figure.Sheet{Charts: [][]*plot.Plot{{c.Plot}}, Legend: c.legend}
}

// add draws a curve, with marks if the glyph has a shape; nothing if there are no points.
func (c *chart) add(name string, points plotter.XYs, line draw.LineStyle, glyph draw.GlyphStyle) error {
	if len(points) == 0 {
		return nil
	}
	curve, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	curve.LineStyle, marks.GlyphStyle = line, glyph
	c.Add(curve)
	if glyph.Shape != nil {
		c.Add(marks)
	}
	c.legend = append(c.legend, figure.Entry{Name: name, Line: line, Glyph: glyph})
	return nil
}

// line is a curve without marks.
func (c *chart) line(name string, points plotter.XYs, style draw.LineStyle) error {
	return c.add(name, points, style, draw.GlyphStyle{})
}

// histogram draws one bar for each number from 0.
func (c *chart) histogram(values plotter.Values) error {
	bars, err := plotter.NewBarChart(values, vg.Points(min(24, 340/float64(len(values)))))
	if err != nil {
		return err
	}
	bars.Color = figure.Blue
	bars.LineStyle.Width = 0
	c.Add(bars)
	c.Y.Tick.Marker = plot.TickerFunc(figure.WholeTicks)
	c.X.Min, c.X.Max, c.Y.Min = -0.7, float64(len(values))-0.3, 0
	return nil
}

// methodStyle is how a bound is drawn: with dashes where a curve often lies on another.
var methodStyle = map[accountant.Method]draw.LineStyle{
	accountant.MethodBasic:    figure.Line(figure.Grey),
	accountant.MethodGeneral:  figure.Line(figure.Orange),
	accountant.MethodOptimal:  figure.Line(figure.Blue),
	accountant.MethodGaussian: figure.Line(figure.Sky),
	accountant.MethodZCDP:     figure.Line(figure.Purple, 6, 2),
	accountant.MethodRDP:      figure.Line(figure.Vermillion),
	accountant.MethodPLD:      figure.Line(figure.Green, 4, 3),
}

// picture draws ε against Q, both axes logarithmic.
func (s *statement) picture() (figure.Sheet, error) {
	p := newChart(fmt.Sprintf("%d teachers, one answer (%g, %.3g)-DP, δ' = %g", s.problem.K, s.per.Epsilon, s.per.Delta, s.slack), "Q, answers released", "ε of all of them, rounded up")
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(figure.LogTicks), plot.TickerFunc(figure.LogTicks)
	first, last := float64(s.rows[0].queries), float64(s.rows[len(s.rows)-1].queries)
	if s.showsFresh() {
		for _, m := range s.methods {
			var points plotter.XYs
			for _, r := range s.rows {
				if b, ok := r.bound(m); ok && b.Cost.Epsilon > 0 {
					points = append(points, plotter.XY{X: float64(r.queries), Y: b.Cost.Epsilon})
				}
			}
			name := "fresh teachers, " + string(m)
			if s.frozen == nil {
				name = string(m)
			}
			if err := p.line(name, points, methodStyle[m]); err != nil {
				return figure.Sheet{}, err
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
		if err := p.line("fresh teachers, by their votes", points, figure.Line(figure.Purple)); err != nil {
			return figure.Sheet{}, err
		}
	}
	if s.showsFrozen() && s.frozen.Cost.Epsilon > 0 {
		points := plotter.XYs{{X: first, Y: s.frozen.Cost.Epsilon}, {X: last, Y: s.frozen.Cost.Epsilon}}
		if err := p.line("frozen teachers, whatever Q", points, figure.Line(figure.Ink, 1, 3)); err != nil {
			return figure.Sheet{}, err
		}
	}
	p.X.Min, p.X.Max = figure.Fit(first, last)
	// Whole powers of ten, where there are such numbers.
	lo, hi := figure.Fit(p.Y.Min, p.Y.Max)
	p.Y.Min, p.Y.Max = figure.Fit(math.Pow10(int(math.Floor(math.Log10(lo)))), math.Pow10(int(math.Ceil(math.Log10(hi)))))
	return p.sheet(), nil
}
