package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/darrm/darrm/internal/filelock"
)

// A copy of the database takes its name while a charge is being written to the old
// file. Another process may have the copy open by now, so there must be no receipt.
func TestReplacedWhileWriting(t *testing.T) {
	l := create(t, 10, 0)
	if err := chargeOne(l, 0); err != nil {
		t.Fatal(err)
	}
	old := readFiles(t, l.Path())
	charge := &Entry{Kind: KindCharge, ID: "lost", Relation: ReplaceOne, Time: time.Now().UTC(),
		Count: 1, Unit: unitOfOne, Event: []byte("null")}
	err := l.do(t.Context(), true, func(s *session) error {
		if err := errors.Join(os.WriteFile(l.Path()+".copy", old.db, 0o600),
			os.Rename(l.Path()+".copy", l.Path())); err != nil {
			t.Fatal(err)
		}
		return l.write(s, []*Entry{charge})
	})
	if !errors.Is(err, ErrDamaged) {
		t.Errorf("%v, want ErrDamaged", err)
	}
	if err := chargeOne(l, 1); !errors.Is(err, ErrBroken) {
		t.Errorf("the handle goes on: %v", err)
	}
	// The copy has one commit less than the anchor.
	if _, err := Open(t.Context(), l.Path()); !errors.Is(err, ErrRolledBack) {
		t.Errorf("open: %v", err)
	}
}

// Waits that were given up go on in the kernel, each with a thread of its own, but
// not without bound: 300 waits are given up here, and at most 64 may stay.
func TestAbandonedWaits(t *testing.T) {
	l := create(t, 1, 0)
	holder, err := lock(t.Context(), l.Path(), true)
	if err != nil {
		t.Fatal(err)
	}
	threads := pprof.Lookup("threadcreate")
	before := threads.Count()
	for range 300 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if _, err := l.Spent(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		cancel()
	}
	if made := threads.Count() - before; made > 100 {
		t.Errorf("%d threads for waits that were given up", made)
	}
	filelock.Unlock(holder)
	mustCharge(t, l, Request{Relation: ReplaceOne, ID: "a", Count: 1, Unit: unitOfOne})
}

