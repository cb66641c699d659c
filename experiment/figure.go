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

// cycle is the order of colours for lines that stand for parameters, not for methods.
var cycle = []Method{MethodOpt, MethodOpt, MethodSub, MethodSub, MethodGNMax, MethodGNMax, MethodOptClear, MethodOptClear}

// panel is one chart of a figure.
type panel struct {
	title, x, y string
	series      []series
	bars        bool // one bar for each series' first value, with the value above it
	logX, logY  bool
	fixedY      bool // yMin and yMax instead of the data's
	yMin, yMax  float64
	xTicks      []float64 // if given, the only marks
	tall        bool      // its figure is higher
}

// series is one line, or one bar.
type series struct {
	method Method // gives colour, dashes and glyph
	name   string // in the legend; the method's title if empty
	x, y   []float64
	spread []float64 // half the length of the error bars; may be nil
	band   []float64 // half the height of a shade around the line; may be nil
	dashed bool      // whatever the method
	plain  bool      // a line without marks, which would hide it if there are many
	marks  bool      // marks without a line
}

func (s *series) add(x, y float64) { s.x, s.y = append(s.x, x), append(s.y, y) }

func (s series) title() string {
	if s.name != "" {
		return s.name
	}
	return s.method.Title()
}

// Sizes of one panel, in points.
const (
	panelWidth  = 235
	panelHeight = 185
	legendLine  = 17
)

// figure draws the panels into Name.svg and Name.png, row by row; a panel without series
// is a gap. One legend at the bottom serves them all.
func (r *run) figure(name, caption string, columns int, panels []panel) error {
	if r.broken != nil {
		return nil
	}
	rows := (len(panels) + columns - 1) / columns
	grid := make([][]*plot.Plot, rows)
	for i := range grid {
		grid[i] = make([]*plot.Plot, columns)
	}
	tall := 1.0
	for i, p := range panels {
		if len(p.series) == 0 {
			continue
		}
		if p.tall {
			tall = 1.6
		}
		chart, err := p.plot()
		if err != nil {
			return fmt.Errorf("figure %s, %s: %w", name, p.title, err)
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
	r.files[name+".svg"] = bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))

	png := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(144))
	paint(png)
	b = bytes.Buffer{}
	if _, err := (vgimg.PngCanvas{Canvas: png}).WriteTo(&b); err != nil {
		return err
	}
	r.files[name+".png"] = b.Bytes()
	r.result.Figures = append(r.result.Figures, Figure{name, caption})
	return nil
}

// sans sets a text to the sans-serif font.
func sans(s *text.Style, size float64) {
	s.Font.Variant = "Sans"
	s.Font.Size = font.Length(size)
}

