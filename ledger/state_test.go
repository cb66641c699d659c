package ledger

import (
	"fmt"
	"testing"
)

// The sums and the head of a State are of the same entries, also while others charge: each
// entry here costs (1, 0), so the n-th leaves n spent. A state that was put together from
// several reads would differ: with 40 charges meanwhile, at nearly every run.
func TestStateIsOneRead(t *testing.T) {
	const charges = 40
	l := create(t, charges, 0)
	unit := mustCost(t, 1, 0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		other, err := Open(t.Context(), l.Path())
		if err != nil {
			t.Error(err)
			return
		}
		for i := range charges {
			if _, err := other.Charge(t.Context(), Request{Relation: ReplaceOne, ID: fmt.Sprint(i), Count: 1,
				Unit: unit}); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	var last uint64
	for running := true; running; {
		select {
		case <-done:
			running = false // and one more look
		default:
		}
		now, err := l.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if want := mustCost(t, float64(now.Head.Seq), 0); now.Spent != want ||
			now.Spent.Plus(now.Remaining) != l.Budget().Cost() || now.Head.Seq < last {
			t.Fatalf("after entry %d: %v spent, %v remains", now.Head.Seq, now.Spent, now.Remaining)
		}
		last = now.Head.Seq
	}
	if last != charges {
		t.Errorf("%d entries at the end, want %d", last, charges)
	}
}
