package release

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

// Looks that are shared are never older than the call: who was charged sees that charge, however
// many look at the same time.
func TestOnlineStateIsOfNow(t *testing.T) {
	w := ways(t)["none"]
	o, _ := newOnline(t, w.plan, w.charge, 1000)
	var all sync.WaitGroup
	for n := range 12 {
		all.Go(func() {
			for i := range 10 {
				a, err := o.Answer(t.Context(), Query{ID: fmt.Sprintf("%d-%d", n, i), Votes: w.votes})
				if err != nil {
					t.Error(err)
					return
				}
				state, err := o.State(t.Context())
				if err != nil || state.Head.Seq < a.Charge.Seq {
					t.Errorf("after entry %d the ledger's last is said to be %d, %v", a.Charge.Seq, state.Head.Seq,
						err)
				}
			}
		})
	}
	all.Wait()
}

// Who gives up waiting takes nobody along.
func TestOnlineStateOfOneWhoLeaves(t *testing.T) {
	w := ways(t)["none"]
	o, _ := newOnline(t, w.plan, w.charge, 1000)
	o.looking.Lock() // a look that takes long
	gone, leave := context.WithCancel(t.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { _, err := o.State(gone); first <- err }()
	leave()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("who left is told %v", err)
	}
	go func() { _, err := o.State(t.Context()); second <- err }()
	o.looking.Unlock()
	if err := <-second; err != nil {
		t.Errorf("who waits is told %v", err)
	}
}
