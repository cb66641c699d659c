package experiment_test

import (
	"testing"

	"github.com/darrm/darrm/internal/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "equal is below", File: "claims.go", Old: "return a < b ||", New: "return a <= b ||",
			Killer: "TestBelow"},
	})
}
