package ensemble

import (
	"math"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/testing/raced"
)

// The optimum for teachers that promise nothing is not above the bound, at any votes of two classes
// and any target, however many of the teachers a record reaches, and where it reaches one it is at
// the bound.
func TestComparisonBoundIsAboveTheOptimum(t *testing.T) {
	if raced.Enabled {
		t.Skip("solves a hundred small problems, one after the other")
	}
	half := 3 // of the teachers: an optimum for eleven takes ten times the work of one for seven
	if os.Getenv("DARRM_LONG") != "" {
		half = 5
	}
	rapid.Check(t, func(t *rapid.T) {
		p := constraints.Problem{K: 2*rapid.IntRange(0, half).Draw(t, "half of K") + 1,
			TotalEpsilon: rapid.Float64Range(0.05, 3).Draw(t, "epsilon"),
			Delta:        rapid.SampledFrom([]float64{0, 1e-6, 1e-2, 0.3}).Draw(t, "delta"),
			Epsilon:      math.Inf(1)}
		p.Affected = rapid.IntRange(1, p.K).Draw(t, "affected")
		b, err := NewBallots(p.K, 2)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 5).Draw(t, "queries") {
			ones := rapid.IntRange(0, p.K).Draw(t, "ones")
			if err := b.Add([]int{p.K - ones, ones}, NoTruth); err != nil {
				t.Fatal(err)
			}
		}
		m, err := DaRRM(optimal(t, p), accountant.ReplaceOne)
		if err != nil {
			t.Fatal(err)
		}
		score, err := m.Evaluate(b)
		if err != nil {
			t.Fatal(err)
		}
		gap := b.upperBound(accountant.Cost{Epsilon: p.TotalEpsilon, Delta: p.Delta}, 1,
			p.Affected) - score.Agreement
		if gap < -1e-12 || p.Affected == 1 && gap > 1e-6 {
			t.Fatalf("the optimum agrees in %v, the bound is %v above", score.Agreement, gap)
		}
	})
}

// Of more classes, and of no votes, nothing is known.
func TestComparisonBoundIsOfTwoClasses(t *testing.T) {
	for _, classes := range []int{2, 3} {
		b, err := NewBallots(5, classes)
		if err != nil {
			t.Fatal(err)
		}
		if classes == 3 {
			if err := b.Add([]int{5, 0, 0}, NoTruth); err != nil {
				t.Fatal(err)
			}
		}
		if got := b.upperBound(accountant.Cost{Epsilon: 0.1}, 1, 1); got != 1 {
			t.Errorf("%d classes: %v, want 1", classes, got)
		}
	}
}

// In a tie either label agrees, whatever the noise.
func TestComparisonBoundOfTies(t *testing.T) {
	b, err := NewBallots(4, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, counts := range [][]int{{2, 2}, {4, 0}, {0, 4}} {
		if err := b.Add(counts, NoTruth); err != nil {
			t.Fatal(err)
		}
	}
	// From a tie, where a class is the label with ½, to a lead of 4 are two votes: δ = 0 lets the
	// other class be the label with e^(-2ε)/2, and the leading one with e^ε/2 at a lead of 2 at most.
	epsilon := 0.2
	want := (1 + 2*(1-math.Exp(-2*epsilon)/2)) / 3
	if got := b.upperBound(accountant.Cost{Epsilon: epsilon}, 1, 1); math.Abs(got-want) > 1e-8 || got < want {
		t.Errorf("%v, want %v", got, want)
	}
}
