// Package figure is the house style of every picture: colours that all kinds of colour vision
// tell apart (Okabe and Ito's), one font without serifs, sizes that can be read at 400 pixels
// and on a slide, the legend below the data, and SVG that follows a reader's dark mode.
package figure

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Formats are the names' endings that [Format] takes.
const Formats = ".svg or .png"

// Format returns the format that the name of a picture asks for, "svg" or "png"; false if none.
func Format(name string) (string, bool) {
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(name)), ".")
	return format, format == "svg" || format == "png"
}

// Sizes of text, in points. A sheet is about 430 points wide, so at 390 pixels a point is
// nearly a pixel.
const (
	titleSize = 12
	labelSize = 11
	tickSize  = 10
)

// SmallWidth is the width of the widest picture, in points, whose text is at least nine pixels high
// where it is shown 390 pixels wide, as on most telephones.
const SmallWidth = 390.0 / 9 * tickSize

// Width and height of a single chart, in points.
const (
	SingleWidth  = 430
	SingleHeight = 280
)

const labelGap = 6 // points from a vertical axis' label to the ticks' labels

const legendLine = 17 // points from one line of a legend to the next

// sans returns the style of text of that size in points.
func sans(size float64) text.Style {
	return text.Style{
		Color:   Ink,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: font.Length(size)},
		Handler: plot.DefaultTextHandler,
	}
}

// restyle gives a text of a chart the house font and colour, and leaves its alignment.
func restyle(s *text.Style, size float64) {
	house := sans(size)
	s.Color, s.Font = house.Color, house.Font
}

// New returns an empty chart with a grid.
func New(title, x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = paper
	p.Title.Text = title
	restyle(&p.Title.TextStyle, titleSize)
	p.Title.Padding = vg.Points(6)
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		restyle(&a.Label.TextStyle, labelSize)
		restyle(&a.Tick.Label, tickSize)
		a.Color, a.Tick.Color = Ink, Ink
		a.Padding = vg.Points(3)
		a.Tick.Marker = plot.TickerFunc(FewTicks)
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = gridLines, gridLines
	p.Add(grid)
	return p
}

// Line returns the style of a curve of a colour. dashes are lengths of line and gap in points.
func Line(c color.Color, dashes ...float64) draw.LineStyle {
	style := draw.LineStyle{Color: c, Width: vg.Points(1.8)}
	for _, d := range dashes {
		style.Dashes = append(style.Dashes, vg.Points(d))
	}
	return style
}

// Span is an interval of values, drawn as a whisker.
type Span struct{ Low, High float64 }

// Bars draws one horizontal bar for each value, the first at the top, each with its name at
// the left and its label behind its end, and over it the whisker of its span if spans are given. The axis of values starts at 0; it has no length
// where all values are 0, which [SharedRange] mends.
func Bars(p *plot.Plot, names, labels []string, values []float64, spans []Span, colors []color.Color,
	height vg.Length) error {
	n := len(values)
	thick := min(vg.Points(18), 0.55*height/vg.Length(n+2))
	top := 0.0
	for i, v := range values {
		at := float64(n - 1 - i)
		bar, err := plotter.NewBarChart(plotter.Values{v}, thick)
		if err != nil {
			return err
		}
		bar.Horizontal, bar.XMin, bar.Color = true, at, colors[i]
		bar.LineStyle.Width = 0
		p.Add(bar)
		end := v
		if spans != nil {
			end = max(v, spans[i].High)
			whisker, err := plotter.NewXErrorBars(struct {
				plotter.XYs
				plotter.XErrors
			}{plotter.XYs{{X: v, Y: at}}, plotter.XErrors{{Low: v - spans[i].Low, High: spans[i].High - v}}})
			if err != nil {
				return err
			}
			whisker.LineStyle, whisker.CapWidth = draw.LineStyle{Color: Ink, Width: vg.Points(1)}, thick/2
			p.Add(whisker)
		}
		label, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: end, Y: at}},
			Labels: labels[i : i+1]})
		if err != nil {
			return err
		}
		label.TextStyle[0] = sans(tickSize)
		label.TextStyle[0].YAlign = text.YCenter
		label.Offset = vg.Point{X: vg.Points(3)}
		p.Add(label)
		top = max(top, end)
	}
	reversed := make([]string, n)
	for i, name := range names {
		reversed[n-1-i] = twoLines(name)
	}
	p.NominalY(reversed...)
	restyle(&p.Y.Tick.Label, tickSize)
	p.Y.Tick.Label.YAlign = text.YCenter
	p.X.Min, p.X.Max = 0, top*1.35                 // room for the label behind the longest bar
	p.X.Tick.Marker = plot.TickerFunc(coarseTicks) // the names leave the axis little room
	p.Y.Min, p.Y.Max = -0.7, float64(n)-0.3
	return nil
}

