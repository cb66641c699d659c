package ledger

import (
	"context"
	"errors"
	"os"
	"testing"
)

// readOnly is a store that takes nothing while closed is set.
type readOnly struct {
	Store
	closed bool
}

type readOnlyTx struct{ Tx }

var errReadOnly = errors.New("read-only file system")

func (s *readOnly) Begin(ctx context.Context, exclusive bool) (Tx, error) {
	tx, err := s.Store.Begin(ctx, exclusive)
	if err == nil && s.closed {
		tx = readOnlyTx{tx}
	}
	return tx, err
}

func (readOnlyTx) SetAnchor([]byte) error                     { return errReadOnly }
func (readOnlyTx) Commit(int64, []byte, []byte, []byte) error { return errReadOnly }

// A ledger is ready while its store takes a write, spent or not. A store that takes none is found
// out without a charge, and the handle goes on when it does again.
func TestReady(t *testing.T) {
	l := create(t, 1, 0)
	store := &readOnly{Store: l.store}
	l.store = store
	ready := func(want error) {
		t.Helper()
		if err := l.Ready(t.Context()); !errors.Is(err, want) {
			t.Fatalf("%v, want %v", err, want)
		}
	}
	ready(nil)
	store.closed = true
	if _, err := l.State(t.Context()); err != nil {
		t.Fatal("a look needs no write:", err)
	}
	ready(errReadOnly)
	ready(errReadOnly)
	store.closed = false
	ready(nil)
	mustCharge(t, l, Request{ID: "a", Count: 1, Unit: unitOfOne, Relation: ReplaceOne})
	ready(nil)
	if n, err := l.Head(t.Context()); err != nil || n.Seq != 1 {
		t.Errorf("head %v, %v", n, err)
	}
	if err := l.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	if err := os.Remove(l.Path()); err != nil {
		t.Fatal(err)
	}
	ready(os.ErrNotExist)
}
