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
	})
}
