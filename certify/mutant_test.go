package certify

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "a reach that is not stated is one teacher", File: "certify.go",
			Old: "Affected: value(s.Affected, s.K)", New: "Affected: value(s.Affected, 1)",
			Killer: "TestStatements$"},
		{Name: "a flag replaces what the file states", File: "certify.go",
			Old: "if was != is {",
			New: "if false && was != is {", Killer: "TestStatementsThatAreRefused"},
		{Name: "the promise of frozen teachers counts", File: "certify.go",
			Old: "s.Teachers != ensemble.FreshTeachers || s.TeacherDelta == nil",
			New: "s.TeacherDelta == nil", Killer: "TestStatementsThatAreRefused"},
		{Name: "histograms may presume private teachers", File: "certify.go",
			Old: "if s.Promised() || s.Each",
			New: "if s.Each", Killer: "TestStatementsThatAreRefused"},
		{Name: "the last of two rows counts", File: "read.go", Old: "if _, ok := known[l]; ok {",
			New: "if _, ok := known[l]; false && ok {", Killer: "TestReadRefuses"},
		{Name: "a histogram may have unknown fields", File: "read.go",
			Old: "strictjson.DecodeKnown(b, MaxBytes, (*plain)(h))",
			New: "strictjson.Decode(b, MaxBytes, (*plain)(h))", Killer: "TestReadRefuses"},
		{Name: "a table is a mechanism of one's own", File: "read.go", Old: `return name
		}`, New: `return ""
		}`, Killer: "TestReadRefuses"},
	})
}
