package experiment

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/darrm/darrm/internal/figure"
)

// Panel is one chart of a figure. One without series is a gap.
type Panel struct {
	Title, X, Y string
	Series      []Series
	Bars        bool // one bar for each series' first value, with its name and the value
	LogX, LogY  bool
	YRange      [2]float64 // instead of the data's, unless both are 0
	XTicks      []float64  // if given, the only marks
	XRange      [2]float64 // as YRange
	Tall        bool       // its figure is higher
	Direct      bool       // each series' name is written behind its last point, in its colour, and not in the legend
}

// Series is one line, or one bar.
type Series struct {
	Method Method // gives colour, dashes and glyph
	Name   string // in the legend; the method's title if empty
	X, Y   []float64
	Spread []float64 // half the length of the error bars; may be nil
	Band   []float64 // half the height of a shade around the line; may be nil
	Dashed bool      // whatever the method
	Plain  bool      // a line without marks, which would hide it if there are many
	Marks  bool      // marks without a line

	look Look
}

// Add appends a point.
func (s *Series) Add(x, y float64) { s.X, s.Y = append(s.X, x), append(s.Y, y) }

// Sizes of one panel, in points.
const (
	panelWidth  = 220
	pairWidth   = 216 // of each of two in a row, which fit on a telephone: figure.SmallWidth
	panelHeight = 190
)

// Figure draws the panels into Name.svg and Name.png, row by row. One legend at the bottom
// serves them all. Panels with the same vertical axis share its range, and so do the bars of a
// row.
func (r *Run) Figure(name, caption string, columns int, panels []Panel) error {
	if r.broken != nil {
		return nil
	}
	panels, err := r.withLooks(panels)
	if err != nil {
		return fmt.Errorf("figure %s: %w", name, err)
	}
	rows := (len(panels) + columns - 1) / columns
	sheet := figure.Sheet{Charts: make([][]*plot.Plot, rows), Width: vg.Points(panelWidth),
		Height: vg.Points(panelHeight)}
	switch columns {
	case 1:
		sheet.Width = vg.Points(figure.SingleWidth)
	case 2:
		sheet.Width = vg.Points(pairWidth)
	}
	if len(panels) == 1 {
		sheet.Height = vg.Points(figure.SingleHeight)
	}
	for i := range sheet.Charts {
		sheet.Charts[i] = make([]*plot.Plot, columns)
	}
	type scale struct {
		y    string
		log  bool
		bars int  // row of the bars, from 1
		x    bool // the horizontal axis of lines with names beside them, one chart below the other
	}
	axes := map[scale][]*plot.Axis{}
	for i, p := range panels {
		if len(p.Series) == 0 {
			continue
		}
		if p.Tall {
			sheet.Height = vg.Points(1.6 * panelHeight)
		}
		chart, err := p.plot(sheet.Width.Points())
		if err != nil {
			return fmt.Errorf("figure %s, %s: %w", name, p.Title, err)
		}
		sheet.Charts[i/columns][i%columns] = chart
		if p.Bars {
			key := scale{bars: 1 + i/columns}
			axes[key] = append(axes[key], &chart.X)
		} else {
			key := scale{y: p.Y, log: p.LogY}
			axes[key] = append(axes[key], &chart.Y)
			if p.Direct && columns == 1 {
				below := scale{y: p.X, log: p.LogX, x: true}
				axes[below] = append(axes[below], &chart.X)
			}
		}
	}
	for _, list := range axes {
		figure.SharedRange(list)
	}
	if sheet.Legend, err = legendOf(panels); err != nil {
		return fmt.Errorf("figure %s: %w", name, err)
	}
	for _, format := range []string{"svg", "png"} {
		var b bytes.Buffer
		if err := sheet.Encode(&b, format); err != nil {
			return fmt.Errorf("figure %s: %w", name, err)
		}
		r.File(name+"."+format, b.Bytes())
	}
	r.Result.Figures = append(r.Result.Figures, Figure{name, caption})
	return nil
}

// withLooks gives every series the look of its method, and its name.
func (r *Run) withLooks(panels []Panel) ([]Panel, error) {
	out := slices.Clone(panels)
	for i := range out {
		out[i].Series = slices.Clone(out[i].Series)
		for j := range out[i].Series {
			s := &out[i].Series[j]
			look, ok := r.def.catalog.looks[s.Method]
			if !ok {
				return nil, fmt.Errorf("no field has a look for method %q", s.Method)
			}
			if s.look = look; s.Name == "" {
				s.Name = look.Title
			} else {
				s.look.Dashes = nil
			}
			if s.Dashed {
				s.look.Dashes = []float64{5, 3}
			}
		}
	}
	return out, nil
}

