package main

import (
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
)

// More answers than the optimal composition takes have totals too: the basic one of fresh
// teachers, and of frozen ones the same as of two answers.
func TestTotalsOfMoreAnswersThanTheOptimalCompositionTakes(t *testing.T) {
	p, err := constraints.NewProblem(3, 3, 0.1, 1e-12)
	if err != nil {
		t.Fatal(err)
	}
	f, err := gamma.Constant(3, 0)
	if err != nil {
		t.Fatal(err)
	}
	c, err := gamma.Certify(t.Context(), p, f)
	if err != nil {
		t.Fatal(err)
	}
	g, err := ensemble.DaRRM(c, accountant.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	const many = 10 * accountant.MaxOptimalCount
	got, err := newTotals(p, g, many, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	basic, err := accountant.Basic(many, g.PerAnswer())
	if err != nil || got.fresh.Cost != basic {
		t.Errorf("fresh %v, %v, want %v", got.fresh.Cost, err, basic)
	}
	few, err := newTotals(p, g, 2, 0)
	if err != nil || got.frozen == nil || got.frozen.Cost != few.frozen.Cost {
		t.Errorf("frozen %v, want %v (%v)", got.frozen, few.frozen, err)
	}
}
