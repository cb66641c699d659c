package constraints

import (
	"math"
	"math/big"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// ParameterError says which parameter breaks which rule.
type ParameterError = check.Error

// MaxTeachers is the largest K a Problem may have.
const MaxTeachers = check.MaxTeachers

// Problem says what is promised about the teachers and what shall be promised
// about the released majority. It fixes the constraint set completely.
//
// Each float64 stands for its shortest decimal, the number that people write and
// JSON stores: Epsilon: 0.1 means exactly 1/10. The promise (mε, δ) is then the
// exact product of what was written, and certificates are about just that.
type Problem struct {
	K            int     // number of teachers, 1 ≤ K ≤ MaxTeachers
	M            float64 // m > 0: the release may cost mε; mε ≤ 700
	Epsilon      float64 // ε ≥ 0 of each teacher
	TeacherDelta float64 // Δ in [0,1) of each teacher; ε and Δ are not both 0
	Delta        float64 // δ in [0,1) of the release; at least Δ when m ≥ 1
	Affected     int     // t: at most this many teachers depend on one record, 1 ≤ t ≤ K
}

// NewProblem returns the problem with δ = DefaultDelta(m, Δ) and every teacher
// affected. The error is a *ParameterError.
func NewProblem(k int, m, epsilon, teacherDelta float64) (Problem, error) {
	p := Problem{K: k, M: m, Epsilon: epsilon, TeacherDelta: teacherDelta, Affected: k}
	if check.Allowance(m) == nil && check.Delta("teacher delta", teacherDelta) == nil {
		p.Delta = DefaultDelta(m, teacherDelta)
	}
	return p, p.Validate()
}

// Validate returns a *ParameterError naming the first field that breaks its
// rule, or nil.
func (p Problem) Validate() error {
	for _, err := range []error{
		check.Teachers(p.K),
		check.Allowance(p.M),
		check.Epsilon("epsilon", p.Epsilon),
		check.Delta("teacher delta", p.TeacherDelta),
		check.Delta("delta", p.Delta),
		check.Affected(p.Affected, p.K),
	} {
		if err != nil {
			return err
		}
	}
	if p.Epsilon == 0 && p.TeacherDelta == 0 {
		return &check.Error{Name: "epsilon", Value: p.Epsilon, Rule: "> 0 when teacher delta is 0 (such teachers ignore the data)"}
	}
	if p.totalEpsilon().Cmp(big.NewRat(check.MaxTotalEpsilon, 1)) > 0 {
		return &check.Error{Name: "m·epsilon", Value: p.TotalEpsilon(), Rule: "at most 700"}
	}
	// A release at least as revealing as one teacher cannot promise a smaller
	// δ than that teacher does. The source requires the same (Problem 3.1.1).
	if p.M >= 1 && p.Delta < p.TeacherDelta {
		return &check.Error{Name: "delta", Value: p.Delta, Rule: "at least the teacher delta when m ≥ 1"}
	}
	return nil
}

func (p Problem) totalEpsilon() *big.Rat {
	return new(big.Rat).Mul(num.Decimal(p.M), num.Decimal(p.Epsilon))
}

// TotalEpsilon returns mε exactly, as a decimal: "0.3" for m = 3, ε = 0.1.
func (p Problem) TotalEpsilon() string {
	x := p.totalEpsilon()
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
	return num.FromRat(p.totalEpsilon()).DecimalUp(), p.Delta
}

// DefaultDelta returns δ = 1-(1-Δ)^m, what m-fold composition of the teachers
// would cost, rounded down: a smaller δ is the stronger promise. It expects
// m > 0 finite and Δ in [0,1).
func DefaultDelta(m, teacherDelta float64) float64 {
	if teacherDelta == 0 || m == 1 { // exact, where rounding would lose a digit
		return teacherDelta
	}
	delta := num.OneMinusPow(num.Decimal(teacherDelta), num.Decimal(m))
	return min(delta.DecimalDown(), math.Nextafter(1, 0))
}
