package constraints

import (
	"math"
	"math/big"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/poissonbinom"
)

// System is a Problem with its constants worked out: the constraint set in the
// form in which it is computed. It is immutable and safe for concurrent use.
//
// Constraints are kept scaled by 1/(1+E), E = e^{mε}:
//
//	w·Φ(p) - w'·Φ(p') ≤ r,   w = 1/(1+E),  w' = E/(1+E),  r = (E-1+2δ)/(1+E)
//
// so that both weights lie in [0,1] and sum to 1: no overflow however large mε
// is, and one absolute bound on rounding errors serves every constraint.
type System struct {
	problem Problem
	corner  [corners]pair
	w, wp   float64 // correctly rounded w and w'
	rhs     float64 // r rounded down: a stricter right-hand side is the private one

	e         num.Interval // E
	rhsExact  num.Interval // r
	evalError float64      // bounds |computed - exact| of every left-hand side, see error.go
}

// NewSystem validates p and works out its constants with outward-rounded
// arithmetic. The error is a *ParameterError.
func NewSystem(p Problem) (*System, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	one := num.FromInt(1)
	delta := num.FromRat(num.Decimal(p.TeacherDelta))
	a, b := one, num.FromInt(0) // the limit ε → ∞: teachers that promise nothing
	if !math.IsInf(p.Epsilon, 1) {
		x := num.Exp(num.Decimal(p.Epsilon)) // e^ε
		a = x.Add(delta).Quo(x.Add(one))
		b = one.Sub(delta).Quo(x.Add(one))
	}
	e := num.Exp(p.total())
	denominator := one.Add(e)
	release := num.FromRat(num.Decimal(p.Delta))
	r := e.Sub(one).Add(release).Add(release).Quo(denominator)

	zero, sure := probability{0, 1}, probability{1, 0}
	near := probability{p.TeacherDelta, one.Sub(delta).Nearest()}
	far := probability{near.q, near.p}
	high := probability{a.Nearest(), b.Nearest()}
	low := probability{high.q, high.p}
	s := &System{
		problem: p,
		corner: [corners]pair{
			Zeros:        {zero, zero},
			Ones:         {sure, sure},
			NearZeroUp:   {near, zero},
			NearZeroDown: {zero, near},
			NearOneUp:    {sure, far},
			NearOneDown:  {far, sure},
			High:         {high, low},
			Low:          {low, high},
		},
		w:        one.Quo(denominator).Nearest(),
		wp:       e.Quo(denominator).Nearest(),
		rhs:      r.Lower(),
		e:        e,
		rhsExact: r,
	}
	s.evalError = evaluationError(p)
	return s, nil
}

// Problem returns what the system was made from.
func (s *System) Problem() Problem { return handle.Made(s).problem }

// Variables returns the number of free values of γ, those left of the middle:
// γ(0) … γ(⌈K/2⌉-1). The others follow by symmetry.
func (s *System) Variables() int { return (handle.Made(s).problem.K + 1) / 2 }

// RHS returns the scaled right-hand side r, rounded down.
func (s *System) RHS() float64 { return handle.Made(s).rhs }

// OriginalRHS returns E-1+2δ, the right-hand side as the source writes it, rounded
// down.
func (s *System) OriginalRHS() float64 {
	if handle.Made(s).problem.K < 1 {
		return 0 // nothing is allowed
	}
	d := num.FromRat(num.Decimal(s.problem.Delta))
	return s.e.Sub(num.FromInt(1)).Add(d).Add(d).Lower()
}

// Original converts a scaled left-hand side to the source's units, times 1+E,
// rounded up.
func (s *System) Original(scaled float64) float64 {
	x := new(big.Rat)
	if handle.Made(s).problem.K < 1 || x.SetFloat64(scaled) == nil {
		return math.Inf(1)
	}
	return num.FromRat(x).Mul(s.e.Add(num.FromInt(1))).Upper()
}

// perturbed reports whether the corners that Δ adds exist.
func (s *System) perturbed() bool { return s.problem.TeacherDelta > 0 }

// group returns n teachers at corner c, on the first (side 0) or the second
// (side 1) dataset.
func (s *System) group(c Corner, side, n int) poissonbinom.Group {
	pr := s.corner[c][side]
	return poissonbinom.Group{P: pr.p, Q: pr.q, N: n}
}
