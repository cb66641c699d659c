package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// underAttack is a small ledger and the files it had after every commit.
type underAttack struct {
	spent  Cost
	states []files // states[i]: after commit i
	path   string  // where attacks can be opened as files
}

func (u *underAttack) last() files { return u.states[len(u.states)-1] }

func newUnderAttack(t testing.TB, batches int) *underAttack {
	t.Helper()
	l := create(t, 100, 1e-3)
	u := &underAttack{path: filepath.Join(t.TempDir(), "ledger")}
	u.states = append(u.states, readFiles(t, l.Path()))
	for i := range batches {
		mustCharge(t, l, drawnRequest(i))
		u.states = append(u.states, readFiles(t, l.Path()))
	}
	u.spent = unitOfOne.Times(uint64(batches))
	return u
}

var unitOfOne = Cost{epsilon: amount{0, 1e12}}

// drawnRequest has a place in every index but that of results.
func drawnRequest(i int) Request {
	r := plainRequest(i)
	r.Ensemble, r.EnsembleDigest = "teachers", "v1"
	r.Draw = &Draw{Name: fmt.Sprintf("draw %d", i), Votes: Digest{31: byte(i + 1)}, Covers: i%3 == 2}
	return r
}

func plainRequest(i int) Request {
	return Request{Relation: ReplaceOne, ID: fmt.Sprintf("request %d", i), Count: 1, Unit: unitOfOne, Event: []byte(`{"mechanism":"darrm"}`)}
}

func chargeOne(l *Ledger, i int) error {
	_, err := l.Charge(context.Background(), plainRequest(i))
	return err
}

// check fails unless f is refused as damaged or still has all that was spent. It
// returns whether f was refused.
func (u *underAttack) check(t testing.TB, f files, what string, args ...any) bool {
	s, err := f.verify(nil)
	switch {
	case err == nil && s.spent != u.spent:
		t.Errorf("%s: %v is spent, want %v or a refusal", fmt.Sprintf(what, args...), s.spent, u.spent)
	case err != nil && !errors.Is(err, ErrDamaged):
		t.Errorf("%s: %v is not an ErrDamaged", fmt.Sprintf(what, args...), err)
	}
	return err != nil
}

// checkFiles is check by way of Open, and of a charge where Open accepts: bbolt
// must be able to write to whatever the reader lets pass.
func (u *underAttack) checkFiles(t *testing.T, f files, what string, args ...any) {
	t.Helper()
	refused := u.check(t, f, what, args...)
	f.write(t, u.path)
	l, err := Open(t.Context(), u.path)
	if refused != (err != nil) || err != nil && !errors.Is(err, ErrDamaged) {
		t.Errorf("%s: refused in memory: %t; Open: %v", fmt.Sprintf(what, args...), refused, err)
	}
	if err != nil {
		return
	}
	if err := chargeOne(l, 1000); err != nil {
		t.Errorf("%s: charge: %v", fmt.Sprintf(what, args...), err)
	}
	if l, err = Open(t.Context(), u.path); err != nil {
		t.Errorf("%s: after a charge: %v", fmt.Sprintf(what, args...), err)
		return
	}
	mustSpend(t, l, u.spent.Plus(unitOfOne))
}

// Every length of the database and of the anchor. All of 64 KiB and 1 KiB in
// memory (thinned to 1 in 37 unless long), some as files.
func TestTruncatedAnywhere(t *testing.T) {
	t.Parallel()
	u := newUnderAttack(t, 6)
	whole := u.last()
	u.checkFiles(t, whole, "undamaged")
	step := thin(37)
	high := 0 // the longest database that is refused
	for n := 0; n < len(whole.db); n += step {
		if u.check(t, files{whole.db[:n], whole.anchor}, "database cut to %d", n) {
			high = n
		}
	}
	for n := 0; n < len(whole.anchor); n += thin(5) {
		if !u.check(t, files{whole.db, whole.anchor[:n]}, "anchor cut to %d", n) {
			t.Errorf("anchor cut to %d is accepted", n)
		}
	}
	// bbolt keeps room at the end of the file; what holds data must be missed.
	if high < 4*boltPageSize {
		t.Errorf("a database of %d bytes of %d is accepted", high+step, len(whole.db))
	}
	for _, n := range []int{0, 1, 100, 4095, 4096, 8192, 16384, high, high + step, len(whole.db) - 1} {
		u.checkFiles(t, files{whole.db[:n], whole.anchor}, "database file cut to %d", n)
	}
	for _, n := range []int{0, 1, 511, 512, 1023} {
		u.checkFiles(t, files{whole.db, whole.anchor[:n]}, "anchor file cut to %d", n)
	}
	u.checkFiles(t, files{whole.db, append(bytes.Clone(whole.anchor), 0)}, "anchor with a byte more")
	u.checkFiles(t, files{whole.db, nil}, "anchor removed")
}

