package answers

import (
	"context"
	"errors"
	"math"

	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/num"
)

// CertifyDelta certifies masses of p's one answer with the smallest δ that is shown at the ε of p; p.Delta is not looked
// at. It is found in floating point, up to a part of 1e-12, and proved by CertifyEach. The masses themselves are
// certified. The error is one of CertifyEach's, or says that no δ below 1 is shown. Cost: two passes over all pairs.
func CertifyDelta(ctx context.Context, p Problem, masses []uint64) (*Certified, error) {
	p.Delta = 0.5 // any: the pairs are the same
	s, err := NewSystem(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := s.checkMasses(masses); err != nil {
		return nil, err
	}
	delta, err := s.lost(ctx, masses, p.Epsilon)
	for more := 1e-12; err == nil && delta < 1; more *= 16 {
		var c *Certified
		each := game.Each{Epsilon: p.Epsilon, Delta: delta}
		if c, err = s.one(ctx, masses, each); c != nil || err != nil {
			return c, err
		}
		delta += max(1e-300, float64(delta*more), float64(more*1e-6))
	}
	if err != nil {
		return nil, err
	}
	return nil, check.Namedf("no delta below 1 is proved at epsilon = %v", p.Epsilon)
}

// CertifyEpsilon is CertifyDelta for the smallest ε of ten digits that is shown at the δ of p, up to 700.
func CertifyEpsilon(ctx context.Context, p Problem, masses []uint64) (*Certified, error) {
	delta := p.Delta
	p.Delta, p.Epsilon = 0.5, check.MaxTotalEpsilon
	s, err := NewSystem(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := s.checkMasses(masses); err != nil {
		return nil, err
	}
	high, err := num.LeastTenDigits(0, p.Epsilon, 5e-7, func(x float64) (bool, error) {
		lost, err := s.lost(ctx, masses, x)
		return lost <= delta, err
	})
	if err != nil {
		return nil, err
	}
	// What floating point finds may be too small by its rounding.
	for more := 1e-10; high <= check.MaxTotalEpsilon && more < 1; more *= 4 {
		c, err := s.one(ctx, masses, game.Each{Epsilon: high, Delta: delta})
		if c != nil || err != nil {
			return c, err
		}
		high = num.TenDigits(float64(high * (1 + more)))
	}
	return nil, check.Namedf("no epsilon up to %d is proved at delta = %v", check.MaxTotalEpsilon, delta)
}

// one certifies one answer that keeps each, as its promise; it is nil where it does not keep it.
func (s *System) one(ctx context.Context, masses []uint64, each game.Each) (*Certified, error) {
	s = handle.Made(s)
	p := s.problem
	if p.Answers != 1 {
		return nil, check.Want("answers", p.Answers, "1")
	}
	var err error
	p.Epsilon = each.Epsilon
	if p.Delta, err = each.Composed(each.Epsilon, 1); err != nil {
		return nil, err
	}
	if p.Delta > 0 { // the promise is compared rounded down
		p.Delta = up(p.Delta)
	}
	if s, err = NewSystem(ctx, p); err != nil {
		return nil, err
	}
	c, err := CertifyEach(ctx, s, masses, each)
	var broken *PriceError
	if errors.As(err, &broken) { // it does not keep each: all that it would keep is within p
		return nil, nil
	}
	return c, err
}

// lost returns about the largest Σ (P - e^ε·P')₊ over all ordered pairs.
func (s *System) lost(ctx context.Context, masses []uint64, epsilon float64) (float64, error) {
	most, factor := 0.0, math.Exp(epsilon)
	for pair, err := range s.Laws(ctx, masses) {
		if err != nil {
			return 0, err
		}
		forth, back := 0.0, 0.0
		for _, o := range pair {
			n := float64(o.Count)
			a := float64(float64(o.P.Mass) / float64(o.P.Classes) * 0x1p-53)
			b := float64(float64(o.PPrime.Mass) / float64(o.PPrime.Classes) * 0x1p-53)
			forth += float64(n * max(0, a-float64(factor*b)))
			back += float64(n * max(0, b-float64(factor*a)))
		}
		most = max(most, forth, back)
	}
	return most, nil
}
