package sketch

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// Advice names the estimator with the smallest error for n clients and k numbers each, the
// correlation that it takes, and the error with rounded numbers for the same bits. Errors are in
// units of Q/n², the mean of the squared lengths by n.
type Advice struct {
	N    int     `json:"n"`
	K    int     `json:"k"`
	D    int     `json:"d"`
	Star float64 `json:"rho"` // ρ*, NaN if it is not known
	// Best is the one of Rows to use. If ρ* is not known it is RandProjAvg, for vectors that are more
	// alike than Threshold, or RandK where Threshold is out of reach.
	Best Estimator `json:"use"`
	// Threshold is the ρ* from which Rand-Proj-Spatial(Avg) is better than Rand-k, and
	// OverSpatial that from which it is better than Rand-k-Spatial(Avg). +Inf: never.
	Threshold   float64 `json:"better_than_rand_k_from_rho"`
	OverSpatial float64 `json:"better_than_rand_k_spatial_from_rho"`
	// Rows are estimators that send K numbers of 64 bits.
	Rows []AdviceRow `json:"errors"`
	// SameBits are estimators that spend the bits of K numbers on more numbers of fewer bits.
	SameBits []AdviceRow `json:"same_bits"`
}

// AdviceRow is one estimator's predicted errors.
type AdviceRow struct {
	Estimator Estimator `json:"estimator"`
	// Sent and Bits are the numbers sent and the bits of each. In SameBits every error is that of the
	// best split at its own ρ*; these are the split at Advice.Star, or at ρ* = ½ without.
	Sent int     `json:"k"`
	Bits int     `json:"bits_per_number"`
	None float64 `json:"error_at_rho_0"`
	Half float64 `json:"error_at_rho_0_5"`
	Full float64 `json:"error_at_rho_1"`
	Here float64 `json:"error"` // at Advice.Star; NaN without
}

// little is the gain below which the simpler estimator is advised.
const little = 0.01

// Advise works out the advice. star is ρ* = R/(n-1), or NaN if it is not known.
func Advise(ctx context.Context, n, k, d int, star float64) (Advice, error) {
	a := Advice{N: n, K: k, D: d, Star: star, Best: RandProjAvg}
	base := Config{N: n, K: k, D: d, Ensemble: SRHT}
	if err := base.check(); err != nil {
		return a, err
	}
	if !math.IsNaN(star) {
		if err := checkStar(n, star); err != nil {
			return a, err
		}
	}
	whole := func(e Estimator) func(float64) (AdviceRow, error) {
		return func(star float64) (AdviceRow, error) {
			c, _ := e.Config(base, star)
			v, err := PredictMSE(ctx, c, star*float64(n-1), float64(n*n))
			return AdviceRow{Here: v, Sent: k, Bits: float}, err
		}
	}
	rounded := func(e Estimator) func(float64) (AdviceRow, error) {
		return func(star float64) (AdviceRow, error) {
			s, err := Spend(ctx, e, Config{N: n, D: d}, float*k, star*float64(n-1), float64(n*n))
			return AdviceRow{Here: s.MSE, Sent: s.K, Bits: s.Bits}, err
		}
	}
	var err error
	for _, e := range []Estimator{RandK, RandKSpatialAvg, RandProjAvg, RandKSpatialOpt, RandProjOpt,
		RandProjMax} {
		if a.Rows, err = a.add(a.Rows, e, whole(e)); err != nil {
			return a, err
		}
	}
	for _, e := range []Estimator{RandProjAvg, RandProjOpt, RotatedQuantised} {
		if a.SameBits, err = a.add(a.SameBits, e, rounded(e)); err != nil {
			return a, err
		}
	}
	if a.Threshold, err = threshold(ctx, base, RandProjAvg, RandK); err != nil {
		return a, err
	}
	if a.OverSpatial, err = threshold(ctx, base, RandProjAvg, RandKSpatialAvg); err != nil {
		return a, err
	}
	if math.IsNaN(star) {
		if a.Threshold >= 1 {
			a.Best = RandK
		}
		return a, nil
	}
	// Max is no choice: it is Opt where the vectors are identical, and elsewhere a risk.
	best := slices.MinFunc(a.Rows[:len(a.Rows)-1], func(x, y AdviceRow) int {
		return cmp.Compare(x.Here, y.Here)
	})
	if a.Best = best.Estimator; best.Here >= (1-little)*a.Rows[0].Here {
		a.Best = RandK
	}
	return a, nil
}

// add appends the row of e, whose errors at works out. At star = ρ* of one client all are the same.
func (a *Advice) add(rows []AdviceRow, e Estimator,
	at func(star float64) (AdviceRow, error)) ([]AdviceRow, error) {
	row := AdviceRow{Estimator: e, Here: math.NaN()}
	for _, x := range []struct {
		star float64
		to   *float64
	}{{0, &row.None}, {1, &row.Full}, {0.5, &row.Half}, {a.Star, &row.Here}} {
		if math.IsNaN(x.star) {
			continue
		}
		star := min(x.star, 1)
		if a.N == 1 {
			star = 0
		}
		v, err := at(star)
		if err != nil {
			return rows, err
		}
		*x.to, row.Sent, row.Bits = v.Here, v.Sent, v.Bits
	}
	return append(rows, row), nil
}

func threshold(ctx context.Context, base Config, better, worse Estimator) (float64, error) {
	x, _ := better.Config(base, 0)
	y, _ := worse.Config(base, 0)
	return crossing(ctx, x, y)
}
