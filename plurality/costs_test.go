package plurality

import (
	"math"
	"math/rand/v2"
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

// The least δ at an ε is one that certifies, whatever its shortest decimal is.
func TestLeastDeltaCertifies(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	p := Problem{K: 3, Classes: 2, Epsilon: 0.7, Affected: 1}
	s, err := NewSystem(p)
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		masses := make([]uint64, s.Variables())
		for h := range s.Histograms() {
			first, end := s.Range(h)
			left := One
			for v := first; v < end; v++ {
				m := rng.Uint64N(left/uint64(s.ClassesOf(v))+1) >> rng.IntN(8)
				masses[v], left = m, left-m*uint64(s.ClassesOf(v))
			}
			masses[first] += left / uint64(s.ClassesOf(first))
		}
		if s.CheckMasses(masses) != nil {
			continue
		}
		if c, err := CertifyDelta(t.Context(), p, masses); err != nil || c == nil {
			t.Fatalf("%d: %v", masses, err)
		}
	}
}
