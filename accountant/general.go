package accountant

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// General returns a cost of k mechanisms that are each (ε, δ)-DP, chosen adaptively,
// when a further probability slack = δ' may be spent:
//
//	ε_total = min{ kε,  μ + ε√(2k·ln(e + ε√k/δ')),  μ + ε√(2k·ln(1/δ')) },   μ = kε·(e^ε-1)/(e^ε+1)
//	δ_total = 1 - (1-δ)^k·(1-δ')
//
// both rounded up. It takes k ≥ 0, ε ≥ 0 finite, δ in [0,1) and δ' in (0,1); the error names the
// parameter that is not, and is ErrUnsupported where kε is beyond float64. Each mechanism needs
// randomness of its own. No answers (k = 0) cost nothing.
//
// Optimal is never worse at the same δ_total; General is the closed form
// that publications use. Where kε is the smallest of the three, Basic gives it without
// δ'.
//
// Source: Kairouz, Oh and Viswanath, The Composition Theorem for Differential Privacy
// (2015), Theorem 3.4; Jiang, Communication Efficient and Differentially Private
// Optimization (2025), Theorem 3.3.3.
func General(k int, each Cost, slack float64) (Cost, error) {
	return generalOf([]Repeated{{each, k}}, slack)
}

// generalOf is General for different guarantees:
//
//	ε_total = min{ Σε_j,  μ + √(2V·ln(e + √V/δ')),  μ + √(2V·ln(1/δ')) },   μ = Σ ε_j·(e^{ε_j}-1)/(e^{ε_j}+1),  V = Σ ε_j²
//	δ_total = 1 - (1-δ')·Π(1-δ_j)
//
// where each sum and product counts every mechanism. Source: Kairouz, Oh and Viswanath
// (2015), Theorem 3.5.
func generalOf(parts []Repeated, slack float64) (Cost, error) {
	if err := cmp.Or(checkParts(parts), check.Within("slack", slack)); err != nil {
		return Cost{}, err
	}
	if !slices.ContainsFunc(parts, func(p Repeated) bool { return p.Count > 0 }) {
		return Cost{}, nil
	}
	return newGeneralForm(parts).at(slack)
}

// generalForm is generalOf but for the slack.
type generalForm struct {
	sum           float64 // Σε_j, rounded up
	mean, squares num.Interval
	catastrophe   num.Interval
}

func newGeneralForm(parts []Repeated) generalForm {
	f := generalForm{sumEpsilon(parts).DecimalUp(), num.FromInt(0), num.FromInt(0),
		catastrophes(parts)}
	for _, p := range parts {
		if p.Count == 0 || p.Cost.Epsilon == 0 {
			continue
		}
		eps := num.FromRat(num.Decimal(p.Cost.Epsilon))
		m := num.FromInt(int64(p.Count)).Mul(eps)
		f.squares = f.squares.Add(m.Mul(eps))
		if p.Cost.Epsilon <= maxPlainEpsilon {
			e := num.Expm1(eps)
			m = m.Mul(e).Quo(e.Add(num.FromInt(2)))
		} // else (e^ε-1)/(e^ε+1) is put at 1
		f.mean = f.mean.Add(m)
	}
	return f
}

// at returns the cost at a slack in (0,1).
func (f generalForm) at(slack float64) (Cost, error) {
	extra := num.FromRat(num.Decimal(slack))
	total := Cost{f.sum, withSlack(f.catastrophe, extra)}
	if f.sum == 0 {
		return total, nil
	}
	argument := num.ExpReal(num.FromInt(1)).Add(num.Sqrt(f.squares).Quo(extra))
	for _, log := range []num.Interval{
		num.Log(argument),
		num.FromInt(0).Sub(num.Log(extra)),
	} {
		width := num.Sqrt(f.squares.Add(f.squares).Mul(log))
		total.Epsilon = min(total.Epsilon, f.mean.Add(width).DecimalUp())
	}
	return finiteCost(total)
}

// maxPlainEpsilon is the largest ε whose e^ε is worked out: beyond it, e^-ε is bounded by e^-4096,
// which is 0 to a float64.
const maxPlainEpsilon = 4096

// generalEpsilon spends on General's slack what delta leaves.
func generalEpsilon(parts []Repeated, delta float64) (eps float64, note string, err error) {
	f := newGeneralForm(parts)
	rest := num.FromInt(1).Sub(f.catastrophe)
	left := 0.0
	if rest.Lower() > 0 {
		left = num.FromRat(num.Decimal(delta)).Sub(f.catastrophe).Quo(rest).DecimalDown()
	}
	for range 4 {
		if !(left > 0) {
			break
		}
		total, err := f.at(left)
		if err != nil {
			return 0, "", err
		}
		if total.Delta <= delta {
			return total.Epsilon, fmt.Sprintf("slack %.6g", left), nil
		}
		left = math.Nextafter(left, 0) * (1 - 0x1p-50) // rounding
	}
	return 0, "", fmt.Errorf("delta = %g leaves no slack: %w", delta, ErrDeltaTooSmall)
}

// generalDelta finds the smallest slack, to about 1e-9, whose ε is at most epsilon.
func generalDelta(parts []Repeated, epsilon float64) (delta float64, note string, err error) {
	f := newGeneralForm(parts)
	enough := func(logSlack float64) bool {
		c, err := f.at(math.Exp(logSlack))
		return err == nil && c.Epsilon <= epsilon
	}
	low, high := -690.0, -1e-9
	if !enough(high) {
		return 0, "", fmt.Errorf("epsilon = %g is too small for any slack: %w", epsilon, ErrUnsupported)
	}
	for range 40 {
		if mid := (low + high) / 2; enough(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	c, err := f.at(math.Exp(high))
	return c.Delta, fmt.Sprintf("slack %.6g", math.Exp(high)), err
}