// Every bit of both files; the 524,288 of the database thinned to 1 in 101 unless
// long. Bits that nothing depends on (free pages, the older meta page, unused ends
// of pages) may flip unseen.
func TestEveryBitFlipped(t *testing.T) {
	t.Parallel()
	u := newUnderAttack(t, 6)
	whole := u.last()
	step := thin(101)
	accepted, refused := 0, 0
	for bit := 0; bit < 8*len(whole.db); bit += step {
		whole.db[bit/8] ^= 1 << (bit % 8)
		if u.check(t, whole, "database bit %d flipped", bit) {
			refused++
		} else {
			accepted++
		}
		if bit/step%400 == 0 {
			u.checkFiles(t, whole, "database file with bit %d flipped", bit)
		}
		whole.db[bit/8] ^= 1 << (bit % 8)
	}
	t.Logf("database: %d of %d flips refused, the others changed nothing", refused, refused+accepted)
	// Every bit of a record must be among those refused; a thinned run has to
	// come within a quarter of its share.
	if want := 8 * recordBytes(t, whole.db) / step; refused < want*3/4 || long && refused < want {
		t.Errorf("%d flips refused, but the records alone have %d bits", refused, want)
	}
	for bit := 0; bit < 8*anchorSize; bit += thin(5) {
		whole.anchor[bit/8] ^= 1 << (bit % 8)
		u.check(t, whole, "anchor bit %d flipped", bit)
		if bit/thin(5)%1000 == 0 {
			u.checkFiles(t, whole, "anchor file with bit %d flipped", bit)
		}
		whole.anchor[bit/8] ^= 1 << (bit % 8)
	}
}

