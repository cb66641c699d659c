package iteration

import (
	"math"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// RDP returns an upper bound on the Rényi divergence of order α > 1 that all epochs
// together allow in the event's mode, rounded up; +Inf without noise. It is
// ErrNotCertified where the mode's conditions do not hold. Best has the smallest
// of the modes that hold, at each order; each bounds the same divergence.
func (e Steps) RDP(alpha float64) (float64, error) {
	if err := e.check(); err != nil {
		return 0, err
	}
	if err := check.Order(alpha); err != nil {
		return 0, err
	}
	modes, err := e.certified()
	if err != nil {
		return 0, err
	}
	least := math.Inf(1)
	for _, c := range modes {
		least = min(least, c.divergence(alpha, c.m))
	}
	return least, nil
}

// divergence is RDP of a checked event, m from certify.
func (e Steps) divergence(alpha, m float64) float64 {
	switch {
	case !e.private():
		return 0
	case e.Noise == 0:
		return math.Inf(1)
	}
	switch e.mode() {
	case RRMixture:
		exponent := (alpha - 1) * alpha * e.halfSquaredSensitivity()
		return float64(e.Epochs)*(e.logMixture(exponent)+num.Tiny)/(alpha-1)*(1+num.Margin) + num.Tiny
	case SOMixture:
		exponent := (alpha - 1) * alpha * e.halfSquaredSensitivity() * float64(e.Epochs)
		return (e.logMixture(exponent)+num.Tiny)/(alpha-1)*(1+num.Margin) + num.Tiny
	}
	return alpha * e.rho(m) * (1 + num.Margin)
}

// halfSquaredSensitivity returns 2G², half of the squared sensitivity 2G. Rounded up.
func (e Steps) halfSquaredSensitivity() float64 { return 2 * e.Clip * e.Clip * (1 + num.Margin) }

// rho returns ρ of the modes whose divergence is α·ρ, rounded up.
func (e Steps) rho(m float64) float64 {
	switch {
	case !e.private():
		return 0
	case e.Noise == 0:
		return math.Inf(1)
	}
	k := float64(e.Epochs)
	last := e.halfSquaredSensitivity()/(m*e.Noise*e.Noise) + num.Tiny
	if e.mode() != CrossEpoch {
		return k * last * (1 + num.Margin)
	}
	// Between two occurrences lies the noise of one whole epoch; after the last one, at
	// worst, that from the last private step on. Spreading a_t ∝ σ_t² over each of these
	// stretches is optimal: the sum of squares is then as small as the shifts allow.
	return ((k-1)*e.halfSquaredSensitivity()/e.tail(float64(e.Private)) + last) * (1 + num.Margin)
}

// exactPositions is up to which place from the end mixtures are summed term by term.
const exactPositions = 2048

// logMixture returns ln S, S = (Σ_{i≤n_d} e^{x/V} + n - n_d)/n with V of the i-th private
// record from the end, rounded up. Beyond exactPositions records are taken in blocks that
// are 1/exactPositions of their place long, each as exposed as its last record, which
// only raises S.
//
// S-1 is summed with expm1: where x is small, S is 1 to all digits but the divergence,
// ln(S) over a small α-1, is not 0.
func (e Steps) logMixture(x float64) float64 {
	n := float64(e.Records)
	top := x / e.tail(1)
	if math.IsInf(top, 1) {
		return top
	}
	if !(top < 600) { // e^top may not fit: sum e^{x/V - top}
		sum := float64(e.Records-e.Private) * math.Exp(-top)
		e.eachBlock(exactPositions, func(i, count float64) { sum += count * math.Exp(x/e.tail(i)-top) })
		// The exponent is off by a few units in the last place of top.
		return (top + math.Log(sum/n)) + 1e-13*(1+top)
	}
	sum := 0.0
	e.eachBlock(exactPositions, func(i, count float64) { sum += count * math.Expm1(x/e.tail(i)) })
	return math.Log1p(sum/n) * (1 + num.SumMargin/10)
}

// eachBlock calls f with the place of the most exposed record of each block and the
// block's length: 1 up to the place exact, and beyond it 1/exact of the place.
func (e Steps) eachBlock(exact int, f func(i, count float64)) {
	for i := 1; i <= e.Private; {
		count := 1
		if i > exact {
			count = min(i/exact, e.Private-i+1)
		}
		f(float64(i), float64(count))
		i += count
	}
}
