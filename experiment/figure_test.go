package experiment

import (
	"bytes"
	"math"
	"testing"

	"github.com/darrm/darrm/internal/testing/raced"
)

// Every picture ends, whatever the numbers: what a definition asks for may be 0, or all the
// same, which has no place and no length on a logarithmic axis. A marker that looks for the
// power of ten at 0 takes all memory.
func TestPicturesOfHardNumbers(t *testing.T) {
	raced.Sequential(t)
	for name, y := range map[string][]float64{
		"ones": {1, 1, 1}, "half": {0.5, 0.5, 0.5}, "zeros": {0, 0, 0}, "negative": {-3, -2, -1},
		"with zeros": {0, 2, 0}, "from 0": {0, 1, 1e5},
		"least": {math.SmallestNonzeroFloat64, 1, 2}, "wide": {1e-300, 1, 1e300},
		"narrow": {1, math.Nextafter(1, 2), 1}, "high and narrow": {1e20, 1e20 + 1<<15, 1e20},
	} {
		for _, spread := range [][]float64{nil, {1, 2, 3}} {
			for _, log := range []bool{false, true} {
				s := Series{Method: "a", X: y, Y: y, Spread: spread}
				b := s
				b.Spread, b.Band = nil, spread
				r := &Run{def: Definition{catalog: New(Field{Looks: map[Method]Look{"a": {Title: "a"}}})}}
				if err := r.Figure("x", "", 1, []Panel{{Title: "x", Series: []Series{s, b}, LogX: log,
					LogY: log}}); err != nil {
					t.Errorf("%s, logarithmic %v, spread %v: %v", name, log, spread, err)
				}
				if !bytes.Contains(r.files["x.svg"], []byte("</svg>")) {
					t.Errorf("%s, logarithmic %v, spread %v: no picture", name, log, spread)
				}
			}
		}
	}
}

// Points without a place on a logarithmic axis are left out, with what belongs to them.
func TestPlacedPoints(t *testing.T) {
	p := Panel{LogX: true, LogY: true, Series: []Series{
		{Method: "a", X: []float64{0, 1, 2, 3}, Y: []float64{1, 0, 5, -1}, Band: []float64{1, 2, 3, 4},
			Spread: []float64{4, 3, 2, 1}},
		{Method: "b", X: []float64{1}, Y: []float64{0}},
	}}
	got := p.drawable()
	if len(got) != 1 || len(got[0].X) != 1 || got[0].X[0] != 2 || got[0].Y[0] != 5 ||
		got[0].Band[0] != 3 || got[0].Spread[0] != 2 {
		t.Errorf("got %+v", got)
	}
	if p.LogX, p.LogY = false, false; len(p.drawable()) != 2 || len(p.drawable()[0].X) != 4 {
		t.Errorf("linear axes: got %+v", p.drawable())
	}
}

// Shades on a logarithmic axis end above zero, whatever the deviation.
func TestShadesOnALogarithmicAxis(t *testing.T) {
	p := Panel{Title: "x", LogY: true, Series: []Series{{Method: "a", Plain: true, X: []float64{0, 1},
		Y: []float64{1, 1e-3}, Band: []float64{5, 1}}}}
	c, err := p.plot(panelWidth)
	if err != nil {
		t.Fatal(err)
	}
	if !(c.Y.Min > 0 && c.Y.Min < 1e-3 && c.Y.Max == 6) {
		t.Errorf("axis from %g to %g", c.Y.Min, c.Y.Max)
	}
}

// Panels with the same vertical axis share its range, and bars of a row theirs: the largest mark
// of one is on the other.
func TestPanelsShareScales(t *testing.T) {
	raced.Sequential(t)
	line := func(y string, values ...float64) Panel {
		return Panel{Title: y, Y: y, Series: []Series{{Method: "a", X: []float64{0, 1}, Y: values}}}
	}
	bar := func(v float64) Panel {
		return Panel{Bars: true, Series: []Series{{Method: "a", Y: []float64{v}}}}
	}
	for name, c := range map[string]struct {
		panels []Panel
		mark   string
		times  int
	}{
		"same":       {[]Panel{line("y", 0, 1), line("y", 0, 6000)}, "6000", 2},
		"other axis": {[]Panel{line("y", 0, 1), line("z", 0, 6000)}, "6000", 1},
		"bars":       {[]Panel{bar(1), bar(6000)}, "5000", 2},
		"other row":  {[]Panel{bar(1), {}, bar(6000), {}}, "5000", 1},
	} {
		r := &Run{def: Definition{catalog: New(Field{Looks: map[Method]Look{"a": {Title: "a"}}})}}
		if err := r.Figure("x", "", 2, c.panels); err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(r.files["x.svg"], []byte(">"+c.mark+"</text>")); n != c.times {
			t.Errorf("%s: %d panels have the mark %s, want %d", name, n, c.mark, c.times)
		}
	}
}
