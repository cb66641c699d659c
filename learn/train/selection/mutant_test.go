package selection

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "two numbers are told for the ε of one", File: "heldout.go", Old: "\t\tparts = 2\n",
			New: "\t\tparts = 1\n", Killer: "TestHeldOutTestKeepsItsEpsilon"},
		{Name: "a private number of records is known", File: "heldout.go",
			Old:    "t.counts = !known || h.Score.Kind == Pairs; t.counts",
			New:    "t.counts = h.Score.Kind == Pairs; t.counts",
			Killer: "TestHeldOutTestKeepsItsEpsilon"},
		{Name: "noise for a unit of one", File: "heldout.go", Old: "laplace(unit*parts, h.Epsilon)",
			New: "laplace(parts, h.Epsilon)", Killer: "TestHeldOutTestKeepsItsEpsilon"},
		{Name: "the score goes without noise", File: "heldout.go",
			Old: "noisy, number := float64(sum+z), 0.0", New: "noisy, number := float64(sum), 0.0",
			Killer: "TestHeldOutTestIsTheEvaluation"},
		{Name: "the number of records goes without noise", File: "heldout.go",
			Old: "number = float64(count + z)", New: "number = float64(count)",
			Killer: "TestHeldOutTestIsTheEvaluation"},
		{Name: "a test above the model's cost", File: "heldout.go", Old: "h.Epsilon > cost {",
			New: "h.Epsilon > 2*cost {", Killer: "TestHeldOutRefusals"},
		{Name: "other records held out, the same run", File: "heldout.go",
			Old: "if held != nil {\n\t\tfmt.Fprintf", New: "if held == nil {\n\t\tfmt.Fprintf",
			Killer: "TestHeldOutRefusals"},
	})
}
