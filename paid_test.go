package darrm_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/darrm/darrm"
	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// What a ledger has paid for answers again, whatever would be planned now, and the next month too where
// labels are left. Another mechanism than the one that is planned shows who was asked.
func TestPaidBefore(t *testing.T) {
	ctx := t.Context()
	newBook := func(t *testing.T) *ledger.Ledger {
		return must.Get(ledger.Create(ctx, filepath.Join(t.TempDir(), "l"), newBudget(t, 20, 0),
			darrm.ReplaceOne))(t)
	}
	flip := must.Get(release.NewPlan(must.Get(ensemble.Calibrated(ensemble.Fallback, ensemble.Setting{K: 9,
		Classes: 2, Affected: 1, Neighbours: darrm.ReplaceOne}, accountant.Cost{Epsilon: 0.25},
		ensemble.Check{Ratio: ensemble.CheckRatio}))(t)))(t)
	weak := must.Get(darrm.Optimal(ctx, nine, darrm.PerLabel(0.25)))(t).Labels(newBook(t), "any").Plan
	for name, c := range map[string]struct {
		aim         darrm.Aim
		other       release.Plan // of labels of 0.25
		march, more float64      // what a month costs, and what the next one costs more
	}{
		"labels of one charge":   {darrm.Within(newBudget(t, 6, 0), 4), flip, 1, 0},
		"a price for each label": {darrm.PerLabel(1), weak, 0.5, 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			book, dir := newBook(t), t.TempDir()
			labels := func(m *darrm.Mechanism, month string) release.Labels {
				l := m.Labels(book, month)
				l.Votes, l.Output.Path = []string{filepath.Join(dir, month+".csv")}, filepath.Join(dir, "of-"+month+".csv")
				text := "a,b,c,d,e,f,g,h,i\n1,1,1,1,0,1,1,1,1\n0,0,0,1,0,0,0,0,0\n"
				if err := os.WriteFile(l.Votes[0], []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				return l
			}
			spent := func() float64 {
				epsilon, _ := must.Get(book.Spent(ctx))(t).Ceil()
				return epsilon
			}
			near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
			planned := must.Get(darrm.Optimal(ctx, nine, c.aim.From(book)))(t)
			march := labels(planned, "march")
			march.Plan = c.other
			if _, err := march.Run(ctx); err != nil || !near(spent(), c.march) {
				t.Fatalf("%v is spent, %v", spent(), err)
			}
			found := must.Get(darrm.Optimal(ctx, nine, c.aim.From(book)))(t)
			if !near(found.PerLabel().Epsilon, 0.25) || near(planned.PerLabel().Epsilon, 0.25) {
				t.Errorf("one label costs %v, as planned %v", found.PerLabel(), planned.PerLabel())
			}
			for what, m := range map[string]*darrm.Mechanism{"found": found, "planned": planned} {
				if s, err := labels(m, "march").Run(ctx); err != nil || !s.Before || !near(spent(), c.march) {
					t.Errorf("%s: %+v, %v; %v is spent", what, s, err, spent())
				}
			}
			if s, err := labels(found, "april").Run(ctx); err != nil || s.Before ||
				!near(spent(), c.march+c.more) {
				t.Errorf("april: %+v, %v; %v is spent", s, err, spent())
			}
			other := nine
			other.Affected = 2
			m := must.Get(darrm.Optimal(ctx, other, c.aim.From(book)))(t)
			if near(m.PerLabel().Epsilon, 0.25) {
				t.Error("the mechanism of other teachers was taken")
			}
			other.Neighbours = darrm.AddOrRemoveOne
			if m, err := darrm.Optimal(ctx, other, c.aim.From(book)); err == nil {
				t.Errorf("a ledger of another relation: %v", m)
			}
		})
	}
}