// twoLines breaks a long name of a bar behind the hyphen, or at the blank, that is nearest its middle.
func twoLines(name string) string {
	best := -1
	for i, c := range name {
		if (c == '-' || c == ' ') && (best < 0 || abs(i-len(name)/2) < abs(best-len(name)/2)) {
			best = i
		}
	}
	if len(name) <= 16 || best < 0 {
		return name
	}
	return strings.TrimRight(name[:best+1], " ") + "\n" + name[best+1:]
}

func abs(i int) int { return max(i, -i) }

// Entry is one line of a legend. A line of width 0 and a glyph without shape are not drawn.
type Entry struct {
	Name  string
	Line  draw.LineStyle
	Glyph draw.GlyphStyle
}

// Sheet is a picture: charts in rows and columns, nil for a gap, and one legend for all below
// them.
type Sheet struct {
	Charts        [][]*plot.Plot
	Width, Height vg.Length // of each chart; 0 for those of a single one
	Legend        []Entry
	Note          string // below all, in lines as wide as the picture
}

// Encode writes the picture as "svg" or "png".
func (s Sheet) Encode(w io.Writer, format string) error {
	if s.Width == 0 {
		s.Width, s.Height = vg.Points(SingleWidth), vg.Points(SingleHeight)
	}
	width := max(vg.Length(len(s.Charts[0]))*s.Width, vg.Points(SingleWidth))
	l := newLegend(s.Legend, width)
	note := wrap(s.Note, sans(tickSize), width-vg.Points(24))
	noteHeight := vg.Length(0)
	if note != "" {
		noteHeight = sans(tickSize).Height(note) + vg.Points(10)
	}
	height := vg.Length(len(s.Charts))*s.Height + l.height() + noteHeight
	paint := func(c draw.Canvas) {
		c.SetColor(paper)
		c.Fill(c.Rectangle.Path())
		if note != "" {
			style := sans(tickSize)
			style.YAlign = text.YTop
			c.FillText(style, vg.Point{X: c.Min.X + vg.Points(12), Y: c.Min.Y + noteHeight}, note)
		}
		s.paint(draw.Crop(c, 0, 0, noteHeight, 0), l)
	}
	var b bytes.Buffer
	switch format {
	case "svg":
		c := vgsvg.New(width, height)
		paint(draw.New(c))
		if _, err := c.WriteTo(&b); err != nil {
			return err
		}
		_, err := w.Write(dress(b.Bytes()))
		return err
	case "png":
		c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(144))
		paint(draw.New(c))
		_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
		return err
	}
	return fmt.Errorf("picture format %q is neither svg nor png", format)
}