func recordBytes(t *testing.T, db []byte) (n int) {
	s, err := readSnapshot(readerAt(db), int64(len(db)))
	if err != nil {
		t.Fatal(err)
	}
	for name := range s.file.buckets {
		err := s.file.walk(name, nil, func(key, value []byte) error {
			n += len(key) + len(value)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// No byte of an entry, of the head or of the genesis record can change unseen,
// even with the page structure intact. This finds them in the file by content.
func TestEveryByteOfRecordsCounts(t *testing.T) {
	t.Parallel()
	u := newUnderAttack(t, 6)
	whole := u.last()
	s, err := readSnapshot(readerAt(whole.db), int64(len(whole.db)))
	if err != nil {
		t.Fatal(err)
	}
	records := 0
	for name := range s.file.buckets {
		err := s.file.walk(name, nil, func(key, value []byte) error {
			records++
			record := append(bytes.Clone(key), value...)
			// Free pages hold older copies: change each in turn; one must matter.
			for i := 0; i < len(record); i += thin(3) {
				seen := false
				for at := 0; ; {
					n := bytes.Index(whole.db[at:], record)
					if n < 0 {
						break
					}
					at += n
					whole.db[at+i] ^= 0x10
					if u.check(t, whole, "%s %q: byte %d changed", name, key, i) {
						seen = true
					}
					whole.db[at+i] ^= 0x10
					at++
				}
				if !seen {
					t.Errorf("%s %q: byte %d can change", name, key, i)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if records != 2+6+6+4+2+6+1 { // ledger, entries, ids, draws, covers, votes, ensembles
		t.Errorf("%d records tested", records)
	}
}

// Each file exchanged for each older copy of itself.
func TestRollback(t *testing.T) {
	u := newUnderAttack(t, 6)
	now := u.last()
	for i, old := range u.states[:len(u.states)-1] {
		behind := len(u.states) - 1 - i
		if _, err := (files{old.db, now.anchor}).verify(nil); !errors.Is(err, ErrRolledBack) {
			t.Errorf("database of %d commits ago: %v", behind, err)
		}
		u.checkFiles(t, files{old.db, now.anchor}, "database of %d commits ago", behind)
		// An anchor one behind is what a crash leaves, and nothing is lost by it.
		_, err := files{now.db, old.anchor}.verify(nil)
		if behind == 1 && err != nil || behind > 1 && !errors.Is(err, ErrRolledBack) {
			t.Errorf("anchor of %d commits ago: %v", behind, err)
		}
		u.checkFiles(t, files{now.db, old.anchor}, "anchor of %d commits ago", behind)
	}
}

// Both files rolled back together look honest: only a head kept elsewhere, or a
// handle that is still open, tells.
func TestRollbackOfBothNeedsAPin(t *testing.T) {
	l := create(t, 100, 0)
	if err := chargeOne(l, 0); err != nil {
		t.Fatal(err)
	}
	early, err := l.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	old := readFiles(t, l.Path())
	if err := chargeOne(l, 1); err != nil {
		t.Fatal(err)
	}
	pin, err := l.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Verify(t.Context(), early, pin, Head{0, l.mustGenesis(t)}); err != nil {
		t.Fatal(err)
	}
	old.write(t, l.Path())
	fresh, err := Open(t.Context(), l.Path())
	if err != nil {
		t.Fatalf("the package comment says that this is not seen: %v", err)
	}
	if err := fresh.Verify(t.Context(), early); err != nil {
		t.Error(err)
	}
	if err := fresh.Verify(t.Context(), pin); !errors.Is(err, ErrRolledBack) {
		t.Errorf("pinned head: %v", err)
	}
	if err := chargeOne(l, 2); !errors.Is(err, ErrRolledBack) {
		t.Errorf("open handle: %v", err)
	}
	if err := chargeOne(l, 2); !errors.Is(err, ErrBroken) {
		t.Errorf("after damage: %v", err)
	}
	// A history that took another turn after the rollback is seen, too.
	fresh, err = Open(t.Context(), l.Path())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := chargeOne(fresh, 10+i); err != nil {
			t.Fatal(err)
		}
	}
	if err := fresh.Verify(t.Context(), pin); !errors.Is(err, ErrRolledBack) {
		t.Errorf("pinned head, other entries: %v", err)
	}
}

func (l *Ledger) mustGenesis(t *testing.T) Digest {
	b, err := l.genesis.encode()
	if err != nil {
		t.Fatal(err)
	}
	return genesisHash(b)
}

// Files of two honest ledgers do not go together.
func TestExchangedLedgers(t *testing.T) {
	a, b := newUnderAttack(t, 3), newUnderAttack(t, 3)
	for i := range a.states {
		if _, err := (files{a.states[i].db, b.states[i].anchor}).verify(nil); !errors.Is(err, ErrDamaged) {
			t.Errorf("commit %d: %v", i, err)
		}
	}
	l := create(t, 1, 0)
	mustCharge(t, l, Request{Relation: ReplaceOne, ID: "a", Count: 1, Unit: mustCost(t, 1, 0)})
	fresh := create(t, 1, 0)
	readFiles(t, fresh.Path()).write(t, l.Path())
	if _, err := l.Spent(t.Context()); !errors.Is(err, ErrDamaged) {
		t.Errorf("a fresh ledger under an open handle: %v", err)
	}
}

// Whoever can write the file can still not make the chain hold: entries changed,
// removed, added or counted twice by way of bbolt itself, pages all in order.
func TestForgedRecords(t *testing.T) {
	put := func(bucket, key string, value []byte) func(*bolt.Tx) error {
		return func(tx *bolt.Tx) error { return tx.Bucket([]byte(bucket)).Put([]byte(key), value) }
	}
	del := func(bucket, key string) func(*bolt.Tx) error {
		return func(tx *bolt.Tx) error { return tx.Bucket([]byte(bucket)).Delete([]byte(key)) }
	}
	rewrite := func(bucket, key, old, new string) func(*bolt.Tx) error {
		return func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte(bucket))
			v := b.Get([]byte(key))
			changed := bytes.Replace(v, []byte(old), []byte(new), 1)
			if bytes.Equal(v, changed) {
				return fmt.Errorf("%q is not in %s", old, v)
			}
			return b.Put([]byte(key), changed)
		}
	}
	for name, forge := range map[string]func(*bolt.Tx) error{
		"refund in the head":     rewrite("ledger", "head", `"epsilon":"3`, `"epsilon":"2`),
		"larger budget":          rewrite("ledger", "genesis", `"epsilon":"1`, `"epsilon":"9`),
		"smaller charge":         rewrite("entries", string(seqKey(2)), `"epsilon":"1000000000000"`, `"epsilon":"1"`),
		"other event":            rewrite("entries", string(seqKey(2)), "darrm", "other"),
		"other time":             rewrite("entries", string(seqKey(2)), `"time":"2`, `"time":"1`),
		"last entry removed":     del("entries", string(seqKey(3))),
		"first entry removed":    del("entries", string(seqKey(1))),
		"entry added":            put("entries", string(seqKey(4)), []byte("{}")),
		"entry before the first": put("entries", string(seqKey(0)), []byte("{}")),
		"odd key":                put("entries", "zzz", []byte("{}")),
		"id forgotten":           del("ids", "request 1"),
		"id invented":            put("ids", "request 7", seqKey(1)),
		"id of another":          put("ids", "request 1", seqKey(1)),
		"draw forgotten":         del("draws", DrawName{"teachers", "draw 1"}.key()),
		"draw invented":          put("draws", DrawName{"teachers", "draw 7"}.key(), seqKey(1)),
		"draw of another":        put("draws", DrawName{"teachers", "draw 1"}.key(), seqKey(1)),
		"draw is a cover":        put("draws", DrawName{"teachers", "draw 2"}.key(), seqKey(3)),
		"cover forgotten":        del("covers", DrawName{"teachers", "draw 2"}.key()),
		"votes forgotten":        del("votes", string(append(make([]byte, 31), 2))),
		"votes of another":       put("votes", string(append(make([]byte, 31), 2)), seqKey(1)),
		"ensemble forgotten":     del("ensembles", "teachers"),
		"ensemble stated later":  put("ensembles", "teachers", seqKey(2)),
		"no index of draws":      func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte("draws")) },
		"other relation":         rewrite("ledger", "genesis", `"replace"`, `"add-remove"`),
		"other secret":           rewrite("ledger", "genesis", `"secret_sha256":"`, `"secret_sha256":"0`),
		"older format":           rewrite("ledger", "genesis", `"format":2`, `"format":1`),
		"other draw":             rewrite("entries", string(seqKey(2)), "draw 1", "draw 7"),
		"result invented":        put("results", "request 1", seqKey(2)),
		"record added":           put("ledger", "more", []byte("1")),
		"head removed":           del("ledger", "head"),
		"genesis removed":        del("ledger", "genesis"),
		"entry is a bucket": func(tx *bolt.Tx) error {
			_, err := tx.Bucket([]byte("entries")).CreateBucket([]byte("zzzzzzzz"))
			return err
		},
		"bucket added":   func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("more")); return err },
		"bucket removed": func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte("results")) },
		"entries emptied": func(tx *bolt.Tx) error {
			tx.DeleteBucket([]byte("entries"))
			_, err := tx.CreateBucket([]byte("entries"))
			return err
		},
		"root element no bucket?": func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("aaa")); return err },
	} {
		u := newUnderAttack(t, 3)
		u.last().write(t, u.path)
		db, err := bolt.Open(u.path, 0o600, &bolt.Options{PageSize: boltPageSize})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(db.Update(forge), db.Close()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := Open(t.Context(), u.path); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An index that was changed after the ledger was opened leads to an entry that is not its
// own: a charge must not believe it.
func TestIndexIsNotTrusted(t *testing.T) {
	for _, c := range []struct{ bucket, key string }{
		{"ids", "request 0"}, {"draws", DrawName{"teachers", "draw 0"}.key()}, {"votes", string(append(make([]byte, 31), 1))}, {"ensembles", "teachers"},
	} {
		l := create(t, 100, 0)
		mustCharge(t, l, drawnRequest(0))
		mustCharge(t, l, plainRequest(1))
		db, err := bolt.Open(l.Path(), 0o600, &bolt.Options{PageSize: boltPageSize})
		if err != nil {
			t.Fatal(err)
		}
		err = db.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte(c.bucket)).Put([]byte(c.key), seqKey(2)) })
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		again := drawnRequest(0)
		if c.bucket != "ids" {
			again.ID = "again"
			again.Draw.Covers = true
		}
		if _, err := l.Charge(t.Context(), again); !errors.Is(err, ErrDamaged) {
			t.Errorf("index %s: %v", c.bucket, err)
		}
	}
}

