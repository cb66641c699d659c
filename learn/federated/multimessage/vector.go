package multimessage

import (
	"cmp"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// Vector sums vectors of norm at most L: coordinate j is the scalar x_j + L in [0, 2L] of 2g levels, and its messages carry j.
// Its noise is not sized here: see PublishedVector.
type Vector struct {
	Dim    int
	Limit  float64 // L
	Levels int     // g of L
	Noise  int     // b_n of a coordinate
}

func (v Vector) scalar() Scalar { return Scalar{2 * v.Limit, 2 * v.Levels, v.Noise} }

// Check says which parameter is not valid.
func (v Vector) Check() error {
	return cmp.Or(check.Whole("dimension", v.Dim, 1, 0), check.Whole("levels", v.Levels, 1, 1<<29), v.scalar().Check())
}

// Bits returns how many one-bit messages a user sends, beside each the number of its coordinate.
func (v Vector) Bits() int { return v.Dim * v.scalar().Bits() }

// Add adds a user's ones to those of each coordinate. It refuses a vector longer than L.
func (v Vector) Add(ones []int, x []float64, coins Coins) error {
	if err := v.Check(); err != nil {
		return err
	}
	if len(x) != v.Dim || len(ones) != v.Dim {
		return &check.Error{Name: "length of the vector", Value: fmt.Sprintf("%d, of the counts %d", len(x), len(ones)), Rule: fmt.Sprint(v.Dim)}
	}
	square := 0.0
	for _, a := range x {
		square += a / v.Limit * (a / v.Limit)
	}
	if !(square <= 1+num.SumMargin) {
		return &check.Error{Name: "norm of the vector", Value: math.Sqrt(square) * v.Limit, Rule: fmt.Sprintf("at most %g", v.Limit)}
	}
	for j, a := range x {
		n, err := v.scalar().Encode(min(max(a+v.Limit, 0), 2*v.Limit), coins)
		if err != nil {
			return err
		}
		ones[j] += n
	}
	return nil
}

// Estimate sets sum to the unbiased sum of n users' vectors.
func (v Vector) Estimate(sum []float64, ones []int, users int) {
	for j, n := range ones {
		sum[j] = v.scalar().Estimate(n, users) - float64(users)*v.Limit
	}
}

// PublishedVector returns the levels and the noise bits of a coordinate by the published setting,
//
//	g = ⌈max{2√n, d, 4}⌉,  b_n = 24·10⁴·g²·ln²(4(d²+1)/δ)/(ε²n)
//
// whose constants could not be confirmed, and a warning: it asks for hundreds of millions of bits where
// a report of package report takes 65. It is here to say so, not to size anything.
func PublishedVector(users, dim int, target accountant.Cost) (levels, bits float64, warning string, err error) {
	if err := cmp.Or(check.Whole("users", users, 1, 0), check.Whole("dimension", dim, 1, 0), check.Positive("epsilon", target.Epsilon), check.Within("delta", target.Delta)); err != nil {
		return 0, 0, "", err
	}
	n, d := float64(users), float64(dim)
	levels = math.Ceil(max(2*math.Sqrt(n), d, 4))
	log := math.Log(4 * (d*d + 1) / target.Delta)
	bits = math.Ceil(24e4 * levels * levels * log * log / (target.Epsilon * target.Epsilon * n))
	warning = fmt.Sprintf("the published vector protocol asks each user for %.4g noise bits in each of %d coordinates, by a constant that was not confirmed; one-bit reports take 65 bits in all", bits, dim)
	return levels, bits, warning, nil
}
