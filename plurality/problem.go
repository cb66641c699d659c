package plurality

import (
	"cmp"
	"fmt"
	"math/big"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/num"
)

// MaxHistograms bounds the sorted histograms of a Problem. At this size the variables and
// the solver's state take some GiB.
const MaxHistograms = 1 << 20

// Problem is a promise: the answer to one query is (ε, δ)-differentially private when one record
// changes at most t votes. Nothing is presumed about the teachers.
//
// Each float64 stands for its shortest decimal: Epsilon: 0.1 means exactly 1/10.
type Problem struct {
	K        int     // number of teachers, 1 ≤ K ≤ 2001
	Classes  int     // C, 2 ≤ C ≤ 1000
	Epsilon  float64 // ε in (0, 700] of the release
	Delta    float64 // δ in [0,1) of the release
	Affected int     // t: one record changes at most t votes, 1 ≤ t ≤ K
	Abstain  bool    // one more answer: no class
}

// Validate returns a *constraints.ParameterError naming the first field that breaks its rule, or
// nil. Where only the size does, that is wrapped in a *SizeError.
func (p Problem) Validate() error {
	if err := cmp.Or(check.Teachers(p.K),
		check.Classes(p.Classes),
		check.LabelEpsilon(p.Epsilon),
		check.Delta("delta", p.Delta),
		check.Affected(p.Affected, p.K)); err != nil {
		return err
	}
	if n := Histograms(p.K, p.Classes); n > MaxHistograms {
		return &SizeError{check.Error{Name: "teachers and classes",
			Value: fmt.Sprintf("%d and %d", p.K, p.Classes),
			Rule:  fmt.Sprintf("so few that there are at most %d sorted histograms", MaxHistograms)}}
	}
	return nil
}

// SizeError is the error for a valid problem with more than MaxHistograms.
type SizeError struct{ rule check.Error }

func (e *SizeError) Error() string { return e.rule.Error() }

// Unwrap returns a *constraints.ParameterError.
func (e *SizeError) Unwrap() error { return &e.rule }

// outputs returns the number of answers: C, and one more for abstaining.
func (p Problem) outputs() int {
	if p.Abstain {
		return p.Classes + 1
	}
	return p.Classes
}

// System is a Problem with what follows from it: its variables and e^ε in an interval. It
// is made once and passed on. It is immutable and safe for concurrent use.
type System struct {
	*Space
	problem      Problem
	below, above float64  // E⁻ ≤ e^ε ≤ E⁺
	factor       factor   // E⁻ again, for integers
	delta        *big.Rat // δ exactly
	deltaUp      float64  // ≥ δ
}

// NewSystem returns p's System. The error is a *constraints.ParameterError. Cost: O(variables).
func NewSystem(p Problem) (*System, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return newSystem(NewSpace(p.K, p.Classes, p.Abstain, false), p), nil
}

// newSystem returns the System of a valid p, whose histograms are space.
func newSystem(space *Space, p Problem) *System {
	e := num.Exp(num.Decimal(p.Epsilon))
	s := &System{Space: space, problem: p, above: e.Upper(), delta: num.Decimal(p.Delta)}
	s.below = lowerFactor(e)
	s.factor = newFactor(s.below)
	s.deltaUp = num.FromRat(s.delta).Upper()
	return s
}

// lowerFactor returns E⁻. A factor of 2⁶³ already allows every pair of masses but (positive, 0):
// see factor.
func lowerFactor(e num.Interval) float64 { return min(e.Lower(), 0x1p63) }

// factorOf returns E⁻ of an ε.
func factorOf(epsilon float64) factor {
	return newFactor(lowerFactor(num.Exp(num.Decimal(epsilon))))
}

// copy returns a System that nobody else can overwrite.
func (s *System) copy() *System {
	c := handle.Copy(s)
	if c != nil {
		c.Space = handle.Copy(c.Space)
	}
	return c
}

// Problem returns what the System is of.
func (s *System) Problem() Problem { return handle.Made(s).problem }

// Factor returns E⁻ ≤ e^ε, the factor that private masses are checked with.
func (s *System) Factor() float64 { return handle.Made(s).below }
