package plurality

import (
	"context"

	"github.com/darrm/darrm/internal/check"
)

// Profile returns, for each ε ≥ 0 of the grid, a δ such that one answer is (ε, δ)-differentially
// private when one record changes at most t votes:
//
//	δ(ε) = max Σ_c (p(h,c) - e^ε·p(h',c))₊
//
// over all ordered pairs of histograms at 1 to t moved votes, so that both directions are in
// it. It is worked out from the integer masses, with E⁻ ≤ e^ε in place of e^ε and every term
// rounded up, as Certify does with the promised ε. Each ε stands for its decimal and is at most
// 700; the error is a *constraints.ParameterError that names it, or ctx.Err().
//
// Cost: O(C) a pair and ε, of which Certificate has the numbers: a second for the rows of
// (25,10), 130,000, and 500 values of ε.
func (c *Certified) Profile(ctx context.Context, epsilons []float64) ([]float64, error) {
	if c.Problem().K < 1 {
		return nil, errUncertified
	}
	factors := make([]factor, len(epsilons))
	for k, epsilon := range epsilons {
		if err := check.ProfileEpsilon(epsilon); err != nil {
			return nil, err
		}
		factors[k] = factorOf(epsilon)
	}
	worst, err := c.system.worst(ctx, factors, c.masses)
	if err != nil {
		return nil, err
	}
	deltas := make([]float64, len(worst))
	for k, units := range worst {
		deltas[k] = inUnits(units)
	}
	return deltas, nil
}

// worst returns, for each factor in the place of e^ε, what the pair spends that spends most. The
// error is ctx.Err().
func (s *System) worst(ctx context.Context, factors []factor, masses []uint64) ([]uint64, error) {
	worst := make([]uint64, len(factors))
	err := s.Pairs(ctx, func(p *Pair) bool {
		for k, f := range factors {
			worst[k] = max(worst[k], s.spent(f, masses, p))
		}
		return true
	})
	return worst, err
}
