package accountant

import (
	"math/big"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// General returns a cost of k mechanisms that are each (ε, δ)-DP, chosen adaptively,
// when a further probability slack = δ' may be spent:
//
//	ε_total = min{ kε,  μ + ε√(2k·ln(e + ε√k/δ')),  μ + ε√(2k·ln(1/δ')) },   μ = kε·(e^ε-1)/(e^ε+1)
//	δ_total = 1 - (1-δ)^k·(1-δ')
//
// both rounded up. It takes k ≥ 0, ε ≥ 0 finite, δ in [0,1) and δ' in (0,1); the error
// names the parameter that is not. Each mechanism needs randomness of its own. No
// answers (k = 0) cost nothing.
//
// OptimalHomogeneous is never worse at the same δ_total; General is the closed form
// that publications use. Where kε is the smallest of the three, Basic gives it without
// δ'.
//
// Source: Kairouz, Oh and Viswanath, The Composition Theorem for Differential Privacy
// (2015), Theorem 3.4; Jiang, Communication Efficient and Differentially Private
// Optimization (2024), Theorem 3.3.3.
func General(k int, each Cost, slack float64) (Cost, error) {
	if err := checkComposition(k, each); err != nil {
		return Cost{}, err
	}
	if !(slack > 0 && slack < 1) {
		return Cost{}, &check.Error{Name: "slack", Value: slack, Rule: "in (0,1)"}
	}
	if k == 0 {
		return Cost{}, nil
	}
	extra := num.FromRat(num.Decimal(slack))
	total := Cost{
		Epsilon: num.FromRat(times(k, each.Epsilon)).DecimalUp(),
		Delta:   withSlack(catastrophe(k, each.Delta), extra),
	}
	eps, count := num.FromRat(num.Decimal(each.Epsilon)), num.FromInt(int64(k))
	if each.Epsilon == 0 {
		return total, nil
	}
	mean := count.Mul(eps)
	if each.Epsilon <= maxPlainEpsilon {
		m := num.Expm1(eps)
		mean = mean.Mul(m).Quo(m.Add(num.FromInt(2)))
	} // else (e^ε-1)/(e^ε+1) ≤ 1, and kε is the minimum anyway
	argument := num.ExpReal(num.FromInt(1)).Add(eps.Mul(num.Sqrt(count)).Quo(extra))
	for _, log := range []num.Interval{
		num.Log(argument),
		num.FromInt(0).Sub(num.Log(extra)),
	} {
		width := eps.Mul(num.Sqrt(count.Add(count).Mul(log)))
		total.Epsilon = min(total.Epsilon, mean.Add(width).DecimalUp())
	}
	return total, nil
}

// maxPlainEpsilon is where e^ε stops being worth working out: beyond it, e^-ε is
// bounded by e^-4096, which is 0 to a float64.
const maxPlainEpsilon = 4096

func checkComposition(k int, each Cost) error {
	if k < 0 {
		return &check.Error{Name: "number of mechanisms", Value: k, Rule: "at least 0"}
	}
	return each.check("")
}

// check validates the pair; prefix names whose it is.
func (c Cost) check(prefix string) error {
	if err := check.Epsilon(prefix+"epsilon", c.Epsilon); err != nil {
		return err
	}
	return check.Delta(prefix+"delta", c.Delta)
}

func times(k int, x float64) *big.Rat {
	return new(big.Rat).Mul(big.NewRat(int64(k), 1), num.Decimal(x))
}

// catastrophe returns 1-(1-δ)^k, the probability that one of k mechanisms falls into
// its δ.
func catastrophe(k int, delta float64) num.Interval {
	if delta == 0 || k == 0 {
		return num.FromInt(0)
	}
	return num.OneMinusPow(num.Decimal(delta), big.NewRat(int64(k), 1))
}

// withSlack returns 1-(1-x)(1-extra) = x + (1-x)·extra, rounded up.
func withSlack(x, extra num.Interval) float64 {
	return min(1, x.Add(num.FromInt(1).Sub(x).Mul(extra)).DecimalUp())
}
