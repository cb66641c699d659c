package federated

import (
	"testing"

	"github.com/darrm/darrm/internal/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "a silo's coins do not know the previous model", File: "silo.go",
			Old: `digest("broadcast", b.Round, b.Model, b.Previous)`,
			New: `digest("broadcast", b.Round, b.Model)`, Killer: "TestCoinsKnowThePreviousModel"},
	})
}
