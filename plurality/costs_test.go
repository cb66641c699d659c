package plurality

import (
	"math"
	"testing"
)

// An answer costs nothing where its class has the most votes, and elsewhere a number in [0, MaxCost] of which one
// is above 0.
func TestCostsAreValidated(t *testing.T) {
	for _, tt := range []struct {
		costs Costs
		valid bool
	}{
		{nil, true}, {Costs{{0, 1}, {2, 0}}, true}, {Costs{{0, 0}, {MaxCost, 0}}, true}, {Costs{{1, 1}, {2, 0}}, false}, {Costs{{0, 1}, {2, 1}}, false},
		{Costs{{0, 0}, {0, 0}}, false}, {Costs{{0, -1}, {2, 0}}, false}, {Costs{{0, math.NaN()}, {2, 0}}, false}, {Costs{{0, 2 * MaxCost}, {2, 0}}, false},
		{Costs{{0, 1}}, false}, {Costs{{0, 1}, {2}}, false},
	} {
		if err := tt.costs.Validate(2); (err == nil) != tt.valid {
			t.Errorf("%v: %v", tt.costs, err)
		}
	}
}

// All cliques are listed where there is room for them, and where there is not it is said so.
func TestCliquesUpToTellsWhetherTheyAreAll(t *testing.T) {
	s, err := NewSystem(Problem{K: 4, Classes: 3, Epsilon: 1, Affected: 1})
	if err != nil {
		t.Fatal(err)
	}
	whole, all, err := s.CliquesUpTo(t.Context(), math.MaxInt)
	if err != nil || !all || whole.Len() == 0 {
		t.Errorf("%d cliques, all %t, %v", whole.Len(), all, err)
	}
	if some, all, err := s.CliquesUpTo(t.Context(), len(whole.Variables)/2); err != nil || all || some.Len() >= whole.Len() {
		t.Errorf("%d cliques of %d, all %t, %v", some.Len(), whole.Len(), all, err)
	}
}
