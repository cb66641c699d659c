package experiment_test

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "equal is below", File: "found.go", Old: "return a < b ||", New: "return a <= b ||",
			Killer: "TestBelow"},
		{Name: "a difference needs no confidence", File: "statement.go", Old: "d.Low > c.Difference.Low",
			New: "d.Mean > c.Difference.Low", Killer: "TestStatements"},
		{Name: "what is no number is below all", File: "statement.go", Old: "v = math.Inf(1)",
			New: "v = math.Inf(-1)", Killer: "TestStatements"},
		{Name: "claims are about all places", File: "statement.go", Old: "!ok || at != v", New: "!ok && at != v",
			Killer: "TestStatements"},
	})
}
