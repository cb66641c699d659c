package rounds

import (
	"testing"

	"github.com/darrm/darrm/internal/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "the last reports are not in the book's digest", File: "shuffle.go",
			Old: "sha256.Sum256(file)", New: "sha256.Sum256(file[:len(file)-1])",
			Killer: "TestEveryReportIsInTheBook"},
		{Name: "the book does not name the plan", File: "book.go",
			Old: `fmt.Sprintf("%s-round-%d", p.Digest(), `, New: `fmt.Sprintf("%.0s-round-%d", p.Digest(), `,
			Killer: "TestBookKeepsPlansApart"},
	})
}
