package accountant

import (
	"cmp"
	"fmt"
	"math"
	"math/big"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// Cost is an (ε, δ) guarantee. Its float64s stand for their shortest decimals.
type Cost struct {
	Epsilon float64 `json:"epsilon"` // ≥ 0
	Delta   float64 `json:"delta"`   // in [0,1]; 1 promises nothing
}

// String returns the pair with all its digits.
func (c Cost) String() string { return fmt.Sprintf("(%g, %g)", c.Epsilon, c.Delta) }

// Short returns the pair for people, each number rounded up to six digits: what holds for the
// pair holds for it too.
func (c Cost) Short() string {
	return fmt.Sprintf("(%s, %s)", num.Outward(c.Epsilon, 6, true), num.Outward(c.Delta, 6, true))
}

// Basic returns the cost of k mechanisms that are each (ε, δ)-DP, chosen
// adaptively, each with randomness of its own:
//
//	(kε, 1-(1-δ)^k)
//
// both rounded up. It takes k ≥ 0, ε ≥ 0 finite and δ in [0,1); the error names the parameter that
// is not, and is ErrUnsupported where kε is beyond float64. Source: Kairouz, Oh and Viswanath, The
// Composition Theorem for Differential Privacy (2015), Theorem 3.3 with i = 0.
func Basic(k int, each Cost) (Cost, error) {
	if err := checkComposition(k, each); err != nil {
		return Cost{}, err
	}
	if k == 0 {
		return Cost{}, nil
	}
	if k == 1 {
		return each, nil
	}
	return BasicHeterogeneous([]Repeated{{each, k}})
}

// Repeated is a guarantee that count mechanisms have.
type Repeated struct {
	Cost  Cost
	Count int // ≥ 0
}

// BasicHeterogeneous is Basic for different guarantees: (Σ k_jε_j, 1-Π(1-δ_j)^{k_j}). Source:
// Kairouz, Oh and Viswanath (2015), Theorem 3.5.
func BasicHeterogeneous(parts []Repeated) (Cost, error) {
	if err := checkParts(parts); err != nil {
		return Cost{}, err
	}
	return finiteCost(Cost{sumEpsilon(parts).DecimalUp(), min(1, catastrophes(parts).DecimalUp())})
}

// finiteCost refuses an ε beyond the largest float64: a promise of +Inf is none.
func finiteCost(total Cost) (Cost, error) {
	if math.IsInf(total.Epsilon, 1) {
		return Cost{}, fmt.Errorf("the sum of the mechanisms' epsilon does not fit a float64: %w",
			ErrUnsupported)
	}
	return total, nil
}

func checkParts(parts []Repeated) error {
	for _, p := range parts {
		if err := checkComposition(p.Count, p.Cost); err != nil {
			return err
		}
	}
	return nil
}

func checkComposition(k int, each Cost) error {
	if k < 0 {
		return check.Want("number of mechanisms", k, "at least 0")
	}
	return each.check("")
}

// check validates the pair; prefix names whose it is.
func (c Cost) check(prefix string) error {
	return cmp.Or(check.Epsilon(prefix+"epsilon", c.Epsilon), check.Delta(prefix+"delta", c.Delta))
}

func times(k int, x float64) *big.Rat {
	return new(big.Rat).Mul(big.NewRat(int64(k), 1), num.Decimal(x))
}

// sumEpsilon returns Σ k_jε_j.
func sumEpsilon(parts []Repeated) num.Interval {
	sum := num.FromInt(0)
	for _, p := range parts {
		sum = sum.Add(num.FromRat(times(p.Count, p.Cost.Epsilon)))
	}
	return sum
}

// catastrophe returns 1-(1-δ)^k, the probability that one of k mechanisms falls into
// its δ.
func catastrophe(k int, delta float64) num.Interval {
	if delta == 0 || k == 0 {
		return num.FromInt(0)
	}
	return num.OneMinusPow(num.Decimal(delta), big.NewRat(int64(k), 1))
}

// catastrophes returns 1-Π(1-δ_j)^{k_j}.
func catastrophes(parts []Repeated) num.Interval {
	total := num.FromInt(0)
	for i, p := range parts {
		c := catastrophe(p.Count, p.Cost.Delta)
		if i > 0 {
			c = total.Add(num.FromInt(1).Sub(total).Mul(c))
		}
		total = c
	}
	return total
}

// withSlack returns 1-(1-x)(1-extra) = x + (1-x)·extra, rounded up.
func withSlack(x, extra num.Interval) float64 {
	return min(1, x.Add(num.FromInt(1).Sub(x).Mul(extra)).DecimalUp())
}
