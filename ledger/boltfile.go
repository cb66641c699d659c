package ledger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
)

// This file reads databases of go.etcd.io/bbolt without trusting them. bbolt
// maps the file into memory, follows page numbers unchecked, and keeps no
// checksum of pages other than the two meta pages: on a damaged file it can panic
// in a goroutine of its own, recurse without end, or read beyond the mapping,
// and none of these can be turned into an error. So every read of a ledger goes
// through the reader below, which checks each offset; bbolt only writes, to files
// that have been checked.
//
// The layout (bbolt's internal/common, version 2, byte order of the machine):
//
//	page     id u64, flags u16, count u16, overflow u32, content
//	meta     magic, version, page size, flags u32, root and sequence u64, freelist,
//	         high-water mark, transaction u64, FNV-1a of all before u64
//	branch   count × (offset u32, key length u32, page u64), keys
//	leaf     count × (flags, offset, key length, value length u32), keys and values
//	freelist page numbers u64; count 0xFFFF puts the real count first
//
// Offsets count from the start of their own element. The value of a bucket is
// its root page and sequence (u64 each); root 0 means that the page follows inline.

const (
	boltPageSize = 4096
	boltMagic    = 0xED0CDAED
	boltVersion  = 2

	pageHeader    = 16
	elementHeader = 16
	bucketHeader  = 16
	metaChecked   = 56 // bytes of a meta that its checksum covers

	flagBranch   = 0x01
	flagLeaf     = 0x02
	flagFreelist = 0x10
	flagBucket   = 0x01 // of a leaf element

	maxDepth = 32 // a page holds at least two keys, so 2³² entries fit

	// Bounds of what is read into memory. The file may be sparse, and claim any
	// size. 2²⁴ pages are 64 GiB, 10⁸ entries; a page with its overflow holds at
	// most four of the largest entries, and a freelist at most all pages.
	maxPages    = 1 << 24
	maxOverflow = 255
)

var native = binary.NativeEndian

// errPage marks what is wrong inside a database file.
var errPage = errors.New("database file")

// errForeign marks a file that nothing shows to be a database of this package, or a
// database without a ledger.
var errForeign = errors.New("its beginning is not that of a ledger's database")

func badPage(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errPage, fmt.Errorf(format, args...))
}

// boltFile is one committed state of a database.
type boltFile struct {
	r        io.ReaderAt
	tx       uint64 // the transaction that wrote it
	pages    uint64 // high-water mark: pages below it may be in use
	freelist uint64
	root     uint64
	buckets  map[string]bucketRef
	used     []bool // pages seen since track; nil before
}

// bucketRef is where a bucket starts: a page, or an inline page.
type bucketRef struct {
	root   uint64
	inline []byte
}

// page is a page with all its overflow, its header checked.
type page struct {
	id    uint64
	flags uint16
	count int
	data  []byte // with the header
}

// openBoltFile reads the newest valid meta and the list of buckets.
func openBoltFile(r io.ReaderAt, size int64) (*boltFile, error) {
	var f *boltFile
	for i := range 2 {
		m, err := readMeta(r, int64(i))
		if err != nil {
			if errors.Is(err, errPage) {
				continue // bbolt, too, then takes the other one
			}
			return nil, err
		}
		if f == nil || m.tx > f.tx {
			f = m
		}
	}
	if f == nil {
		return nil, badPage("%w", errForeign)
	}
	if f.pages < 4 || f.pages > uint64(size)/boltPageSize {
		return nil, badPage("%d pages are in use, but the file holds %d", f.pages, size/boltPageSize)
	}
	if f.pages > maxPages {
		return nil, badPage("%d pages are in use, but at most %d can be read", f.pages, maxPages)
	}
	if f.freelist < 2 || f.freelist >= f.pages {
		// bbolt would look for free pages by itself then, in goroutines of its own.
		return nil, badPage("the freelist is at page %d of %d", f.freelist, f.pages)
	}
	f.r = r
	return f, f.readBuckets()
}

func (f *boltFile) readBuckets() error {
	f.buckets = map[string]bucketRef{}
	return f.walkPage(f.root, 0, nil, nil, nil, func(flags uint32, key, value []byte) error {
		if flags != flagBucket || len(value) < bucketHeader {
			return badPage("%.40q is not a bucket", key)
		}
		ref := bucketRef{root: native.Uint64(value)}
		if ref.root == 0 {
			ref.inline = value[bucketHeader:]
		} else if len(value) != bucketHeader {
			return badPage("bucket %.40q has a value of %d bytes", key, len(value))
		}
		f.buckets[string(key)] = ref
		return nil
	})
}

