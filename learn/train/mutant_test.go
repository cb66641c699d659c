package train

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "an end that was not priced", File: "calibrate.go",
			Old:    "return c.within.x, c.within.price, nil",
			New:    "return math.Sqrt(c.within.x * c.beyond.x), c.within.price, nil",
			Killer: "TestCalibrateEndsOnThePrivateSide"},
		{Name: "a little above the budget", File: "calibrate.go", Old: "inside := price <= c.budget && ",
			New:    "inside := price <= c.budget*(1+c.Tolerance) && ",
			Killer: "TestCalibrateEndsOnThePrivateSide"},
		{Name: "a search that no context ends", File: "calibrate.go",
			Old:    "if err := ctx.Err(); err != nil {",
			New:    "if err := ctx.Err(); err != nil && c.prices == 0 {",
			Killer: "TestCalibrateHeedsItsContext"},
		{Name: "a person pays δ once for each row", File: "calibrate.go",
			Old: "sum += math.Exp(float64(i) * epsilon)", New: "sum += math.Exp(0 * float64(i) * epsilon)",
			Killer: "TestGroupCost"},
		{Name: "a person's price is not rounded up", File: "calibrate.go",
			Old: "return sum * (1 + float64(rows+8)*0x1p-50*(1+epsilon))", New: "return sum * (1 - 0x1p-40)",
			Killer: "TestGroupCost"},
		{Name: "algorithms without a digest share their checkpoints", File: "checkpoint.go",
			Old: "if a.Digest == [32]byte{} {", New: "if false {", Killer: "TestForeignCheckpointsAreRefused"},
	})
}
