package ledger

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// book is the past of a whole ledger in memory: some 50 bytes an entry, 100 with a draw. The
// entries lie packed in blocks, one behind the other, and the table of keys has no pointers, so
// the garbage collector has nothing to look at. Most of [Open] is the search for keys that nobody
// has: the table answers with one look at memory where a map needs two.
type book struct {
	seed   maphash.Seed
	table  []place // open addressing, a power of two
	keys   int     // places that are taken
	blocks []*block
	names  []string            // of ensembles, their digests, tables, quotas' clients: few
	number map[string]uint64   // the place in names
	stated map[string]*located // by ensemble, the first charge that states its digest
	drawn  []uint32            // numbers of the listed charges
	opened []uint32            // numbers of the charges that opened a quota
	takes  takings             // few: by quota and client

	charges uint64 // how many of the entries are charges
}

// place finds a key: the hash of it, and the number of its first entry, from 1.
type place struct{ hash, number uint32 }

const blockSize = 1024

// block has up to blockSize entries.
type block struct {
	starts []uint32 // where in data each begins
	data   []byte
}

func newBook() *book {
	return &book{
		seed: maphash.MakeSeed(), table: make([]place, 8), names: []string{""},
		number: map[string]uint64{"": 0}, stated: map[string]*located{},
		takes: takings{},
	}
}

// find returns the number of the entry of a key, 0 for none, with the place that has it or would
// have it.
func (b *book) find(k key) (number, at, hash uint32) {
	hash = b.hash(k)
	mask := uint32(len(b.table) - 1)
	for at = hash & mask; ; at = (at + 1) & mask {
		p := b.table[at]
		if p.number == 0 || p.hash == hash && b.has(p.number, k) {
			return p.number, at, hash
		}
	}
}

// hash is the same for all keys of one name, so that an answer to a draw and what covers it, or a charge
// and its result, lie in one place in memory.
func (b *book) hash(k key) uint32 {
	h := maphash.String(b.seed, k.name)
	if k.ensemble != "" {
		h = bits.RotateLeft64(h, 17) ^ maphash.String(b.seed, k.ensemble)
	}
	return uint32(h ^ h>>32)
}

func (b *book) first(k key) *located {
	if k.index == byEnsemble {
		return b.stated[k.ensemble]
	}
	number, _, _ := b.find(k)
	if number == 0 {
		return nil
	}
	return b.at(uint64(number))
}

func (b *book) taken(t taker) uint64 { return b.takes[t] }

func (b *book) draws(yield func(string, []byte, Digest) bool) bool {
	for _, number := range b.drawn {
		p := b.unpack(number)
		if !yield(b.names[p.ensemble], p.draw, Digest(p.votes)) {
			return false
		}
	}
	return true
}

// add enters the entry that follows, which the rules admit.
func (b *book) add(c *located) {
	last := len(b.blocks) - 1
	if last < 0 || len(b.blocks[last].starts) == blockSize {
		if last >= 0 {
			b.blocks[last].data = bytes.Clone(b.blocks[last].data) // without room
		}
		b.blocks = append(b.blocks, &block{starts: make([]uint32, 0, blockSize)})
		last++
	}
	l := b.blocks[last]
	l.starts = append(l.starts, uint32(len(l.data)))
	l.data = b.pack(l.data, c)
	number := uint32(last*blockSize + len(l.starts))
	if c.listed() {
		b.drawn = append(b.drawn, number)
	}
	if c.Quota != nil && c.PaidBy == "" {
		b.opened = append(b.opened, number)
	}
	if !c.isResult() {
		b.charges++
	}
	b.takes.add(c)
	var keys [4]key
	for _, k := range c.keys(keys[:0]) {
		if k.index == byEnsemble {
			if b.stated[k.ensemble] == nil {
				b.stated[k.ensemble] = b.at(uint64(number))
			}
			continue
		}
		if before, at, hash := b.find(k); before == 0 {
			b.table[at] = place{hash, number}
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
		if p.number == 0 {
			continue
		}
		at := p.hash & mask
		for b.table[at].number != 0 {
			at = (at + 1) & mask
		}
		b.table[at] = p
	}
}

// packed is an entry in a block: its flags, and then, in this order, the fields that the flags
// list. Numbers are of variable length, texts have theirs before them.
type packed struct {
	flags    byte
	at       uint64
	charge   uint64 // a result: the number of its charge, whose id it has
	id       []byte // a charge, and so all that follows
	ensemble uint64 // in names
	teachers uint64 // in names
	paidBy   []byte
	draw     []byte // its name, which is often the id
	votes    []byte
	table    uint64 // of the quota, in names
	answers  uint64
	count    uint64
	client   uint64 // in names
}

const (
	isResult byte = 1 << iota
	hasDraw
	drawIsID
	isQuery
	isCover
	hasQuota
)

func (b *book) pack(to []byte, c *located) []byte {
	if c.isResult() {
		charge, _, _ := b.find(key{byID, "", c.ID})
		to = binary.AppendUvarint(append(to, isResult), uint64(c.at))
		return binary.AppendUvarint(to, uint64(charge))
	}
	flags := byte(0)
	if d := c.Draw; d != nil {
		flags = hasDraw | flag(d.Name == c.ID, drawIsID) | flag(d.Query, isQuery) | flag(d.Covers,
			isCover)
	}
	flags |= flag(c.Quota != nil, hasQuota)
	to = binary.AppendUvarint(append(to, flags), uint64(c.at))
	to = appendText(to, c.ID)
	to = binary.AppendUvarint(to, b.name(c.Ensemble))
	to = binary.AppendUvarint(to, b.name(c.EnsembleDigest))
	to = appendText(to, c.PaidBy)
	if flags&hasDraw != 0 {
		if flags&drawIsID == 0 {
			to = appendText(to, c.Draw.Name)
		}
		to = append(to, c.Draw.Votes[:]...)
	}
	if q := c.Quota; q != nil {
		to = binary.AppendUvarint(to, b.name(string(q.Table[:])))
		to = binary.AppendUvarint(to, q.Answers)
		to = binary.AppendUvarint(to, c.Count)
		to = binary.AppendUvarint(to, b.name(c.Client))
	}
	return to
}

func flag(is bool, bit byte) byte {
	if is {
		return bit
	}
	return 0
}

func appendText(to []byte, s string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(s))), s...)
}

