package mutant

import (
	"os"
	"strings"
	"testing"
)

// Of a change the compiler's error is told, whatever it is about; what compiles has none.
func TestCheck(t *testing.T) {
	const file = "mutant.go"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := load(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, next, want string }{
		{"", "", ""},
		{"n != 1", "n != 2", ""},
		{"n != 1", "n != \"\"", "mismatched types"},
		{"err := os.ReadFile(m.File)", "err := os.ReadFile(m.File)\n\tunused := 0",
			"declared and not used"},
		{"return changed", "return", "not enough return values"},
		{"return changed", "return changed)", "expected"},
		{"\"strings\"", "\"strings\"\n\t\"io\"", "imported and not used"},
	} {
		changed := strings.Replace(string(source), c.old, c.next, 1)
		err := p.check(map[string]string{file: changed})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: %v, want %q", c.next, c.old, err, c.want)
		}
	}
	if err := p.check(map[string]string{"other_windows.go": "nothing"}); err != nil {
		t.Errorf("a file of another system: %v", err)
	}
}
