package experiment

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/darrm/darrm/internal/logaxis"
)

// Panel is one chart of a figure. One without series is a gap.
type Panel struct {
	Title, X, Y string
	Series      []Series
	Bars        bool // one bar for each series' first value, with the value above it
	LogX, LogY  bool
	YRange      [2]float64 // instead of the data's, unless both are 0
	XTicks      []float64  // if given, the only marks
	Tall        bool       // its figure is higher
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
	panelWidth  = 235
	panelHeight = 185
	legendLine  = 17
)

// Figure draws the panels into Name.svg and Name.png, row by row. One legend at the bottom
// serves them all.
func (r *Run) Figure(name, caption string, columns int, panels []Panel) error {
	if r.broken != nil {
		return nil
	}
	panels, err := r.withLooks(panels)
	if err != nil {
		return fmt.Errorf("figure %s: %w", name, err)
	}
	rows := (len(panels) + columns - 1) / columns
	grid := make([][]*plot.Plot, rows)
	for i := range grid {
		grid[i] = make([]*plot.Plot, columns)
	}
	tall := 1.0
	for i, p := range panels {
		if len(p.Series) == 0 {
			continue
		}
		if p.Tall {
			tall = 1.6
		}
		chart, err := p.plot()
		if err != nil {
			return fmt.Errorf("figure %s, %s: %w", name, p.Title, err)
		}
		grid[i/columns][i%columns] = chart
	}
	legend, err := legendOf(panels, columns)
	if err != nil {
		return fmt.Errorf("figure %s: %w", name, err)
	}
	width := vg.Points(max(float64(columns), 2) * panelWidth)
	legendHeight := vg.Points(float64(legend.rows)*legendLine + 12)
	height := vg.Points(float64(rows)*panelHeight*tall) + legendHeight

	paint := func(c vg.CanvasSizer) {
		all := draw.New(c)
		all.SetColor(color.White)
		all.Fill(all.Rectangle.Path())
		charts := draw.Crop(all, 0, 0, legendHeight, 0)
		tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: vg.Points(10), PadY: vg.Points(12), PadLeft: vg.Points(6), PadRight: vg.Points(10), PadTop: vg.Points(6), PadBottom: vg.Points(6)}
		canvases := plot.Align(grid, tiles, charts)
		for i := range grid {
			for j, chart := range grid[i] {
				if chart != nil {
					chart.Draw(canvases[i][j])
				}
			}
		}
		legend.draw(draw.Crop(all, vg.Points(12), vg.Points(-12), vg.Points(4), legendHeight-height))
	}
	svg := vgsvg.New(width, height)
	paint(svg)
	var b bytes.Buffer
	if _, err := svg.WriteTo(&b); err != nil {
		return err
	}
	// Readers who have not got the font get one of their own without serifs.
	r.File(name+".svg", bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")))

	png := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(144))
	paint(png)
	b = bytes.Buffer{}
	if _, err := (vgimg.PngCanvas{Canvas: png}).WriteTo(&b); err != nil {
		return err
	}
	r.File(name+".png", b.Bytes())
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

// sans sets a text to the sans-serif font.
func sans(s *text.Style, size float64) {
	s.Font.Variant = "Sans"
	s.Font.Size = font.Length(size)
}

