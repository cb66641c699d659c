package release

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/ledger"
)

// newOnline serves from a new ledger. Another call with the same options is another server.
func newOnline(t testing.TB, plan Plan, c Charge, budget float64) (*Online, OnlineOptions) {
	t.Helper()
	c.Ledger = newLedger(t, budget).Path()
	options := OnlineOptions{Plan: plan, Charge: c, Key: filepath.Join(t.TempDir(), "key")}
	return openOnline(t, options), options
}

func openOnline(t testing.TB, options OnlineOptions) *Online {
	t.Helper()
	o, err := OpenOnline(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func mustAnswer(t testing.TB, o *Online, q Query) *Answered {
	t.Helper()
	a, err := o.Answer(t.Context(), q)
	if err != nil {
		t.Fatalf("%q: %v", q.ID, err)
	}
	return a
}

// ways are the ways to pay, each with a mechanism, the votes of a query, others, and what n
// answers cost.
func ways(t testing.TB) map[string]struct {
	plan        Plan
	charge      Charge
	votes, more []int
	cost        func(n int) float64
} {
	type way = struct {
		plan        Plan
		charge      Charge
		votes, more []int
		cost        func(n int) float64
	}
	return map[string]way{
		"fresh":  {private(t, 1e-5, 0), Charge{Teachers: "fresh", Slack: new(0.0)}, []int{1, 0, 1}, []int{1, 1, 0}, func(n int) float64 { return float64(3*n) / 10 }},
		"frozen": {private(t, 1e-5, 0), Charge{Teachers: "frozen", Ensemble: "e"}, []int{1, 0, 1}, []int{1, 1, 0}, func(int) float64 { return 0.3 }},
		"none":   {noisy(t, 0), Charge{}, []int{0, 1, 2, 2, 2, 0, 0, 0, 0, 1}, []int{2, 1, 2, 2, 2, 0, 0, 0, 0, 1}, func(n int) float64 { return float64(5*n) / 10 }},
	}
}

// The same query has one answer, paid for once, at every server of the ledger and after every
// start. Other votes under its id are refused and cost nothing.
func TestOnlineAnswersOnce(t *testing.T) {
	for name, w := range ways(t) {
		t.Run(name, func(t *testing.T) {
			o, options := newOnline(t, w.plan, w.charge, 1e3)
			first := map[string]int{}
			ids := []string{"a", "b", "c"}
			for _, id := range ids {
				a := mustAnswer(t, o, Query{ID: id, Votes: w.votes})
				first[id] = a.Class
				if a.Replayed || a.ID != id || a.Charge.ID != id {
					t.Errorf("%+v", a)
				}
			}
			checkSpent(t, o.book, w.cost(len(ids)))
			for _, server := range []*Online{o, openOnline(t, options)} {
				for _, id := range ids {
					if a := mustAnswer(t, server, Query{ID: id, Votes: w.votes}); a.Class != first[id] || !a.Replayed {
						t.Errorf("%s again: %+v, first %d", id, a, first[id])
					}
					for _, other := range []Query{
						{ID: id, Votes: w.more}, {ID: id, Votes: w.votes, Client: "x"}, {ID: id, Counts: countsOf(w.votes, w.plan.Mechanism.Setting().Classes)},
					} {
						a, err := server.Answer(t.Context(), other)
						if a != nil || !errors.Is(err, ledger.ErrConflict) && !errors.Is(err, ledger.ErrDraw) {
							t.Errorf("%+v: %+v, %v", other, a, err)
						}
					}
				}
			}
			checkSpent(t, o.book, w.cost(len(ids)))
		})
	}
}

func countsOf(votes []int, classes int) []int {
	counts := make([]int, classes)
	for _, v := range votes {
		if v != ensemble.Abstained {
			counts[v]++
		}
	}
	return counts
}
