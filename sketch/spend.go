package sketch

import (
	"context"
	"math"

	"github.com/darrm/darrm/internal/check"
)

// Spent is the best use of a client's bits by an estimator: K numbers of Bits each, and for Opt the
// ρ of its decoder.
type Spent struct {
	Compressor
	Estimator Estimator
	K, Bits   int
	Rho       float64
	MSE       float64 // predicted
}

// spendBits are the bits that a number may have, and spendRhos the values of ρ that Opt chooses
// from. Opt does not simply take ρ*: the clients' rounding errors are independent, so that a
// decoder with a smaller ρ can have the smaller error.
var (
	spendBits = []int{1, 2, 3, 4, 5, 6, 8, 10, 12, 16}
	spendRhos = []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 1}
)

// Spend finds the K and the bits per number with the smallest predicted error for n clients'
// vectors with correlation r and Q = Σ‖x_i‖², of at most budget bits per client, a scale of 32
// bits aside. e is RandK (with SRHT, whose numbers round better), RandProjAvg, RandProjOpt, whose
// decoder knows r, or RotatedQuantised.
func Spend(ctx context.Context, e Estimator, c Config, budget int, r, q float64) (Spent, error) {
	best := Spent{Estimator: e, MSE: math.Inf(1)}
	if err := checkStatistics(c.N, r, q); err != nil {
		return best, err
	}
	if err := check.Whole("bits per client", budget, 1, min(1<<40, math.MaxInt)); err != nil {
		return best, err
	}
	rhos := []float64{0}
	switch e {
	case RandK, RotatedQuantised:
	case RandProjAvg:
		rhos[0] = RhoAvg(c.N)
	case RandProjOpt:
		rhos = spendRhos
	default:
		return best, check.Wantf("estimator", string(e), "%s, %s, %s or %s", RandK, RandProjAvg,
			RandProjOpt, RotatedQuantised)
	}
	c.Ensemble = SRHT
	for _, b := range spendBits {
		c.K = min(c.D, budget/b)
		if c.K < 1 {
			continue
		}
		if e == RotatedQuantised {
			if b > maxRotatedBits {
				continue
			}
			rotated, err := newRotated(baseline{N: c.N,
				K: min((&rotated{baseline: baseline{D: c.D}}).padded(), budget/b), D: c.D, Root: c.Root}, b)
			if err != nil {
				return best, err
			}
			if v := rotated.MSE(q); v < best.MSE {
				best.Compressor, best.K, best.Bits, best.MSE = rotated, rotated.K, b, v
			}
			continue
		}
		for _, rho := range rhos {
			if c.N == 1 {
				rho = 0
			}
			c.T = Transform{Rho: rho}
			if c.Beta = (BetaMode{}); rho > 0 && rho < 1 {
				c.Beta.Kind = BetaAsymptotic // Monte Carlo for every choice would take minutes below d' = 256
			}
			codec, err := NewCodec(c)
			if err != nil {
				return best, err
			}
			rounded, err := newRounded(codec, b)
			if err != nil {
				return best, err
			}
			v, err := rounded.MSE(ctx, r, q)
			if err != nil {
				return best, err
			}
			if v < best.MSE {
				best.Compressor, best.K, best.Bits, best.Rho, best.MSE = rounded, c.K, b, rho, v
			}
		}
	}
	return best, nil
}
