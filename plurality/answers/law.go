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
	ChainLaw Name = "chain"
	// two classes at t = 1: the largest leads of a class that Q coins of neighbours allow
	CoinsLaw   Name = "coins"
	ProgramLaw Name = "program" // a convex program: the best under an order's bound on neighbours
)

// Law describes how a table was made. The promise does not rest on it: the integer masses are
// priced, whatever they come from. The bound of a Proof is one on all tables under the Law's
// Moment.
type Law struct {
	Name  Name
	Sigma float64 // σ of the noise on each count, of NormalLaw
	// ε of CoinsLaw: Q coins of neighbours' probabilities are (ε, δ)-indistinguishable
	Epsilon float64
	// Order α and Moment R of ChainLaw and ProgramLaw: for all neighbours P, P', in either order,
	//
	//	Σ P^α·P'^(1-α) ≤ 1 + R,   R = e^((α-1)·D_α) - 1
	Order, Moment float64
}

// MaxOrder is the largest order of a Law.
const MaxOrder = 128

// Validate returns an error naming the first field that breaks its rule.
func (l Law) Validate() error {
	for _, unused := range []struct {
		name  string
		value float64
		used  bool
	}{
		{"sigma", l.Sigma, l.Name == NormalLaw},
		{"epsilon of the law", l.Epsilon, l.Name == CoinsLaw},
		{"order", l.Order, l.Name == ChainLaw || l.Name == ProgramLaw},
		{"moment", l.Moment, l.Name == ChainLaw || l.Name == ProgramLaw},
	} {
		if !unused.used && unused.value != 0 {
			return &check.Error{Name: unused.name, Value: unused.value,
				Rule: fmt.Sprintf("0 where the law is %.40q", string(l.Name))}
		}
	}
	switch l.Name {
	case NormalLaw:
		return check.Positive("sigma", l.Sigma)
	case CoinsLaw:
		return check.UpTo("epsilon of the law", l.Epsilon, check.MaxTotalEpsilon)
	case ChainLaw, ProgramLaw:
		if l.Order != math.Trunc(l.Order) || !(l.Order >= 2 && l.Order <= MaxOrder) {
			return &check.Error{Name: "order", Value: l.Order,
				Rule: fmt.Sprintf("a whole number between 2 and %d", MaxOrder)}
		}
		return check.Positive("moment", l.Moment)
	}
	return &check.Error{Name: "law", Value: fmt.Sprintf("%.40q", string(l.Name)),
		Rule: `"normal", "chain", "coins" or "program"`}
}
