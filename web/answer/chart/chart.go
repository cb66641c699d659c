// Package chart draws the charts of the page in web as SVG. It links no fonts and no plotting
// library, which would double the page. Colours come from the page's style sheet, by class: a
// policy without inline styles allows no others. Texts are at least nine pixels high on a screen of
// 400.
package chart

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// Chart is a chart of curves or bars over numbers.
type Chart struct {
	Title, X, Y string // the axes' names
	LogX        bool   // values of the horizontal axis must be positive then
	// Range of the vertical axis.
	Low, High float64
	Percent   bool // the vertical axis shows shares as percentages
	Lines     []Line
	Bars      []Bar
	Marks     []Mark
	Level     *float64 // a dashed line across, at this value, with LevelName
	LevelName string
}

// Line is a curve through points with ascending X. Class is a class of the style sheet: c1 to c4.
type Line struct {
	Name, Class string
	X, Y        []float64
	Dashed      bool
	// Rough, unless nil, has true where the line to a point from the one before is dashed and thin: other points
	// are to come between.
	Rough []bool
}

// Bar is a vertical bar at X = 0, 1, …, in their order. Height is shown by Label.
type Bar struct {
	Name, Label, Class string
	Height             float64
}

// Mark is a vertical line at X with a text.
type Mark struct {
	X    float64
	Text string
}

// Sizes in units of the picture, which is as wide as a column of the page.
const (
	width  = 440
	height = 300
	left   = 52
	right  = 14
	top    = 46 // for a bar's label too
	bottom = 46
	line   = 18 // of a legend

	baseline = height - bottom // of the horizontal axis
)

// SVG returns the chart as an element of a page. A point that is not finite ends a line, which begins anew behind it.
func (c *Chart) SVG() string {
	var b strings.Builder
	low, high := c.horizontal()
	x := func(v float64) float64 {
		return left + (width-left-right)*share(v, low, high, c.LogX)
	}
	y := func(v float64) float64 {
		return baseline - (baseline-top)*share(v, c.Low, c.High, false)
	}
	names, legend := c.names(x, y)
	role := "img" // which has no parts; points can be visited
	if len(c.Lines) > 0 {
		role = "group"
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="%s" aria-label="%s">`, width,
		height+line*legend, role, html.EscapeString(c.Title))
	fmt.Fprintf(&b, "<title>%s</title>", html.EscapeString(c.Title))
	text(&b, left, 18, "title", "start", c.Title)
	for _, v := range steps(c.Low, c.High) {
		segment(&b, left, y(v), width-right, y(v), "grid")
		text(&b, left-6, y(v)+4, "tick", "end", c.level(v))
	}
	if len(c.Bars) > 0 {
		c.bars(&b, y)
	} else {
		for _, v := range c.ticks(low, high) {
			segment(&b, x(v), top, x(v), baseline, "grid")
			text(&b, x(v), baseline+16, "tick", "middle", number(v))
		}
	}
	segment(&b, left, baseline, width-right, baseline, "axis")
	segment(&b, left, top, left, baseline, "axis")
	text(&b, (left+width-right)/2, height-10, "label", "middle", c.X)
	if c.Y != "" {
		fmt.Fprintf(&b, `<text class="label" text-anchor="middle" `+
			`transform="translate(14 %d) rotate(-90)">%s</text>`, (top+baseline)/2, html.EscapeString(c.Y))
	}
	at := height + line/2
	key := func(class, name string, dashed bool) {
		extra := ""
		if dashed {
			extra = " dashed"
		}
		segment(&b, left, float64(at)-4, left+26, float64(at)-4, "curve "+class+extra)
		text(&b, left+34, float64(at), "label", "start", name)
		at += line
	}
	if c.Level != nil && *c.Level >= c.Low && *c.Level <= c.High {
		segment(&b, left, y(*c.Level), width-right, y(*c.Level), "curve wanted dashed")
	}
	for _, l := range c.Lines {
		c.curve(&b, l, x, y)
	}
	for _, n := range names {
		if n.beside {
			text(&b, n.x, n.y, "marked "+n.class, n.anchor, n.name)
		} else {
			key(n.class, n.name, n.dashed)
		}
	}
	for i, m := range c.Marks {
		if !(m.X >= low && m.X <= high) {
			continue
		}
		segment(&b, x(m.X), top, x(m.X), baseline, "mark")
		anchor, by := "start", 4.0
		if share(m.X, low, high, c.LogX) > 0.5 {
			anchor, by = "end", -4
		}
		// One above the other: two marks may stand close.
		text(&b, x(m.X)+by, baseline-6-float64(15*i), "marked", anchor, m.Text)
	}
	b.WriteString("</svg>")
	return b.String()
}

// horizontal returns the range of the horizontal axis.
func (c *Chart) horizontal() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, l := range c.Lines {
		for _, v := range l.X {
			low, high = min(low, v), max(high, v)
		}
	}
	if !(low < high) {
		return 0.5, 2
	}
	return low, high
}

func share(v, low, high float64, log bool) float64 {
	if log {
		return math.Log(v/low) / math.Log(high/low)
	}
	return (v - low) / (high - low)
}

func (c *Chart) curve(b *strings.Builder, l Line, x, y func(float64) float64) {
	class := "curve " + l.Class
	if l.Dashed {
		class += " dashed"
	}
	var points, dots strings.Builder
	rough := false // of the points since the last drawing
	draw := func() {
		if points.Len() > 0 {
			extra := ""
			if rough {
				extra = " dashed rough"
			}
			fmt.Fprintf(b, `<polyline class="%s" points="%s"/>`, class+extra, strings.TrimSpace(points.String()))
		}
		points.Reset()
	}
	var px, py float64
	begun := false
	for i, v := range l.X {
		if math.IsNaN(l.Y[i]) || math.IsInf(l.Y[i], 0) {
			draw()
			begun = false
			continue
		}
		qx, qy := x(v), y(l.Y[i])
		if l.Rough != nil && l.Rough[i] != rough {
			draw()
			rough = l.Rough[i]
		}
		if begun {
			from, to := within(py, qy)
			if from > 0 { // it comes in, or stays out
				draw()
			}
			if from <= to {
				if points.Len() == 0 {
					fmt.Fprintf(&points, "%.1f,%.1f ", px+(qx-px)*from, py+(qy-py)*from)
				}
				fmt.Fprintf(&points, "%.1f,%.1f ", px+(qx-px)*to, py+(qy-py)*to)
			}
		}
		if qy >= top && qy <= baseline {
			// The figure stands above a point that is pointed at, or that the keyboard has reached.
			shown := fmt.Sprintf("%s: %s", number(v), c.exact(l.Y[i]))
			anchor := "middle"
			if qx > width-60 {
				anchor = "end"
			}
			fmt.Fprintf(&dots, `<circle class="dot %s" cx="%.1f" cy="%.1f" r="3" tabindex="0" role="img" aria-label="%s"/>`,
				l.Class, qx, qy, html.EscapeString(shown))
			text(&dots, qx, qy-9, "value", anchor, shown)
		}
		px, py, begun = qx, qy, true
	}
	draw()
	if !l.Dashed {
		b.WriteString(dots.String())
	}
}

// within returns which part of a segment from height a to height b is in the picture, as shares of
// it. from > to where none is. A curve that leaves the picture is cut there: bent along the edge
// instead, it would show values that it has not.
func within(a, b float64) (from, to float64) {
	from, to = 0, 1
	for _, edge := range []float64{top, height - bottom} {
		inside := func(y float64) bool { return (edge == top) == (y >= edge) || y == edge }
		switch {
		case !inside(a) && !inside(b):
			return 1, 0
		case !inside(a):
			from = max(from, (edge-a)/(b-a))
		case !inside(b):
			to = min(to, (edge-a)/(b-a))
		}
	}
	return from, to
}

func (c *Chart) bars(b *strings.Builder, y func(float64) float64) {
	each := float64(width-left-right) / float64(len(c.Bars))
	thick := min(48, 0.75*each)
	// Names and labels that would touch are left out, evenly.
	longest := 1
	for _, bar := range c.Bars {
		longest = max(longest, len([]rune(bar.Name)), len([]rune(bar.Label)))
	}
	every := max(1, int(math.Ceil(float64(8*longest)/each)))
	for i, bar := range c.Bars {
		middle, height := left+each*(float64(i)+0.5), min(max(bar.Height, c.Low), c.High)
		fmt.Fprintf(b, `<rect class="bar %s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, bar.Class,
			middle-thick/2, y(height), thick, max(0, y(0)-y(height)))
		if i%every == 0 {
			text(b, middle, baseline+16, "tick", "middle", bar.Name)
			if bar.Label != "" {
				text(b, middle, y(height)-5, "tick", "middle", bar.Label)
			}
		}
	}
}

