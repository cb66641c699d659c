package plan

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "shares are not squared", File: "agreement.go", Old: "agrees * agrees", New: "agrees",
			Killer: "TestStandardErrorOfASampledPrior"},
		{Name: "a sample has no standard error", File: "agreement.go", Old: "if l.sampled {",
			New: "if false {", Killer: "TestStandardErrorOfASampledPrior"},
		{Name: "normal noise is simulated", File: "agreement.go", Old: "m.SlowLaw()",
			New: `m.Name() != "permute-and-flip"`, Killer: "TestAgreementByBruteForce"},
		{Name: "the bound moves one vote at a time", File: "worth.go",
			Old: "float64((v - u + t - 1) / t)", New: "float64((v - u) / t)",
			Killer: "TestMostIsABoundForEveryMechanism"},
		{Name: "the bound forgets delta", File: "worth.go", Old: "n*(1+lost)/(n+others)",
			New: "n/(n+others)", Killer: "TestMostIsABoundForEveryMechanism"},
		{Name: "each table has the whole work", File: "search.go", Old: "r.Work /= int64(k.tries)",
			New: "_ = k.tries", Killer: "TestWorkIsCounted"},
		{Name: "the clock leaves a mechanism out", File: "plan.go", Old: "late != nil {",
			New: "late != nil && false {", Killer: "TestTimeIsAnError"},
		{Name: "a table of any size is priced", File: "together.go",
			Old: "pairs > most/perPair/int64(p.Answers)", New: "false", Killer: "TestWorkIsCounted"},
		{Name: "votes that were read have no warning", File: "notes.go", Old: "r.Votes.FromVotes()",
			New: "false", Killer: "TestReportNotes"},
		{Name: "the fewest labels that are worth nearly the best", File: "queries.go",
			Old: "c.Queries > most.Queries", New: "c.Queries < most.Queries", Killer: "TestMost"},
		{Name: "many labels that are worth half", File: "queries.go",
			Old: "const nearBest = 0.95", New: "const nearBest = 0.5", Killer: "TestMost"},
		{Name: "a worthless total has no warning", File: "notes.go", Old: "worthless {",
			New: "false && worthless {", Killer: "TestReportNotes"},
		{Name: "a reach that nobody stated has no note", File: "notes.go", Old: "!o.ReachStated",
			New: "o.ReachStated", Killer: "TestReportNotes"},
		{Name: "a prior says which class leads", File: "law.go", Old: "if !l.fromVotes && !l.named || l.total == 0 {",
			New: "if l.total == 0 {", Killer: "TestAlwaysOfASample"},
		{Name: "the last choice is marked", File: "compare.go", Old: "c.planned(i == 0)",
			New: "c.planned(i == len(p.Choices)-1)", Killer: "TestCompareMarksTheFirstChoice"},
		{Name: "the cost of one label is that of all", File: "compare.go", Old: "Total: c.Total",
			New: "Total: c.Mechanism.PerAnswer()", Killer: "TestCompareMarksTheFirstChoice"},
		{Name: "what a given table costs is not compared with the budget", File: "compare.go", Old: "if !within(c.Total, r.Budget) {",
			New: "if false {", Killer: "TestCompareGivenMechanisms"},
		{Name: "a given table may be for fewer teachers that a record reaches", File: "compare.go", Old: "case of.Affected < s.Affected:",
			New: "case false:", Killer: "TestCompareGivenMechanisms"},
		{Name: "a plan by votes is compared on votes", File: "compare.go", Old: "r.Votes != nil && r.Votes.FromVotes() {",
			New: "false {", Killer: "TestCompareMarksTheFirstChoice"},
		{Name: "what is useless is solved", File: "search.go", Old: "r.Votes.useless(most)",
			New: "false && r.Votes.useless(most)", Killer: "TestUselessIsSeenWithoutSolving"},
	})
}
