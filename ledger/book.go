package ledger

import (
	"hash/maphash"
	"slices"
)

// book is a past in memory. It takes about 200 bytes an entry, 400 with a draw. The table has no
// pointers and the entries lie in blocks, which keeps the garbage collector's work small. Most of
// [Open] is the search for keys that nobody has: the table answers with one look at memory where
// a map needs two.
type book struct {
	seed   maphash.Seed
	table  []place // open addressing, a power of two
	keys   int     // places that are taken
	blocks [][]charged
}

// place is that of a key: the hash of it, and one more than the number of its first entry.
type place struct{ hash, next uint32 }

const blockSize = 1024

func newBook() *book { return &book{seed: maphash.MakeSeed(), table: make([]place, 8)} }

// find returns the entry of a key, and the number of its place, or of where it would be.
func (b *book) find(k key) (at uint32, hash uint32, c *charged) {
	h := maphash.Comparable(b.seed, k)
	hash = uint32(h ^ h>>32)
	mask := uint32(len(b.table) - 1)
	for at = hash & mask; ; at = (at + 1) & mask {
		p := b.table[at]
		if p.next == 0 {
			return at, hash, nil
		}
		if p.hash != hash {
			continue
		}
		c := b.at(uint64(p.next))
		var keys [4]key
		if slices.Contains(c.keys(keys[:0]), k) {
			return at, hash, c
		}
	}
}

// at returns the entry of a number, which counts from 1.
func (b *book) at(seq uint64) *charged { return &b.blocks[(seq-1)/blockSize][(seq-1)%blockSize] }

func (b *book) first(k key) *charged {
	_, _, c := b.find(k)
	return c
}

// add enters an entry where no earlier one is.
func (b *book) add(c charged) {
	last := len(b.blocks) - 1
	if last < 0 || len(b.blocks[last]) == blockSize {
		b.blocks = append(b.blocks, make([]charged, 0, blockSize))
		last++
	}
	b.blocks[last] = append(b.blocks[last], c)
	next := uint32(last*blockSize + len(b.blocks[last]))
	var keys [4]key
	for _, k := range c.keys(keys[:0]) {
		if at, hash, before := b.find(k); before == nil {
			b.table[at] = place{hash, next}
			b.keys++
			if 4*b.keys > 3*len(b.table) {
				b.grow()
			}
		}
	}
}

// grow doubles the table.
func (b *book) grow() {
	old := b.table
	b.table = make([]place, 2*len(old))
	mask := uint32(len(b.table) - 1)
	for _, p := range old {
		if p.next == 0 {
			continue
		}
		at := p.hash & mask
		for b.table[at].next != 0 {
			at = (at + 1) & mask
		}
		b.table[at] = p
	}
}
