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
	"gonum.org/v1/plot/vg/draw"
	_ "gonum.org/v1/plot/vg/vgimg" // PNG
	_ "gonum.org/v1/plot/vg/vgsvg" // SVG
)

// Blue for free and orange for monotone (two of Okabe and Ito's colours, told apart by
// every kind of colour vision); Δ is told by dashes and by the marker, not by colour.
var shapeColors = map[string]color.Color{
	free:     color.RGBA{R: 0x00, G: 0x72, B: 0xB2, A: 0xFF},
	monotone: color.RGBA{R: 0xD5, G: 0x5E, B: 0x00, A: 0xFF},
}

// line is one (shape, Δ) of the figure.
type line struct {
	shape  string
	delta  float64
	points plotter.XYs
}

func (l line) name() string { return fmt.Sprintf("%s, Δ = %s", l.shape, short(l.delta)) }

// lines groups the measurements in order of first appearance.
func lines(list []measurement) []line {
	var out []line
	index := make(map[solveCase]int)
	for _, m := range list {
		key := solveCase{shape: m.shape, delta: m.delta}
		i, ok := index[key]
		if !ok {
			i = len(out)
			index[key] = i
			out = append(out, line{shape: m.shape, delta: m.delta})
		}
		out[i].points = append(out[i].points, plotter.XY{X: float64(m.k), Y: m.seconds})
	}
	return out
}

// drawFigure writes the figure as "svg" or "png": seconds against K, both axes
// logarithmic.
func drawFigure(w io.Writer, list []measurement, format string) error {
	p := plot.New()
	p.BackgroundColor = color.White
	p.Title.Text = fmt.Sprintf("darrm solve, whole process, m = %d, ε = %g", allowance, epsilon)
	p.Title.TextStyle.Font.Size = 13
	p.Title.Padding = 10
	p.X.Label.Text = "K, teachers"
	p.Y.Label.Text = "seconds"
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Scale = plot.LogScale{}
		axis.Label.TextStyle.Font.Size = 12
		axis.Tick.Label.Font.Size = 11
		axis.Padding = 6
	}
	p.X.Tick.Marker = plot.ConstantTicks(teacherTicks(list))
	p.Y.Tick.Marker = plot.TickerFunc(decades)

	grid := plotter.NewGrid()
	grid.Vertical.Color = color.Gray{Y: 212}
	grid.Horizontal.Color = color.Gray{Y: 212}
	p.Add(grid)
	for _, l := range lines(list) {
		curve, marks, err := plotter.NewLinePoints(l.points)
		if err != nil {
			return fmt.Errorf("%s: %w", l.name(), err)
		}
		curve.Color, marks.Color = shapeColors[l.shape], shapeColors[l.shape]
		curve.Width = vg.Points(1.5)
		marks.Radius = vg.Points(3.5)
		marks.Shape = draw.CircleGlyph{}
		if l.delta == 0 {
			curve.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
			marks.Shape = draw.RingGlyph{}
		}
		p.Add(curve, marks)
		p.Legend.Add(l.name(), curve, marks)
	}
	// Times grow with K: the upper left corner is free.
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.XOffs, p.Legend.YOffs = vg.Points(10), vg.Points(-10)
	p.Legend.TextStyle.Font.Size = 11
	p.Legend.Padding = vg.Points(3)
	p.Legend.ThumbnailWidth = vg.Points(32)
	// Whole decades, and room for the legend.
	p.Y.Min = math.Pow10(int(math.Floor(math.Log10(p.Y.Min))))
	p.Y.Max = math.Pow10(int(math.Ceil(math.Log10(p.Y.Max))))

	to, err := p.WriterTo(6.5*vg.Inch, 4.5*vg.Inch, format)
	if err != nil {
		return err
	}
	_, err = to.WriteTo(w)
	return err
}

// teacherTicks marks every K that was measured.
func teacherTicks(list []measurement) []plot.Tick {
	var ticks []plot.Tick
	seen := make(map[int]bool)
	for _, m := range list {
		if !seen[m.k] {
			seen[m.k] = true
			ticks = append(ticks, plot.Tick{Value: float64(m.k), Label: strconv.Itoa(m.k)})
		}
	}
	return ticks
}

// decades marks powers of ten with their value, and 2 to 9 times them without.
func decades(lo, hi float64) []plot.Tick {
	var ticks []plot.Tick
	for e := int(math.Floor(math.Log10(lo))); math.Pow10(e) <= hi; e++ {
		for digit := 1; digit <= 9; digit++ {
			v := float64(digit) * math.Pow10(e)
			if v < lo || v > hi {
				continue
			}
			label := ""
			if digit == 1 {
				label = strconv.FormatFloat(v, 'f', -1, 64)
			}
			ticks = append(ticks, plot.Tick{Value: v, Label: label})
		}
	}
	return ticks
}
