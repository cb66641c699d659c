package plurality

import (
	"errors"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/check"
)

// Masses 2⁶³+2⁵³ and 2⁶³ sum to 2⁵³ in 64 bits. Taken for a law they would pass for one that always
// draws the plurality.
func TestMassesThatOverflowAreRefused(t *testing.T) {
	s := system(t, Problem{K: 3, Classes: 2, Epsilon: 0.01, Affected: 3})
	masses := make([]uint64, s.Variables())
	overflows := 0
	for h := range s.Histograms() {
		first, end := s.Range(h)
		masses[first] = One
		if end-first > 1 {
			masses[first], masses[first+1] = 1<<63+One, 1<<63
			overflows++
		}
	}
	if overflows == 0 {
		t.Fatal("no histogram has two groups")
	}
	var wrong *check.Error
	if err := s.CheckMasses(masses); !errors.As(err, &wrong) || !strings.Contains(wrong.Rule, "at most 2^53") {
		t.Error(err)
	}
	if _, err := Certify(t.Context(), s, masses); err == nil {
		t.Error("they are certified")
	}
	if _, err := CertifyDelta(t.Context(), s.Problem(), masses); err == nil {
		t.Error("they are certified with a delta")
	}
}
