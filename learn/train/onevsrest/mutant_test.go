package onevsrest

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "one model is paid for", File: "onevsrest.go", Old: "Count: p.m.Classes})",
			New: "Count: 1})", Killer: "TestAllModelsArePaidFor"},
		{Name: "all models have the same noise", File: "onevsrest.go",
			Old: "e.coins.Derive(streamClass, k)", New: "e.coins.Derive(streamClass, 0)",
			Killer: "TestModelsTellClassesApart"},
		{Name: "a record of no class is of the rest", File: "onevsrest.go",
			Old: "if err := r.Unweighted().Check(p.check); err != nil {",
			New: "if err := r.Unweighted().Check(p.check); err == nil && r.Len() < 0 {", Killer: "TestRefusals"},
	})
}
