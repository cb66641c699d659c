package experiment

import (
	"bytes"
	"math"
	"testing"
)

// Every picture ends, whatever the numbers: what a definition asks for may be 0, or all the
// same, which has no place and no length on a logarithmic axis. A marker that looks for the
// power of ten at 0 takes all memory.
func TestPicturesOfHardNumbers(t *testing.T) {
	for name, y := range map[string][]float64{
		"ones": {1, 1, 1}, "half": {0.5, 0.5, 0.5}, "zeros": {0, 0, 0}, "negative": {-3, -2, -1}, "with zeros": {0, 2, 0}, "from 0": {0, 1, 1e5},
		"least": {math.SmallestNonzeroFloat64, 1, 2}, "wide": {1e-300, 1, 1e300}, "narrow": {1, math.Nextafter(1, 2), 1}, "high and narrow": {1e20, 1e20 + 1<<15, 1e20},
	} {
		for _, spread := range [][]float64{nil, {1, 2, 3}} {
			for _, log := range []bool{false, true} {
				s := series{method: MethodOpt, x: y, y: y, spread: spread}
				b := s
				b.spread, b.band = nil, spread
				r := &run{files: map[string][]byte{}, result: &Result{}}
				if err := r.figure("x", "", 1, []panel{{title: "x", series: []series{s, b}, logX: log, logY: log}}); err != nil {
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
	p := panel{logX: true, logY: true, series: []series{
		{method: MethodOpt, x: []float64{0, 1, 2, 3}, y: []float64{1, 0, 5, -1}, band: []float64{1, 2, 3, 4}, spread: []float64{4, 3, 2, 1}},
		{method: MethodSub, x: []float64{1}, y: []float64{0}},
	}}
	got := p.placed()
	if len(got) != 1 || len(got[0].x) != 1 || got[0].x[0] != 2 || got[0].y[0] != 5 || got[0].band[0] != 3 || got[0].spread[0] != 2 {
		t.Errorf("got %+v", got)
	}
	if p.logX, p.logY = false, false; len(p.placed()) != 2 || len(p.placed()[0].x) != 4 {
		t.Errorf("linear axes: got %+v", p.placed())
	}
}
