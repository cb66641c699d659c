package picture

import (
	"fmt"
	"io"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/figure"
)

// CheckPlot refuses a value of --plot whose ending names no format; "" asks for no picture.
func CheckPlot(file string) error { return CheckPicture("plot", file) }

// CheckPicture checks the value of another flag as CheckPlot does.
func CheckPicture(flag, file string) error {
	if _, ok := figure.Format(file); file != "" && !ok {
		return cli.Usagef("%s = %q, but the name must end in "+figure.Formats, flag, file)
	}
	return nil
}

// Deliver draws a picture into the file of a flag, in the format of its name; no picture where the file is "".
func Deliver(a *cli.App, flag, file string, draw func() (figure.Sheet, error)) error {
	if file == "" {
		return nil
	}
	s, err := draw()
	if err != nil {
		return err
	}
	format, _ := figure.Format(file)
	return a.DeliverTo(flag, file, func(w io.Writer) error { return s.Encode(w, format) })
}

// Chart is a picture of one panel.
type Chart struct {
	*plot.Plot
	legend []figure.Entry
}

// NewChart makes an empty chart with titles of its axes.
func NewChart(title, x, y string) *Chart { return &Chart{Plot: figure.New(title, x, y)} }

// Sheet returns the chart as a page to be drawn.
func (c *Chart) Sheet() figure.Sheet {
	return figure.Sheet{Charts: [][]*plot.Plot{{c.Plot}}, Legend: c.legend}
}

// add draws a curve, with marks if the glyph has a shape; nothing if there are no points.
func (c *Chart) add(name string, points plotter.XYs, line draw.LineStyle,
	glyph draw.GlyphStyle) error {
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

// Line draws a curve without marks.
func (c *Chart) Line(name string, points plotter.XYs, style draw.LineStyle) error {
	return c.add(name, points, style, draw.GlyphStyle{})
}

// Histogram draws one bar for each number from 0.
func (c *Chart) Histogram(values plotter.Values) error {
	bars, err := plotter.NewBarChart(values, vg.Points(min(24, 340/float64(len(values)))))
	if err != nil {
		return err
	}
	bars.Color = figure.Blue
	bars.LineStyle.Width = 0
	c.Add(bars)
	c.Y.Tick.Marker = plot.TickerFunc(figure.WholeTicks)
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
	{figure.Line(figure.Vermillion), draw.CircleGlyph{}},
	{figure.Line(figure.Ink, 8, 3, 2, 3), draw.CrossGlyph{}},
	{figure.Line(figure.Grey, 1, 2), draw.TriangleGlyph{}},
	{figure.Line(figure.Blue, 5, 3), draw.SquareGlyph{}},
	{figure.Line(figure.Sky, 2, 2), draw.RingGlyph{}},
	{figure.Line(figure.Green, 4, 3), draw.PyramidGlyph{}},
	{figure.Line(figure.Purple, 6, 2), draw.BoxGlyph{}},
	{figure.Line(figure.Orange), draw.PlusGlyph{}},
}

// Curve draws points in the i-th of CurveStyles, with marks where they leave each other room.
func (c *Chart) Curve(i int, name string, points plotter.XYs) error {
	s := CurveStyles[i]
	glyph := draw.GlyphStyle{Color: s.line.Color, Radius: vg.Points(2.6)}
	if len(points) <= 60 {
		glyph.Shape = s.shape
	}
	return c.add(name, points, s.line, glyph)
}
