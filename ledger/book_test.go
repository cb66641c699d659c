package ledger

import (
	"fmt"
	"testing"
)

// A book finds the first entry of every key, and nothing else, however often it grew.
func TestBook(t *testing.T) {
	b := newBook()
	const n = 20_000
	of := func(i int) charged {
		return charged{seq: uint64(i + 1), id: fmt.Sprint("id ", i), ensemble: fmt.Sprint("e ", i/100), teachers: "v1", draw: &Draw{Name: fmt.Sprint("d ", i/2), Votes: Digest{byte(i), byte(i >> 8)}, Covers: i%2 == 1}}
	}
	for i := range n {
		if b.first(key{byID, "", fmt.Sprint("id ", i)}) != nil {
			t.Fatalf("entry %d is there before it is added", i)
		}
		b.add(of(i))
	}
	for i := range n {
		c := of(i)
		var keys [4]key
		for _, k := range c.keys(keys[:0]) {
			want := c.seq
			if k.index == byEnsemble {
				want = uint64(i/100*100 + 1)
			}
			if got := b.first(k); got == nil || got.seq != want {
				t.Fatalf("entry %d, key %+v: %+v, want entry %d", i, k, got, want)
			}
		}
	}
}
