package ledger

import (
	"bytes"
	"errors"
	"hash/fnv"
	"path/filepath"
	"testing"
)

// oldLedger is a database of format 2 and its anchor, as the last program that wrote them did.
func oldLedger(t testing.TB) files {
	t.Helper()
	if native.Uint16([]byte{1, 0}) != 1 {
		t.Skip("databases have the byte order of the machine that wrote them")
	}
	return readFiles(t, filepath.Join("testdata", "format2.ledger"))
}

// readOld does to a database what Open does.
func readOld(t testing.TB, b []byte, a *anchor) (*chain, error) {
	t.Helper()
	lines, err := linesOfDatabase(b)
	if err != nil {
		return nil, err
	}
	c, err := readChain(t.Context(), linesOf{bytes.NewReader(lines)}, nil)
	if err != nil {
		return nil, err
	}
	return c, c.checkAnchor(a, false)
}

// Whatever is damaged in a database, nothing crashes, and nothing that was spent is lost: a
// bit flips, the end is missing, a page number leads to another page or in a circle.
func TestDamagedDatabase(t *testing.T) {
	t.Parallel()
	old := oldLedger(t)
	a, err := decodeAnchor(old.anchor)
	if err != nil {
		t.Fatal(err)
	}
	want, err := readOld(t, old.db, &a)
	if err != nil {
		t.Fatal(err)
	}
	check := func(b []byte, what string, n int) bool {
		c, err := readOld(t, b, &a)
		if err == nil && c.now != want.now {
			t.Errorf("%s %d: %v is spent, want %v or an error", what, n, c.now.spent, want.now.spent)
		}
		return err != nil
	}
	refused := 0
	for bit := 0; bit < 8*len(old.db); bit += thin(1009) {
		old.db[bit/8] ^= 1 << (bit % 8)
		if check(old.db, "bit", bit) {
			refused++
		}
		old.db[bit/8] ^= 1 << (bit % 8)
	}
	// The lines are in the database once, and their bits count.
	lines, err := linesOfDatabase(old.db)
	if err != nil || refused < len(lines)*8/thin(1009)*3/4 {
		t.Errorf("%d flips refused, %v", refused, err)
	}
	for n := 0; n < len(old.db); n += thin(499) {
		check(old.db[:n], "cut to", n)
	}
	branches := 0
	for page := 2; page < len(old.db)/boltPageSize; page++ {
		p := old.db[page*boltPageSize:]
		if native.Uint16(p[8:]) != flagBranch {
			continue
		}
		branches++
		for i := range int(native.Uint16(p[10:])) {
			child := p[pageHeader+i*elementHeader+8:]
			right := native.Uint64(child)
			for to := range uint64(len(old.db)/boltPageSize + 1) {
				native.PutUint64(child, to)
				check(old.db, "a branch to page", int(to))
			}
			native.PutUint64(child, right)
		}
	}
	if branches == 0 {
		t.Error("there is no branch page")
	}
}

// Whatever the bytes, reading ends with a value or an error. The input is a list of edits
// to a database; meta checksums are put right after the edits, so that the pages behind are
// reached.
func FuzzDatabase(f *testing.F) {
	old := oldLedger(f)
	f.Add([]byte{0, 0, 16, 1})
	f.Add([]byte{0, 16, 10, 255, 0, 48, 8, 1})
	f.Fuzz(func(t *testing.T, edits []byte) {
		b := bytes.Clone(old.db)
		for ; len(edits) >= 4; edits = edits[4:] {
			at := int(edits[0])<<16 | int(edits[1])<<8 | int(edits[2])
			b[at%len(b)] = edits[3]
		}
		for page := range 2 {
			m := b[page*boltPageSize+pageHeader:]
			sum := fnv.New64a()
			sum.Write(m[:boltMeta])
			native.PutUint64(m[boltMeta:], sum.Sum64())
		}
		if _, err := readOld(t, b, nil); err == nil {
			t.Error("a ledger with entries is accepted without its anchor")
		}
	})
}

// A database of bbolt that is no ledger is called that.
func TestForeignDatabase(t *testing.T) {
	old := oldLedger(t)
	path := filepath.Join(t.TempDir(), "l")
	b := bytes.ReplaceAll(old.db, []byte("genesis"), []byte("Genesis"))
	b = bytes.ReplaceAll(b, []byte("ledger"), []byte("Ledger"))
	files{b, nil}.write(t, path)
	if _, err := Open(t.Context(), path); !errors.Is(err, ErrNotLedger) {
		t.Errorf("%v", err)
	}
	files{b, old.anchor}.write(t, path)
	if _, err := Open(t.Context(), path); !errors.Is(err, ErrDamaged) || errors.Is(err, ErrNotLedger) {
		t.Errorf("with an anchor: %v", err)
	}
	l := create(t, 1, 0)
	files{b, nil}.write(t, l.Path())
	if err := chargeOne(l, 1); !errors.Is(err, ErrDamaged) || errors.Is(err, ErrNotLedger) {
		t.Errorf("under an open handle: %v", err)
	}
}
