package main

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/internal/num"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// shapeColors distinguish the shapes; dashes distinguish the values of Δ.
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
	for _, m := range list {
		i := slices.IndexFunc(out, func(l line) bool { return l.shape == m.shape && l.delta == m.delta })
		if i < 0 {
			i, out = len(out), append(out, line{shape: m.shape, delta: m.delta})
		}
		out[i].points = append(out[i].points, plotter.XY{X: float64(m.k), Y: m.seconds})
	}
	return out
}

// drawFigure writes the figure as "svg" or "png": seconds against K, both axes
// logarithmic.
func drawFigure(w io.Writer, list []measurement, format string) error {
	p := figure.NewChart(fmt.Sprintf("darrm solve, whole process, m = %d, ε = %g", allowance, epsilon),
		"K, teachers", "seconds")
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker = plot.ConstantTicks(teacherTicks(list))
	p.Y.Tick.Marker = plot.TickerFunc(figure.LogTicks)
	for _, l := range lines(list) {
		style := figure.Line(shapeColors[l.shape])
		if l.delta == 0 {
			style = figure.Line(shapeColors[l.shape], 5, 3)
		}
		if err := p.Dots(l.name(), l.points, style); err != nil {
			return err
		}
	}
	// Whole decades.
	p.Y.Min = math.Pow10(int(math.Floor(math.Log10(p.Y.Min))))
	p.Y.Max = math.Pow10(int(math.Ceil(math.Log10(p.Y.Max))))
	return p.Sheet().Encode(w, format)
}

// teacherTicks marks every K that was measured.
func teacherTicks(list []measurement) []plot.Tick {
	var ticks []plot.Tick
	for _, m := range list {
		if tick := (plot.Tick{Value: float64(m.k), Label: strconv.Itoa(m.k)}); !slices.Contains(ticks, tick) {
			ticks = append(ticks, tick)
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