// A lost anchor is a refusal until a head from elsewhere vouches for the
// database; a wrong head or a database rolled back before it does not help.
func TestAdopt(t *testing.T) {
	u := newUnderAttack(t, 3)
	u.last().write(t, u.path)
	l, err := Open(t.Context(), u.path)
	if err != nil {
		t.Fatal(err)
	}
	pin, err := l.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		f   files
		pin Head
		ok  bool
	}{
		"anchor lost":           {files{u.states[3].db, nil}, pin, true},
		"anchor damaged":        {files{u.states[3].db, []byte("?")}, pin, true},
		"wrong pin":             {files{u.states[3].db, nil}, Head{3, Digest{1}}, false},
		"pin of a later commit": {files{u.states[3].db, nil}, Head{4, pin.Hash}, false},
		"database rolled back":  {files{u.states[2].db, nil}, pin, false},
		"database damaged":      {files{u.states[3].db[:20000], nil}, pin, false},
	} {
		c.f.write(t, u.path)
		if _, err := Open(t.Context(), u.path); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: Open: %v", name, err)
		}
		l, err := Adopt(t.Context(), u.path, c.pin)
		if c.ok != (err == nil) || err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			mustSpend(t, l, u.spent)
			if err := chargeOne(l, 99); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// What nothing shows to be a ledger is called that, and damage only what was one: where an
