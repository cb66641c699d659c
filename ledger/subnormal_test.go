package ledger

import (
	"errors"
	"path/filepath"
	"testing"
)

// The smallest positive cost is a unit, not nothing: a budget that is used up pays for none.
func TestSubnormalCostAfterTheBudget(t *testing.T) {
	for _, each := range [][2]float64{{5e-324, 0}, {0, 5e-324}, {1e-310, 1e-310}, {1e-13, 0},
		{0, 1e-25}} {
		c, err := NewCost(each[0], each[1])
		if err != nil {
			t.Fatal(err)
		}
		if c == (Cost{}) || (c.epsilon == amount{}) != (each[0] == 0) ||
			(c.delta == amount{}) != (each[1] == 0) {
			t.Errorf("%v costs %v", each, c)
		}
		budget, err := NewBudget(0.5, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		l, err := Create(t.Context(), filepath.Join(t.TempDir(), "ledger"), budget, ReplaceOne)
		if err != nil {
			t.Fatal(err)
		}
		all, err := NewCost(0.5, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Charge(t.Context(), Request{ID: "all", Count: 1, Unit: all,
			Relation: ReplaceOne}); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Charge(t.Context(), Request{ID: "one more", Count: 1, Unit: c,
			Relation: ReplaceOne}); !errors.Is(err, ErrExceeded) {
			t.Errorf("%v after the budget was used up: %v", each, err)
		}
	}
}
