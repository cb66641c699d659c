package release

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/plurality"
)

// everyMechanism are plans of every kind of mechanism, each with votes.
func everyMechanism(t *testing.T) map[string]struct {
	plan  Plan
	votes []int
} {
	t.Helper()
	out := map[string]struct {
		plan  Plan
		votes []int
	}{}
	s := ensemble.Setting{K: 7, Classes: 4, Affected: 1, Neighbours: accountant.ReplaceOne}
	for _, name := range []string{"gnmax", "gnmax-renyi", "confident-gnmax", "lnmax",
		"permute-and-flip"} {
		target := accountant.Cost{Epsilon: 1}
		if name != "lnmax" && name != "permute-and-flip" {
			target.Delta = 1e-3
		}
		m, err := ensemble.Calibrated(name, s, target, ensemble.Check{Ratio: 4})
		if err != nil {
			t.Fatal(name, err)
		}
		out[name] = struct {
			plan  Plan
			votes []int
		}{must.Get(NewPlan(m))(t), []int{0, 1, 2, 2, 2, 1, 3}}
	}
	table := pluralityPlan(t, plurality.Problem{K: 7, Classes: 4, Affected: 1, Epsilon: 1})
	plan, err := Plurality(table.mechanism.Table(), accountant.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	out["optimal"] = struct {
		plan  Plan
		votes []int
	}{plan, []int{0, 1, 2, 2, 2, 1, 3}}
	p, err := constraints.NewProblem(7, 3, 0.3, 1e-4)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range gamma.BaselineKinds() {
		b, err := kind.Certify(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		m, err := ensemble.Baseline(b, accountant.ReplaceOne)
		if err != nil {
			t.Fatal(err)
		}
		// A charge keeps the problem alone: the mechanism is made of it again by its name.
		kept, err := Baseline(t.Context(), m.Name(), b.Certified.Problem(), accountant.ReplaceOne)
		if err != nil || kept.mechanism == nil || !kept.mechanism.NoiseFunction().Same(b.Certified) {
			t.Errorf("%s from its charge: %+v, %v", m.Name(), kept, err)
		}
		out["darrm: "+kind.Name] = struct {
			plan  Plan
			votes []int
		}{must.Get(NewPlan(m))(t), []int{1, 0, 1, 1, 0, 1, 1}}
	}
	return out
}

// The answers on line, over the ids, have the law of the mechanism that answers files: χ² of 4000
// answers to the same votes against the mechanism's probabilities. A test that is true to its law
// fails once in a million runs of one mechanism; a probability that is off by 0.08 is seen with
// more than 0.999.
func TestOnlineLaw(t *testing.T) {
	raced.Elsewhere(t, "TestAnswersAtOnce")
	const n = 4000
	for name, m := range everyMechanism(t) {
		t.Run(name, func(t *testing.T) {
			c := Charge{}
			if m.plan.promise() {
				c = Charge{Teachers: "fresh"}
			}
			o, _ := newOnline(t, m.plan, c, 1)
			s := m.plan.mechanism.Setting()
			law, err := m.plan.mechanism.Probabilities(countsOf(m.votes, s.Classes))
			if err != nil {
				t.Fatal(err)
			}
			seen := make([]float64, len(law))
			for i := range n {
				tr, a, err := o.transaction(o.book, Query{ID: fmt.Sprint(i), Votes: m.votes})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := tr.Draw(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				if a.Class == ensemble.Abstained {
					a.Class = len(law) - 1
				}
				seen[a.Class]++
			}
			var statistic, free float64 = 0, -1
			for i, p := range law {
				if p < 1e-12 {
					if seen[i] > 0 {
						t.Errorf("class %d has probability %v and was answered %v times", i, p, seen[i])
					}
					continue
				}
				d := seen[i] - n*p
				statistic += d * d / (n * p)
				free++
			}
			if free > 0 {
				if p := (distuv.ChiSquared{K: free}).Survival(statistic); p < 1e-6 {
					t.Errorf("χ² = %.1f of %v degrees, p = %.2g: %v, law %v", statistic, free, p, seen, law)
				}
			}
		})
	}
}

// Every mechanism answers the whole way, and again the same.
func TestOnlineEveryMechanism(t *testing.T) {
	for name, m := range everyMechanism(t) {
		c := Charge{}
		if m.plan.promise() {
			c = Charge{Teachers: "frozen", Ensemble: "e"}
		}
		o, options := newOnline(t, m.plan, c, 100)
		again := openOnline(t, options)
		for i := range 2 {
			q := Query{ID: fmt.Sprint(i), ReplayKey: myKey, Votes: m.votes}
			a := mustAnswer(t, o, q)
			if b := mustAnswer(t, again, q); b.Class != a.Class || !b.Replayed {
				t.Errorf("%s: %+v, then %+v", name, a, b)
			}
		}
	}
}
