package release

import (
	"errors"
	"testing"

	"github.com/darrm/darrm/ledger"
)

// Where the budget cannot pay for the training of frozen teachers, no query is answered: neither
// the first nor one after it, and each error is about the budget.
func TestOnlineFrozenTeachersAreNeverFree(t *testing.T) {
	w := ways(t)["frozen"]
	o, _ := newOnline(t, w.plan, w.charge, w.cost(1)/2)
	for _, id := range []string{"a", "b", "a"} {
		if a, err := o.Answer(t.Context(), Query{ID: id, Votes: w.votes}); a != nil ||
			!errors.Is(err, ledger.ErrExceeded) {
			t.Errorf("%s: %+v, %v", id, a, err)
		}
	}
	checkSpent(t, o.book, 0)
}
