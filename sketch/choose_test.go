package sketch

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/testing/raced"
)

// The thresholds of the theory, for tasks' settings; what a decoder for the wrong correlation
// costs; and that Opt is best where ρ* is known.
func TestAdvise(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		n, k, d       int
		randK, overRS float64
	}{{10, 5, 1024, 0.278, 0.347}, {10, 102, 1024, 0.272, 0.355}, {50, 20, 1024, 0.243, 0.319},
		{10, 50, 512, 0.273, 0.356}, {50, 1, 512, 0.255, 0.320}} {
		a, err := Advise(ctx, c.n, c.k, c.d, math.NaN())
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(a.Threshold-c.randK) > 1e-3 || math.Abs(a.OverSpatial-c.overRS) > 1e-3 ||
			a.Best != RandProjAvg {
			t.Errorf("n = %d, k = %d, d = %d: thresholds %.4f and %.4f, want %g and %g; %s", c.n, c.k, c.d,
				a.Threshold, a.OverSpatial, c.randK, c.overRS, a.Best)
		}
		for _, r := range a.Rows {
			if !math.IsNaN(r.Here) || r.Sent != c.k || r.Bits != 64 {
				t.Errorf("%+v", r)
			}
		}
	}
	for star, want := range map[float64]Estimator{-0.05: RandK, 0: RandK, 0.05: RandK,
		0.5: RandProjOpt, 1: RandProjOpt} {
		a, err := Advise(ctx, 10, 102, 1024, star)
		if err != nil {
			t.Fatal(err)
		}
		if a.Best != want {
			t.Errorf("ρ* = %g: %s", star, a.Best)
		}
		for _, r := range a.Rows { // the column of ρ* is one of the others where it is one
			if star == 0.5 && r.Here != r.Half || star == 0 && r.Here != r.None || star == 1 &&
				r.Here != r.Full {
				t.Errorf("ρ* = %g: %+v", star, r)
			}
		}
	}
	if a, err := Advise(ctx, 1, 3, 8, math.NaN()); err != nil || !(a.Threshold > 1) {
		t.Errorf("one client: %+v, %v", a, err)
	}
	for _, bad := range []struct {
		n, k, d int
		star    float64
	}{{10, 102, 1024, 1.1}, {10, 102, 1024, -0.2}, {0, 1, 8, 0}, {2, 9, 8, 0}, {2, 0, 8, 0}} {
		if _, err := Advise(ctx, bad.n, bad.k, bad.d, bad.star); !isParameter(err) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func isParameter(err error) bool {
	var p *check.Error
	return errors.As(err, &p)
}

// EDEN spends a whole number of bits per coordinate, below one on some of the coordinates. The
// spatial estimators spend at most the budget, Opt never worse than Avg or Rand-k.
func TestSpend(t *testing.T) {
	ctx := context.Background()
	c := Config{N: 10, D: 1024}
	for budget, want := range map[int]float64{1024: 0.571, 2048: 0.133, 3072: 0.0358, 4096: 0.0096,
		512: 2*1.571 - 1} {
		s, err := Spend(ctx, RotatedQuantised, c, budget, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(s.MSE-want) > 0.01*want || s.K*s.Bits > budget {
			t.Errorf("%d bits: %d × %d, error %g, want %g", budget, s.K, s.Bits, s.MSE, want)
		}
	}
	for _, budget := range []int{128, 1024, 4096} {
		for _, star := range []float64{0, 0.5, 0.9, 1} {
			found := map[Estimator]Spent{}
			for _, e := range []Estimator{RandK, RandProjAvg, RandProjOpt} {
				s, err := Spend(ctx, e, c, budget, 9*star, 100)
				if err != nil {
					t.Fatal(err)
				}
				if s.K*s.Bits > budget || s.K > 1024 || s.Compressor == nil {
					t.Errorf("%s, %d bits: %d × %d", e, budget, s.K, s.Bits)
				}
				found[e] = s
			}
			// Its ρ come from a list, in which Avg's is not.
			if o := found[RandProjOpt].MSE; o > 1.01*found[RandProjAvg].MSE ||
				o > found[RandK].MSE*(1+1e-12) {
				t.Errorf("%d bits, ρ* = %g: Opt %g, Avg %g, Rand-k %g", budget, star, o, found[RandProjAvg].MSE,
					found[RandK].MSE)
			}
		}
	}
	if _, err := Spend(ctx, RandKWangni, c, 100, 0, 1); !isParameter(err) {
		t.Errorf("Wangni: %v", err)
	}
	if _, err := Spend(ctx, RandK, c, 0, 0, 1); !isParameter(err) {
		t.Errorf("no bits: %v", err)
	}
}

// Every estimator by its name has the error that it predicts, on vectors that have the
// correlation that was asked for.
func TestEstimatorsByName(t *testing.T) {
	raced.Elsewhere(t, "TestDeterministic")
	ctx := context.Background()
	const n, k, d, star = 6, 20, 256, 0.7
	xs, err := AlikeVectors(t.Context(), n, d, star, 3)
	if err != nil {
		t.Fatal(err)
	}
	if r, q := Correlation(xs); math.Abs(r-star*(n-1)) > 1e-9 || math.Abs(q-n) > 1e-9 {
		t.Errorf("R = %g, Q = %g", r, q)
	}
	for _, e := range estimators() {
		if err := e.Check(); err != nil || e.Title() == string(e) {
			t.Errorf("%s: %v", e, err)
		}
		each := 64
		if e == RotatedQuantised {
			each = 2
		}
		c, err := e.New(Config{N: n, K: k, D: d, Root: 4, Beta: BetaMode{Kind: BetaAuto}}, star, each)
		if err != nil {
			t.Fatal(err)
		}
		if e == RandProjPlug { // its prediction is that of Opt, which it only comes near to
			continue
		}
		want, err := c.Predict(ctx, xs)
		if err != nil {
			t.Fatal(err)
		}
		var done atomic.Int64
		const rounds = 80
		m, err := Measure(ctx, c, xs, rounds, func() { done.Add(1) })
		if err != nil {
			t.Fatal(err)
		}
		// 5 standard errors, and 2 % for forms of large d.
		if math.Abs(m.MSE-want) > 5*m.StandardError+0.02*want || done.Load() != rounds {
			t.Errorf("%s: %g ± %g, predicted %g; %d trials told", e, m.MSE, m.StandardError, want,
				done.Load())
		}
		again, err := Measure(ctx, c, xs, rounds, nil)
		if err != nil || again != m {
			t.Errorf("%s: %+v, then %+v; %v", e, m, again, err)
		}
	}
	for _, e := range []Estimator{RandKWangni, TopKInduced} {
		if _, err := e.New(Config{N: n, K: k, D: d}, 0, 8); !isParameter(err) {
			t.Errorf("%s with 8 bits: %v", e, err)
		}
	}
	if _, err := Estimator("topk").New(Config{N: n, K: k, D: d}, 0, 64); !isParameter(err) {
		t.Error("topk accepted")
	}
	// The mean and its standard error, worked out by hand from the same rounds.
	c0, err := RandK.New(Config{N: n, K: k, D: d, Root: 4}, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	var e [3]float64
	for round := range e {
		got, err := RoundMean(ctx, c0, uint64(round), xs)
		if err != nil {
			t.Fatal(err)
		}
		e[round] = SquaredError(got, MeanOf(xs))
	}
	mean := (e[0] + e[1] + e[2]) / 3
	se := math.Sqrt(((e[0]-mean)*(e[0]-mean) + (e[1]-mean)*(e[1]-mean) + (e[2]-mean)*(e[2]-mean)) / 2 /
		3)
	if m, err := Measure(ctx, c0, xs, 3, nil); err != nil || math.Abs(m.MSE-mean) > 1e-12 ||
		math.Abs(m.StandardError-se) > 1e-12 {
		t.Errorf("%+v, want %g ± %g; %v", m, mean, se, err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	c, err := RandK.New(Config{N: n, K: k, D: d}, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Measure(ended, c, xs, 10, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// A grid works on nothing unless all of it is valid, and has its rows in the order of its lists.
func TestGrid(t *testing.T) {
	ctx := context.Background()
	g := Grid{N: []int{3, 4}, K: []int{2, 5}, D: []int{16}, Rho: []float64{0, 1},
		Estimators: []Estimator{RandK, RandKSpatialAvg}, Bits: 64, Trials: 3}
	var most, last atomic.Int64
	rows, err := g.Simulate(ctx, func(done, total int) {
		last.Store(int64(total))
		for old := most.Load(); int64(done) > old &&
			!most.CompareAndSwap(old, int64(done)); old = most.Load() {
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 16 || last.Load() != 48 || most.Load() != 48 || rows[0].Estimator != RandK ||
		rows[1].Estimator != RandKSpatialAvg || rows[2].K != 5 || rows[4].Rho != 1 || rows[8].N != 4 {
		t.Errorf("%d rows, %d of %d trials: %+v", len(rows), most.Load(), last.Load(), rows)
	}
	xs := [][]float64{{1, 2, 3}, {3, 2, 1}}
	rows, err = Grid{K: []int{3}, Estimators: []Estimator{RandK}, Bits: 64, Trials: 2,
		Vectors: xs}.Simulate(ctx, nil)
	if err != nil || len(rows) != 1 || rows[0].MSE != 0 || rows[0].N != 2 || rows[0].D != 3 ||
		math.Abs(rows[0].Rho-10./14) > 1e-12 {
		t.Errorf("%+v, %v", rows, err)
	}
	for name, change := range map[string]func(*Grid){
		"n = d":      func(g *Grid) { g.N = []int{3, 16} },
		"k > d":      func(g *Grid) { g.K = []int{2, 17} },
		"rho":        func(g *Grid) { g.Rho = []float64{0, 1.5} },
		"one trial":  func(g *Grid) { g.Trials = 1 },
		"no k":       func(g *Grid) { g.K = nil },
		"NaN":        func(g *Grid) { g.Vectors = [][]float64{{1}, {math.NaN()}} },
		"ragged":     func(g *Grid) { g.Vectors = [][]float64{{1, 2}, {1}} },
		"too many":   func(g *Grid) { g.Rho = make([]float64, 3000) },
		"wrong bits": func(g *Grid) { g.Bits = 63 },
	} {
		bad := g
		change(&bad)
		if _, err := bad.Simulate(ctx, func(int, int) {
			t.Errorf("%s: worked on", name)
		}); !isParameter(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