// anchor is, or a handle is open, or the file is a database of this package.
func TestNotALedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	u := newUnderAttack(t, 1)
	last := u.last()
	foreign := filepath.Join(t.TempDir(), "foreign")
	db, err := bolt.Open(foreign, 0o600, &bolt.Options{PageSize: boltPageSize})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("other")); return err })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	other := readFiles(t, foreign).db
	for name, b := range map[string][]byte{
		"empty": {}, "text": []byte("hello\n"), "zeros": make([]byte, 32<<10), "another database": other,
		"a beginning cut short": last.db[:50], "an anchor": last.anchor,
	} {
		files{b, nil}.write(t, path)
		if _, err := Open(t.Context(), path); !errors.Is(err, ErrNotLedger) || errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path+" is not a ledger") {
			t.Errorf("%s: %v", name, err)
		}
		if got, _ := os.ReadFile(path); !bytes.Equal(got, b) {
			t.Errorf("%s: Open wrote to it", name)
		}
		files{b, last.anchor}.write(t, path)
		if _, err := Open(t.Context(), path); !errors.Is(err, ErrDamaged) || errors.Is(err, ErrNotLedger) {
			t.Errorf("%s, with an anchor: %v", name, err)
		}
		files{b, []byte("?")}.write(t, path)
		if _, err := Open(t.Context(), path); !errors.Is(err, ErrDamaged) || errors.Is(err, ErrNotLedger) {
			t.Errorf("%s, with a damaged anchor: %v", name, err)
		}
		l := create(t, 1, 0)
		files{b, nil}.write(t, l.Path())
		if err := chargeOne(l, 1); !errors.Is(err, ErrDamaged) || errors.Is(err, ErrNotLedger) {
			t.Errorf("%s, under an open handle: %v", name, err)
		}
	}
	files{last.db[:len(last.db)/4], nil}.write(t, path)
	if _, err := Open(t.Context(), path); !errors.Is(err, ErrDamaged) {
		t.Errorf("a ledger cut short, without its anchor: %v", err)
	}
	if _, err := Open(t.Context(), t.TempDir()); err == nil {
		t.Error("a directory was opened")
	}
}
