package amplification

import (
	"math"
	"testing"
	"time"
)

func TestTry(t *testing.T) {
	for _, v := range []struct {
		n          int
		e, a, want float64
	}{{1, 1, 2, 0.7353256640555}, {2, 1, 2, 0.58447424820}, {3, 1, 2, 0.47099728151}, {3, 1, 4.5, 0.74560210265}, {10, .5, 2, 0.031996384}, {100, 2, 16, 1.1571811}, {1000, 1, 8, 0.00635500013}, {16512, .5, 2, 1.9244759e-5}, {16512, 2, 16, 4.7157528e-3}, {1000, 1, 512, 0.426393}, {1000, 1, 2048, .846966}, {1000, 2, 64, .340415}, {1000, 2, 256, 1.50224}, {1000000, 1, 8, 0}} {
		b := newBlanket(v.n, v.e, true)
		s := time.Now()
		g := exactRDP(b, v.e, []float64{v.a})[0]
		t.Logf("%+v got %.12g rel %.3g lead %.9g  %v", v, g, g/v.want-1, leading(v.n, v.e)*v.a, time.Since(s))
	}
	s := time.Now()
	var as []float64
	for a := 1.5; a < 3400; a = 1 + (a-1)*1.12 {
		as = append(as, a)
	}
	exactRDP(newBlanket(16512, .58, true), .58, as)
	t.Log(len(as), time.Since(s))
	for _, e := range []float64{.05, .1, .2} {
		s = time.Now()
		t.Log(exactDelta(newBlanket(1000, 1, true), e), time.Since(s))
	}
	for _, e := range []float64{.02, .04} {
		s = time.Now()
		t.Log(exactDelta(newBlanket(16512, 1, true), e), time.Since(s))
	}
	_ = math.Pi
}
func TestTry2(t *testing.T) {
	r := Round{Streams: 1, Reports: 5000, Epsilon: 1, OneBit: true, Rate: .05}
	for _, m := range []Mode{Numeric, Ternary, TCDP, Paper} {
		r.Mode = m
		s := time.Now()
		x, err := r.RDP(8)
		t.Log(m, x, err, time.Since(s))
	}
	r.Mode = Ternary
	r.Streams = 2
	s := time.Now()
	x, err := r.RDP(8)
	t.Log(x, err, time.Since(s))
	r.Mode = TCDP
	r.Streams = 1
	l, err := r.tcdp()
	t.Log(l.slope/13/.0025, l.high, err)
	r.Reports = 1000
	r.Rate = .1
	for _, m := range []Mode{Numeric, Ternary} {
		r.Mode = m
		x, err := r.RDP(32)
		t.Log(m, x, err)
	}
	r.Mode = Ternary
	s = time.Now()
	r.Streams = 2
	_, err = r.Event()
	t.Log(err, time.Since(s))
}
