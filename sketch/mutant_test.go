package sketch

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "padding keeps d/d' of the error", File: "rotated.go",
			Old: "kept = float64(r.D-1) / (d - 1)", New: "kept = float64(r.D) / d",
			Killer: "TestRotatedPadding"},
		{Name: "the scale is rounded to the nearest", File: "rounded.go",
			Old: "if float64(scale) < largest {", New: "if false {",
			Killer: "TestRoundedScaleCoversTheNumbers"},
		{Name: "Haar's rows are not orthogonal", File: "matrix.go",
			Old: "row[j] -= p * v", New: "row[j] -= 0 * p * v", Killer: "TestHaarRows"},
	})
}