// plot draws the panel, which is that wide, in points.
func (p Panel) plot(width float64) (*plot.Plot, error) {
	c := figure.New(p.Title, p.X, p.Y)
	if p.Bars {
		return c, p.addBars(c)
	}
	if p.LogY {
		c.Y.Scale = plot.LogScale{}
		c.Y.Tick.Marker = plot.TickerFunc(figure.LogTicks)
	}
	if p.LogX {
		c.X.Scale = plot.LogScale{}
		c.X.Tick.Marker = plot.TickerFunc(figure.LogTicks)
	}
	if len(p.XTicks) > 0 {
		marks := make(plot.ConstantTicks, len(p.XTicks))
		for i, x := range p.XTicks {
			marks[i] = plot.Tick{Value: x, Label: strconv.FormatFloat(x, 'g', -1, 64)}
		}
		c.X.Tick.Marker = marks
	}
	all := p.drawable()
	low := p.lowerEdge(all)
	for _, s := range all { // shades first: no line is hidden
		if s.Band != nil {
			if err := s.addBand(c, low); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range all {
		if err := s.addTo(c, low); err != nil {
			return nil, err
		}
	}
	if p.YRange != [2]float64{} {
		c.Y.Min, c.Y.Max = p.YRange[0], p.YRange[1]
	}
	if p.XRange != [2]float64{} {
		c.X.Min, c.X.Max = p.XRange[0], p.XRange[1]
	}
	// gonum widens a range without length by 1 to both sides, which may reach 0.
	if p.LogX {
		c.X.Min, c.X.Max = figure.Fit(c.X.Min, c.X.Max)
	}
	if p.Direct {
		var names figure.Beside
		for _, s := range all {
			last := len(s.X) - 1
			names = append(names, figure.Name{Text: s.Name, X: s.X[last], Y: s.Y[last], Color: s.look.rgb()})
		}
		if p.LogX {
			c.X.Max = math.Exp(names.Room(math.Log(c.X.Min), math.Log(c.X.Max), width))
		} else {
			c.X.Max = names.Room(c.X.Min, c.X.Max, width)
		}
		c.Add(names)
	}
	if p.LogY {
		c.Y.Min, c.Y.Max = figure.Fit(c.Y.Min, c.Y.Max)
	}
	return c, nil
}

// drawable returns the series with the points that have a place: a logarithmic axis has none
// for 0 and below. Series without any are left out.
func (p Panel) drawable() []Series {
	var out []Series
	for _, s := range p.Series {
		kept := s
		kept.X, kept.Y, kept.Spread, kept.Band = nil, nil, nil, nil
		for i := range s.X {
			if p.LogX && s.X[i] <= 0 || p.LogY && s.Y[i] <= 0 {
				continue
			}
			kept.Add(s.X[i], s.Y[i])
			if s.Spread != nil {
				kept.Spread = append(kept.Spread, s.Spread[i])
			}
			if s.Band != nil {
				kept.Band = append(kept.Band, s.Band[i])
			}
		}
		if len(kept.X) > 0 {
			out = append(out, kept)
		}
	}
	return out
}

// lowerEdge returns the lower limit of shades and error bars. It is -Inf, or on a logarithmic axis
// a little below the lowest line, since y minus its deviation may be negative.
func (p Panel) lowerEdge(all []Series) float64 {
	if !p.LogY {
		return math.Inf(-1)
	}
	low := math.Inf(1)
	for _, s := range all {
		low = min(low, slices.Min(s.Y))
	}
	return max(0.7*low, math.SmallestNonzeroFloat64)
}

// addBand shades from y-band to y+band, cut off at low.
func (s Series) addBand(c *plot.Plot, low float64) error {
	n := len(s.X)
	points := make(plotter.XYs, 2*n)
	for i := range n {
		points[i] = plotter.XY{X: s.X[i], Y: s.Y[i] + s.Band[i]}
		points[2*n-1-i] = plotter.XY{X: s.X[i], Y: max(low, s.Y[i]-s.Band[i])}
	}
	shade, err := plotter.NewPolygon(points)
	if err != nil {
		return err
	}
	l := s.look.rgb()
	shade.Color = color.NRGBA{R: l.R, G: l.G, B: l.B, A: 0x30}
	shade.LineStyle.Width = 0
	c.Add(shade)
	return nil
}

// addTo draws the line, with error bars cut off at low.
func (s Series) addTo(c *plot.Plot, low float64) error {
	points := make(plotter.XYs, len(s.X))
	for i := range points {
		points[i] = plotter.XY{X: s.X[i], Y: s.Y[i]}
	}
	line, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	line.LineStyle, marks.GlyphStyle = s.styles()
	if s.Spread != nil {
		bars := errorPoints{points, make(plotter.YErrors, len(points))}
		for i, e := range s.Spread {
			// What gonum subtracts from y must leave something where low is above 0: not all
			// of y, to which low may be less than a rounding.
			bottom := max(s.Y[i]-e, low)
			if low > 0 {
				bottom = max(bottom, 1e-9*s.Y[i])
			}
			bars.YErrors[i].Low, bars.YErrors[i].High = s.Y[i]-bottom, e
		}
		e, err := plotter.NewYErrorBars(bars)
		if err != nil {
			return err
		}
		e.LineStyle.Color = line.LineStyle.Color
		e.LineStyle.Width = vg.Points(0.7)
		e.CapWidth = vg.Points(4)
		c.Add(e)
	}
	if !s.Marks {
		c.Add(line)
	}
	if !s.Plain {
		c.Add(marks)
	}
	return nil
}

// errorPoints are points with error bars.
type errorPoints struct {
	plotter.XYs
	plotter.YErrors
}

// addBars draws one bar per series with its name and value.
func (p Panel) addBars(c *plot.Plot) error {
	n := len(p.Series)
	names, labels, values, colors := make([]string, n), make([]string, n), make([]float64, n),
		make([]color.Color, n)
	for i, s := range p.Series {
		names[i], labels[i], values[i], colors[i] = s.Name, valueLabel(s.Y[0]), s.Y[0], s.look.rgb()
		if s.Y[0] <= Negligible {
			values[i] = 0
		}
	}
	return figure.Bars(c, names, labels, values, nil, colors, vg.Points(panelHeight))
}

func valueLabel(v float64) string {
	switch {
	case v <= Negligible:
		return "0"
	case v < 1e-4:
		return strconv.FormatFloat(v, 'e', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
