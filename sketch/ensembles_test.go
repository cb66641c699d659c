package sketch

import (
	"fmt"
	"math"
	"testing"

	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/sketch/stream"
)

// S8: the ensembles at T = 1, one client. v is 30 to 60 %: with 40000 trials 3 % are 10 standard
// errors, with 10000 trials 5. Gaussian and row-normalised Gaussian differ by 13 %.
func TestS8Ensembles(t *testing.T) {
	raced.Elsewhere(t, "TestDeterministic")
	x := make([]float64, 16)
	for j := range x {
		x[j] = float64(j%5) - 1
	}
	q := dot(x, x)
	for e, want := range map[Ensemble]float64{SRHT: 3, Gaussian: 4.25, GaussianRowNorm: 3.75,
		CountSketch: 3.75, RowSelect: 3, Haar: 3} {
		c := Config{N: 1, K: 4, D: 16, Ensemble: e, Root: 12}
		closeTo(t, e.String()+", predicted", mse(t, c, 0, q), want*q, 1e-12)
		got, _ := trials(t, c, [][]float64{x}, often(10000, 40000))
		closeTo(t, e.String(), got, want*q, 0.03)
	}
}

// The other ensembles' errors at ρ ≠ 0, whose α has blocks of K: prediction by Monte Carlo
// against measurement. v is 35 %: 6 % with 800 trials are 5 standard errors. Every day each ensemble
// has one of the two blocks, K or S.
func TestAblationsPredicted(t *testing.T) {
	raced.Elsewhere(t, "TestDeterministic")
	for _, e := range []Ensemble{Gaussian, GaussianRowNorm, CountSketch, Haar} {
		for _, k := range []int{3, 10} { // K and S
			if !long() && (k == 3) == (e == Gaussian || e == CountSketch) {
				continue
			}
			c := Config{N: 3, K: k, D: 16, Ensemble: e, T: Transform{Rho: 0.5}, Root: 31,
				Beta: BetaMode{BetaMonteCarlo, 800}}
			xs := equicorrelated(3, 16, 0.4)
			r, q := Correlation(xs)
			got, dev := trials(t, c, xs, 800)
			want := mse(t, c, r, q)
			t.Logf("%v, k = %d: %.4f, predicted %.4f, v = %.2f", e, k, got, want, dev/got)
			closeTo(t, fmt.Sprintf("%v, k = %d", e, k), got, want, 0.06)
		}
	}
}

// S9: how often S loses rank at nk = d = 32. 2·10⁴ trials give (8,4) a standard error of 0.001.
func TestS9RankLaw(t *testing.T) {
	raced.Sequential(t)
	for _, v := range []struct {
		n, k      int
		low, high float64
	}{{8, 4, 0.016, 0.021}, {2, 16, 0.83, 0.87}, {32, 1, 0, 1e-4}} {
		m := often(2000, 20000)
		if v.n == 8 {
			m = often(20000, 100000)
		}
		deficient := 0
		c := Config{N: v.n, K: v.k, D: 32, Ensemble: SRHT, Root: 99}
		for draw := range uint64(m) {
			if c.sample(draw).rank() < 32 {
				deficient++
			}
		}
		if f := float64(deficient) / float64(m); f < v.low || f > v.high {
			t.Errorf("(%d,%d,32): %g of the draws lose rank, want [%g, %g]", v.n, v.k, f, v.low, v.high)
		}
	}
}

// S10: what must not help. A rotation that all clients share leaves Rand-k's error as it is; and
// if all clients drew from one stream, S would have rank k.
func TestS10Controls(t *testing.T) {
	xs := equicorrelated(4, 64, 0.9)
	common := &srht{signs: stream.New(1), rows: make([]int, 64), scale: 1.0 / 8}
	rotated := make([][]float64, len(xs))
	for j := range common.rows {
		common.rows[j] = j
	}
	for i, x := range xs {
		rotated[i] = make([]float64, 64)
		common.times(rotated[i], x, make([]float64, 64))
	}
	// v is 15 %; 4 % with 2000 trials are 10 standard errors.
	c := Config{N: 4, K: 8, D: 64, Ensemble: RowSelect, Root: 13}
	r, q := Correlation(xs)
	got, _ := trials(t, c, rotated, 2000)
	closeTo(t, "Rand-k after one rotation for all", got, mse(t, c, r, q), 0.04)

	c.Ensemble = SRHT
	s := &system{config: c}
	for range c.N {
		s.g = append(s.g, c.matrix(0, 0))
	}
	if got := s.rank(); got != c.K {
		t.Errorf("one stream for all: rank %d, want k = %d", got, c.K)
	}
	s.g = s.g[:0]
	for i := range c.N {
		s.g = append(s.g, c.matrix(0, uint64(i)))
	}
	if got := s.rank(); got != c.N*c.K {
		t.Errorf("own streams: rank %d, want nk = %d", got, c.N*c.K)
	}
	if a, b := c.matrix(0, 1).(*srht), c.matrix(1, 1).(*srht); a.signs == b.signs ||
		fmt.Sprint(a.rows) == fmt.Sprint(b.rows) {
		t.Error("two rounds of a client have one matrix")
	}
}