func readMeta(r io.ReaderAt, id int64) (*boltFile, error) {
	b := make([]byte, metaChecked+8)
	if err := readAt(r, b, id*boltPageSize+pageHeader); err != nil {
		return nil, fmt.Errorf("meta page %d: %w", id, err)
	}
	sum := fnv.New64a()
	sum.Write(b[:metaChecked])
	switch {
	case native.Uint32(b) != boltMagic, native.Uint32(b[4:]) != boltVersion, sum.Sum64() != native.Uint64(b[metaChecked:]):
		return nil, badPage("meta page %d is not valid", id)
	case native.Uint32(b[8:]) != boltPageSize:
		return nil, badPage("meta page %d says pages of %d bytes", id, native.Uint32(b[8:]))
	}
	return &boltFile{root: native.Uint64(b[16:]), freelist: native.Uint64(b[32:]), pages: native.Uint64(b[40:]), tx: native.Uint64(b[48:])}, nil
}

// readAt fills b. A file that is too short is a bad file; other errors are the
// system's, and say nothing about the ledger.
func readAt(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == io.EOF:
		return badPage("the file ends before byte %d", at+int64(len(b)))
	}
	return err
}

// readPage reads page id, with at most maxMore pages of overflow, and marks it as
// used.
func (f *boltFile) readPage(id, maxMore uint64) (page, error) {
	if id < 2 || id >= f.pages {
		return page{}, badPage("page %d is not among pages 2 to %d", id, f.pages-1)
	}
	data := make([]byte, boltPageSize)
	if err := readAt(f.r, data, int64(id)*boltPageSize); err != nil {
		return page{}, fmt.Errorf("page %d: %w", id, err)
	}
	if self := native.Uint64(data); self != id {
		return page{}, badPage("page %d calls itself %d", id, self)
	}
	more := uint64(native.Uint32(data[12:]))
	if more >= f.pages-id || more > maxMore {
		return page{}, badPage("page %d runs over %d more pages", id, more)
	}
	if more > 0 {
		data = append(data, make([]byte, more*boltPageSize)...)
		if err := readAt(f.r, data[boltPageSize:], int64(id+1)*boltPageSize); err != nil {
			return page{}, fmt.Errorf("page %d: %w", id, err)
		}
	}
	if f.used != nil {
		for i := id; i <= id+more; i++ {
			if f.used[i] {
				return page{}, badPage("page %d is used twice", i)
			}
			f.used[i] = true
		}
	}
	return page{id, native.Uint16(data[8:]), int(native.Uint16(data[10:])), data}, nil
}

// element returns the parts of element i, which has a key of length ksize and a
// value of length vsize at offset pos of the element.
func (p *page) element(i int, pos, ksize, vsize uint32) (key, value []byte, err error) {
	start := uint64(pageHeader+i*elementHeader) + uint64(pos)
	end := start + uint64(ksize) + uint64(vsize)
	if ksize == 0 || start < uint64(pageHeader+p.count*elementHeader) || end > uint64(len(p.data)) {
		return nil, nil, badPage("page %d: element %d lies outside", p.id, i)
	}
	b := p.data[start:end:end]
	return b[:ksize:ksize], b[ksize:], nil
}

func (p *page) branch(i int) (key []byte, child uint64, err error) {
	e := p.data[pageHeader+i*elementHeader:]
	key, _, err = p.element(i, native.Uint32(e), native.Uint32(e[4:]), 0)
	return key, native.Uint64(e[8:]), err
}

func (p *page) leaf(i int) (flags uint32, key, value []byte, err error) {
	e := p.data[pageHeader+i*elementHeader:]
	key, value, err = p.element(i, native.Uint32(e[4:]), native.Uint32(e[8:]), native.Uint32(e[12:]))
	return native.Uint32(e), key, value, err
}

type leafVisit func(flags uint32, key, value []byte) error

