package main

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/internal/num"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// shapeColors distinguish the shapes; dashes and the marker distinguish the values of Δ.
var shapeColors = map[string]color.Color{free: figure.Blue, monotone: figure.Vermillion}

// line is one (shape, Δ) of the figure.
type line struct {
	shape  string
	delta  float64
	points plotter.XYs
}

func (l line) name() string { return fmt.Sprintf("%s, Δ = %s", l.shape, num.Shortest(l.delta)) }

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
	p := figure.New(fmt.Sprintf("darrm solve, whole process, m = %d, ε = %g", allowance, epsilon),
		"K, teachers", "seconds")
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker = plot.ConstantTicks(teacherTicks(list))
	p.Y.Tick.Marker = plot.TickerFunc(figure.LogTicks)
	sheet := figure.Sheet{Charts: [][]*plot.Plot{{p}}}
	for _, l := range lines(list) {
		curve, marks, err := plotter.NewLinePoints(l.points)
		if err != nil {
			return fmt.Errorf("%s: %w", l.name(), err)
		}
		curve.LineStyle = figure.Line(shapeColors[l.shape])
		marks.GlyphStyle = draw.GlyphStyle{Color: shapeColors[l.shape], Radius: vg.Points(3.5),
			Shape: draw.CircleGlyph{}}
		if l.delta == 0 {
			curve.LineStyle = figure.Line(shapeColors[l.shape], 5, 3)
			marks.Shape = draw.RingGlyph{}
		}
		p.Add(curve, marks)
		sheet.Legend = append(sheet.Legend, figure.Entry{Name: l.name(), Line: curve.LineStyle,
			Glyph: marks.GlyphStyle})
	}
	// Whole decades.
	p.Y.Min = math.Pow10(int(math.Floor(math.Log10(p.Y.Min))))
	p.Y.Max = math.Pow10(int(math.Ceil(math.Log10(p.Y.Max))))
	return sheet.Encode(w, format)
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

const mebibyte = 1 << 20

// growthTable returns all measurements as a markdown table.
func growthTable(list []measurement) string {
	var b strings.Builder
	b.WriteString("| K | shape | Δ | constraints | runs | seconds, fastest | peak MiB | expected " +
		"error | gap | gap, relative |\n")
	b.WriteString("|---:|---|---|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, m := range list {
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %d | %.3g | %.0f | %.12f | %.1e | %.1e |\n",
			m.k, m.shape, num.Shortest(m.delta), num.Thousands(new(big.Int).SetUint64(m.constraints)), m.runs, m.seconds,
			float64(m.peakBytes)/mebibyte, m.expectedError, m.gap, m.relativeGap())
	}
	return b.String()
}
