package amplification

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

// Conversion names the formula that turns a Rényi divergence into (ε, δ).
type Conversion string

// The conversions. Improved is never larger, and the default.
const (
	Improved Conversion = "improved" // accountant.EpsilonFromRDP
	// accountant.ClassicalEpsilonFromRDP: ρ + ln(1/δ)/(α-1), which publications use
	Classical Conversion = "classical"
)

// Epsilon returns the smallest ε over the orders at δ of the charges together, and the order.
func Epsilon(delta float64, c Conversion, charges ...accountant.Charge) (
	epsilon, alpha float64, err error) {
	if err := check.Within("delta", delta); err != nil {
		return 0, 0, err
	}
	convert := accountant.EpsilonFromRDP
	switch c {
	case Improved, "":
	case Classical:
		convert = accountant.ClassicalEpsilonFromRDP
	default:
		return 0, 0, fmt.Errorf("conversion = %q, but it must be one of %q", string(c),
			[]Conversion{Improved, Classical})
	}
	event, err := accountant.Compose(charges...)
	if err != nil {
		return 0, 0, err
	}
	var refused error
	alpha, epsilon = num.BestOrder(maxOrder, func(a float64) float64 {
		rho, err := accountant.RDP(event, a)
		if err != nil { // beyond a curve's last order
			refused = err
			return math.Inf(1)
		}
		eps, err := convert(a, rho, delta)
		if err != nil {
			return math.Inf(1)
		}
		return eps
	})
	if math.IsInf(epsilon, 1) {
		return 0, 0, cmp.Or(refused, accountant.ErrUnsupported)
	}
	return epsilon, alpha, nil
}

// maxOrder is above any curve's last order.
const maxOrder = 1e6

// The range in which Calibrate looks.
const (
	leastLocal   = 1e-6
	largestLocal = 32
)

// errTarget is the error for a target that no report meets, however noisy.
var errTarget = errors.New("no local epsilon meets the target")

// Calibrate returns a local ε₀ in [1e-6, 32] and its cost, which is at most the target: price returns ε
// at the target's δ. It is within 1e-4 of the largest such ε₀, from below. Values of ε₀ that price
// refuses count as not meeting the target. Where none meets it the error wraps the last refusal.
func Calibrate(target accountant.Cost, price func(epsilon float64) (float64, error)) (
	epsilon float64, cost accountant.Cost, err error) {
	if err := checkTarget(target); err != nil {
		return 0, accountant.Cost{}, err
	}
	var refused error
	at := func(e float64) float64 {
		eps, err := price(e)
		if err == nil {
			return eps
		}
		refused = err
		return math.Inf(1)
	}
	s := train.Search{Start: 1, Least: leastLocal, Most: largestLocal, Growing: true, Tolerance: 2e-5}
	epsilon, central, err := train.Calibrate(context.Background(), target.Epsilon, s,
		func(e float64) (float64, error) { return at(e), nil })
	if err != nil {
		return 0, accountant.Cost{}, errors.Join(fmt.Errorf("epsilon %g at delta %g: %w", target.Epsilon,
			target.Delta, errTarget), refused)
	}
	return epsilon, accountant.Cost{Epsilon: central, Delta: target.Delta}, nil
}
