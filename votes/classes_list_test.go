package votes

import (
	"slices"
	"strings"
	"testing"
)

// A list has two names or more; a number alone, which could be meant as one name or as that
// many classes, is neither, and what to write is said.
func TestParseClasses(t *testing.T) {
	for list, want := range map[string][]string{"0,1": {"0", "1"}, "dog,cat": {"dog", "cat"}, "4,2": {"4", "2"}} {
		if got, err := ParseClasses(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v, want %q", list, got, err, want)
		}
	}
	for list, want := range map[string]string{
		"4": ", write 0,1,2,3", "20": ",18,19", "21": "up to 20: seq -s, 0 20 prints", "1000": "up to 999", "1": "commas", "1001": "commas", "-4": "commas", "cat": "commas", "": "commas",
	} {
		names, err := ParseClasses(list)
		if err == nil || names != nil || !strings.Contains(err.Error(), want) || want == "commas" && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: %q, %v, want an error with %q", list, names, err, want)
		}
	}
}