// walkPage visits the elements of a subtree in order, from the key `from` on.
// All its keys must lie in [low, high); nil stands for no bound.
func (f *boltFile) walkPage(id uint64, depth int, low, high, from []byte, visit leafVisit) error {
	if depth > maxDepth {
		return badPage("more than %d levels", maxDepth)
	}
	p, err := f.readPage(id, maxOverflow)
	if err != nil {
		return err
	}
	switch p.flags {
	case flagLeaf:
		return walkLeaf(&p, low, high, from, visit)
	case flagBranch:
	default:
		return badPage("page %d has flags %#x", p.id, p.flags)
	}
	if p.count == 0 || pageHeader+p.count*elementHeader > len(p.data) {
		return badPage("branch page %d has %d elements", p.id, p.count)
	}
	keys := make([][]byte, p.count+1)
	children := make([]uint64, p.count)
	for i := range p.count {
		if keys[i], children[i], err = p.branch(i); err != nil {
			return err
		}
		if i > 0 && bytes.Compare(keys[i-1], keys[i]) >= 0 {
			return badPage("page %d: keys %d and %d are out of order", p.id, i-1, i)
		}
	}
	if low != nil && bytes.Compare(keys[0], low) < 0 || high != nil && bytes.Compare(keys[p.count-1], high) >= 0 {
		return badPage("page %d: keys are outside the range of its parent", p.id)
	}
	keys[p.count] = high
	for i, child := range children {
		if from != nil && i+1 < p.count && bytes.Compare(keys[i+1], from) <= 0 {
			continue // all keys of this child are before from
		}
		if err := f.walkPage(child, depth+1, keys[i], keys[i+1], from, visit); err != nil {
			return err
		}
	}
	return nil
}

func walkLeaf(p *page, low, high, from []byte, visit leafVisit) error {
	if p.flags != flagLeaf || pageHeader+p.count*elementHeader > len(p.data) {
		return badPage("page %d is not a leaf of %d elements", p.id, p.count)
	}
	var last []byte
	for i := range p.count {
		flags, key, value, err := p.leaf(i)
		switch {
		case err != nil:
			return err
		case i > 0 && bytes.Compare(last, key) >= 0:
			return badPage("page %d: keys %d and %d are out of order", p.id, i-1, i)
		case low != nil && bytes.Compare(key, low) < 0, high != nil && bytes.Compare(key, high) >= 0:
			return badPage("page %d: key %d is outside the range of its parent", p.id, i)
		}
		last = key
		if bytes.Compare(key, from) < 0 {
			continue
		}
		if err := visit(flags, key, value); err != nil {
			return err
		}
	}
	return nil
}

// walk visits the pairs of a bucket in the order of keys, from the key `from` on.
// The slices are the visitor's to keep.
func (f *boltFile) walk(bucket string, from []byte, visit func(key, value []byte) error) error {
	ref, ok := f.buckets[bucket]
	if !ok {
		if bucket == bucketLedger {
			return badPage("%w", errForeign)
		}
		return badPage("there is no bucket %q", bucket)
	}
	pairs := func(flags uint32, key, value []byte) error {
		if flags != 0 {
			return badPage("bucket %q: element has flags %#x", bucket, flags)
		}
		return visit(key, value)
	}
	if ref.root != 0 {
		return f.walkPage(ref.root, 0, nil, nil, from, pairs)
	}
	if len(ref.inline) < pageHeader {
		return badPage("bucket %q has an inline page of %d bytes", bucket, len(ref.inline))
	}
	p := page{0, native.Uint16(ref.inline[8:]), int(native.Uint16(ref.inline[10:])), ref.inline}
	return walkLeaf(&p, nil, nil, from, pairs)
}

var errStop = errors.New("stop")

// get returns the value of a key, or nil.
func (f *boltFile) get(bucket string, key []byte) ([]byte, error) {
	var found []byte
	err := f.walk(bucket, key, func(k, v []byte) error {
		if bytes.Equal(k, key) {
			found = v
		}
		return errStop
	})
	if err == errStop {
		err = nil
	}
	return found, err
}

// track starts to note which pages are in use. From here to checkComplete every
// bucket is to be walked exactly once.
func (f *boltFile) track() error {
	f.used = make([]bool, f.pages)
	f.used[0], f.used[1] = true, true
	return f.readBuckets()
}

// checkComplete checks that each page is in use once, or free, or the freelist
// itself. A page both free and in use would be overwritten by the next commit.
func (f *boltFile) checkComplete() error {
	p, err := f.readPage(f.freelist, f.pages/(boltPageSize/8)+1)
	if err != nil {
		return fmt.Errorf("freelist: %w", err)
	}
	if p.flags != flagFreelist {
		return badPage("freelist page %d has flags %#x", p.id, p.flags)
	}
	ids, n := p.data[pageHeader:], uint64(p.count)
	if p.count == 0xFFFF {
		n, ids = native.Uint64(ids), ids[8:]
	}
	if n > uint64(len(ids))/8 {
		return badPage("freelist page %d has %d entries", p.id, n)
	}
	for i := range n {
		id := native.Uint64(ids[8*i:])
		if id < 2 || id >= f.pages || f.used[id] {
			return badPage("page %d is free and in use", id)
		}
		f.used[id] = true
	}
	lost := slices.Index(f.used, false)
	f.used = nil
	if lost >= 0 {
		return badPage("page %d is neither free nor in use", lost)
	}
	return nil
}
