package accountant

import "testing"

// A relation is written and read by its name, and what is none of them is neither.
func TestRelationNames(t *testing.T) {
	t.Parallel()
	for r := AddOrRemoveOne; r <= BlankOne; r++ {
		text, err := r.MarshalText()
		if err != nil || string(text) != r.Name() || r.Name() == "" {
			t.Errorf("%v: %q, %v", r, text, err)
		}
		var back Relation
		if err := back.UnmarshalText(text); err != nil || back != r {
			t.Errorf("%q is read as %v, %v", text, back, err)
		}
	}
	for _, r := range []Relation{0, -1, BlankOne + 1} {
		if text, err := r.MarshalText(); err == nil || r.Name() != "" {
			t.Errorf("%d is written as %q", r, text)
		}
	}
	for _, name := range []string{"", "Replace", "replace one record"} {
		back := ReplaceOne
		if err := back.UnmarshalText([]byte(name)); err == nil || back != ReplaceOne {
			t.Errorf("%q is read as %v", name, back)
		}
	}
}
