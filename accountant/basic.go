package accountant

import (
	"fmt"
	"math/big"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// Cost is an (ε, δ) guarantee. Its float64s stand for their shortest decimals.
type Cost struct {
	Epsilon float64 // ≥ 0
	Delta   float64 // in [0,1]; 1 promises nothing
}

// String returns the pair with all its digits.
func (c Cost) String() string { return fmt.Sprintf("(%g, %g)", c.Epsilon, c.Delta) }

// Basic returns the cost of k mechanisms that are each (ε, δ)-DP, chosen
// adaptively, each with randomness of its own:
//
//	(kε, 1-(1-δ)^k)
//
// both rounded up. It takes k ≥ 0, ε ≥ 0 finite and δ in [0,1); the error names
// the parameter that is not. Source: Kairouz, Oh and Viswanath, The Composition Theorem
// for Differential Privacy (2015), Theorem 3.3 with i = 0.
func Basic(k int, each Cost) (Cost, error) {
	if k < 0 {
		return Cost{}, &check.Error{Name: "number of mechanisms", Value: k, Rule: "at least 0"}
	}
	if err := check.Epsilon("epsilon", each.Epsilon); err != nil {
		return Cost{}, err
	}
	if err := check.Delta("delta", each.Delta); err != nil {
		return Cost{}, err
	}
	if k == 0 {
		return Cost{}, nil
	}
	if k == 1 {
		return each, nil
	}
	count := big.NewRat(int64(k), 1)
	total := Cost{Epsilon: num.FromRat(new(big.Rat).Mul(count, num.Decimal(each.Epsilon))).DecimalUp()}
	if each.Delta > 0 {
		total.Delta = min(1, num.OneMinusPow(num.Decimal(each.Delta), count).DecimalUp())
	}
	return total, nil
}
