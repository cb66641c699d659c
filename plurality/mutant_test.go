package plurality

import (
	"testing"

	"github.com/darrm/darrm/internal/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "a file may claim a smaller gap", File: "table.go", Old: `s.Upper("gap", stated.Gap`,
			New: `s.Upper("gap", stated.Gap+1e-9`, Killer: "TestClaimsNoMoreThanIsProved"},
		{Name: "a file may claim a larger value", File: "table.go", Old: `s.Lower("value", stated.Value`,
			New: `s.Lower("value", stated.Value-1e-9`, Killer: "TestClaimsNoMoreThanIsProved"},
		{Name: "a file may claim a smaller bound", File: "table.go",
			Old: `s.Upper("upper_bound", stated.UpperBound`,
			New: `s.Upper("upper_bound", stated.UpperBound+1e-9`, Killer: "TestClaimsNoMoreThanIsProved"},
		{Name: "a file may claim to spend less", File: "table.go",
			Old:    `s.Upper("certificate.spent", stated.Certificate.Spent`,
			New:    `s.Upper("certificate.spent", stated.Certificate.Spent+1e-9`,
			Killer: "TestClaimsNoMoreThanIsProved"},
		// found by a draw
		{Name: "the value is rounded up", File: "optimality.go",
			Old: "if accuracy == big.Above {", New: "if false && accuracy == big.Above {",
			Killer: "TestValueAndGapAreRounded"},
		{Name: "the gap is rounded down", File: "table.go", Old: "Gap: up(bound - value)",
			New: "Gap: down(bound - value)", Killer: "TestValueAndGapAreRounded"},
		{Name: "a multiplier need not be a list", File: "json.go",
			Old:    "if err := json.Unmarshal(b, &x); err != nil {\nreturn err",
			New:    "if err := json.Unmarshal(b, &x); err != nil {\nreturn nil",
			Killer: "TestAlteredTablesAreRefused"},
		{Name: "a variable may be a fraction", File: "json.go",
			Old:    "json.Unmarshal([]byte(x[k]), to); err != nil",
			New:    "json.Unmarshal([]byte(x[k]), to); false && err != nil",
			Killer: "TestAlteredTablesAreRefused"},
		{Name: "the problem of a file is not checked", File: "json.go",
			Old:    "if err := p.Validate(); err != nil {",
			New:    "if err := p.Validate(); false && err != nil {",
			Killer: "TestAlteredTablesAreRefused"},
		{Name: "one teacher has no law", File: "law.go", Old: "c.Problem().K < 1",
			New: "c.Problem().K <= 1", Killer: "TestLawIsOfTheMasses"},
		{Name: "a change of more classes than there are", File: "neighbours.go",
			Old: "c.Classes < 1 || c.Classes > left[k].classes",
			New: "c.Classes < 1 && c.Classes > left[k].classes", Killer: "TestBetweenByTheDefinition"},
		{Name: "a histogram before the first", File: "neighbours.go",
			Old: "if h < 0 || h >= s.Histograms()", New: "if h < -1 || h >= s.Histograms()",
			Killer: "TestUpperBoundRefuses"},
		{Name: "a histogram's pairs end after 4096 steps", File: "neighbours.go",
			Old: "stopped: func() bool { return false }", New: "stopped: func() bool { return true }",
			Killer: "TestNeighboursOfAHistogramWithMany"},
		{Name: "the largest group takes the last unit", File: "round.go", Old: "if left <= 0 {",
			New: "if left <= 1 {", Killer: "TestMassesTakeTheLargestRemainders"},
		{Name: "every group takes a unit", File: "round.go", Old: "if left <= 0 {",
			New: "if false && left <= 0 {", Killer: "TestMassesTakeTheLargestRemainders"},
		{Name: "more noise than δ needs", File: "round.go",
			Old: "lambda = min(lambda, eta/(s.problem.Delta+eta))", New: "", Killer: "TestMixing"},
		{Name: "a violation with another probability", File: "certify.go",
			Old: "P: float64(g[c.I]) / float64(One)", New: "P: float64(g[c.I]) * float64(One)",
			Killer: "TestViolationHasItsFigures"},
		{Name: "classes alike may be treated unlike", File: "own.go",
			Old: "slices.Max(alike)-slices.Min(alike) > check.GivenTolerance",
			New: "slices.Max(alike)-slices.Min(alike) > 1", Killer: "TestFromGivenRefuses"},
		{Name: "a histogram may be there twice", File: "own.go", Old: "if given[h] != nil {",
			New: "if false && given[h] != nil {", Killer: "TestFromGivenRefuses"},
		{Name: "a sum may be a millionth off", File: "own.go",
			Old: "math.Abs(sum-1) <= check.GivenTolerance", New: "math.Abs(sum-1) <= 1e-6",
			Killer: "TestFromGivenRefuses"},
		{Name: "a change downwards is none", File: "own.go", Old: "d.Sub(d, drawn).Abs(d).Cmp(most)",
			New: "d.Sub(d, drawn).Cmp(most)", Killer: "TestFromGiven$"},
		{Name: "votes in any order", File: "own.go", Old: "if !slices.IsSortedFunc(",
			New: "if false && !slices.IsSortedFunc(", Killer: "TestFromGivenRefuses"},
		{Name: "half of what is spent counts", File: "own.go", Old: "return spent <= s.allowed()",
			New: "return spent/2 <= s.allowed()", Killer: "TestCertifyOwnByTheDefinition"},
		{Name: "masses may sum to 2^53 modulo 2^64", File: "certify.go", Old: "if masses[i] > One {",
			New: "if false {", Killer: "TestMassesThatOverflowAreRefused"},
	})
}
