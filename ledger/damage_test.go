package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
)

// underAttack is a small ledger and the files it had after every commit.
type underAttack struct {
	spent  Cost
	states []files // states[i]: after commit i
	heads  []Head
	path   string // where attacks can be opened as files
}

func (u *underAttack) last() files { return u.states[len(u.states)-1] }

func newUnderAttack(t testing.TB, batches int) *underAttack {
	t.Helper()
	l := create(t, 100, 1e-3)
	u := &underAttack{path: filepath.Join(t.TempDir(), "ledger")}
	add := func() {
		h, err := l.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		u.states, u.heads = append(u.states, readFiles(t, l.Path())), append(u.heads, h)
	}
	add()
	for i := range batches {
		mustCharge(t, l, drawnRequest(i))
		add()
	}
	u.spent = unitOfOne.Times(uint64(batches))
	return u
}

var unitOfOne = Cost{epsilon: amount{0, 1e12}}

// drawnRequest has a place in every index but that of results.
func drawnRequest(i int) Request {
	r := plainRequest(i)
	r.Ensemble, r.EnsembleDigest = "teachers", "v1"
	r.Draw = newDraw(r.Ensemble, fmt.Sprintf("draw %d", i), i+1)
	r.Draw.Covers = i%3 == 2
	return r
}