// The plug-in's ρ: its errors at ρ* = 0, 0.5, 0.9, 1 were 0.901, 0.742, 0.339, 0.112 over 100
// trials. v is 6 to 10 %: 8 % with 25 trials are 4 standard errors. Avg has 1.097, 0.742, 0.460 and
// 0.388.
func TestPlugIn(t *testing.T) {
	raced.Elsewhere(t, "TestDeterministic")
	for star, want := range map[float64]float64{0: 0.901, 0.5: 0.742, 0.9: 0.339, 1: 0.112} {
		if !long() && star != 0 && star != 0.9 {
			continue
		}
		c := Config{N: 10, K: 102, D: 1024, Ensemble: SRHT, T: Transform{PlugIn: true}, Root: 3}
		got, _ := trials(t, c, equicorrelated(10, 1024, star), often(12, 100))
		closeTo(t, fmt.Sprintf("plug-in at ρ* = %g", star), got, want, 0.08)
	}
	// The estimate of R is unbiased in every ensemble: mean of 800 rounds, in the long test of 4000, against R, limit 5 standard
	// errors.
	xs := equicorrelated(4, 32, 0.6)
	r, _ := Correlation(xs)
	for _, e := range []Ensemble{RowSelect, SRHT, Gaussian, CountSketch, Haar} {
		c := Config{N: 4, K: 8, D: 32, Ensemble: e, T: Transform{PlugIn: true}, Root: 3}
		co := codec(t, c)
		num, den, square := 0.0, 0.0, 0.0
		for round := range uint64(often(800, 4000)) {
			y := map[uint64][]float64{}
			energy := 0.0
			for i, x := range xs {
				v, err := co.EncodeValues(round, uint64(i), x)
				if err != nil {
					t.Fatal(err)
				}
				y[uint64(i)] = v
				energy += dot(v, v)
			}
			s := co.system(round, y)
			estimate := s.plugIn(s.lifted()) * energy // its numerator, up to e
			num += estimate
			den += energy
			square += (estimate - r*energy) * (estimate - r*energy)
		}
		se := math.Sqrt(square) / den
		if got := num / den; math.Abs(got-r) > 5*se {
			t.Errorf("%v: R estimated as %g, is %g, standard error %g", e, got, r, se)
		}
	}
}

// Gaussian rows have full rank: Max on identical vectors has the error d/(nk) - 1 exactly. v is
// 50 %: 12 % with 600 trials are 6 standard errors.
func TestGaussianMax(t *testing.T) {
	xs := equicorrelated(3, 16, 1)
	c := Config{N: 3, K: 4, D: 16, Ensemble: Gaussian, T: Transform{Rho: 1}, Root: 8}
	closeTo(t, "predicted", mse(t, c, 2, 3), 16.0/12-1, 1e-9)
	got, _ := trials(t, c, xs, 600)
	closeTo(t, "measured", got, 16.0/12-1, 0.12)
	if r0 := mse(t, c, 0, 3); !(r0 > 16.0/12-1) {
		t.Errorf("at R = 0 predicted %g", r0)
	}
}

// Haar: rows are orthonormal and have no direction. A coordinate of a uniform unit vector has the
// mean fourth power 3/(d(d+2)), SRHT's 1/d² and a row-normalised selection's 1/d; in 4000 draws the
// standard error is 2 %.
func TestHaarRows(t *testing.T) {
	c := Config{N: 1, K: 5, D: 12, Ensemble: Haar, Root: 4}
	const draws = 4000
	fourth, across := 0.0, 0.0
	for round := range uint64(draws) {
		g := c.matrix(round, 0).(dense)
		for a := range g {
			for b := range g[:a+1] {
				want := 0.0
				if a == b {
					want = 1
				}
				if got := dot(g[a], g[b]); math.Abs(got-want) > 1e-13 {
					t.Fatalf("rows %d and %d have the product %g", a, b, got)
				}
			}
		}
		last := g[4] // which has been moved most
		fourth += math.Pow(last[3], 4) / draws
		across += last[3] * last[3] * last[7] * last[7] / draws
	}
	closeTo(t, "fourth power", fourth, 3./(12*14), 0.08)
	closeTo(t, "of two coordinates", across, 1./(12*14), 0.08) // the same law in every basis
	// Rows near to each other are made orthonormal all the same.
	row := []float64{1, 1e-9, 0}
	orthonormalise(row, dense{{1, 0, 0}})
	closeTo(t, "a row that is nearly another", math.Abs(row[1]), 1, 1e-12)
	if math.Abs(row[0]) > 1e-15 {
		t.Errorf("%v is not orthogonal to the first axis", row)
	}
}

// Haar loses no rank: Max on equal vectors has the error d/(nk) - 1, which SRHT's is above; and in
// between its errors are those of the limit that SRHT has for large d.
func TestHaarErrors(t *testing.T) {
	raced.Elsewhere(t, "TestDeterministic")
	x := equicorrelated(2, 16, 1)
	c := Config{N: 2, K: 6, D: 16, Ensemble: Haar, T: Transform{Rho: 1}, Root: 9}
	r, q := Correlation(x)
	closeTo(t, "Max on equal vectors, predicted", mse(t, c, r, q), q/4*(16./12-1)*2, 1e-9)
	got, _ := trials(t, c, x, 3000)
	closeTo(t, "Max on equal vectors", got, mse(t, c, r, q), 0.06)
	for _, rho := range []float64{0.3, 0.8} {
		drawn := Config{N: 3, K: 16, D: 64, Ensemble: Haar, T: Transform{Rho: rho}, Root: 10,
			Beta: BetaMode{BetaMonteCarlo, 100}}
		limit := drawn
		limit.Beta = BetaMode{Kind: BetaAsymptotic}
		closeTo(t, fmt.Sprint("β at ", rho), betaOf2(t, limit), betaOf2(t, drawn), 0.01)
	}
}