func (s Sheet) paint(all draw.Canvas, l legend) {
	label := sans(labelSize)
	label.Rotation, label.XAlign, label.YAlign = math.Pi/2, text.XCenter, text.YBottom
	room := vg.Points(labelGap)
	charts, labels := make([][]*plot.Plot, len(s.Charts)), make([][]string, len(s.Charts))
	for i, row := range s.Charts {
		charts[i], labels[i] = make([]*plot.Plot, len(row)), make([]string, len(row))
		for j, chart := range row {
			if chart == nil {
				continue
			}
			// The vertical axis' label is drawn here: on a logarithmic axis the library
			// leaves room for it where it does not stand.
			c := *chart
			if labels[i][j] = c.Y.Label.Text; labels[i][j] != "" {
				room = vg.Points(labelGap) + label.FontExtents().Height
			}
			c.Y.Label.Text = ""
			charts[i][j] = &c
		}
	}
	tiles := draw.Tiles{Rows: len(charts), Cols: len(charts[0]), PadX: vg.Points(10) + room,
		PadY: vg.Points(12), PadTop: vg.Points(8), PadBottom: vg.Points(4), PadLeft: vg.Points(4) + room,
		PadRight: vg.Points(12)}
	inner := draw.Crop(all, 0, 0, l.height(), 0)
	canvases := plot.Align(charts, tiles, inner)
	for i, row := range charts {
		for j, chart := range row {
			if chart != nil { // its title's middle is the data's, right of the tile's: the room ends on that side
				right := tiles.At(inner, j, i).Max.X + vg.Points(8) - canvases[i][j].Center().X
				chart.Title.Text = wrap(chart.Title.Text, sans(titleSize), min(s.Width-vg.Points(24), 2*right))
			}
		}
	}
	canvases = plot.Align(charts, tiles, inner) // titles of two lines are higher
	for i, row := range charts {
		for j, chart := range row {
			if chart != nil {
				c := canvases[i][j]
				chart.Draw(c)
				data := chart.DataCanvas(c)
				all.FillText(label, vg.Point{X: c.Min.X - vg.Points(labelGap), Y: data.Center().Y},
					labels[i][j])
			}
		}
	}
	l.draw(draw.Crop(all, vg.Points(12), vg.Points(-12), vg.Points(6), l.height()-all.Size().Y))
}

// wrap breaks a text into lines of at most that width, between words.
func wrap(s string, style text.Style, width vg.Length) string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		if line != "" && style.Width(line+" "+word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n")
}

// legend is a Sheet's, in as many columns as the longest name leaves room for.
type legend struct {
	entries       []Entry
	rows, columns int
}

const thumbnail = 28 // points

func newLegend(entries []Entry, width vg.Length) legend {
	if len(entries) == 0 {
		return legend{}
	}
	widest := vg.Length(0)
	for _, e := range entries {
		widest = max(widest, sans(labelSize).Width(e.Name))
	}
	columns := int((width - vg.Points(24)) / (widest + vg.Points(thumbnail+5+14)))
	columns = max(1, min(columns, len(entries)))
	rows := (len(entries) + columns - 1) / columns
	return legend{entries, rows, (len(entries) + rows - 1) / rows}
}

func (l legend) height() vg.Length {
	if l.rows == 0 {
		return 0
	}
	return vg.Points(float64(l.rows)*legendLine + 14)
}

func (l legend) draw(c draw.Canvas) {
	style := sans(labelSize)
	style.YAlign = text.YCenter
	for i, e := range l.entries {
		x := c.Min.X + c.Size().X/vg.Length(l.columns)*vg.Length(i%l.columns)
		y := c.Max.Y - vg.Points(legendLine)*(vg.Length(i/l.columns)+0.5)
		right := x + vg.Points(thumbnail)
		if e.Line.Width > 0 {
			c.StrokeLine2(e.Line, x, y, right, y)
		}
		if e.Glyph.Shape != nil {
			c.DrawGlyph(e.Glyph, vg.Point{X: (x + right) / 2, Y: y})
		}
		c.FillText(style, vg.Point{X: right + vg.Points(5), Y: y}, e.Name)
	}
}

var (
	svgStart  = regexp.MustCompile(`(?s)^.*?<svg [^>]*?viewBox="0 0 ([\d.]+) ([\d.]+)"[^>]*>`)
	styleless = regexp.MustCompile(`(?s)<style>.*?</style>\s*|<!--.*?-->\s*`)
)

// Inline returns the picture as an element of an HTML page, as wide as its place and no wider than
// it is by itself, with a label for readers who do not see it. The page must have [StyleSheet].
func (s Sheet) Inline(label string) (string, error) {
	var b bytes.Buffer
	if err := s.Encode(&b, "svg"); err != nil {
		return "", err
	}
	at := svgStart.FindSubmatchIndex(b.Bytes())
	if at == nil {
		return "", errors.New("the picture has no view box")
	}
	width, height := b.Bytes()[at[2]:at[3]], b.Bytes()[at[4]:at[5]]
	rest := styleless.ReplaceAll(b.Bytes()[at[1]:], nil)
	return fmt.Sprintf(`<svg viewBox="0 0 %s %s" style="width:100%%;max-width:%spt" role="img" `+
		`aria-label="%s">%s`, width, height, width, html.EscapeString(label), rest), nil
}
