package problem

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "an interrupt does not stop the check of a table", File: "problem.go",
			Old: "release.ReadTable(ctx, r)", New: "release.ReadTable(context.Background(), r)",
			Killer: "TestCheckEndsWithItsContext"},
	})
}
