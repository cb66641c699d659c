package ledger

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
)

// A copy of the database takes its name while a charge is being written to the old
// file. Another process may have the copy open by now, so there must be no receipt.
func TestReplacedWhileWriting(t *testing.T) {
	l := create(t, 10, 0)
	if err := chargeOne(l, 0); err != nil {
		t.Fatal(err)
	}
	old := readFiles(t, l.Path())
	s, err := l.begin(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.Path()+".copy", old.db, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(l.Path()+".copy", l.Path()); err != nil {
		t.Fatal(err)
	}
	charge := &Entry{Kind: KindCharge, ID: "lost", Time: time.Now().UTC(), Count: 1, Unit: unitOfOne, Event: []byte("null")}
	if err := l.write(s, []*Entry{charge}); !errors.Is(err, ErrDamaged) {
		t.Errorf("%v, want ErrDamaged", err)
	}
	unlock(s.db)
	if err := chargeOne(l, 1); !errors.Is(err, ErrBroken) {
		t.Errorf("the handle goes on: %v", err)
	}
	// The copy has one commit less than the anchor.
	if _, err := Open(t.Context(), l.Path()); !errors.Is(err, ErrRolledBack) {
		t.Errorf("open: %v", err)
	}
}

// bbolt panics over a damaged freelist that nothing else has looked at since Open.
// That is an error, and the lock does not stay with the map that is left behind.
func TestPanicGivesLockBack(t *testing.T) {
	l := create(t, 10, 0)
	if err := chargeOne(l, 0); err != nil {
		t.Fatal(err)
	}
	whole := readFiles(t, l.Path())
	f, err := openBoltFile(readerAt(whole.db), int64(len(whole.db)))
	if err != nil {
		t.Fatal(err)
	}
	bad := files{append([]byte{}, whole.db...), whole.anchor}
	bad.db[f.freelist*boltPageSize+8] = flagLeaf
	bad.write(t, l.Path())
	if err := chargeOne(l, 1); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "writing failed") {
		t.Fatalf("%v, want ErrDamaged by way of a panic", err)
	}
	whole.write(t, l.Path())
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if l, err = Open(ctx, l.Path()); err != nil {
		t.Fatal(err)
	}
	if err := chargeOne(l, 1); err != nil {
		t.Error(err)
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
	unlock(holder)
	mustCharge(t, l, Request{Relation: ReplaceOne, ID: "a", Count: 1, Unit: unitOfOne})
}

func TestCanceledBeforehand(t *testing.T) {
	l := create(t, 1, 0)
	before := readFiles(t, l.Path())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // whichever way a select falls
		if _, err := l.Charge(ctx, Request{Relation: ReplaceOne, ID: "a", Count: 1, Unit: unitOfOne}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if err := l.Verify(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if after := readFiles(t, l.Path()); string(after.db) != string(before.db) || string(after.anchor) != string(before.anchor) {
		t.Error("a canceled charge wrote to the files")
	}
	mustCharge(t, l, Request{Relation: ReplaceOne, ID: "a", Count: 1, Unit: unitOfOne}) // the handle is good
}

// failingReader is a disk with an unreadable place.
type failingReader struct {
	readerAt
	from int64
	err  error
}

func (r failingReader) ReadAt(b []byte, off int64) (int, error) {
	if off+int64(len(b)) > r.from && off <= r.from {
		return 0, r.err
	}
	return r.readerAt.ReadAt(b, off)
}

// An error of the system is not damage: it says nothing about the ledger, and must
// not end a handle for good or make somebody throw the file away.
func TestSystemErrorIsNotDamage(t *testing.T) {
	u := newUnderAttack(t, 6)
	whole := u.last()
	eio := errors.New("input/output error")
	failed := 0
	for page := range int64(len(whole.db) / boltPageSize) {
		s, err := readSnapshot(failingReader{whole.db, page*boltPageSize + pageHeader, eio}, int64(len(whole.db)))
		if err == nil {
			err = s.verifyAll(t.Context(), nil)
		}
		if err == nil {
			continue
		}
		failed++
		if !errors.Is(err, eio) || errors.Is(err, ErrDamaged) {
			t.Errorf("page %d: %v", page, err)
		}
	}
	if failed < 5 { // two metas, root, entries, freelist; the others are within the root
		t.Errorf("only %d pages are read", failed)
	}
}

// sparse is a file of zeros but for what is written over them.
type sparse map[int64]byte

func (s sparse) ReadAt(b []byte, off int64) (int, error) {
	clear(b)
	for at, v := range s {
		if at >= off && at < off+int64(len(b)) {
			b[at-off] = v
		}
	}
	return len(b), nil
}

func (s sparse) put(at int64, b []byte) {
	for i, v := range b {
		s[at+int64(i)] = v
	}
}

// Files of exabytes cost nothing to make. What they claim must not be allocated.
func TestSparseFile(t *testing.T) {
	u := newUnderAttack(t, 2)
	build := func(pages uint64, edit func(f *boltFile, s sparse)) sparse {
		whole := append([]byte{}, u.last().db...)
		f, err := openBoltFile(readerAt(whole), int64(len(whole)))
		if err != nil {
			t.Fatal(err)
		}
		for page := range 2 {
			m := whole[page*boltPageSize+pageHeader:]
			native.PutUint64(m[40:], pages)
			sum := fnv.New64a()
			sum.Write(m[:metaChecked])
			native.PutUint64(m[metaChecked:], sum.Sum64())
		}
		s := sparse{}
		s.put(0, whole[:f.pages*boltPageSize])
		if edit != nil {
			edit(f, s)
		}
		return s
	}
	more := func(n uint32) []byte { return native.AppendUint32(nil, n) }
	for name, s := range map[string]sparse{
		"2⁴⁷ pages":          build(1<<47, nil),
		"a page of 64 GiB":   build(maxPages, func(f *boltFile, s sparse) { s.put(int64(f.root)*boltPageSize+12, more(maxPages-100)) }),
		"a large freelist":   build(maxPages, func(f *boltFile, s sparse) { s.put(int64(f.freelist)*boltPageSize+12, more(maxPages-100)) }),
		"nothing but claims": build(maxPages, nil),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		snap, err := readSnapshot(s, 1<<60)
		if err == nil {
			err = snap.verifyAll(t.Context(), nil)
		}
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
			t.Errorf("%s: %d MiB allocated", name, used>>20)
		}
	}
}

// A ledger that would grow beyond what can be read is refused before, not after.
func TestFullLedger(t *testing.T) {
	l := create(t, 10, 0)
	before := readFiles(t, l.Path())
	s, err := l.begin(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock(s.db)
	s.file.pages = maxPages/2 + 1
	charge := &Entry{Kind: KindCharge, ID: "a", Time: time.Now().UTC(), Count: 1, Unit: unitOfOne, Event: []byte("null")}
	if _, err := l.commit(s, []*Entry{charge}); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("%v", err)
	}
	if after := readFiles(t, l.Path()); string(after.db) != string(before.db) {
		t.Error("it was written to")
	}
}

// Without its freelist on disk, bbolt would search all pages in goroutines whose
// panics nobody can catch.
func TestFreelistMustBeOnDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	db, err := bolt.Open(path, 0o600, &bolt.Options{PageSize: boltPageSize, NoFreelistSync: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("a")); return err })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openBoltFile(readerAt(b), int64(len(b))); !errors.Is(err, errPage) {
		t.Errorf("%v", err)
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
	defer unlock(s.db)
	if e.Time.IsZero() {
		e.Time = time.Now().UTC()
	}
	if e.Kind == KindCharge && e.Event == nil {
		e.Event = []byte("null")
	}
	if e.Kind == KindCharge && e.Relation == "" {
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
	for i, at := range []time.Time{time.Date(2400, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(0, 0).UTC()} {
		writeUnchecked(t, l, Entry{Kind: KindCharge, ID: fmt.Sprint(i), Time: at, Count: 1, Unit: unitOfOne})
	}
	l, err := Open(t.Context(), l.Path())
	if err != nil {
		t.Fatal(err)
	}
	mustSpend(t, l, unitOfOne.Times(2))
	if _, err := l.Charge(t.Context(), Request{Relation: ReplaceOne, ID: "0", Count: 1, Unit: unitOfOne}); !errors.Is(err, ErrReplayed) {
		t.Error(err)
	}
	mustCharge(t, l, Request{Relation: ReplaceOne, ID: "2", Count: 1, Unit: unitOfOne})
}

// The files are for their owner only: events and ids say who asked for what.
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

// An anchor whose mark is lost is forced to disk once more, and is otherwise as good.
func TestMarkOfTheAnchor(t *testing.T) {
	l := create(t, 5, 0)
	for i := range 2 {
		if err := chargeOne(l, i); err != nil {
			t.Fatal(err)
		}
	}
	at := 0*slotSize + markAt // of commit 2
	f := readFiles(t, l.Path())
	if f.anchor[at] != durableMark {
		t.Fatalf("%q at %d of the anchor", f.anchor[at], at)
	}
	f.anchor[at] = ' '
	f.write(t, l.Path())
	if _, err := f.verify(nil); err != nil {
		t.Error(err)
	}
	f.anchor[at] = '*'
	if _, err := f.verify(nil); err != nil {
		t.Errorf("an unreadable slot leaves the other: %v", err)
	}
	if err := chargeOne(l, 2); err != nil {
		t.Fatal(err)
	}
	if got := readFiles(t, l.Path()).anchor; got[slotSize+markAt] != durableMark || got[at] != durableMark {
		t.Errorf("marks %q and %q", got[at], got[slotSize+markAt])
	}
}
