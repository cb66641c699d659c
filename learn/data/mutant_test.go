package data

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "a row may be longer than its radius by the rounding of its norm", File: "records.go",
			Old: "if v := norm * (1 + vec.Slack(r.d)); v > radius", New: "if v := norm; v > radius",
			Killer: "TestShortenedIsExactlyWithin"},
		{Name: "permuted columns are another record", File: "shared.go", Old: "\tslices.Sort(cells)\n",
			New: "\t_ = slices.Sort[[]float64]\n", Killer: "TestShared"},
		{Name: "the response is no number of the record", File: "shared.go",
			Old: "\tif r.y != nil {\n\t\tcells = append(cells, r.y[i])\n\t}\n", New: "",
			Killer: "TestShared"},
	})
}
