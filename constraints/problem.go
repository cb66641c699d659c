package constraints

import (
	"cmp"
	"math"
	"math/big"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// ParameterError names a parameter and the rule that it breaks.
type ParameterError = check.Error

// MaxTeachers is the largest K a Problem may have.
const MaxTeachers = check.MaxTeachers

// Problem holds the promise of the teachers and the promise wanted for the released majority. It
// fixes the constraint set completely.
//
// The release may cost mε, given by M, or any ε of its own, given by TotalEpsilon;
// exactly one of the two is set. Teachers that promise nothing, such as models
// trained without privacy, have Epsilon = +Inf, and then the release needs a
// TotalEpsilon.
//
// Each float64 stands for its shortest decimal, the number that people write and
// JSON stores: Epsilon: 0.1 means exactly 1/10. The promise (mε, δ) is then the
// exact product of what was written, and certificates are about just that.
type Problem struct {
	K            int     // number of teachers, 1 ≤ K ≤ MaxTeachers
	M            float64 // m > 0: the release may cost mε ≤ 700; 0 if TotalEpsilon is given
	TotalEpsilon float64 // in (0,700]: what the release may cost, instead of mε; 0 if M is given
	Epsilon      float64 // ε in [0,700] of each teacher; +Inf if they promise nothing
	TeacherDelta float64 // Δ in [0,1) of each teacher; not 0 if ε is, 0 if ε = +Inf
	Delta        float64 // δ in [0,1) of the release; at least Δ when mε ≥ ε
	Affected     int     // t: at most this many teachers depend on one record, 1 ≤ t ≤ K
}

// NewProblem returns the problem of a release that may cost m·epsilon, with every
// teacher affected and δ = DefaultDelta. The error is a *ParameterError.
func NewProblem(k int, m, epsilon, teacherDelta float64) (Problem, error) {
	return Problem{K: k, M: m, Epsilon: epsilon, TeacherDelta: teacherDelta,
		Affected: k}.WithDefaultDelta()
}

// NewTotalProblem returns the problem of a release that may cost totalEpsilon, with affected = t
// teachers that one record reaches and δ = DefaultDelta. The error is a *ParameterError.
func NewTotalProblem(k, affected int, totalEpsilon, epsilon,
	teacherDelta float64) (Problem, error) {
	return Problem{K: k, TotalEpsilon: totalEpsilon, Epsilon: epsilon, TeacherDelta: teacherDelta,
		Affected: affected}.WithDefaultDelta()
}

// WithDefaultDelta returns p with δ = DefaultDelta. The error is that of Validate.
func (p Problem) WithDefaultDelta() (Problem, error) {
	p.Delta = p.TeacherDelta // valid wherever anything is
	if p.Validate() == nil {
		p.Delta = p.DefaultDelta()
	}
	return p, p.Validate()
}

// validateBudget checks ε and what the release may cost.
func (p Problem) validateBudget() error {
	switch {
	case p.TotalEpsilon == 0:
		if err := check.Allowance(p.M); err != nil {
			return err
		}
		if math.IsInf(p.Epsilon, 1) {
			return check.Want("epsilon", p.Epsilon, "finite unless a label epsilon is given instead of m")
		}
	case p.M != 0:
		return check.Want("m", p.M, "left out when a label epsilon is given")
	default:
		if err := check.LabelEpsilon(p.TotalEpsilon); err != nil {
			return err
		}
	}
	if math.IsInf(p.Epsilon, 1) {
		return nil
	}
	return check.TeacherEpsilon(p.Epsilon)
}

// Validate returns a *ParameterError naming the first field that breaks its
// rule, or nil.
func (p Problem) Validate() error {
	if err := cmp.Or(check.Teachers(p.K),
		p.validateBudget(),
		check.Delta("teacher delta", p.TeacherDelta),
		check.Delta("delta", p.Delta),
		check.Affected(p.Affected, p.K)); err != nil {
		return err
	}
	if p.Epsilon == 0 && p.TeacherDelta == 0 {
		return check.Want("epsilon", p.Epsilon, "> 0 when teacher delta is 0 (such teachers ignore the data)")
	}
	if math.IsInf(p.Epsilon, 1) && p.TeacherDelta != 0 {
		return check.Want("teacher delta", p.TeacherDelta,
			"0 when epsilon is infinite (such teachers promise nothing)")
	}
	if p.total().Cmp(big.NewRat(check.MaxTotalEpsilon, 1)) > 0 {
		return check.Wantf("m·epsilon", p.M*p.Epsilon, "at most %d", check.MaxTotalEpsilon)
	}
	// A release at least as revealing as one teacher cannot promise a smaller
	// δ than that teacher does. The source requires the same (Problem 3.1.1).
	if !math.IsInf(p.Epsilon, 1) && p.total().Cmp(num.Decimal(p.Epsilon)) >= 0 &&
		p.Delta < p.TeacherDelta {
		return check.Wantf("delta", p.Delta,
			"at least the teacher delta, %v, when the release may cost ε or more (m ≥ 1)", p.TeacherDelta)
	}
	return nil
}

// total returns what the release may cost, exactly.
func (p Problem) total() *big.Rat {
	if p.TotalEpsilon != 0 {
		return num.Decimal(p.TotalEpsilon)
	}
	return new(big.Rat).Mul(num.Decimal(p.M), num.Decimal(p.Epsilon))
}

// TotalDecimal returns what the release may cost exactly, as a decimal: "0.3" for
// m = 3, ε = 0.1.
func (p Problem) TotalDecimal() string {
	x := p.total()
	// A product of two decimals is a decimal: as many digits as both together.
	digits, _ := x.FloatPrec()
	s := x.FloatString(digits)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Total returns the promise (mε, δ) as numbers, mε rounded up where it is no
// float64: what accounting charges for one release.
func (p Problem) Total() (epsilon, delta float64) {
	return num.FromRat(p.total()).DecimalUp(), p.Delta
}

// allowance returns m, given or worked out as total/ε, and whether there is one: an ε
// of 0 or +Inf has none.
func (p Problem) allowance() (m *big.Rat, ok bool) {
	switch {
	case p.TotalEpsilon == 0:
		return num.Decimal(p.M), true
	case p.Epsilon > 0 && !math.IsInf(p.Epsilon, 1):
		return new(big.Rat).Quo(p.total(), num.Decimal(p.Epsilon)), true
	}
	return nil, false
}

// Allowance returns m, given or worked out as total/ε, rounded down, or 0 where ε
// is 0 or infinite.
func (p Problem) Allowance() float64 {
	m, ok := p.allowance()
	if !ok {
		return 0
	}
	return num.FromRat(m).DecimalDown()
}

// DefaultDelta returns δ = 1-(1-Δ)^min(m,t), rounded down: a smaller δ is the
// stronger promise. It is what m-fold composition of the teachers would cost, and no
// more than all t teachers that a record reaches cost together. Where ε has no m
// (see Allowance) it is Δ.
func (p Problem) DefaultDelta() float64 {
	m, ok := p.allowance()
	if p.TeacherDelta == 0 || !ok {
		return p.TeacherDelta
	}
	if t := big.NewRat(int64(p.Affected), 1); m.Cmp(t) > 0 {
		m = t
	}
	return num.OneMinusPow(num.Decimal(p.TeacherDelta), m).DecimalDown() // so below 1
}

// PostProcessing reports whether the teachers that one record reaches may all be
// revealed under the promise, so that every noise function is private, γ ≡ 1
// among them:
//
//	tε ≤ mε  and  1-(1-Δ)^t ≤ δ
//
// The answers of t mechanisms that are each (ε,Δ)-DP are (tε, 1-(1-Δ)^t)-DP together
// (Kairouz, Oh and Viswanath 2015, Theorem 3.3 with i = 0); those of the others do
// not depend on the record, whatever the majority is computed from. For t = 1 this
// is the parallel composition of teachers with disjoint training data.
//
// Proved by machine: post_private in proofs/PostProcessing.v.
func (p Problem) PostProcessing() bool {
	if math.IsInf(p.Epsilon, 1) {
		return false
	}
	t := big.NewRat(int64(p.Affected), 1)
	if new(big.Rat).Mul(t, num.Decimal(p.Epsilon)).Cmp(p.total()) > 0 {
		return false
	}
	if p.TeacherDelta == 0 {
		return true
	}
	spent := num.OneMinusPow(num.Decimal(p.TeacherDelta), t)
	return spent.DecimalUp() <= p.Delta // certainly, or not at all
}
