package ensemble

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
)

// Both tables of a comparison keep the same promise, for records that reach as many; that of
// the vote counts presumes nothing of the teachers.
func TestOptimalTables(t *testing.T) {
	p, err := constraints.NewProblem(11, 3, 0.13577, 1e-4)
	if err != nil {
		t.Fatal(err)
	}
	p.Affected = 2
	var solved []constraints.Problem
	solve := func(p constraints.Problem) (*gamma.Certified, error) {
		solved = append(solved, p)
		return nil, p.Validate()
	}
	tables, err := OptimalTables(p, solve)
	if err != nil || len(tables) != 2 || tables[0].Name != OptimalTeachers ||
		tables[1].Name != OptimalCounts {
		t.Fatalf("%v, %v", tables, err)
	}
	total, delta := p.Total()
	blind := constraints.Problem{K: 11, TotalEpsilon: total, Epsilon: math.Inf(1), Delta: delta,
		Affected: 2}
	if solved[0] != p || solved[1] != blind {
		t.Errorf("solved %+v, want %+v and %+v", solved, p, blind)
	}
	solved = nil
	if tables, err = OptimalTables(blind, solve); err != nil || len(tables) != 1 ||
		tables[0].Name != OptimalCounts || solved[0] != blind {
		t.Errorf("teachers that promise nothing: %v, solved %+v, %v", tables, solved, err)
	}
	// A table that is not solved is an error, whichever of the two it is.
	for fails := range 2 {
		solved = nil
		tables, err := OptimalTables(p, func(p constraints.Problem) (*gamma.Certified, error) {
			if solved = append(solved, p); len(solved) > fails {
				return nil, context.Canceled
			}
			return nil, nil
		})
		if tables != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("table %d fails: %v, %v", fails+1, tables, err)
		}
	}
}
