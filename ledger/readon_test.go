package ledger

import (
	"context"
	"errors"
	"testing"
)

// A ledger of many pieces is read as one of a few is: every entry, once and in order, damage
// wherever it is, and an end when the context says so.
func TestLongLedger(t *testing.T) {
	l := create(t, 1e6, 0)
	const n = 5*pieceEntries + 7
	for i, calls := 0, 0; i < n; calls++ {
		// Commits that are smaller than a piece, as large, and larger.
		size := min([]int{1, pieceEntries, 700, pieceEntries + 1, 3}[calls%5], n-i)
		requests := make([]Request, size)
		for j := range requests {
			requests[j] = plainRequest(i + j)
		}
		if _, err := l.ChargeAll(t.Context(), requests); err != nil {
			t.Fatal(err)
		}
		i += size
	}
	again, err := Open(t.Context(), l.Path())
	if err != nil {
		t.Fatal(err)
	}
	mustSpend(t, again, unitOfOne.Times(n))
	entries, err := again.History(t.Context())
	if err != nil || len(entries) != n {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	for i, e := range entries {
		if e.Seq != uint64(i+1) || e.ID != plainRequest(i).ID || e.Event == nil {
			t.Fatalf("entry %d: %+v", i+1, e)
		}
	}
	if _, err := again.Charge(t.Context(), plainRequest(n-1)); !errors.Is(err, ErrReplayed) {
		t.Errorf("the last request again: %v", err)
	}
	whole := readFiles(t, l.Path())
	for part := range 20 {
		f := files{append([]byte{}, whole.db...), whole.anchor}
		f.db[len(f.db)*part/20+100] ^= 1
		if _, err := f.verify(nil); !errors.Is(err, ErrDamaged) {
			t.Errorf("a bit in part %d: %v", part, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, l.Path()); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}
