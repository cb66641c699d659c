package sketch

import (
	"math"
	"testing"
)

// The counterexamples of docs/errata.md, "Correlated mean estimation".

// β makes the estimate unbiased: nd/E[rank S] for identical vectors and T the identity, d/k for T =
// 1. All by enumeration; E[rank S] is 3/2 at (2,1,2) and 10/3 at (2,2,4), TestA4RankLaw.
func TestErratumScaleOfTheEstimates(t *testing.T) {
	for _, v := range []struct {
		n, k, d int
		rank    float64
	}{{2, 1, 2, 3. / 2}, {2, 2, 4, 10. / 3}} {
		d, k := float64(v.d), float64(v.k)
		c := Config{N: v.n, K: v.k, D: v.d, Ensemble: SRHT, T: Transform{Rho: 1}}
		xs := [][]float64{make([]float64, v.d), make([]float64, v.d)}
		xs[0][0], xs[1][0] = 1, 1
		all := allSRHT(v.k, v.d, false)
		e := enumerate(t, c, all, xs)
		closeTo(t, "β of Theorem 2.4.3", e.beta, float64(v.n)*d/v.rank, 1e-12)
		if e.bias > 1e-12 || e.beta < 1.15*d/k {
			t.Errorf("(%d,%d,%d): bias %g with β = %g", v.n, v.k, v.d, e.bias, e.beta)
		}
		c.T.Rho = 0
		closeTo(t, "β of Theorem 2.4.4", enumerate(t, c, all, xs).beta, d/k, 1e-12)
	}
}

// For identical vectors the error is d/E[rank S] - 1 in units of ‖x‖², that of Rand-k (d/k-1)/n.
// With probability δ the rank may be as low as k: δ = 2/3 is too much at (10,1,1024), and
// nk/(d+nk-k) is the limit.
func TestErratumRankThreshold(t *testing.T) {
	n, k, d := 10., 1., 1024.
	errorAt := func(delta float64) float64 { return d/((1-delta)*n*k+delta*k) - 1 }
	plain, limit := (d/k-1)/n, n*k/(d+n*k-k)
	closeTo(t, "limit", limit, 0.00968, 1e-3)
	if errorAt(2./3) <= 2*plain || errorAt(limit) > plain*(1+1e-12) || errorAt(1.01*limit) <= plain {
		t.Errorf("errors %g at 2/3, %g at %g, of Rand-k %g", errorAt(2./3), errorAt(limit), limit, plain)
	}
	// n = 2, nk = d is the only case in which the limit is 2/3.
	closeTo(t, "largest limit", 2*8/(16+2*8-8.), 2./3, 1e-12)
}

// Ten clients that send one of 1024 coordinates each collide with probability 0.043: the printed
// C(d,nk)/C(d,k)ⁿ leaves out the (nk)!/(k!)ⁿ orders. By simulation as well, 20,000 draws: a
// standard error of 0.0014.
func TestErratumFullRankOfSubsampling(t *testing.T) {
	const n, d, draws = 10, 1024, 20_000
	full, orders := 1.0, 1.0
	for i := range n {
		full *= 1 - float64(i)/d
		orders *= float64(i + 1)
	}
	closeTo(t, "Pr[full rank]", full, 0.957, 1e-3)
	closeTo(t, "as printed", full/orders, 2.6e-7, 0.02)
	c := Config{N: n, K: 1, D: d, Ensemble: RowSelect, Root: 5}
	hits := 0
	for draw := range uint64(draws) {
		sent := map[int]bool{}
		for _, g := range c.sample(draw).g {
			sent[g.(selection)[0]] = true
		}
		if len(sent) == n {
			hits++
		}
	}
	if f := float64(hits) / draws; math.Abs(f-full) > 0.006 {
		t.Errorf("%g of the draws have full rank, want %g", f, full)
	}
}

// With nk = 5d not all methods are Rand-k: on identical vectors its error stays at (d/k-1)/n, and
// the others' falls to nothing.
func TestErratumManyNumbers(t *testing.T) {
	c := Config{N: 20, K: 16, D: 64, Ensemble: RowSelect}
	const r, q = 19, 20
	closeTo(t, "Rand-k", mse(t, c, r, q), 0.150, 1e-3)
	c.T.Rho = 1
	closeTo(t, "Rand-k-Spatial(Max)", mse(t, c, r, q), 0.0032, 0.01)
	c.Ensemble = SRHT
	if got := mse(t, c, r, q); got > 1e-12 {
		t.Errorf("Rand-Proj-Spatial(Max): %g", got)
	}
}

// Three vectors of which no two are orthogonal, and R = 0: only the sum of inner products vanishes.
func TestErratumZeroCorrelation(t *testing.T) {
	xs := [][]float64{{1, 0}, {1, 0}, {-0.5, 1}}
	if r, _ := Correlation(xs); r != 0 {
		t.Errorf("R = %g", r)
	}
	for i := range xs {
		for j := range i {
			if dot(xs[i], xs[j]) == 0 {
				t.Errorf("%v and %v are orthogonal", xs[i], xs[j])
			}
		}
	}
}

// "Strictly less" is "not larger": by enumeration both errors are 1/3 at (2,1,2) on identical
// vectors.
func TestErratumNotStrictlyLess(t *testing.T) {
	c := Config{N: 2, K: 1, D: 2, Ensemble: RowSelect, T: Transform{Rho: 1}}
	same := [][]float64{{1, 0}, {1, 0}}
	closeTo(t, "Rand-k-Spatial(Max)", enumerate(t, c, allSelections(1, 2), same).mse, 1./3, 1e-12)
	c.Ensemble = SRHT
	closeTo(t, "Rand-Proj-Spatial(Max)", enumerate(t, c, allSRHT(1, 2, false), same).mse, 1./3, 1e-12)
}