func plainRequest(i int) Request {
	return Request{Relation: ReplaceOne, ID: fmt.Sprintf("request %d", i), Count: 1, Unit: unitOfOne,
		Event: []byte(`{"mechanism":"darrm"}`)}
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

// checkFiles is check by way of Open, and of a charge where Open accepts.
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

// Every length of the file and of the anchor: all in memory (thinned unless long), some as
// files. Only what ends with the last commit, and the whole, is accepted.
func TestTruncatedAnywhere(t *testing.T) {
	t.Parallel()
	u := newUnderAttack(t, 6)
	whole := u.last()
	u.checkFiles(t, whole, "undamaged")
	for n := 0; n < len(whole.db); n += thin(3) {
		if !u.check(t, files{whole.db[:n], whole.anchor}, "ledger cut to %d", n) {
			t.Errorf("a ledger of %d bytes of %d is accepted", n, len(whole.db))
		}
	}
	for n := range whole.anchor {
		if !u.check(t, files{whole.db, whole.anchor[:n]}, "anchor cut to %d", n) {
			t.Errorf("anchor cut to %d is accepted", n)
		}
	}
	for _, n := range []int{0, 1, 100, 500, len(u.states[3].db), len(u.states[5].db),
		len(whole.db) - 1} {
		u.checkFiles(t, files{whole.db[:n], whole.anchor}, "file cut to %d", n)
	}
	for _, n := range []int{0, 1, 100, len(whole.anchor) - 1} {
		u.checkFiles(t, files{whole.db, whole.anchor[:n]}, "anchor file cut to %d", n)
	}
	u.checkFiles(t, files{whole.db, append(bytes.Clone(whole.anchor), 0)}, "anchor with a byte more")
	u.checkFiles(t, files{whole.db, nil}, "anchor removed")
}

// Every bit of both files (thinned unless long): all are refused.
func TestEveryBitFlipped(t *testing.T) {
	t.Parallel()
	u := newUnderAttack(t, 6)
	whole := u.last()
	for what, b := range map[string][]byte{"ledger": whole.db, "anchor": whole.anchor} {
		step := thin(5)
		for bit := 0; bit < 8*len(b); bit += step {
			b[bit/8] ^= 1 << (bit % 8)
			if !u.check(t, whole, "%s: bit %d flipped", what, bit) {
				t.Errorf("%s: bit %d can change", what, bit)
			}
			if bit/step%400 == 0 {
				u.checkFiles(t, whole, "%s file with bit %d flipped", what, bit)
			}
			b[bit/8] ^= 1 << (bit % 8)
		}
	}
}

// The write of a charge that nobody got a receipt for is cut short anywhere, or is any
// bytes: the next charge takes its place, with one entry and with many, and nothing of it stays.
// The same behind a commit that the anchor does not know is no trace of a crash.
func TestTornCommit(t *testing.T) {
	t.Parallel()
	u := newUnderAttack(t, 3)
	u.last().write(t, u.path)
	l, err := Open(t.Context(), u.path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.ChargeAll(t.Context(), []Request{plainRequest(10), plainRequest(11),
		plainRequest(12)}); err != nil {
		t.Fatal(err)
	}
	next := readFiles(t, u.path)
	before := u.last()
	tails := [][]byte{make([]byte, 5000), []byte("\n"), []byte("{}\n"),
		bytes.Repeat([]byte("x"), 2*maxLine)}
	for n := len(before.db); n < len(next.db); n++ {
		tails = append(tails, next.db[len(before.db):n])
	}
	for i, tail := range tails {
		torn := append(bytes.Clone(before.db), tail...)
		if u.check(t, files{torn, before.anchor}, "torn at %d", len(tail)) {
			t.Errorf("torn at %d is refused", len(tail))
		}
		if len(tail) == 0 {
			continue
		}
		if !u.check(t, files{torn, u.states[2].anchor}, "a tail of %d that no crash leaves", len(tail)) {
			t.Errorf("a tail of %d bytes behind what the anchor does not know is accepted", len(tail))
		}
		if i%thin(37) == 0 || i < 4 {
			u.checkFiles(t, files{torn, before.anchor}, "file torn at %d", len(tail))
			b := readFiles(t, u.path).db
			if c, err := readChain(t.Context(), linesOf{bytes.NewReader(b)}, nil); err != nil ||
				c.rest != nil {
				t.Errorf("after a tail of %d bytes: %v, %v", len(tail), err, c.rest)
			}
		}
	}
	if s, err := (files{next.db, before.anchor}).verify(nil); err != nil ||
		s.spent != u.spent.Plus(unitOfOne.Times(3)) {
		t.Errorf("a whole commit that the anchor does not know yet: %v, %v", s.spent, err)
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
		if _, err := (files{a.states[i].db, b.states[i].anchor}).verify(nil); !errors.Is(err,
			ErrDamaged) {
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

// Entries changed, removed, added, reordered or counted twice, every line in order.
func TestForgedRecords(t *testing.T) {
	rewrite := func(line int, old, new string) func([]string) []string {
		return func(lines []string) []string {
			if !strings.Contains(lines[line], old) {
				t.Fatalf("%q is not in %s", old, lines[line])
			}
			lines[line] = strings.Replace(lines[line], old, new, 1)
			return lines
		}
	}
	const head, entry = 6, 3 // the last head record, the second entry
	for name, forge := range map[string]func([]string) []string{
		"refund in the head":     rewrite(head, `"epsilon":"3`, `"epsilon":"2`),
		"larger budget":          rewrite(0, `"epsilon":"1`, `"epsilon":"9`),
		"other relation":         rewrite(0, `"replace"`, `"add-remove"`),
		"other secret":           rewrite(0, `"secret_sha256":"`, `"secret_sha256":"0`),
		"older format":           rewrite(0, `"format":4`, `"format":1`),
		"smaller charge":         rewrite(entry, `"epsilon":"1000000000000"`, `"epsilon":"1"`),
		"other event":            rewrite(entry, "darrm", "other"),
		"other time":             rewrite(entry, `"time":"2`, `"time":"1`),
		"other draw":             rewrite(entry, "draw 1", "draw 7"),
		"other form":             rewrite(entry, `"count":1`, `"count":1 `),
		"last commit removed":    func(l []string) []string { return l[:5] },
		"last head removed":      func(l []string) []string { return l[:6] },
		"last entry removed":     func(l []string) []string { return append(l[:5], l[6]) },
		"first commit removed":   func(l []string) []string { return append(l[:1], l[3:]...) },
		"a head in between gone": func(l []string) []string { return append(l[:2], l[3:]...) },
		"commits exchanged": func(l []string) []string {
			l[1], l[2], l[3], l[4] = l[3], l[4], l[1],
				l[2]
			return l
		},
		"an entry twice": func(l []string) []string { return append(l[:2], l[1:]...) },
		"a commit twice": func(l []string) []string { return append(l[:3], l[1:]...) },
		"an empty line": func(l []string) []string {
			return append(l[:3], append([]string{"\n"}, l[3:]...)...)
		},
		"a line of something": func(l []string) []string {
			return append(l[:3], append([]string{"{}\n"}, l[3:]...)...)
		},
		"a genesis record more": func(l []string) []string {
			return append(l[:3], append([]string{l[0]}, l[3:]...)...)
		},
		"genesis record removed":  func(l []string) []string { return l[1:] },
		"nothing but the genesis": func(l []string) []string { return l[:1] },
		"nothing":                 func(l []string) []string { return nil },
	} {
		u := newUnderAttack(t, 3)
		f := u.last()
		lines := slices.Collect(strings.Lines(string(f.db)))
		if len(lines) != head+1 {
			t.Fatalf("%d lines", len(lines))
		}
		files{[]byte(strings.Join(forge(lines), "")), f.anchor}.write(t, u.path)
		if _, err := Open(t.Context(), u.path); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Entries of one commit stand between no head records; each bit of them counts all the same.
func TestForgedBatch(t *testing.T) {
	l := create(t, 100, 0)
	if _, err := l.ChargeAll(t.Context(), []Request{plainRequest(0), opening("q", 1, 9),
		taking("q", "a", 1, 2)}); err != nil {
		t.Fatal(err)
	}
	f := readFiles(t, l.Path())
	for bit := 0; bit < 8*len(f.db); bit += thin(7) {
		f.db[bit/8] ^= 1 << (bit % 8)
		if _, err := f.verify(nil); !errors.Is(err, ErrDamaged) {
			t.Errorf("bit %d: %v", bit, err)
		}
		f.db[bit/8] ^= 1 << (bit % 8)
	}
}

// An entry that was changed after the ledger was opened is not believed where it is read again.
func TestChangedUnderAHandle(t *testing.T) {
	l := create(t, 100, 0)
	for i := range 3 {
		mustCharge(t, l, drawnRequest(i))
	}
	other, err := Open(t.Context(), l.Path())
	if err != nil {
		t.Fatal(err)
	}
	f := readFiles(t, l.Path())
	f.db = bytes.Replace(f.db, []byte(`"draw 1"`), []byte(`"draw 7"`), 1)
	f.write(t, l.Path())
	if entries, err := l.History(t.Context()); !errors.Is(err, ErrDamaged) {
		t.Errorf("history of %d entries: %v", len(entries), err)
	}
	if err := other.Verify(t.Context()); !errors.Is(err, ErrDamaged) {
		t.Errorf("verify: %v", err)
	}
	for _, c := range [][2]string{{`"request 0"`, `"request 9"`}, {`{"seq":1,`, `{"seq":2,`},
		{`"count":1`, `"count":x`}} {
		l := create(t, 100, 0)
		mustCharge(t, l, drawnRequest(0))
		mustCharge(t, l, plainRequest(1))
		f := readFiles(t, l.Path())
		f.db = bytes.Replace(f.db, []byte(c[0]), []byte(c[1]), 1)
		f.write(t, l.Path())
		if _, err := l.Charge(t.Context(), drawnRequest(0)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", c[1], err)
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
	// A copy that somebody else charged from the second commit on, to as many entries.
	u.states[2].write(t, u.path)
	other := must.Get(Open(t.Context(), u.path))(t)
	mustCharge(t, other, drawnRequest(7))
	fork := files{readFiles(t, u.path).db, u.states[3].anchor}
	for name, c := range map[string]struct {
		f   files
		pin Head
		ok  bool
	}{
		"as long as its anchor's, another end": {fork, u.heads[2], false},
		"anchor lost":                          {files{u.states[3].db, nil}, pin, true},
		"older than its anchor":                {files{u.states[2].db, u.states[3].anchor}, u.heads[2], false},
		"older anchor":                         {files{u.states[3].db, u.states[1].anchor}, pin, true},
		"anchor damaged":                       {files{u.states[3].db, []byte("?")}, pin, true},
		"wrong pin":                            {files{u.states[3].db, nil}, Head{3, Digest{1}}, false},
		"pin of a later commit":                {files{u.states[3].db, nil}, Head{4, pin.Hash}, false},
		"database rolled back":                 {files{u.states[2].db, nil}, pin, false},
		"database damaged":                     {files{u.states[3].db[:len(u.states[3].db)-300], nil}, pin, false},
		"torn after the pin":                   {files{append(bytes.Clone(u.states[3].db), '{'), nil}, pin, true},
		"torn, an older pin": {files{append(bytes.Clone(u.states[3].db), '{'), nil}, u.heads[2],
			false},
		"an older pin": {files{u.states[3].db, nil}, u.heads[2], true},
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
// anchor is, or a handle is open, or the file begins as a ledger.
func TestNotALedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	u := newUnderAttack(t, 1)
	last := u.last()
	for name, b := range map[string][]byte{
		"empty": {}, "text": []byte("hello\n"), "zeros": make([]byte, 32<<10),
		"JSON":                  []byte(`{"format": 3}`),
		"a beginning cut short": last.db[:10], "an anchor": last.anchor,
	} {
		files{b, nil}.write(t, path)
		if _, err := Open(t.Context(), path); !errors.Is(err, ErrNotLedger) ||
			errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path+" is not a ledger") {
			t.Errorf("%s: %v", name, err)
		}
		if got, _ := os.ReadFile(path); !bytes.Equal(got, b) {
			t.Errorf("%s: Open wrote to it", name)
		}
		files{b, last.anchor}.write(t, path)
		if _, err := Open(t.Context(), path); !errors.Is(err, ErrDamaged) ||
			errors.Is(err, ErrNotLedger) {
			t.Errorf("%s, with an anchor: %v", name, err)
		}
		files{b, []byte("?")}.write(t, path)
		if _, err := Open(t.Context(), path); !errors.Is(err, ErrDamaged) ||
			errors.Is(err, ErrNotLedger) {
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