func (p panel) plot() (*plot.Plot, error) {
	c := plot.New()
	c.BackgroundColor = color.White
	c.Title.Text = p.title
	sans(&c.Title.TextStyle, 11)
	c.Title.Padding = vg.Points(5)
	c.X.Label.Text, c.Y.Label.Text = p.x, p.y
	for _, a := range []*plot.Axis{&c.X, &c.Y} {
		sans(&a.Label.TextStyle, 10)
		sans(&a.Tick.Label, 9)
		a.Padding = vg.Points(3)
		a.Tick.Marker = plot.TickerFunc(fewTicks)
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{Y: 225}, color.Gray{Y: 225}
	if p.bars {
		grid.Vertical.Width = 0
		c.Add(grid)
		return c, p.addBars(c)
	}
	c.Add(grid)
	if p.logY {
		c.Y.Scale = plot.LogScale{}
		c.Y.Tick.Marker = plot.TickerFunc(logTicks)
	}
	if p.logX {
		c.X.Scale = plot.LogScale{}
		c.X.Tick.Marker = plot.TickerFunc(logTicks)
	}
	if len(p.xTicks) > 0 {
		marks := make(plot.ConstantTicks, len(p.xTicks))
		for i, x := range p.xTicks {
			marks[i] = plot.Tick{Value: x, Label: strconv.FormatFloat(x, 'g', -1, 64)}
		}
		c.X.Tick.Marker = marks
	}
	all := p.placed()
	low := p.lowest(all)
	for _, s := range all { // shades first: no line is hidden
		if s.band != nil {
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
	if p.fixedY {
		c.Y.Min, c.Y.Max = p.yMin, p.yMax
	}
	// gonum widens a range without length by 1 to both sides, which may reach 0.
	if p.logX {
		c.X.Min, c.X.Max = logaxis.Fit(c.X.Min, c.X.Max)
	}
	if p.logY {
		c.Y.Min, c.Y.Max = logaxis.Fit(c.Y.Min, c.Y.Max)
	}
	return c, nil
}

// placed returns the series with the points that have a place: a logarithmic axis has none
// for 0 and below. Series without any are left out.
func (p panel) placed() []series {
	var out []series
	for _, s := range p.series {
		kept := s
		kept.x, kept.y, kept.spread, kept.band = nil, nil, nil, nil
		for i := range s.x {
			if p.logX && s.x[i] <= 0 || p.logY && s.y[i] <= 0 {
				continue
			}
			kept.add(s.x[i], s.y[i])
			if s.spread != nil {
				kept.spread = append(kept.spread, s.spread[i])
			}
			if s.band != nil {
				kept.band = append(kept.band, s.band[i])
			}
		}
		if len(kept.x) > 0 {
			out = append(out, kept)
		}
	}
	return out
}

// lowest is how far down shades and error bars go: anywhere, or on a logarithmic axis a
// little below the lowest line, since y minus its deviation may be negative.
func (p panel) lowest(all []series) float64 {
	if !p.logY {
		return math.Inf(-1)
	}
	low := math.Inf(1)
	for _, s := range all {
		low = min(low, slices.Min(s.y))
	}
	return max(0.7*low, math.SmallestNonzeroFloat64)
}

// addBand shades from y-band to y+band, cut off at low.
func (s series) addBand(c *plot.Plot, low float64) error {
	n := len(s.x)
	points := make(plotter.XYs, 2*n)
	for i := range n {
		points[i] = plotter.XY{X: s.x[i], Y: s.y[i] + s.band[i]}
		points[2*n-1-i] = plotter.XY{X: s.x[i], Y: max(low, s.y[i]-s.band[i])}
	}
	shade, err := plotter.NewPolygon(points)
	if err != nil {
		return err
	}
	l := looks[s.method].color
	shade.Color = color.NRGBA{R: l.R, G: l.G, B: l.B, A: 0x30}
	shade.LineStyle.Width = 0
	c.Add(shade)
	return nil
}

// addTo draws the line, with error bars cut off at low.
func (s series) addTo(c *plot.Plot, low float64) error {
	points := make(plotter.XYs, len(s.x))
	for i := range points {
		points[i] = plotter.XY{X: s.x[i], Y: s.y[i]}
	}
	line, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	line.LineStyle, marks.GlyphStyle = s.styles()
	if s.spread != nil {
		bars := errorPoints{points, make(plotter.YErrors, len(points))}
		for i, e := range s.spread {
			// What gonum subtracts from y must leave something where low is above 0: not all
			// of y, to which low may be less than a rounding.
			bottom := max(s.y[i]-e, low)
			if low > 0 {
				bottom = max(bottom, 1e-9*s.y[i])
			}
			bars.YErrors[i].Low, bars.YErrors[i].High = s.y[i]-bottom, e
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
	if !s.marks {
		c.Add(line)
	}
	if !s.plain {
		c.Add(marks)
	}
	return nil
}

// errorPoints are points with error bars.
type errorPoints struct {
	plotter.XYs
	plotter.YErrors
}

func (s series) styles() (draw.LineStyle, draw.GlyphStyle) {
	l := looks[s.method]
	style := draw.LineStyle{Color: l.color, Width: vg.Points(1.6)}
	dashes := l.dashes
	if s.dashed {
		dashes = []float64{5, 3}
	} else if s.name != "" {
		dashes = nil
	}
	for _, d := range dashes {
		style.Dashes = append(style.Dashes, vg.Points(d))
	}
	glyphs := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.PyramidGlyph{}, draw.SquareGlyph{}, draw.RingGlyph{}, draw.CrossGlyph{}, draw.TriangleGlyph{}}
	return style, draw.GlyphStyle{Color: l.color, Radius: vg.Points(2.6), Shape: glyphs[l.glyph]}
}

// addBars draws one bar per series with its value above.
func (p panel) addBars(c *plot.Plot) error {
	c.X.Label.Text = ""
	c.HideX()
	top := 0.0
	for i, s := range p.series {
		bar, err := plotter.NewBarChart(plotter.Values{s.y[0]}, vg.Points(0.6*panelWidth/float64(len(p.series)+1)))
		if err != nil {
			return err
		}
		bar.XMin = float64(i)
		bar.Color = looks[s.method].color
		bar.LineStyle.Width = 0
		c.Add(bar)
		label, err := plotter.NewLabels(plotter.XYLabels{XYs: []plotter.XY{{X: float64(i), Y: s.y[0]}}, Labels: []string{valueLabel(s.y[0])}})
		if err != nil {
			return err
		}
		sans(&label.TextStyle[0], 8.5)
		label.TextStyle[0].XAlign = text.XCenter
		label.Offset = vg.Point{Y: vg.Points(2)}
		c.Add(label)
		top = max(top, s.y[0])
	}
	if top <= exactly {
		top = 1
	}
	c.Y.Min, c.Y.Max = 0, top*1.15
	c.X.Min, c.X.Max = -0.7, float64(len(p.series))-0.3
	return nil
}

func valueLabel(v float64) string {
	switch {
	case v <= exactly:
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
	entries       []series
	bars          bool
	rows, columns int
}

// legendOf collects the series of all panels, each name once.
func legendOf(panels []panel, columns int) (figureLegend, error) {
	l := figureLegend{bars: true}
	seen := map[string]Method{}
	for _, p := range panels {
		l.bars = l.bars && p.bars
		for _, s := range p.series {
			m, ok := seen[s.title()]
			if ok && m != s.method {
				return l, fmt.Errorf("%q stands for both %s and %s", s.title(), m, s.method)
			}
			if !ok {
				seen[s.title()] = s.method
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
		if !s.marks {
			c.StrokeLine2(line, x, y, right, y)
		}
		if !s.plain {
			c.DrawGlyph(glyph, vg.Point{X: (x + right) / 2, Y: y})
		}
		c.FillText(style, vg.Point{X: right + vg.Points(5), Y: y}, s.title())
	}
}