func (p Panel) plot() (*plot.Plot, error) {
	c := plot.New()
	c.BackgroundColor = color.White
	c.Title.Text = p.Title
	sans(&c.Title.TextStyle, 11)
	c.Title.Padding = vg.Points(5)
	c.X.Label.Text, c.Y.Label.Text = p.X, p.Y
	for _, a := range []*plot.Axis{&c.X, &c.Y} {
		sans(&a.Label.TextStyle, 10)
		sans(&a.Tick.Label, 9)
		a.Padding = vg.Points(3)
		a.Tick.Marker = plot.TickerFunc(fewTicks)
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{Y: 225}, color.Gray{Y: 225}
	if p.Bars {
		grid.Vertical.Width = 0
		c.Add(grid)
		return c, p.addBars(c)
	}
	c.Add(grid)
	if p.LogY {
		c.Y.Scale = plot.LogScale{}
		c.Y.Tick.Marker = plot.TickerFunc(logTicks)
	}
	if p.LogX {
		c.X.Scale = plot.LogScale{}
		c.X.Tick.Marker = plot.TickerFunc(logTicks)
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
	// gonum widens a range without length by 1 to both sides, which may reach 0.
	if p.LogX {
		c.X.Min, c.X.Max = logaxis.Fit(c.X.Min, c.X.Max)
	}
	if p.LogY {
		c.Y.Min, c.Y.Max = logaxis.Fit(c.Y.Min, c.Y.Max)
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

// lowerEdge is how far down shades and error bars go: anywhere, or on a logarithmic axis a
// little below the lowest line, since y minus its deviation may be negative.
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

func (s Series) styles() (draw.LineStyle, draw.GlyphStyle) {
	style := draw.LineStyle{Color: s.look.rgb(), Width: vg.Points(1.6)}
	for _, d := range s.look.Dashes {
		style.Dashes = append(style.Dashes, vg.Points(d))
	}
	glyphs := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.PyramidGlyph{}, draw.SquareGlyph{}, draw.RingGlyph{}, draw.CrossGlyph{}, draw.TriangleGlyph{}}
	return style, draw.GlyphStyle{Color: s.look.rgb(), Radius: vg.Points(2.6), Shape: glyphs[s.look.Glyph]}
}

// addBars draws one bar per series with its value above.
func (p Panel) addBars(c *plot.Plot) error {
	c.X.Label.Text = ""
	c.HideX()
	top := 0.0
	for i, s := range p.Series {
		bar, err := plotter.NewBarChart(plotter.Values{s.Y[0]}, vg.Points(0.6*panelWidth/float64(len(p.Series)+1)))
		if err != nil {
			return err
		}
		bar.XMin = float64(i)
		bar.Color = s.look.rgb()
		bar.LineStyle.Width = 0
		c.Add(bar)
		label, err := plotter.NewLabels(plotter.XYLabels{XYs: []plotter.XY{{X: float64(i), Y: s.Y[0]}}, Labels: []string{valueLabel(s.Y[0])}})
		if err != nil {
			return err
		}
		sans(&label.TextStyle[0], 8.5)
		label.TextStyle[0].XAlign = text.XCenter
		label.Offset = vg.Point{Y: vg.Points(2)}
		c.Add(label)
		top = max(top, s.Y[0])
	}
	if top <= Negligible {
		top = 1
	}
	c.Y.Min, c.Y.Max = 0, top*1.15
	c.X.Min, c.X.Max = -0.7, float64(len(p.Series))-0.3
	return nil
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

// fewTicks marks four or five round values and nothing in between.
func fewTicks(lo, hi float64) []plot.Tick {
	step := math.Pow10(int(math.Floor(math.Log10((hi - lo) / 4))))
	for _, f := range []float64{1, 2, 5, 10} {
		if (hi-lo)/(step*f) <= 7 {
			step *= f
			break
		}
	}
	var out []plot.Tick
	first := math.Ceil(lo/step - 1e-9)
	for i := range 9 { // not up to hi: in a narrow range far from 0 no step leads there
		v := (first + float64(i)) * step
		if !(v <= hi+1e-9*step) {
			break
		}
		if math.Abs(v) < step/2 {
			v = 0
		}
		out = append(out, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 4, 64)})
	}
	return out
}

// logTicks marks 1, 2 and 5 times the powers of ten, and lines without value in between.
func logTicks(lo, hi float64) []plot.Tick {
	var out []plot.Tick
	wide := math.Log10(hi/lo) > 2
	for _, m := range logaxis.Marks(lo, hi) {
		label := ""
		if m.Digit == 1 || !wide && (m.Digit == 2 || m.Digit == 5) {
			label = strconv.FormatFloat(m.Value, 'g', -1, 64)
		}
		out = append(out, plot.Tick{Value: m.Value, Label: label})
	}
	return out
}

// figureLegend is one line of colour and name per series, in columns.
type figureLegend struct {
	entries       []Series
	bars          bool
	rows, columns int
}

// legendOf collects the series of all panels, each name once.
func legendOf(panels []Panel, columns int) (figureLegend, error) {
	l := figureLegend{bars: true}
	seen := map[string]Method{}
	for _, p := range panels {
		l.bars = l.bars && p.Bars
		for _, s := range p.Series {
			m, ok := seen[s.Name]
			if ok && m != s.Method {
				return l, fmt.Errorf("%q stands for both %s and %s", s.Name, m, s.Method)
			}
			if !ok {
				seen[s.Name] = s.Method
				l.entries = append(l.entries, s)
			}
		}
	}
	l.columns = max(1, min(len(l.entries), int(max(float64(columns), 2)*panelWidth/165)))
	l.rows = (len(l.entries) + l.columns - 1) / l.columns
	return l, nil
}

func (l figureLegend) draw(c draw.Canvas) {
	style := text.Style{Color: color.Black, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: 10}, Handler: plot.DefaultTextHandler, YAlign: text.YCenter}
	wide := c.Size().X / vg.Length(l.columns)
	for i, s := range l.entries {
		x := c.Min.X + wide*vg.Length(i%l.columns)
		y := c.Max.Y - vg.Points(legendLine)*(vg.Length(i/l.columns)+0.5)
		line, glyph := s.styles()
		right := x + vg.Points(28)
		if !s.Marks {
			c.StrokeLine2(line, x, y, right, y)
		}
		if !s.Plain {
			c.DrawGlyph(glyph, vg.Point{X: (x + right) / 2, Y: y})
		}
		c.FillText(style, vg.Point{X: right + vg.Points(5), Y: y}, s.Name)
	}
}
