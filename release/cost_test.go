package release

import (
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
)

// All labels cost what their teachers spend, and the worse where nobody stated how they do.
func TestSummaryCost(t *testing.T) {
	fresh, frozen, again := accountant.Cost{Epsilon: 5, Delta: 1e-6},
		accountant.Cost{Epsilon: 1, Delta: 1e-5}, accountant.Cost{Epsilon: 3, Delta: 1e-7}
	totals := Totals{Fresh: ensemble.Total{Cost: fresh}, Frozen: &ensemble.Total{Cost: frozen},
		Again: &ensemble.Total{Cost: again}}
	for _, c := range []struct {
		s    Summary
		want accountant.Cost
	}{
		{Summary{Totals: Totals{Fresh: ensemble.Total{Cost: fresh}}}, fresh},
		{Summary{Totals: totals, Teachers: ensemble.FreshTeachers}, fresh},
		{Summary{Totals: totals, Teachers: ensemble.FrozenTeachers}, frozen},
		{Summary{Totals: totals}, accountant.Cost{Epsilon: 5, Delta: 1e-5}},
		{Summary{Totals: totals, Teachers: ensemble.FreshTeachers, Again: true}, again},
	} {
		if got := c.s.Cost(); got != c.want {
			t.Errorf("%+v: %v", c.s, got)
		}
	}
}
