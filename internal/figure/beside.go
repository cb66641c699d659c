package figure

import (
	"cmp"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Name is the name of a line, to the right of its last point (X, Y), and the colour of what leads to it: the line's.
// The name has the colour of all text, since no light colour can be read on white.
type Name struct {
	Text  string
	X, Y  float64
	Color color.Color
}

// Beside writes the names of a chart's lines, in place of a legend: those that would lie on each other are moved
// apart, and a thin line leads to each.
type Beside []Name

const (
	nameGap  = 12 // points from one name's middle to the next one's
	nameLead = 12 // points from a line's end to its name
)

// Width is the room that the names take to the right of the data.
func (b Beside) Width() vg.Length {
	widest := vg.Length(0)
	for _, n := range b {
		widest = max(widest, sans(tickSize).Width(n.Text))
	}
	return widest + vg.Points(nameLead)
}

// Room returns the end of an axis of a chart that is so wide, from low to the data's high, that leaves room for the
// names: of a logarithmic axis the logarithms have it.
func (b Beside) Room(low, high, wide float64) float64 {
	data := max(wide-50-b.Width().Points(), wide/4) // the vertical axis has some 50 points
	return low + (high-low)*(wide-50)/data
}

// Plot implements [plot.Plotter].
func (b Beside) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	wanted := make([]float64, len(b))
	for i, n := range b {
		wanted[i] = y(n.Y).Points()
	}
	for i, at := range apart(wanted, nameGap, c.Min.Y.Points(), c.Max.Y.Points()) {
		n, end, middle := b[i], x(b[i].X), vg.Points(at)
		c.StrokeLine2(draw.LineStyle{Color: n.Color, Width: vg.Points(1.2)}, end+vg.Points(3), y(n.Y),
			end+vg.Points(nameLead-2), middle)
		style := sans(tickSize)
		style.YAlign = text.YCenter
		c.FillText(style, vg.Point{X: end + vg.Points(nameLead), Y: middle}, n.Text)
	}
}

// apart returns places from low to high near those wanted and in their order, at least gap from each other where
// there is room for all.
func apart(wanted []float64, gap, low, high float64) []float64 {
	order := make([]int, len(wanted))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(wanted[i], wanted[j]) })
	out := make([]float64, len(wanted))
	at := low - gap
	for _, i := range order {
		at = max(wanted[i], at+gap)
		out[i] = at
	}
	at = high + gap
	for _, i := range slices.Backward(order) {
		at = min(out[i], at-gap)
		out[i] = at
	}
	return out
}
