package strictjson

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

func TestIsKind(t *testing.T) {
	for data, want := range map[string]bool{
		`{"kind":"x"}`: true, `{"a":[1,{"kind":1}],"kind":"x"}`: true, `{"kind":"y"}`: false,
		`{"kind":7}`: false, `"x"`: false, ``: false,
		// What was cut short is of its kind, as far as can be read.
		`{"kind":"x"`: true, `{"kind":"x","masses":[{`: true, `{"kind"`: false,
	} {
		if got := IsKind([]byte(data), "x"); got != want {
			t.Errorf("%s: %t", data, got)
		}
	}
}

// Planted mutants, as in package plurality.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "what was cut short has no kind", File: "strictjson.go",
			Old: "return err == nil && kind == want",
			New: "return err == nil && kind == want && json.Valid(data)", Killer: "TestIsKind"},
	})
}
