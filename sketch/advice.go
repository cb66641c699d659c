package sketch

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/darrm/darrm/internal/check"
)

// Advice says which estimator has the smallest error for n clients, k numbers each, and what
// correlation it takes.
type Advice struct {
	N, K, D int
	// Star is ρ*, NaN if it is not known. Then errors are those at ρ* = 0, ½ and 1 alone.
	Star float64
	Rows []AdviceRow
	// Best is the estimator with the smallest error that can be had: with ρ* known Opt, else
	// Rand-k or Avg is the choice, by whether the vectors are thought to be more alike than Threshold.
	Best Estimator
	// Threshold is the ρ* from which Rand-Proj-Spatial(Avg) is better than Rand-k, and
	// OverSpatial that from which it is better than Rand-k-Spatial(Avg) too. Above 1: never.
	Threshold, OverSpatial float64
	// Quantised is what EDEN makes of the same bits, 64 for each number: one client's error in
	// units of ‖x‖², which correlation does not change. Its K coordinates have Bits bits each.
	Quantised struct {
		K, Bits int
		Error   float64
	}
}

// AdviceRow is one estimator's error in units of Q/n², which is the mean of the squared
// lengths by n.
type AdviceRow struct {
	Estimator        Estimator
	None, Half, Full float64 // at ρ* = 0, ½ and 1
	Here             float64 // at Star; NaN without
}

// Advise works out the advice. star is ρ* = R/(n-1), or NaN if it is not known.
func Advise(ctx context.Context, n, k, d int, star float64) (Advice, error) {
	a := Advice{N: n, K: k, D: d, Star: star}
	base := Config{N: n, K: k, D: d}
	low := 0.0
	if n > 1 {
		low = -1 / float64(n-1)
	}
	if !math.IsNaN(star) && !(star >= low-1e-9 && star <= 1+1e-9) {
		return a, &check.Error{Name: "rho", Value: star, Rule: "in [-1/(n-1), 1], and 0 for one client"}
	}
	at := func(e Estimator, star float64) (float64, error) {
		if n == 1 {
			star = 0
		}
		c, _ := e.Config(base, star)
		return PredictMSE(ctx, c, star*float64(n-1), float64(n*n))
	}
	for _, e := range []Estimator{RandK, RandKSpatialAvg, RandProjAvg, RandKSpatialOpt, RandProjOpt, RandKSpatialMax, RandProjMax} {
		row := AdviceRow{Estimator: e, Here: math.NaN()}
		var err error
		for _, at2 := range []struct {
			star float64
			to   *float64
		}{{0, &row.None}, {0.5, &row.Half}, {1, &row.Full}, {star, &row.Here}} {
			if math.IsNaN(at2.star) {
				continue
			}
			if *at2.to, err = at(e, at2.star); err != nil {
				return a, err
			}
		}
		a.Rows = append(a.Rows, row)
	}
	threshold := func(a, b Estimator) (float64, error) {
		x, _ := a.Config(base, 0)
		y, _ := b.Config(base, 0)
		star, ok, err := Crossing(ctx, x, y)
		if !ok {
			star = math.Inf(1)
		}
		return star, err
	}
	var err error
	if a.Threshold, err = threshold(RandProjAvg, RandK); err != nil {
		return a, err
	}
	if a.OverSpatial, err = threshold(RandProjAvg, RandKSpatialAvg); err != nil {
		return a, err
	}
	a.Best = RandProjAvg
	if !math.IsNaN(star) {
		// Max is no choice: it is Opt where the vectors are identical, and elsewhere a risk.
		rows := slices.DeleteFunc(slices.Clone(a.Rows), func(r AdviceRow) bool {
			return r.Estimator == RandKSpatialMax || r.Estimator == RandProjMax
		})
		a.Best = slices.MinFunc(rows, func(x, y AdviceRow) int {
			if math.Abs(x.Here-y.Here) <= 1e-9*math.Abs(y.Here) {
				return 0 // the simpler one stands first
			}
			return cmp.Compare(x.Here, y.Here)
		}).Estimator
	}
	return a, a.quantise()
}

// quantise finds EDEN's best use of 64k bits.
func (a *Advice) quantise() error {
	a.Quantised.Error = math.Inf(1)
	padded := 1 << bits.Len(uint(a.D-1))
	for b := 1; b <= MaxRotatedBits; b++ {
		k := min(padded, (float*a.K-scaleBits)/b)
		if k < 1 {
			continue
		}
		r, err := NewRotated(Baseline{N: 1, K: k, D: a.D}, b)
		if err != nil {
			return err
		}
		if v := r.MSE(1); v < a.Quantised.Error {
			a.Quantised.K, a.Quantised.Bits, a.Quantised.Error = k, b, v
		}
	}
	return nil
}
