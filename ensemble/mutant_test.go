package ensemble

import (
	"testing"

	"github.com/darrm/darrm/internal/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "votes cost at these votes by their number, not its square", File: "atvotes.go",
			Old: "big.NewRat(t*t, 1)", New: "big.NewRat(t, 1)",
			Killer: "TestAtVotesGrowsLikeTheSquareOfTheVotes"},
		{Name: "noise for one teacher less is accepted", File: "answers.go",
			Old: "if r.Noise.Affected < r.Affected {", New: "if r.Noise.Affected < r.Affected-1 {",
			Killer: "TestReleaseRefuses"},
		{Name: "the interval of accuracy is of all queries", File: "score.go",
			Old: "Wilson(s.Accuracy, s.Labels)", New: "Wilson(s.Accuracy, s.Queries)",
			Killer: "TestIntervalsAreOfTheirOwnQueries"},
		{Name: "a tie is right in part", File: "score.go",
			Old:    "\t\tif n == most {\n\t\t\tagree += law[c]\n",
			New:    "\t\tif n == most && agree == 0 {\n\t\t\tagree += law[c]\n",
			Killer: "TestEvaluateTwoClasses|TestEvaluateManyClasses"},
		{Name: "what ties add to the noise is left out", File: "gnmax.go",
			Old: "math.Sqrt(variance + 1./12)", New: "math.Sqrt(variance)", Killer: "TestLawOfIntegers"},
		{Name: "a lead counts in votes, not in deviations", File: "../internal/noise/normal.go",
			Old:    "\t\t\tz := x + float64(runs[0].Count-of.Count)/sigma\n\t\t\tbelow",
			New:    "\t\t\tz := x + float64(runs[0].Count-of.Count)\n\t\t\tbelow",
			Killer: "TestNormalLawAgainstASecondRule"},
		{Name: "the points lie too far apart for many classes", File: "../internal/noise/normal.go",
			Old: "math.Sqrt(0.61 / float64(counts))", New: "math.Sqrt(0.61)",
			Killer: "TestNormalLawAgainstASecondRule"},
		{Name: "a mechanism is charged under another's name", File: "description.go",
			Old: "\tm.name = name\n", New: "", Killer: "TestRowsMakeWhatTheyDescribe"},
		{Name: "noise of two scales is told apart by nothing", File: "gnmax.go",
			Old: "func (m noisyMax) exact() string { return m.parameters }",
			New: "func (m noisyMax) exact() string { return \"\" }", Killer: "TestRowsMakeWhatTheyDescribe"},
		{Name: "more answers than the table was made for", File: "manyanswers.go",
			Old: "if r.Queries > r.Together.Most {", New: "if false {",
			Killer: "TestManyAnswersAreChargedOnce"},
		{Name: "another price beside that of all answers", File: "manyanswers.go",
			Old: "if r.PerAnswer != (accountant.Cost{}) || r.Noise.Event != nil {", New: "if false {",
			Killer: "TestManyAnswersAreChargedOnce"},
		{Name: "the price at a smaller delta", File: "manyanswers.go",
			Old: "if r.Delta > 0 && r.Delta < r.Together.Cost.Delta {", New: "if false {",
			Killer: "TestManyAnswersAreChargedOnce"},
		{Name: "a statement promises more answers", File: "statement.go",
			Old: "if queries <= t.Most {", New: "if true {", Killer: "TestManyAnswersAreChargedOnce"},
		{Name: "a group's first class always", File: "group.go",
			Old: "return classes[nth%uint64(len(classes))], nil", New: "return classes[nth*0], nil",
			Killer: "TestManyAnswersDrawIsExact|TestPluralityDrawIsExact"},
		{Name: "a tie's groups in the order of the classes", File: "group.go",
			Old: "\tslices.Reverse(votes)\n", New: "",
			Killer: "TestManyAnswersDrawIsExact|TestPluralityDrawIsExact"},
		{Name: "abstaining is told by the number of draws", File: "group.go",
			Old: "noise.Uniform(src, max(2, uint64(len(classes))))",
			New: "noise.Uniform(src, max(1, uint64(len(classes))))", Killer: "TestPluralityDrawsTwoWords"},
	})
}
