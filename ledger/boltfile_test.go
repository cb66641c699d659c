package ledger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"
	"pgregory.net/rapid"
)

// pairs reads everything with the reader, or with bbolt.
func pairs(path string) (map[string][][2]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := openBoltFile(readerAt(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	if err := f.track(); err != nil {
		return nil, err
	}
	all := map[string][][2]string{}
	for name := range f.buckets {
		all[name] = nil
		err := f.walk(name, nil, func(k, v []byte) error {
			all[name] = append(all[name], [2]string{string(k), string(v)})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, f.checkComplete()
}

func pairsByBolt(db *bolt.DB) (map[string][][2]string, error) {
	all := map[string][][2]string{}
	err := db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			all[string(name)] = nil
			return b.ForEach(func(k, v []byte) error {
				all[string(name)] = append(all[string(name)], [2]string{string(k), string(v)})
				return nil
			})
		})
	})
	return all, err
}

// The reader finds in databases of bbolt what bbolt finds, after any sequence of
// writes: inline buckets, several levels, overflow pages, free lists.
func TestReaderAgreesWithBolt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		path := filepath.Join(dir, fmt.Sprint(run))
		defer os.Remove(path)
		db, err := bolt.Open(path, 0o600, &bolt.Options{PageSize: boltPageSize, NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for range rapid.IntRange(1, 6).Draw(t, "transactions") {
			err := db.Update(func(tx *bolt.Tx) error {
				b, err := tx.CreateBucketIfNotExists([]byte(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "bucket")))
				if err != nil {
					return err
				}
				n := rapid.IntRange(0, 300).Draw(t, "puts")
				seed := rapid.Uint32().Draw(t, "seed")
				size := rapid.SampledFrom([]int{0, 8, 300, 9000}).Draw(t, "value")
				if size == 9000 {
					n = min(n, 20)
				}
				for i := range n {
					seed = seed*1664525 + 1013904223
					if err := b.Put(fmt.Appendf(nil, "%x", seed%1e6), bytes.Repeat([]byte{byte(i)}, size)); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			want, err := pairsByBolt(db)
			if err != nil {
				t.Fatal(err)
			}
			got, err := pairs(path)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("reader: %d buckets, bbolt: %d", len(got), len(want))
			}
			checkSeeks(t, path, want)
		}
	})
}

// checkSeeks compares get and walks from the middle with the whole list.
func checkSeeks(t *rapid.T, path string, want map[string][][2]string) {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := openBoltFile(readerAt(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for name, list := range want {
		if v, err := f.get(name, []byte("no such key")); v != nil || err != nil {
			t.Fatalf("%q, %v", v, err)
		}
		if len(list) == 0 {
			continue
		}
		i := rapid.IntRange(0, len(list)-1).Draw(t, "seek")
		if v, err := f.get(name, []byte(list[i][0])); err != nil || v == nil || string(v) != list[i][1] {
			t.Fatalf("get %q: %.20q, %v", list[i][0], v, err)
		}
		n := i
		err := f.walk(name, []byte(list[i][0]), func(k, v []byte) error {
			if string(k) != list[n][0] {
				return fmt.Errorf("key %q, want %q", k, list[n][0])
			}
			n++
			return nil
		})
		if err != nil || n != len(list) {
			t.Fatalf("from %q: %d of %d, %v", list[i][0], n-i, len(list)-i, err)
		}
	}
}

// deepDatabase has branch pages, so that damage can lead the reader astray.
func deepDatabase(t testing.TB) []byte {
	path := filepath.Join(t.TempDir(), "db")
	db, err := bolt.Open(path, 0o600, &bolt.Options{PageSize: boltPageSize, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket([]byte("a"))
		for i := range 60 {
			err = errors.Join(err, b.Put(seqKey(uint64(i)), make([]byte, 300)))
		}
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A page number that leads back to an ancestor makes bbolt recurse until the
// stack ends. Every page number in every branch and bucket is set to every page.
func TestCyclesEnd(t *testing.T) {
	whole := deepDatabase(t)
	tried, refused := 0, 0
	for page := 2; page < len(whole)/boltPageSize; page++ {
		p := whole[page*boltPageSize:]
		if native.Uint16(p[8:]) != flagBranch {
			continue
		}
		for i := range int(native.Uint16(p[10:])) {
			child := p[pageHeader+i*elementHeader+8:]
			right := native.Uint64(child)
			for to := range uint64(len(whole)/boltPageSize + 1) {
				native.PutUint64(child, to)
				tried++
				if err := readWhole(whole); err != nil {
					refused++
				} else if to != right {
					t.Errorf("page %d, element %d: %d instead of %d is accepted", page, i, to, right)
				}
			}
			native.PutUint64(child, right)
		}
	}
	if tried < 20 || refused == tried {
		t.Errorf("%d of %d refused", refused, tried)
	}
}

// Two buckets on one page, with the free list made to fit: a write to one would
// change the other.
func TestSharedPage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	db, err := bolt.Open(path, 0o600, &bolt.Options{PageSize: boltPageSize, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) (err error) {
		for _, name := range []string{"a", "b"} {
			b, e := tx.CreateBucket([]byte(name))
			err = errors.Join(err, e, b.Put([]byte("k"), make([]byte, 2000))) // too large to be inline
		}
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := readWhole(whole); err != nil {
		t.Fatal(err)
	}
	f, err := openBoltFile(readerAt(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	a, b := f.buckets["a"].root, f.buckets["b"].root
	root := whole[f.root*boltPageSize:][:boltPageSize]
	ref := binary.NativeEndian.AppendUint64([]byte("b"), b)
	at := bytes.Index(root, ref)
	if a == 0 || at < 0 {
		t.Fatalf("buckets at pages %d and %d", a, b)
	}
	native.PutUint64(root[at+1:], a)
	free := whole[f.freelist*boltPageSize:]
	n := native.Uint16(free[10:])
	native.PutUint64(free[pageHeader+8*int(n):], b)
	native.PutUint16(free[10:], n+1)
	if err := readWhole(whole); !errors.Is(err, errPage) {
		t.Errorf("accepted: %v", err)
	}
}

func readWhole(b []byte) error {
	f, err := openBoltFile(readerAt(b), int64(len(b)))
	if err != nil {
		return err
	}
	if err := f.track(); err != nil {
		return err
	}
	for name := range f.buckets {
		if err := f.walk(name, nil, func(k, v []byte) error { return nil }); err != nil {
			return err
		}
	}
	return f.checkComplete()
}

// Whatever the bytes, the reader ends with a value or an error. The input is a
// list of edits to two databases, since random bytes never have a valid meta page;
// meta checksums are put right after the edits, so that the pages behind are reached.
func FuzzReader(f *testing.F) {
	u := newUnderAttack(f, 6)
	bases := [][]byte{deepDatabase(f), u.last().db}
	f.Add(uint8(0), []byte{0, 0, 16, 1})
	f.Add(uint8(1), []byte{0, 16, 10, 255, 0, 48, 8, 1})
	f.Fuzz(func(t *testing.T, base uint8, edits []byte) {
		b := bytes.Clone(bases[base%2])
		for ; len(edits) >= 4; edits = edits[4:] {
			at := int(edits[0])<<16 | int(edits[1])<<8 | int(edits[2])
			b[at%len(b)] = edits[3]
		}
		for page := range 2 {
			m := b[page*boltPageSize+pageHeader:]
			sum := fnv.New64a()
			sum.Write(m[:metaChecked])
			native.PutUint64(m[metaChecked:], sum.Sum64())
		}
		if err := readWhole(b); err != nil && !errors.Is(err, errPage) {
			t.Errorf("%v is not marked as damage", err)
		}
		_, err := files{b, u.last().anchor}.verify(nil)
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("%v is not marked as damage", err)
		}
	})
}
