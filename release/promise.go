package release

import (
	"math"
	"slices"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
)

// DataNames returns what [AffectedByData] knows.
func DataNames() []string { return []string{"disjoint", "overlapping"} }

// AffectedByData returns ensemble.Stated.Affected by a word about the teachers' data: "disjoint" parts
// mean that one record reaches one teacher, "overlapping" ones that it may reach all.
func AffectedByData(data string) (int, error) {
	if i := slices.Index(DataNames(), data); i >= 0 {
		return []int{1, ensemble.AllTeachers}[i], nil
	}
	return 0, usagef("%s = %q, but it must be \"disjoint\" or \"overlapping\"", pData, data)
}

// Match refuses a table that was made for other teachers, or another release, than those
// stated. A certificate holds for the teachers that the table names and for no others. If
// anything is said of the teachers, everything is compared, and what was left out means the
// worst case: ε = +Inf, Δ = 0 with that and else unknown, and t = K. If nothing is said of them,
// the table's teachers are taken, which a report must say. source names the table in errors,
// which are [UsageError]s.
func Match(s ensemble.Stated, p constraints.Problem, source string) error {
	if s.OfTeachers() {
		if err := matchTeachers(s, p, source); err != nil {
			return err
		}
	}
	for _, v := range []struct {
		name  check.Parameter
		said  *float64
		table float64
	}{{pM, s.M, p.M}, {pLabelEpsilon, s.LabelEpsilon, p.TotalEpsilon}, {pDelta, s.Delta, p.Delta}} {
		if v.said != nil && *v.said != v.table {
			return usagef("%s = %v, but %s is for %v", v.name, *v.said, source, v.table)
		}
	}
	return nil
}

// demand is Match for what goes on answering long after somebody read a report, as far as it
// is about the teachers: a mechanism that rests on their promise, or on a record that cannot
// reach all of them, is taken at the word of whoever runs it, and never at its own.
func demand(s ensemble.Stated, p constraints.Problem, source string) error {
	if !s.OfTeachers() && !math.IsInf(p.Epsilon, 1) {
		return usagef("nothing was stated of the teachers, but %s is for private ones: "+
			"state %s, %s and %s (or %s)", source, pEpsilon, pTeacherDelta, pAffected, pData)
	}
	return matchTeachers(s, p, source)
}

func matchTeachers(s ensemble.Stated, p constraints.Problem, source string) error {
	epsilon, unsaid := math.Inf(1), check.Named("")
	if s.Epsilon != nil {
		epsilon = *s.Epsilon
	} else {
		unsaid = check.Named(", since %s was not given", pEpsilon)
	}
	if epsilon != p.Epsilon {
		return usagef("%s = %v%s, but %s is for %v", pEpsilon, epsilon, unsaid, source, p.Epsilon)
	}
	switch {
	case s.TeacherDelta != nil && *s.TeacherDelta != p.TeacherDelta:
		return usagef("%s = %v, but %s is for %v", pTeacherDelta, *s.TeacherDelta, source,
			p.TeacherDelta)
	case s.TeacherDelta == nil && !math.IsInf(epsilon, 1):
		return usagef("%s was not given beside %s or %s, and %s is for %v: state "+
			"%s too", pTeacherDelta, pEpsilon, pAffected, source, p.TeacherDelta, pTeacherDelta)
	}
	all := p.K
	if s.Several.Teachers > 0 { // the other votes are public, and nobody's record changes them
		all = s.Several.TeachersOf(p.K)
	}
	affected, unsaid := all, check.Named(", since neither %s nor %s was given", pAffected, pData)
	if s.Affected != nil {
		if unsaid = check.Named(""); *s.Affected != ensemble.AllTeachers {
			affected = *s.Affected
		}
	}
	if more := affected == all && p.Affected > all; affected != p.Affected && !more {
		return usagef("%s = %d%s, but %s is for %d", pAffected, affected, unsaid, source, p.Affected)
	}
	return nil
}
