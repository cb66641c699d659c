package main

import (
	"fmt"
	"image/color"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	_ "gonum.org/v1/plot/vg/vgimg" // PNG
	_ "gonum.org/v1/plot/vg/vgsvg" // SVG

	"github.com/darrm/darrm/internal/logaxis"
)

// plotFormats are the file names that --plot takes.
var plotFormats = []string{".svg", ".png"}

// checkPlot checks the name of a picture; "" is none.
func checkPlot(path string) error {
	if path != "" && !slices.Contains(plotFormats, strings.ToLower(filepath.Ext(path))) {
		return usagef("plot = %q, but the name must end in .svg or .png", path)
	}
	return nil
}

// plotFormat is what the plotting library calls the format of the name.
func plotFormat(path string) string {
	return strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
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
