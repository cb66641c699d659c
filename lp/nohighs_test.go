//go:build !cgo || !highs

package lp_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/darrm/darrm/lp"
)

func TestNoHiGHS(t *testing.T) {
	_, err := lp.NewHiGHS(Box(1))
	if !errors.Is(err, lp.ErrNoHiGHS) {
		t.Fatalf("error %v, want ErrNoHiGHS", err)
	}
	for _, advice := range []string{"libhighs-dev", "brew install highs", "scripts/highs env",
		"-tags highs", "CGO_ENABLED"} {
		if !strings.Contains(err.Error(), advice) {
			t.Errorf("error %q does not mention %s", err, advice)
		}
	}
	p, _ := Random(1, 600, 0)
	if _, err := lp.New(p); !errors.Is(err, lp.ErrTooLarge) {
		t.Errorf("New with 600 columns: error %v, want ErrTooLarge", err)
	}
	if lp.Backend() != "Go simplex" {
		t.Errorf("Backend() = %q", lp.Backend())
	}
}
