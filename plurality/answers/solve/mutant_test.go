package solve

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// Planted mutants, as in package plurality/answers. No change here makes a table that breaks its
// promise: those that are planted make worse tables, or none.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "masses may be 0", File: "masses.go", Old: "out[i]++", New: "out[i] += 0",
			Killer: "TestMassesAreNeverZero"},
		{Name: "abstaining has a mass where nothing abstains", File: "masses.go",
			Old: "abstains = abstains || ", New: "abstains = true || ",
			Killer: "TestMassesAreNeverZero"},
		{Name: "noise of two classes is of one count", File: "masses.go",
			Old: "/(2*sigma))/2", New: "/(1.4142135623730951*sigma))/2",
			Killer: "TestNormalAgainstASecondRule"},
		{Name: "the chain obeys one order only", File: "masses.go",
			Old: "max(float64(q*heads)+float64((1-q)*tails), p/heads+(1-p)/tails)",
			New: "(p/heads + (1-p)/tails)", Killer: "TestChainIsTheLargest"},
		{Name: "the worse table is returned", File: "solve.go", Old: "t.Value > value",
			New: "t.Value < value", Killer: "TestAgreementIsThatOfAnotherImplementation"},
		{Name: "coins are not tried", File: "solve.go", Old: "p.Answers <= fewAnswers {\n\t\t\tothers",
			New: "p.Answers < 1 {\n\t\t\tothers", Killer: "TestKindsAreTried"},
		{Name: "coins keep far below the promise", File: "solve.go", Old: "x = (low + best.x) / 2",
			New: "break", Killer: "TestFewAnswers"},
		{Name: "tables of one answer are not tried", File: "solve.go",
			Old: "p.Answers <= mostComposed && (two", New: "p.Answers < 1 && (two", Killer: "TestFewAnswers.*"},
		{Name: "what each answer may keep is a part of it", File: "one.go", Old: "p.Epsilon / float64(p.Answers)",
			New: "p.Epsilon / float64(p.Answers+1)", Killer: "TestFewAnswers.*"},
		{Name: "a smaller promise is met", File: "calibrate.go",
			Old:    "target := logarithm(s.Problem().Delta)",
			New:    "target := logarithm(s.Problem().Delta / 4)",
			Killer: "TestAgreementIsThatOfAnotherImplementation"},
		{Name: "the program's rows lack their right side", File: "program.go",
			Old:    "float64(g.order-1) * up * t.ratios[i]",
			New:    "float64(g.order-2) * up * t.ratios[i]",
			Killer: "TestProgramOfTwoClasses|TestAgreementIsThatOfAnotherImplementation"},
		{Name: "the program forgets its proof", File: "program.go", Old: "if t.value > 0 {",
			New: "if t.value > 1e9 {", Killer: "TestAgreementIsThatOfAnotherImplementation"},
		{Name: "the program forgets abstaining", File: "program.go",
			Old: "v.weights.Low[h] * v.prior.AbstainValue", New: "0 * v.weights.Low[h]",
			Killer: "TestAbstaining"},
		{Name: "labels that tell nothing choose the order", File: "order.go", Old: "len(some) == 0 ||", New: "len(some) >= 0 ||",
			Killer: "TestLabelThatTellsNothingTakesNothing"},
		{Name: "the best of an interrupted solve is thrown away", File: "solve.go",
			Old: "best == nil || ctx.Err() == nil || !o.BestOnCancel",
			New: "best == nil || ctx.Err() == nil || o.BestOnCancel", Killer: "TestSolveEnds"},
	})
}
