package ensemble

import (
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
)

// Always is the class that agrees most often, with its own share of the true labels; it tells more than
// labels that agree less often.
func TestAlwaysTheSameAnswer(t *testing.T) {
	b, err := NewBallots(4, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []struct {
		counts []int
		truth  int
	}{{[]int{0, 3, 1}, 1}, {[]int{0, 4, 0}, 0}, {[]int{2, 2, 0}, 1}, {[]int{3, 0, 1}, NoTruth}} {
		if err := b.Add(q.counts, q.truth); err != nil {
			t.Fatal(err)
		}
	}
	want := Always{1, Score{Agreement: 3. / 4, Balanced: 1. / 2, Shared: 2.5 / 4, Accuracy: 2. / 3, Queries: 4, Labels: 3}}
	if got := b.always(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	s := Setting{K: 4, Classes: 3, Affected: 1, Neighbours: accountant.ReplaceOne}
	for _, c := range []struct {
		epsilon float64
		tells   bool
	}{{0.1, false}, {5, true}} {
		m, err := PermuteAndFlip(s, c.epsilon)
		if err != nil {
			t.Fatal(err)
		}
		got, err := CompareTogether(t.Context(), b, s, accountant.Cost{Epsilon: 2 * c.epsilon}, 2,
			[]Ready{{Name: Fallback, Mechanism: m, Title: "a title"}, {Name: "none", Refused: ErrMissing}})
		if err != nil {
			t.Fatal(err)
		}
		if got.Tells() != c.tells {
			t.Errorf("ε = %v agrees in %v, always in %v: tells %v", c.epsilon, got.Rows[0].Score.Agreement,
				got.Always.Score.Agreement, got.Tells())
		}
		if m.Title() == "a title" {
			t.Error("the mechanism that was handed in has the title of its row")
		}
	}
	for name, all := range map[string][]Ready{"nothing": {{Name: "nothing"}}} {
		if _, err := CompareTogether(t.Context(), b, s, accountant.Cost{Epsilon: 1}, 2, all); err == nil {
			t.Errorf("%s is compared", name)
		}
	}
	if _, err := CompareTogether(t.Context(), b, s, accountant.Cost{Epsilon: 1}, 0, nil); err == nil {
		t.Error("no answers cost something together")
	}
	if _, err := CompareTogether(t.Context(), nil, s, accountant.Cost{Epsilon: 1}, 1, nil); err == nil {
		t.Error("no votes are compared")
	}
}

// The bound is of mechanisms that presume nothing of the teachers, and no other row has one.
func TestBoundOfARow(t *testing.T) {
	b := mnist(t)
	c, err := Compare(t.Context(), b, CompareOptions{
		Target:   accountant.Cost{Epsilon: 0.40731, Delta: 0.000299970001},
		Teachers: accountant.Cost{Epsilon: 0.13577, Delta: 1e-4}, Affected: 11,
		Neighbours: accountant.ReplaceOne,
	})
	if err != nil {
		t.Fatal(err)
	}
	above, bounded := 0, 0
	report := c.Report()
	for i, row := range c.Rows {
		if row.Refused != nil {
			continue
		}
		private := !math.IsInf(row.Mechanism.Teachers().Epsilon, 1)
		if got, want := report.Mechanisms[i].UpperBound, c.UpperBound; private && got != 0 || !private && got != want {
			t.Errorf("%s has the bound %v of %v", row.Name, got, want)
		}
		switch {
		case row.Score.Agreement > c.UpperBound:
			above++
		case !private:
			bounded++
		}
		if !private && row.Score.Agreement > c.UpperBound {
			t.Errorf("%s agrees in %v, above its bound", row.Name, row.Score.Agreement)
		}
	}
	if above == 0 || bounded == 0 {
		t.Errorf("%d rows above the bound of %d", above, bounded)
	}
}
