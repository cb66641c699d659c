//go:build cgo && highs

package lp_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/darrm/darrm/lp"
)

func TestHiGHS(t *testing.T) { Run(t, lp.NewHiGHS) }

func TestBackendIsHiGHS(t *testing.T) {
	version, ok := strings.CutPrefix(lp.Backend(), "HiGHS ")
	if !ok || !strings.HasPrefix(version, "1.") {
		t.Errorf("Backend() = %q, want HiGHS and its version", lp.Backend())
	}
}

// Only HiGHS takes columns without bounds, so New must have made one: x1 ≥ -3 by the row alone.
func TestHiGHSFreeColumn(t *testing.T) {
	s, err := lp.New(free())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Solve(context.Background()); err == nil {
		t.Error("no error for an unbounded program")
	}
	if err := s.AddRows([]lp.Row{{Coef: []float64{-1, -1}, RHS: 3}}); err != nil {
		t.Fatal(err)
	}
	sol, err := s.Solve(context.Background())
	if err != nil || math.Abs(sol.Objective+3) > 1e-9 {
		t.Errorf("objective %g, %v, want -3", sol.Objective, err)
	}
}
