package prepare

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "the number above stands in for a blank", File: "column.go",
			Old: "\t\tcell = *c.Fill\n\t}\n",
			New: "\t\tcell = *c.Fill\n\t} else if c.Fill != nil && *c.Fill != Missing {\n" +
				"\t\t*c.Fill = cell\n\t}\n", Killer: "TestRowsAreMappedByThemselves"},
		{Name: "a number is not clipped to its range", File: "column.go",
			Old: "\tt := (r.cut(x) - r[0]) / (r[1] - r[0])\n\treturn 2*t - 1\n",
			New: "\treturn 2*(x-r[0])/(r[1]-r[0]) - 1\n", Killer: "TestRadius"},
		{Name: "a number is not clipped to its range where 0 stays 0", File: "column.go",
			Old: "return r.cut(x) / max(-r[0], r[1])",
			New: "return min(x, r[1]) / max(-r[0], r[1])", Killer: "TestRadius|TestRules"},
		{Name: "the radius forgets a column", File: "map.go", Old: "float64(len(m.Features)), 1/q",
			New: "float64(len(m.Features)-1), 1/q", Killer: "TestRadius"},
		{Name: "a number without a scale has a bound", File: "map.go",
			Old:    "if c.Scale == nil && c.Categories == nil {\n\t\t\treturn",
			New:    "if c.Scale == nil && c.Categories == nil && c.Fill != nil {\n\t\t\treturn",
			Killer: "TestRadius"},
		{Name: "identifiers are features", File: "rules.go", Old: "if t.Named && Identifier(name) {",
			New: "if !t.Named && Identifier(name) {", Killer: "TestIdentifiers"},
		{Name: "where a record is replaced, its content decides what it is for", File: "map.go",
			Old: "if h.ByContent {", New: "if true {", Killer: "TestHoldOutKeepsNeighbours"},
		{Name: "where a record is removed, its row decides what it is for", File: "map.go",
			Old: "if h.ByContent {", New: "if false {", Killer: "TestHoldOutKeepsNeighbours"},
		{Name: "a category of a blank's name is filled", File: "column.go",
			Old: " && !slices.Contains(c.Categories, cell)", New: "", Killer: "TestBlankWordsThatAreCategories"},
	})
}