// name returns the place of a name in names.
func (b *book) name(s string) uint64 {
	n, ok := b.number[s]
	if !ok {
		n = uint64(len(b.names))
		b.names = append(b.names, s)
		b.number[s] = n
	}
	return n
}

// unpack returns the entry of a number.
func (b *book) unpack(number uint32) (p packed) {
	l := b.blocks[(number-1)/blockSize]
	from := l.data[l.starts[(number-1)%blockSize]:]
	p.flags, from = from[0], from[1:]
	p.at, from = takeNumber(from)
	if p.flags&isResult != 0 {
		p.charge, _ = takeNumber(from)
		return p
	}
	p.id, from = takeText(from)
	p.ensemble, from = takeNumber(from)
	p.teachers, from = takeNumber(from)
	p.paidBy, from = takeText(from)
	if p.flags&hasDraw != 0 {
		p.draw = p.id
		if p.flags&drawIsID == 0 {
			p.draw, from = takeText(from)
		}
		p.votes, from = from[:len(Digest{})], from[len(Digest{}):]
	}
	if p.flags&hasQuota != 0 {
		p.table, from = takeNumber(from)
		p.answers, from = takeNumber(from)
		p.count, from = takeNumber(from)
		p.client, _ = takeNumber(from)
	}
	return p
}

func takeNumber(b []byte) (uint64, []byte) {
	n, size := binary.Uvarint(b)
	return n, b[size:]
}

func takeText(b []byte) (text, rest []byte) {
	n, b := takeNumber(b)
	return b[:n], b[n:]
}

// has reports whether the key, which is not byEnsemble, finds the entry of a number.
func (b *book) has(number uint32, k key) bool {
	p := b.unpack(number)
	switch k.index {
	case byID:
		return p.flags&isResult == 0 && string(p.id) == k.name
	case byIDResult:
		return p.flags&isResult != 0 && string(b.unpack(uint32(p.charge)).id) == k.name
	}
	return p.flags&hasDraw != 0 && p.flags&isCover != 0 == (k.index == byDrawCover) &&
		string(p.draw) == k.name && b.names[p.ensemble] == k.ensemble
}

// at returns the entry of a number, which counts from 1.
func (b *book) at(seq uint64) *located {
	p := b.unpack(uint32(seq))
	c := &located{Entry: Entry{Seq: seq, Kind: KindCharge}, at: int64(p.at)}
	if p.flags&isResult != 0 {
		c.Kind = KindResult
		c.ID = string(b.unpack(uint32(p.charge)).id)
		return c
	}
	c.ID, c.PaidBy, c.Ensemble, c.EnsembleDigest = string(p.id), string(p.paidBy), b.names[p.ensemble],
		b.names[p.teachers]
	if p.flags&hasDraw != 0 {
		name := c.ID
		if p.flags&drawIsID == 0 {
			name = string(p.draw)
		}
		c.Draw = &Draw{Name: name, Votes: Digest(p.votes), Query: p.flags&isQuery != 0,
			Covers: p.flags&isCover != 0}
	}
	if p.flags&hasQuota != 0 {
		c.Quota = &Quota{Table: Digest([]byte(b.names[p.table])), Answers: p.answers}
		c.Count, c.Client = p.count, b.names[p.client]
	}
	return c
}
