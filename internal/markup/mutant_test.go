package markup

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// Planted mutants of the escaping.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "a value opens a tag", File: "markup.go", Old: `"<", "&lt;", `, New: "",
			Killer: "TestValuesAreText"},
		{Name: "a value ends an attribute", File: "markup.go", Old: "`\"`, \"&#34;\", ", New: "",
			Killer: "TestValuesAreText"},
		{Name: "a value is an entity", File: "markup.go", Old: `"&", "&amp;", `, New: "",
			Killer: "TestValuesAreText"},
		{Name: "values are written as they are", File: "markup.go",
			Old: "escaper.WriteString(&p.b, fmt.Sprint(v))", New: "p.b.WriteString(fmt.Sprint(v))",
			Killer: "TestValuesAreText"},
		{Name: "any attribute takes a value", File: "markup.go",
			Old: `panic("markup: a value in the attribute " + p.attribute)`, New: "",
			Killer: "TestPlaces"},
		{Name: "a link takes any scheme", File: "markup.go",
			Old: "p.attribute == \"href\" && behind && p.b.Bytes()[p.before] == '#'",
			New: "p.attribute == \"href\" && (behind || !behind)", Killer: "TestPlaces"},
		{Name: "a style takes any text", File: "markup.go",
			Old: "p.attribute == \"style\" && (whole || number)",
			New: "p.attribute == \"style\" && (whole || number || true)", Killer: "TestPlaces"},
		{Name: "quotes are not asked for", File: "markup.go", Old: "case !p.quoted:", New: "case false:",
			Killer: "TestPlaces"},
	})
}
