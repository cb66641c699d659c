package convex

import (
	"testing"

	"github.com/darrm/darrm/internal/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "scores on far vertices may be too large", File: "frankwolfe.go",
			Old: "float64(s.Levels) * p.reach())", New: "float64(s.Levels))",
			Killer: "TestScoresOfFarVertices"},
		{Name: "one step less is accounted", File: "dpsgd.go",
			Old: "Neighbours: p.Neighbours}, Count: p.c.Steps,",
			New: "Neighbours: p.Neighbours}, Count: max(1, p.c.Steps-1),", Killer: "TestEveryStepIsPriced"},
		{Name: "the minimiser's tolerance counts in one world", File: "perturbation.go",
			Old: "float64(n) + 2*p.tolerance) / p.lambda", New: "float64(n) + p.tolerance) / p.lambda",
			Killer: "TestToleranceCountsInBothWorlds"},
		{Name: "the approximate minimiser's tolerance counts in one world", File: "perturbation.go",
			Old: "p.sensitivity = 2 * p.tolerance / p.lambda", New: "p.sensitivity = p.tolerance / p.lambda",
			Killer: "TestToleranceCountsInBothWorlds"},
	})
}
