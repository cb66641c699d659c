package geometry

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestParseSet(t *testing.T) {
	for text, want := range map[string][2]float64{"l2:3": {2, 6}, "l1:0.5": {1, 1},
		"lp:1.5:2": {1.5, 4}, "simplex:1": {1, 2}} {
		s, err := ParseSet(text, 4)
		if err != nil || s.Norm() != want[0] || math.Abs(s.Diameter()-want[1]) > 1e-12 || s.Dim() != 4 {
			t.Errorf("%s: %v, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "l2", "l2:", "l2:x", "l2:-1", "l2:0", "l2:NaN", "l2:+Inf",
		"lp:1", "lp:1:1", "lp:3:1", "l1:1:1", "ball:1"} {
		if s, err := ParseSet(text, 4); err == nil {
			t.Errorf("%q gives %v", text, s.Name())
		}
	}
}

// A feature 1 more never leaves the bound, nor does the bound exceed what is needed.
func TestWithIntercept(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		q := 1 + 3*rng.Float64()
		if rng.IntN(4) == 0 {
			q = math.Inf(1)
		}
		radius := math.Exp(6*rng.Float64() - 3)
		want := math.Pow(math.Pow(radius, q)+1, 1/q)
		if math.IsInf(q, 1) {
			want = max(radius, 1)
		}
		got := WithIntercept(radius, q)
		if got < want*(1-1e-15) || got > want*(1+1e-10) {
			t.Fatalf("WithIntercept(%v, %v) = %v, want %v", radius, q, got, want)
		}
		if got < Norm([]float64{radius, 1}, q) {
			t.Fatal("below the norm itself")
		}
	}
}
