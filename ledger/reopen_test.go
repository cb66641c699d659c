package ledger

import (
	"context"
	"errors"
	"io"
	"testing"
)

// A handle that is opened again knows what it saw: an older copy is none of it, however often it
// is tried, and a ledger that went on is.
func TestReopen(t *testing.T) {
	l := create(t, 10, 0)
	empty := readFiles(t, l.Path())
	mustCharge(t, l, plainRequest(0))
	old := readFiles(t, l.Path())
	mustCharge(t, l, plainRequest(1))
	now := readFiles(t, l.Path())
	again, err := l.Reopen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mustSpend(t, again, unitOfOne.Times(2))
	for range 2 {
		for i, f := range []files{old, empty} {
			f.write(t, l.Path())
			if _, err := again.Spent(t.Context()); i == 0 && !errors.Is(err, ErrDamaged) &&
				!errors.Is(err, ErrBroken) {
				t.Errorf("an older copy: %v", err)
			}
			if _, err := again.Reopen(t.Context()); !errors.Is(err, ErrRolledBack) {
				t.Errorf("copy %d is opened again: %v", i, err)
			}
		}
	}
	now.write(t, l.Path())
	other, err := Open(t.Context(), l.Path())
	if err != nil {
		t.Fatal(err)
	}
	mustCharge(t, other, plainRequest(2))
	if again, err = again.Reopen(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustSpend(t, again, unitOfOne.Times(3))
	mustCharge(t, again, plainRequest(3))
	// Other entries in the same number are not those that were seen.
	old.write(t, l.Path())
	if other, err = Open(t.Context(), l.Path()); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		mustCharge(t, other, plainRequest(10+i))
	}
	if _, err := again.Reopen(t.Context()); !errors.Is(err, ErrRolledBack) {
		t.Errorf("another history: %v", err)
	}
	foreign := create(t, 10, 0)
	readFiles(t, foreign.Path()).write(t, l.Path())
	if _, err := again.Reopen(t.Context()); !errors.Is(err, ErrDamaged) {
		t.Errorf("another ledger: %v", err)
	}
}

// readings counts how often a store's lines are read from some byte on.
type readings struct {
	Store
	n int
}

func (r *readings) Begin(ctx context.Context, exclusive bool) (Tx, error) {
	tx, err := r.Store.Begin(ctx, exclusive)
	return readingsTx{tx, r}, err
}

type readingsTx struct {
	Tx
	of *readings
}

func (t readingsTx) Lines(from int64) io.Reader {
	t.of.n++
	return t.Tx.Lines(from)
}

// Many entries are followed by one reading: each reading is a query where the store is a database.
func TestAfterReadsOnce(t *testing.T) {
	l := create(t, 1e6, 0)
	for i := range 20 {
		mustCharge(t, l, plainRequest(i))
	}
	store := &readings{Store: l.store}
	l.store = store
	entries, err := l.After(t.Context(), 3)
	if err != nil || len(entries) != 17 || entries[0].Seq != 4 || entries[16].Seq != 20 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	if store.n > 2 { // and the end of what was read before
		t.Errorf("%d readings", store.n)
	}
}

// Who waits for a handle that another call has is told when time is up.
func TestReopenWaitsNoLongerThanItMay(t *testing.T) {
	l := create(t, 10, 0)
	<-l.turn
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if again, err := l.Reopen(ctx); again != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", again, err)
	}
	l.turn <- struct{}{}
}
