package figure

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Chart is a picture of one panel.
type Chart struct {
	*plot.Plot
	legend []Entry
}

// NewChart makes an empty chart with titles of its axes.
func NewChart(title, x, y string) *Chart { return &Chart{Plot: New(title, x, y)} }

// Sheet returns the chart as a page to be drawn.
func (c *Chart) Sheet() Sheet {
	return Sheet{Charts: [][]*plot.Plot{{c.Plot}}, Legend: c.legend}
}

// add draws a curve, with marks if the glyph has a shape; nothing if there are no points.
func (c *Chart) add(name string, points plotter.XYs, line draw.LineStyle, steps plotter.StepKind,
	glyph draw.GlyphStyle) error {
	if len(points) == 0 {
		return nil
	}
	curve, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	curve.LineStyle, curve.StepStyle, marks.GlyphStyle = line, steps, glyph
	c.Add(curve)
	if glyph.Shape != nil {
		c.Add(marks)
	}
	c.legend = append(c.legend, Entry{Name: name, Line: line, Glyph: glyph})
	return nil
}

// Line draws a curve without marks.
func (c *Chart) Line(name string, points plotter.XYs, style draw.LineStyle) error {
	return c.add(name, points, style, plotter.NoStep, draw.GlyphStyle{})
}

// Histogram draws one bar for each number from 0.
func (c *Chart) Histogram(values plotter.Values) error {
	bars, err := plotter.NewBarChart(values, vg.Points(min(24, 340/float64(len(values)))))
	if err != nil {
		return err
	}
	bars.Color = Blue
	bars.LineStyle.Width = 0
	c.Add(bars)
	c.Y.Tick.Marker = plot.TickerFunc(WholeTicks)
	c.X.Min, c.X.Max = -0.7, float64(len(values))-0.3
	c.Y.Min, c.Y.Max = 0, 1.04*max(1, slices.Max(values)) // the highest bar ends below the edge
	return nil
}

// CurveStyles tell curves apart by colour and dashes and by their marks. The optimum has the
// first, the baselines the others in their order.
var CurveStyles = []struct {
	line  draw.LineStyle
	shape draw.GlyphDrawer
}{
	{Line(Vermillion), draw.CircleGlyph{}},
	{Line(Ink, 8, 3, 2, 3), draw.CrossGlyph{}},
	{Line(Grey, 1, 2), draw.TriangleGlyph{}},
	{Line(Blue, 5, 3), draw.SquareGlyph{}},
	{Line(Sky, 2, 2), draw.RingGlyph{}},
	{Line(Green, 4, 3), draw.PyramidGlyph{}},
	{Line(Purple, 6, 2), draw.BoxGlyph{}},
	{Line(Orange), draw.PlusGlyph{}},
}

// Curve draws points in the i-th of CurveStyles, with marks where they leave each other room.
func (c *Chart) Curve(i int, name string, points plotter.XYs) error {
	return c.marked(name, points, CurveStyles[i].line, CurveStyles[i].shape)
}

// Dots draws a curve in a style of its own, with dots where they leave each other room.
func (c *Chart) Dots(name string, points plotter.XYs, style draw.LineStyle) error {
	return c.marked(name, points, style, draw.CircleGlyph{})
}

func (c *Chart) marked(name string, points plotter.XYs, line draw.LineStyle, shape draw.GlyphDrawer) error {
	glyph := draw.GlyphStyle{Color: line.Color, Radius: vg.Points(2.6)}
	if len(points) <= 60 {
		glyph.Shape = shape
	}
	return c.add(name, points, line, plotter.NoStep, glyph)
}

// Steps draws a line that stays at each point until the next.
func (c *Chart) Steps(name string, points plotter.XYs, style draw.LineStyle) error {
	return c.add(name, points, style, plotter.PostStep, draw.GlyphStyle{})
}
