package chart

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/figure"
)

// elements reads a picture, which must be XML, and returns the names of its elements.
func elements(t *testing.T, svg string) (names []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok {
			names = append(names, e.Name.Local)
			for _, a := range e.Attr {
				if a.Name.Local == "style" || strings.Contains(a.Value, "NaN") ||
					strings.Contains(a.Value, "Inf") {
					t.Errorf("%s has %s = %q", e.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
}

func count(names []string, name string) int {
	n := 0
	for _, x := range names {
		if x == name {
			n++
		}
	}
	return n
}

func TestSVG(t *testing.T) {
	wanted := 0.9
	c := Chart{Title: "a < b & c", X: "ε", LogX: true, High: 1, Percent: true, Level: &wanted,
		LevelName: "wanted", Lines: []Line{
			{Name: "curve", Class: "c1", X: []float64{0.5, 0.7, 1, 1.5, 2}, Y: []float64{0.2, 0.3, math.NaN(), 0.7, 0.8}},
			{Name: "bound", Class: "c2", X: []float64{0.5, 2}, Y: []float64{1, math.Inf(1)}, Dashed: true},
		}, Marks: []Mark{{X: 1, Text: "here"}, {X: 5, Text: "beyond"}}}
	svg := c.SVG()
	names := elements(t, svg)
	if count(names, "circle") != 4 || count(names, "polyline") != 2 || names[1] != "title" ||
		!strings.Contains(svg, "a &lt; b &amp; c") || !strings.Contains(svg, ">80 %<") ||
		strings.Contains(svg, "beyond") || !strings.Contains(svg, "here") {
		t.Error(svg)
	}
	bars := Chart{Title: "bars", High: 4, Bars: []Bar{{Name: "0", Height: 4, Class: "c1"},
		{Name: "1"}}}
	if names := elements(t, bars.SVG()); count(names, "rect") != 2 {
		t.Error(bars.SVG())
	}
	// What is empty, or has one point, is still a picture.
	elements(t, (&Chart{}).SVG())
	elements(t, (&Chart{High: 1, Lines: []Line{{X: []float64{3}, Y: []float64{0.5}}}}).SVG())
}

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{{0, 1, "[0 0.2 0.4 0.6 0.8 1]"}, {0, 11, "[0 2 4 6 8 10]"}, {0, 4, "[0 1 2 3 4]"},
		{0, 0.003, "[0 0.0005 0.001 0.0015 0.002 0.0025 0.003]"}, {1, 1, "[]"}} {
		got := []string{}
		for _, v := range steps(c.low, c.high) {
			got = append(got, number(v))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%v to %v: %v, want %s", c.low, c.high, got, c.want)
		}
	}
	c := Chart{LogX: true}
	if got := fmt.Sprint(c.ticks(0.5, 8)); got != "[0.5 1 2 5]" {
		t.Error(got)
	}
	if got := fmt.Sprint(c.ticks(1, 1e5)); got != "[1 10 100 1000 10000 100000]" {
		t.Error(got)
	}
}

// The style sheet has the house's colours.
func TestColours(t *testing.T) {
	b, err := os.ReadFile("../../page/style.css")
	if err != nil {
		t.Fatal(err)
	}
	css := string(b)
	hex := func(c interface{ RGBA() (r, g, b, a uint32) }) string {
		r, g, b, _ := c.RGBA()
		return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
	}
	for variable, color := range map[string]string{"c1": hex(figure.Blue),
		"c2": hex(figure.Vermillion), "ink": hex(figure.Ink)} {
		if !strings.Contains(css, "--"+variable+": "+color+";") {
			t.Errorf("--%s is not %s", variable, color)
		}
	}
	// Colours of the dark are those of pictures in the dark.
	for _, color := range []string{"#14171c", "#363b44", "#e8e8e8", "#3a96d6", "#e8742b"} {
		if !strings.Contains(css, color) || !strings.Contains(strings.ToLower(figure.StyleSheet), color) {
			t.Errorf("%s is not in both", color)
		}
	}
}

// A curve that leaves the picture is cut where it does, and drawn again where it comes back. It is
// not bent along the edge, which would show values that it has not.
func TestCurvesAreCut(t *testing.T) {
	svg := (&Chart{High: 1, Lines: []Line{{Class: "c2", Dashed: true, X: []float64{0, 1, 2, 3, 4},
		Y: []float64{0, 2, 2, 0, -1}}}}).SVG()
	from, step := float64(left), float64(width-left-right)/4
	want := []string{
		fmt.Sprintf(`points="%.1f,%d.0 %.1f,%d.0"`, from, height-bottom, from+step/2, top),
		fmt.Sprintf(`points="%.1f,%d.0 %.1f,%d.0 %.1f,%d.0"`, from+2.5*step, top, from+3*step,
			height-bottom, from+3*step, height-bottom),
	}
	for _, w := range want {
		if !strings.Contains(svg, w) {
			t.Errorf("no %s in %s", w, svg)
		}
	}
	if n := strings.Count(svg, "<polyline"); n != 2 {
		t.Errorf("%d pieces in %s", n, svg)
	}
}

// A name stands beside its line where nothing else is, and in the legend elsewhere.
func TestNames(t *testing.T) {
	rising := Line{Name: "rising", Class: "c1", X: []float64{1, 2, 3}, Y: []float64{0.1, 0.4, 0.8}}
	level := 0.95
	c := Chart{Low: 0, High: 1, Lines: []Line{rising}, Level: &level, LevelName: "wanted", Marks: []Mark{{2, "stated"}}}
	svg := c.SVG()
	if strings.Count(svg, `class="marked c1"`) != 1 || strings.Count(svg, `class="marked wanted"`) != 1 || strings.Contains(svg, `class="label" text-anchor="start"`) {
		t.Error(svg)
	}
	// Lines everywhere leave no place.
	var crowd []Line
	for i := range 40 {
		y := float64(i) / 39
		crowd = append(crowd, Line{X: []float64{1, 3}, Y: []float64{y, y}})
	}
	c = Chart{Low: 0, High: 1, Lines: append(crowd, rising)}
	if svg := c.SVG(); !strings.Contains(svg, `class="label" text-anchor="start"`) || strings.Contains(svg, `class="marked`) {
		t.Error(svg)
	}
	// Of two names at one point, the second is not a part of the first one's words.
	same := func(v float64) float64 { return v }
	c = Chart{Lines: []Line{{Name: "one", X: []float64{300}, Y: []float64{100}}, {Name: "two", X: []float64{300}, Y: []float64{100}},
		{X: []float64{left, width}, Y: []float64{112, 112}}}}
	if names, legend := c.names(same, same); legend != 1 || !names[0].beside || names[1].beside {
		t.Errorf("%+v", names)
	}
	for _, c := range []struct {
		x, y, u, v float64
		want       bool
	}{{0, 0, 10, 10, true}, {0, 0, 1, 10, false}, {0, 5, 10, 5, true}, {5, 0, 5, 1, false}, {5, 5, 5, 5, true}, {7, 4, 7, 6, false}} {
		if got := (box{4, 4, 6, 6}).crosses(c.x, c.y, c.u, c.v); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
