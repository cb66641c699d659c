package iteration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/learn/train"
)

// SampledSteps is DP-SGD with one record drawn uniformly and independently in each step,
// for ReplaceOne: the baseline beside which shuffled methods are put. Its figures hold
// for no shuffled method.
type SampledSteps struct {
	Steps   int     // ≥ 0
	Records int     // n ≥ 1; the sampling rate is q = 1/n
	Clip    float64 // G > 0
	Noise   float64 // σ ≥ 0 per coordinate, on the gradient
}

func (s SampledSteps) check() error {
	return cmp.Or(check.Whole("steps", s.Steps, 0, math.MaxInt32), check.Whole("records", s.Records, 1, math.MaxInt32),
		checkClip(s.Clip), checkNoise("noise", s.Noise))
}

// RDP returns an upper bound on the Rényi divergence of one step at integer order α in
// [2, 512], rounded up: accountant.FixedBatchRDP of batches of one record, for the sensitivity 2G.
func (s SampledSteps) RDP(alpha int) (float64, error) {
	if err := s.check(); err != nil {
		return 0, err
	}
	return accountant.FixedBatchRDP(s.Noise/(2*s.Clip), 1/float64(s.Records), alpha)
}

// Epsilon returns the smallest ε over the integer orders at δ in (0,1) and its order: 0
// without steps, +Inf without noise.
func (s SampledSteps) Epsilon(delta float64) (eps float64, alpha int, err error) {
	if err := s.check(); err != nil {
		return 0, 0, err
	}
	if err := check.Within("delta", delta); err != nil {
		return 0, 0, err
	}
	if s.Steps == 0 {
		return 0, 0, nil
	}
	eps = math.Inf(1)
	for a := 2; a <= accountant.MaxFixedBatchOrder; a++ {
		one, err := s.RDP(a)
		if err != nil {
			return 0, 0, err
		}
		total := float64(s.Steps) * one * (1 + num.Margin)
		if v := finite(accountant.ClassicalEpsilonFromRDP(float64(a), total, delta)); v < eps {
			eps, alpha = v, a
		}
		if total > 2*eps {
			break // larger orders diverge more; to miss one is only conservative
		}
	}
	return eps, alpha, nil
}

// Calibrate returns s with the smallest noise, rounded up, whose cost is at most the
// target's; none without steps.
func (s SampledSteps) Calibrate(ctx context.Context, target accountant.Cost) (SampledSteps, error) {
	s.Noise = 0
	if err := s.check(); err != nil {
		return SampledSteps{}, err
	}
	if err := checkTarget(target); err != nil {
		return SampledSteps{}, err
	}
	if s.Steps == 0 {
		return s, nil
	}
	search := train.Search{Start: s.Clip, Least: s.Clip * 1e-60, Most: s.Clip * 1e15, Tolerance: 1e-12}
	sigma, _, err := train.Calibrate(ctx, target.Epsilon, search,
		func(sigma float64) (float64, error) {
			c := s
			c.Noise = sigma
			eps, _, err := c.Epsilon(target.Delta)
			return eps, err
		})
	if errors.Is(err, train.ErrTarget) {
		// Even without any divergence the conversion costs ln(1/δ)/511.
		err = fmt.Errorf("no noise found for %v with orders up to %d: %w", target,
			accountant.MaxFixedBatchOrder, accountant.ErrUnsupported)
	}
	if err != nil {
		return SampledSteps{}, err
	}
	s.Noise = sigma
	return s, nil
}
