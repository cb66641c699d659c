package solve

import (
	"context"
	"errors"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/plurality"
)

// Wherever a search is stopped there is no table, or the best so far if that is wanted, certified
// and with a bound that holds: what a step left unfinished is not in it.
func TestStoppedAnywhere(t *testing.T) {
	raced.Sequential(t)
	for name, p := range map[string]plurality.Problem{
		"pure":  {K: 9, Classes: 3, Epsilon: 0.5, Affected: 1},
		"delta": {K: 7, Classes: 3, Epsilon: 0.5, Delta: 1e-3, Affected: 2},
	} {
		o := Options{Gap: 1e-6, Method: FirstOrder, Workers: 1}
		objective := plurality.Objective{Accuracy: 0.6}
		optimum, err := Optimal(context.Background(), p, objective, o)
		if err != nil {
			t.Fatal(err)
		}
		early := 0
		for asked := 0; asked < 60_000; asked += 1 + asked/7 {
			if table, err := Optimal(must.EndAfter(asked, context.Canceled), p, objective, o); err == nil &&
				table.Gap > o.Gap || err != nil && (table != nil || !errors.Is(err, context.Canceled)) {
				t.Fatalf("%s, stopped after %d: %v, %v", name, asked, table, err)
			}
			best := o
			best.BestOnCancel = true
			table, err := Optimal(must.EndAfter(asked, context.Canceled), p, objective, best)
			if err != nil || table.Value > optimum.UpperBound || table.UpperBound < optimum.Value {
				t.Fatalf("%s, stopped after %d: %+v, %v", name, asked, table, err)
			}
			if table.Gap > o.Gap {
				early++
			}
		}
		if early < 20 {
			t.Errorf("%s: stopped early %d times", name, early)
		}
	}
}
