package votes

import (
	"slices"
	"testing"
)

// The lists of names, from which flags and completion are made, hold what their parsers take.
func TestNamesAreParsed(t *testing.T) {
	for i, name := range LayoutNames() {
		if l, err := ParseLayout(name); err != nil || l != Layout(i) {
			t.Errorf("%s: %v, %v", name, l, err)
		}
	}
	for i, name := range HeaderModeNames() {
		if h, err := ParseHeaderMode(name); err != nil || h != HeaderMode(i) {
			t.Errorf("%s: %v, %v", name, h, err)
		}
	}
	if !slices.Contains(LayoutNames(), "long") || !slices.Contains(HeaderModeNames(), "auto") {
		t.Errorf("%q, %q", LayoutNames(), HeaderModeNames())
	}
}
