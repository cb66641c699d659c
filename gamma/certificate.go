package gamma

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
)

// Certificate proves that a noise function satisfies every privacy constraint of
// its problem, rounding errors included:
//
//	f(p,p';γ) = Φ(p) - E·Φ(p') ≤ E - 1 + 2δ
//
// and of one that treats the labels by their names that of -Φ too.
//
// The comparison was made with both sides scaled by 1/(1+E), the left one rounded up
// and the right one down. The figures here are in the source's units, for people.
type Certificate struct {
	Method        string   // Sweep or PostProcessing
	Constraints   *big.Int // how many constraints the bound covers: all of them
	RightHandSide float64  // E-1+2δ, rounded down
	// f is at most this, rounded up, but not shown above RightHandSide
	Bound float64
	Slack float64              // RightHandSide - Bound ≥ 0, rounded down
	Worst constraints.Multiset // where f was largest, as computed
}

// How a certificate was found.
const (
	// Sweep: the exact search of all constraints, constraints.System.UpperBound.
	Sweep = "sweep"
	// PostProcessing: the teachers that one record reaches may all be revealed
	// under the promise, constraints.Problem.PostProcessing, so every γ is private.
	// Bound is then RightHandSide, which Lemma 3.4.4 says no such release exceeds.
	PostProcessing = "post-processing"
)

// ViolationError is the error for a noise function that could not be certified.
type ViolationError struct {
	Problem       constraints.Problem
	Worst         constraints.Multiset
	Zero          bool    // the constraint is that of label 0
	Bound         float64 // scaled left-hand side, with rounding errors
	RightHandSide float64 // scaled right-hand side
}

func (e *ViolationError) Error() string {
	label := ""
	if e.Zero {
		label = " of label 0"
	}
	return fmt.Sprintf("gamma is not certified (%s, %g)-differentially private: at %v the privacy "+
		"constraint%s reaches %.17g, but it must be at most %.17g",
		e.Problem.TotalDecimal(), e.Problem.Delta, e.Worst, label, e.Bound, e.RightHandSide)
}

// Certified is a noise function with the proof of its promise. It can only be made by certifying,
// so every Certified may be used for a release. It is immutable and safe for concurrent use.
type Certified struct {
	fn          Func
	system      *constraints.System
	certificate Certificate
}

// Func returns the noise function.
func (c *Certified) Func() Func { return handle.Made(c).fn }

// Problem returns the promise and its teachers. The zero Certified has no teachers, K = 0, and
// promises nothing.
func (c *Certified) Problem() constraints.Problem {
	c = handle.Made(c)
	if c.system == nil {
		return constraints.Problem{}
	}
	return c.system.Problem()
}

// Same reports whether both are one mechanism: the same noise function, for the same problem.
func (c *Certified) Same(d *Certified) bool {
	return c != nil && d != nil && c.Problem() == d.Problem() &&
		slices.Equal(c.fn.Values(), d.fn.Values())
}

// Certificate returns the proof, as a copy.
func (c *Certified) Certificate() Certificate {
	c = handle.Made(c)
	out := c.certificate
	if out.Constraints != nil { // else it is the zero Certified's
		out.Constraints = new(big.Int).Set(out.Constraints)
	}
	return out
}

// Certify checks every privacy constraint of p against f, with rounding errors
// accounted for, and returns the certified function. It fails closed: the error is
// a *ViolationError if f cannot be shown private, a *constraints.ParameterError if
// p is invalid, or ctx.Err(). Cost: see constraints.System.UpperBound.
func Certify(ctx context.Context, p constraints.Problem, f Func) (*Certified, error) {
	s, err := constraints.NewSystem(p)
	if err != nil {
		return nil, err
	}
	c, _, err := certify(ctx, s, f)
	return c, err
}

// certify is Certify. The bound is the one that decides, also where it refuses f.
func certify(ctx context.Context, s *constraints.System,
	f Func) (*Certified, constraints.Bound, error) {
	p := s.Problem()
	if f.K() != p.K {
		return nil, constraints.Bound{}, check.Wantf("gamma's number of teachers", f.K(),
			"the problem's K = %d", p.K)
	}
	rhs := s.OriginalRHS()
	if p.PostProcessing() {
		return &Certified{fn: f, system: s, certificate: Certificate{
			Method: PostProcessing, Constraints: constraintsOf(p, f), Bound: rhs, RightHandSide: rhs,
		}}, constraints.Bound{}, nil
	}
	bound, err := s.UpperBound(ctx, f.Phi())
	if err != nil {
		return nil, bound, err
	}
	// Both are scaled; RHS is rounded down and Upper up. Only "provably at most"
	// passes, so a NaN fails.
	if !(bound.Upper <= s.RHS()) {
		return nil, bound, &ViolationError{Problem: p, Worst: bound.At, Zero: bound.Zero, Bound: bound.Upper,
			RightHandSide: s.RHS()}
	}
	// In the source's units the bound is rounded up once more; it was proved to be
	// at most E-1+2δ already, so it is capped there for display.
	original := min(s.Original(bound.Upper), rhs)
	slack := rhs - original
	if slack > 0 {
		slack = math.Nextafter(slack, 0) // the difference may have been rounded up
	}
	return &Certified{fn: f, system: s, certificate: Certificate{
		Method:        Sweep,
		Constraints:   constraintsOf(p, f),
		Bound:         original,
		RightHandSide: rhs,
		Slack:         slack,
		Worst:         bound.At,
	}}, bound, nil
}

// constraintsOf returns the number of constraints of f: those of one label, whose mirror images are the
// other's where both are alike, or of both.
func constraintsOf(p constraints.Problem, f Func) *big.Int {
	n := p.Count()
	if !f.Symmetric() {
		n.Lsh(n, 1)
	}
	return n
}

// shrinkRounds bounds the attempts of CertifyLargest; one suffices unless the
// right-hand side is of the size of the rounding errors.
const shrinkRounds = 8

// CertifyLargest certifies f or, where f breaks a constraint, the largest multiple
// of f that passes: γ·r/U, rounded down, with U the certified bound. It is how an
// LP solution, which is feasible only within the solver's tolerance, becomes a
// certified function. Each attempt is one search of all constraints, and the one that
// passes is the certificate. Errors are Certify's.
func CertifyLargest(ctx context.Context, s *constraints.System, f Func) (*Certified, error) {
	if s == nil {
		return nil, errors.New("system must be given: use constraints.NewSystem")
	}
	margin := 0.0
	for round := 0; ; round++ {
		c, bound, err := certify(ctx, s, f)
		var violation *ViolationError
		if !errors.As(err, &violation) || round == shrinkRounds {
			return c, err
		}
		// Upper = maximum + fixed rounding error, and only the maximum shrinks
		// with γ: aim at the right-hand side less that error. Rounding each value
		// down moves f by at most 2·2⁻⁵³.
		fixed := bound.Upper - bound.Computed
		target := s.RHS() - fixed - 0x1p-51 - margin
		if target <= 0 {
			// Nothing but γ = 0 is certain to fit.
			f = f.Shrink(0)
			continue
		}
		f = f.Shrink(target / bound.Computed)
		margin = 2*margin + 0x1p-50
	}
}

// CertifyShrunk is CertifyLargest where p's System is not at hand.
func CertifyShrunk(ctx context.Context, p constraints.Problem, f Func) (*Certified, error) {
	s, err := constraints.NewSystem(p)
	if err != nil {
		return nil, err
	}
	return CertifyLargest(ctx, s, f)
}
