package sketch

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The two ways to S are the same matrix.
func TestOuterByXOR(t *testing.T) {
	for _, v := range [][3]int{{5, 8, 16}, {3, 16, 32}, {40, 3, 64}, {2, 1, 1}} {
		s := Config{N: v[0], K: v[1], D: v[2], Ensemble: SRHT, Root: 5}.sample(2)
		a, err := s.outerXOR(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.outer(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(a, b, 1e-12) {
			t.Errorf("%v: not the same S", v)
		}
	}
}

// From nk = 8d' on β needs no draws, whatever d' is: the limit for large d is near what draws
// say, and β of a million clients is there at once. At k = d it is T(n) exactly.
func TestManyClientsNeedNoDraws(t *testing.T) {
	for _, v := range [][3]int{{32, 2, 8}, {64, 4, 32}, {64, 1, 8}} {
		for _, rho := range []float64{0.1, 0.5, 0.9} {
			c := Config{N: v[0], K: v[1], D: v[2], Ensemble: SRHT, T: Transform{Rho: rho}}
			if way, err := c.way(linear{rho: rho}); way != BetaAsymptotic || err != nil {
				t.Errorf("%v: %v, %v", v, way, err)
			}
			drawn := c
			drawn.Beta = BetaMode{BetaMonteCarlo, 200}
			if a, b := betaOf2(t, c), betaOf2(t, drawn); math.Abs(a/b-1) > 1e-3 {
				t.Errorf("%v, rho = %g: β = %g, by draws %g", v, rho, a, b)
			}
		}
	}
	c := Config{N: 50, K: 16, D: 16, Ensemble: SRHT, T: Transform{Rho: 0.3}}
	if b, want := betaOf2(t, c), 1+0.3*49; math.Abs(b/want-1) > 1e-12 {
		t.Errorf("k = d: β = %g, want %g", b, want)
	}
	c = Config{N: 1 << 20, K: 1, D: 64, Ensemble: SRHT, T: Transform{Avg: true}}
	if way, err := c.way(c.T.of(c.N, 0)); way != BetaAsymptotic || err != nil {
		t.Errorf("%v, %v", way, err)
	}
	// Below that, draws are few where making their matrices is much work.
	c = Config{N: 1000, K: 1, D: 128, Ensemble: SRHT}
	if n := c.draws(linear{rho: 0.5}); n > 200 {
		t.Errorf("%d draws of 1000 clients' matrices", n)
	}
}

// Vectors that would not fit the memory are refused before any is made, and a simulation ends with
// its context, even while its vectors are made.
func TestAlikeVectorsAreBounded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := AlikeVectors(ctx, 3, 8, 0.5, 0); err == nil {
		t.Error("made though cancelled")
	}
	for want, g := range map[string]Grid{
		"clients n = 100000, but it must be at most 134 for d = 1000000": {N: []int{100000}, K: []int{1},
			D: []int{1000000}, Rho: []float64{0}, Trials: 2},
		"below d = 16": {N: []int{16}, K: []int{1}, D: []int{16}, Rho: []float64{0}, Trials: 2},
		"rho = 1.5":    {N: []int{3}, K: []int{1}, D: []int{16}, Rho: []float64{1.5}, Trials: 2},
		"trials = 1000000000, but it must be between 2 and 16777216": {N: []int{3}, K: []int{1},
			D: []int{16}, Rho: []float64{0}, Trials: 1e9},
	} {
		g.Estimators, g.Bits = []Estimator{RandK}, 64
		if _, err := g.plan(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for _, star := range []float64{-0.6, 1.1, math.NaN()} {
		if _, err := RandProjOpt.New(Config{N: 3, K: 2, D: 8}, star, 64); err == nil ||
			!strings.Contains(err.Error(), "rho = ") {
			t.Errorf("Opt for rho = %g: %v", star, err)
		}
	}
}