func TestCanceledBeforehand(t *testing.T) {
	l := create(t, 1, 0)
	before := readFiles(t, l.Path())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // whichever way a select falls
		if _, err := l.Charge(ctx, Request{Relation: ReplaceOne, ID: "a", Count: 1,
			Unit: unitOfOne}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if err := l.Verify(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if after := readFiles(t, l.Path()); string(after.db) != string(before.db) ||
		string(after.anchor) != string(before.anchor) {
		t.Error("a canceled charge wrote to the files")
	}
	// the handle is good
	mustCharge(t, l, Request{Relation: ReplaceOne, ID: "a", Count: 1, Unit: unitOfOne})
}

// failingReader is a disk with an unreadable place.
type failingReader struct {
	*bytes.Reader
	from int64
	err  error
}

func (r failingReader) ReadAt(b []byte, off int64) (int, error) {
	if off+int64(len(b)) > r.from && off <= r.from {
		return int(r.from - off), r.err
	}
	return r.Reader.ReadAt(b, off)
}

// An error of the system is not damage: it says nothing about the ledger, and must
// not end a handle for good or make somebody throw the file away.
func TestSystemErrorIsNotDamage(t *testing.T) {
	u := newUnderAttack(t, 6)
	whole := u.last()
	eio := errors.New("input/output error")
	for at := 0; at < len(whole.db); at += 97 {
		c, err := readChain(t.Context(), linesOf{failingReader{bytes.NewReader(whole.db), int64(at),
			eio}}, nil)
		if !errors.Is(err, eio) || errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d: %v", at, err)
		}
		if c == nil {
			continue
		}
		// What was read holds, and the rest is read when it can be.
		if err := c.extend(t.Context(), linesOf{bytes.NewReader(whole.db)}); err != nil ||
			c.now.spent != u.spent {
			t.Errorf("byte %d, read again: %v", at, err)
		}
	}
}

// writeUnchecked commits an entry that no request could have made, chain and anchor
// in order: what somebody can do who may write both files.
func writeUnchecked(t *testing.T, l *Ledger, e Entry) {
	t.Helper()
	s, err := l.begin(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.end()
	if e.Time.IsZero() {
		e.Time = time.Now().UTC()
	}
	if e.Kind == KindCharge && e.Event == nil {
		e.Event = []byte("null")
	}
	if e.Kind == KindCharge && e.Relation == 0 {
		e.Relation = l.Relation()
	}
	if err := l.write(s, []*Entry{&e}); err != nil {
		t.Fatal(err)
	}
}

// The rules for requests hold for every entry of a file, however it came there.
func TestFileFollowsTheRules(t *testing.T) {
	for name, forge := range map[string]func(*Ledger){
		"nobody paid": func(l *Ledger) {
			writeUnchecked(t, l, Entry{Kind: KindCharge, ID: "free", Count: 1, PaidBy: "nobody"})
		},
		"paid by itself": func(l *Ledger) {
			writeUnchecked(t, l, Entry{Kind: KindCharge, ID: "free", Count: 1, PaidBy: "free"})
		},
		"paid by who was paid for": func(l *Ledger) {
			writeUnchecked(t, l, Entry{Kind: KindCharge, ID: "free", Count: 1, PaidBy: "paid"})
			writeUnchecked(t, l, Entry{Kind: KindCharge, ID: "too", Count: 1, PaidBy: "free"})
		},
		"paid by who comes later": func(l *Ledger) {
			writeUnchecked(t, l, Entry{Kind: KindCharge, ID: "free", Count: 1, PaidBy: "late"})
			writeUnchecked(t, l, Entry{Kind: KindCharge, ID: "late", Count: 1, Unit: unitOfOne})
		},
		"result of nothing": func(l *Ledger) {
			writeUnchecked(t, l, Entry{Kind: KindResult, ID: "free"})
		},
		"charged twice": func(l *Ledger) {
			writeUnchecked(t, l, Entry{Kind: KindCharge, ID: "paid", Count: 1, Unit: unitOfOne})
		},
		"more than the budget": func(l *Ledger) {
			writeUnchecked(t, l, Entry{Kind: KindCharge, ID: "all", Count: 10, Unit: unitOfOne})
		},
	} {
		l := create(t, 10, 0)
		mustCharge(t, l, Request{Relation: ReplaceOne, ID: "paid", Count: 1, Unit: unitOfOne})
		forge(l)
		if _, err := Open(t.Context(), l.Path()); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Times are notes. A clock that goes backwards, or stands in another century, must
// neither make a ledger look damaged nor let anything through.
func TestClockGoesBackwards(t *testing.T) {
	l := create(t, 3, 0)
	for i, at := range []time.Time{time.Date(2400, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Unix(0, 0).UTC()} {
		writeUnchecked(t, l, Entry{Kind: KindCharge, ID: fmt.Sprint(i), Time: at, Count: 1,
			Unit: unitOfOne})
	}
	l, err := Open(t.Context(), l.Path())
	if err != nil {
		t.Fatal(err)
	}
	mustSpend(t, l, unitOfOne.Times(2))
	if _, err := l.Charge(t.Context(), Request{Relation: ReplaceOne, ID: "0", Count: 1,
		Unit: unitOfOne}); !errors.Is(err, ErrReplayed) {
		t.Error(err)
	}
	mustCharge(t, l, Request{Relation: ReplaceOne, ID: "2", Count: 1, Unit: unitOfOne})
}

// The files are for their owner only: events and ids reveal who asked for what.
func TestPermissions(t *testing.T) {
	l := create(t, 3, 0)
	check := func(when string) {
		t.Helper()
		for _, path := range []string{l.Path(), l.Path() + AnchorSuffix} {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if p := info.Mode().Perm(); p&^0o600 != 0 {
				t.Errorf("%s: %s has permissions %v", when, path, p)
			}
		}
	}
	check("new")
	if err := chargeOne(l, 0); err != nil {
		t.Fatal(err)
	}
	check("charged")
	pin, err := l.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(l.Path() + AnchorSuffix); err != nil {
		t.Fatal(err)
	}
	if _, err := Adopt(t.Context(), l.Path(), pin); err != nil {
		t.Fatal(err)
	}
	check("adopted")
}

// A receipt that is copied is still one receipt.
func TestCopiedReceipt(t *testing.T) {
	l := create(t, 3, 0)
	r := mustCharge(t, l, Request{Relation: ReplaceOne, ID: "a", Count: 1, Unit: unitOfOne})
	again := *r
	if err := r.Redeem(); err != nil {
		t.Fatal(err)
	}
	if err := again.Redeem(); !errors.Is(err, ErrReceipt) {
		t.Errorf("the copy: %v", err)
	}
}

// Both files are rolled back by a commit, and another one of the same length comes in its place,
// whose process is killed before the anchor. An open handle knows the commit that is gone, and
// must not charge on top of it.
func TestForkUnderAHandle(t *testing.T) {
	l := create(t, 5, 0)
	mustCharge(t, l, plainRequest(0))
	old := readFiles(t, l.Path())
	at := time.Unix(1e9, 0).UTC()
	writeUnchecked(t, l, Entry{Kind: KindCharge, ID: "a", Time: at, Count: 1, Unit: unitOfOne})
	old.write(t, l.Path())
	other, err := Open(t.Context(), l.Path())
	if err != nil {
		t.Fatal(err)
	}
	writeUnchecked(t, other, Entry{Kind: KindCharge, ID: "b", Time: at, Count: 1, Unit: unitOfOne})
	files{readFiles(t, l.Path()).db, old.anchor}.write(t, l.Path())
	if err := chargeOne(l, 1); !errors.Is(err, ErrRolledBack) {
		t.Errorf("%v, want ErrRolledBack", err)
	}
	if err := chargeOne(other, 1); err != nil {
		t.Errorf("the handle that wrote it: %v", err)
	}
}
