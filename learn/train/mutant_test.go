package train

import (
	"testing"

	"github.com/darrm/darrm/internal/mutant"
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
	})
}
