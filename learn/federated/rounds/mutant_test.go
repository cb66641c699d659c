package rounds

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "the last reports are not in the book's digest", File: "shuffle.go",
			Old: "sha256.Sum256(file)", New: "sha256.Sum256(file[:len(file)-1])",
			Killer: "TestEveryReportIsInTheBook"},
		{Name: "the book does not name the plan", File: "shuffle.go",
			Old: `fmt.Sprintf("%s-round-%d", p.Digest(), `, New: `fmt.Sprintf("%.0s-round-%d", p.Digest(), `,
			Killer: "TestBookKeepsPlansApart"},
		{Name: "reports are taken in the name of a silo whose pass the sender lacks", File: "seal.go",
			Old: "hmac.Equal(b[:sha256.Size], pass.code(info, reports))", New: "len(pass.code(info, reports)) > 0",
			Killer: "TestSeal"},
		{Name: "a silo seals to a stranger's key", File: "seal.go",
			Old: "k.Fingerprint() != a.Fingerprint", New: "false", Killer: "TestSeal"},
	})
}
