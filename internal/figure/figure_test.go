package figure

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

func sheet(t *testing.T, entries ...Entry) Sheet {
	t.Helper()
	p := New("a title of so many words that no single line of this width can hold all of them at once",
		"x", "y")
	line, err := plotter.NewLine(plotter.XYs{{X: 0, Y: 1}, {X: 1, Y: 2}})
	if err != nil {
		t.Fatal(err)
	}
	line.LineStyle = Line(Blue)
	p.Add(line)
	return Sheet{Charts: [][]*plot.Plot{{p}}, Legend: entries}
}

// An SVG is well formed, has no font with serifs, and draws with no colour that would vanish on
// a dark page: all that are darker or lighter than the palette have a substitute there.
func TestSVG(t *testing.T) {
	var b bytes.Buffer
	if err := sheet(t, Entry{Name: "a < b", Line: Line(Blue)}).Encode(&b, "svg"); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		e, ok := token.(xml.StartElement)
		if !ok || e.Name.Local == "svg" || e.Name.Local == "g" || e.Name.Local == "style" {
			continue
		}
		style := ""
		for _, a := range e.Attr {
			if a.Name.Local == "style" {
				style = a.Value
			}
		}
		if e.Name.Local == "text" && !strings.Contains(style, "font-family:'Liberation Sans',Arial") {
			t.Errorf("text in %s", style)
		}
		// SVG paints black where no colour is named, and no selector finds that.
		if !strings.Contains(style, "fill:#") && !strings.Contains(style, "stroke:#") ||
			strings.Contains(style, "#000000") {
			t.Errorf("<%s> is black: %q", e.Name.Local, style)
		}
	}
	for _, c := range []color.RGBA{paper, Ink, gridLines} {
		hex := fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B)
		if !strings.Contains(text, `="fill:`+hex) && !strings.Contains(text, "stroke:"+hex) {
			t.Errorf("nothing is drawn in %s", hex)
		}
		if !strings.Contains(StyleSheet, hex+`"]`) {
			t.Errorf("%s has no colour in the dark", hex)
		}
	}
	if strings.Count(text, "a title of") != 1 ||
		strings.Contains(text, "all of them at once</text>") == strings.Contains(text,
			"a title of so many words that no single line of this width can hold all") {
		t.Error("the title was not broken into lines")
	}
}

