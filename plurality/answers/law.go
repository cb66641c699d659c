package answers

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/check"
)

// Name is the name of a way to make a table.
type Name string

const (
	NormalLaw Name = "normal" // normal noise on each count, and the largest wins
	// two classes at t = 1: the largest leads of a class that an order allows
	ChainLaw   Name = "chain"
	OptimalLaw Name = "optimal" // a convex program: the best under an order's bound on neighbours
)

// Law describes how a table was made. The promise does not rest on it: the integer masses are
// priced, whatever they come from. The bound of a Proof is one on all tables under the Law's
// Moment.
type Law struct {
	Name  Name
	Sigma float64 // σ of the noise on each count, of NormalLaw
	// Order α and Moment R of ChainLaw and OptimalLaw: for all neighbours P, P', in either order,
	//
	//	Σ P^α·P'^(1-α) ≤ 1 + R,   R = e^((α-1)·D_α) - 1
	Order, Moment float64
}

// MaxOrder is the largest order of a Law.
const MaxOrder = 128

// Validate returns an error naming the first field that breaks its rule.
func (l Law) Validate() error {
	switch l.Name {
	case NormalLaw:
		if l.Order != 0 || l.Moment != 0 {
			return &check.Error{Name: "order and moment", Value: fmt.Sprintf("%v and %v", l.Order, l.Moment),
				Rule: "0 for normal noise"}
		}
		return check.Positive("sigma", l.Sigma)
	case ChainLaw, OptimalLaw:
		if l.Sigma != 0 {
			return &check.Error{Name: "sigma", Value: l.Sigma, Rule: "0 but for normal noise"}
		}
		if l.Order != math.Trunc(l.Order) || !(l.Order >= 2 && l.Order <= MaxOrder) {
			return &check.Error{Name: "order", Value: l.Order,
				Rule: fmt.Sprintf("a whole number between 2 and %d", MaxOrder)}
		}
		return check.Positive("moment", l.Moment)
	}
	return &check.Error{Name: "law", Value: fmt.Sprintf("%.40q", string(l.Name)),
		Rule: `"normal", "chain" or "optimal"`}
}
