package choose

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "a named optimum is replaced", File: "choose.go", Old: `r.Mechanism == "" && !r.Service`,
			New: "!r.Service", Killer: "TestFallback"},
		{Name: "a service's optimum is replaced", File: "choose.go",
			Old: `r.Mechanism == "" && !r.Service`, New: `r.Mechanism == ""`, Killer: "TestFallback"},
		{Name: "a resumed optimum is replaced", File: "choose.go", Old: "late != nil && c.r.Checkpoint",
			New: "false", Killer: "TestFallback"},
		{Name: "the majority presumes privacy", File: "rules.go",
			Old: "nothing := math.Inf(1)\n\tr.Mechanism",
			New: "nothing := math.MaxFloat64\n\tr.Mechanism", Killer: "TestMajority"},
		{Name: "the table's teachers are not compared", File: "choose.go",
			Old: "release.Match(r.Stated, m.Problem(), r.TableName)", New: "error(nil)",
			Killer: "TestTable"},
		{Name: "a reach is judged as that of one teacher", File: "rules.go",
			Old: "t := max(1, r.Stated.Reach(1))", New: "t := 1", Killer: "TestReachOfCounts"},
		{Name: "a table whose labels tell nothing is taken", File: "choose.go",
			Old: "r.Many.CheckTells(ctx, table.Answers, table.Gamma)", New: "error(nil)",
			Killer: "TestTablesThatTellNothingAreRefused"},
		{Name: "labels that tell nothing are paid for", File: "choose.go",
			Old: "c.r.Many.CheckTells(ctx, nil, t)", New: "error(nil)",
			Killer: "TestTablesThatTellNothingAreRefused"},
		{Name: "the teachers' delta is presumed to be none", File: "planned.go",
			Old: "s.TeacherDelta = &each.Delta", New: "s.TeacherDelta = nil", Killer: "TestPresumesTheWholePromise"},
		{Name: "a plan that costs more is taken", File: "planned.go", Old: "cost != c.Total",
			New: "false", Killer: "TestCheckPlanned"},
		{Name: "a comparison presumes privacy", File: "rules.go",
			Old: "nothing := math.Inf(1) //", New: "nothing := 1.0 //", Killer: "TestComparison"},
		{Name: "the source's objective is the default", File: "request.go",
			Old: "n.Objective = Agreement",
			New: "n.Objective = Source", Killer: "TestObjectiveByDefault"},
		{Name: "a table's promise replaces the one that is stated", File: "compare.go",
			Old: "r.Stated.M != nil || r.Stated.LabelEpsilon != nil", New: "r.Stated.M != nil",
			Killer: "TestComparisonWithTables"},
		{Name: "a table's teachers are taken for better ones", File: "compare.go",
			Old:    "affected, teachers, teacherDelta = p.Affected, p.Epsilon, p.TeacherDelta",
			New:    "affected, teachers, teacherDelta = p.Affected, p.Epsilon, 0",
			Killer: "TestComparisonWithTables"},
	})
}