// ticks returns some round values of the horizontal axis.
func (c *Chart) ticks(low, high float64) (out []float64) {
	if !c.LogX {
		return steps(low, high)
	}
	within := func(v float64) bool { return v >= low*(1-1e-9) && v <= high*(1+1e-9) }
	for _, digits := range [][]float64{{1, 2, 5}, {1}} {
		out = nil
		for e := math.Floor(math.Log10(low)); e <= math.Log10(high); e++ {
			for _, d := range digits {
				// The text of a power of ten is what is meant, and not what Pow rounds to.
				v, _ := strconv.ParseFloat(fmt.Sprintf("%ge%d", d, int(e)), 64)
				if within(v) {
					out = append(out, v)
				}
			}
		}
		if len(out) <= 8 {
			break
		}
	}
	return out
}

// steps returns round values from low to high, at most seven.
func steps(low, high float64) (out []float64) {
	if !(low < high) {
		return nil
	}
	for step := math.Pow(10, math.Floor(math.Log10(high-low))-1); ; step *= 10 {
		for _, f := range []float64{1, 2, 5} {
			if (high-low)/(step*f) <= 6.001 {
				for k := math.Ceil(low/(step*f) - 1e-9); k*step*f <= high*(1+1e-9)+1e-12; k++ {
					out = append(out, float64(k*step*f))
				}
				return out
			}
		}
	}
}

func (c *Chart) level(v float64) string {
	if c.Percent {
		return number(100*v) + " %"
	}
	return number(v)
}

// exact returns a value of the vertical axis with the digits that tables have.
func (c *Chart) exact(v float64) string {
	if c.Percent {
		return strconv.FormatFloat(100*v, 'f', 2, 64) + " %"
	}
	return number(v)
}

func number(v float64) string { return strconv.FormatFloat(v+0, 'g', 4, 64) } // -0 becomes 0

func text(b *strings.Builder, x, y float64, class, anchor, s string) {
	fmt.Fprintf(b, `<text class="%s" text-anchor="%s" x="%.1f" y="%.1f">%s</text>`, class, anchor, x,
		y, html.EscapeString(s))
}

func segment(b *strings.Builder, x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(b, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}