// contrast returns the contrast ratio of WCAG 2.2, from 1 to 21.
func contrast(a, b color.RGBA) float64 {
	luminance := func(c color.RGBA) float64 {
		part := func(x uint8) float64 {
			v := float64(x) / 255
			if v <= 0.04045 {
				return v / 12.92
			}
			return math.Pow((v+0.055)/1.055, 2.4)
		}
		return 0.2126*part(c.R) + 0.7152*part(c.G) + 0.0722*part(c.B)
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// Text can be read and lines are seen, on both papers: WCAG 2.2 asks for 4.5 and 3. On white the
// orange, sky blue, purple and grey have less, which is why curves differ in dashes too.
func TestContrast(t *testing.T) {
	night := map[color.RGBA]color.RGBA{}
	for _, c := range dark {
		var from, to uint32
		if _, err := fmt.Sscanf(c[0]+" "+c[1], "#%X #%X", &from, &to); err != nil {
			t.Fatal(err)
		}
		night[RGB(from)] = RGB(to)
	}
	atNight := func(c color.RGBA) color.RGBA {
		if n, ok := night[c]; ok {
			return n
		}
		return c
	}
	for _, c := range []struct {
		color      color.RGBA
		day, night float64
	}{{Ink, 7, 7}, {Blue, 4.5, 4.5}, {Vermillion, 3, 4.5}, {Green, 3, 3}, {Orange, 2, 4.5},
		{Sky, 2, 4.5}, {Purple, 2.9, 4.5}, {Grey, 2.7, 4.5}} {
		if got := contrast(c.color, paper); got < c.day {
			t.Errorf("%v on paper: contrast %.2f, want %g", c.color, got, c.day)
		}
		if got := contrast(atNight(c.color), atNight(paper)); got < c.night {
			t.Errorf("%v in the dark: contrast %.2f, want %g", c.color, got, c.night)
		}
	}
}

// A PNG decodes, and a longer legend makes it higher instead of covering the data.
func TestLegendIsBelowTheData(t *testing.T) {
	height := 0
	for n := range 4 {
		var entries []Entry
		for i := range n {
			entries = append(entries,
				Entry{Name: fmt.Sprintf("curve %d with a name that takes a line of its own, as some do", i),
					Line: Line(Green)})
		}
		var b bytes.Buffer
		if err := sheet(t, entries...).Encode(&b, "png"); err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		if h := img.Bounds().Dy(); h <= height {
			t.Errorf("%d entries: height %d, %d with one less", n, h, height)
		} else {
			height = h
		}
	}
}

// The title of a chart in the last column ends before the picture does, also where a chart below, with a wide vertical
// axis, moves the data and so the title's middle to the right.
func TestTitlesOfNarrowCharts(t *testing.T) {
	const title = "K = 35, ε = 0.1, M = 20, m = 9.8823"
	charts := [][]*plot.Plot{make([]*plot.Plot, 4), make([]*plot.Plot, 4)}
	for i := range charts[0] {
		charts[0][i], charts[1][i] = New(title, "x", "y"), New("", "x", "")
		charts[1][i].Y.Tick.Marker = plot.ConstantTicks{{Value: 0.5, Label: "randomised-response"}}
	}
	var b bytes.Buffer
	if err := (Sheet{Charts: charts, Width: 216, Height: 190}).Encode(&b, "svg"); err != nil {
		t.Fatal(err)
	}
	starts := regexp.MustCompile(`<text x="([\d.]+)"[^>]*>(K = 35[^<]*)`).FindAllStringSubmatch(b.String(), -1)
	if len(starts) != 4 {
		t.Fatalf("%d titles: %q", len(starts), starts)
	}
	for i, s := range starts {
		x, err := strconv.ParseFloat(s[1], 64)
		if end := x + sans(titleSize).Width(s[2]).Points(); err != nil || end > 216*float64(i+1) {
			t.Errorf("title %d, %q, ends at %g", i, s[2], end)
		}
	}
}

func TestFormat(t *testing.T) {
	for name, want := range map[string]string{"a.svg": "svg", "b/A.PNG": "png", "a.pdf": "", "svg": "",
		"": ""} {
		if got, ok := Format(name); ok != (want != "") || ok && got != want {
			t.Errorf("Format(%q) = %q, %v", name, got, ok)
		}
	}
	if err := sheet(t).Encode(io.Discard, "pdf"); err == nil {
		t.Error("a PDF was written")
	}
}

// Ranges of hundreds of powers of ten have few values beside the axis.
func TestLogTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{{1, 10, "1 2 5 10"}, {1, 1e4, "1 10 100 1000 10000"}, {0.1, 0.9, "0.1 0.2 0.5"}} {
		var got []string
		for _, x := range LogTicks(c.lo, c.hi) {
			if x.Label != "" {
				got = append(got, x.Label)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("from %g to %g: %v, want %s", c.lo, c.hi, got, c.want)
		}
	}
	n := 0
	for _, x := range LogTicks(1e-300, 1e300) {
		if x.Label != "" {
			n++
		}
	}
	if n < 4 || n > 9 {
		t.Errorf("%d values for 600 powers of ten", n)
	}
}

func TestSharedRange(t *testing.T) {
	a, b := New("", "", ""), New("", "", "")
	a.Y.Min, a.Y.Max, b.Y.Min, b.Y.Max = 1, 2, -1, 1.5
	SharedRange([]*plot.Axis{&a.Y, &b.Y})
	if a.Y.Min != -1 || b.Y.Max != 2 || a.Y.Max != 2 || b.Y.Min != -1 {
		t.Errorf("%v to %v and %v to %v", a.Y.Min, a.Y.Max, b.Y.Min, b.Y.Max)
	}
}
