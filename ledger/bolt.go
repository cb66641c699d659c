package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"strings"
)

// Until format 2 was a file of lines, a ledger was a database of go.etcd.io/bbolt with the same
// genesis record in bucket "ledger" and the same entries in bucket "entries". This file
// makes the lines from the database. It trusts no offset, and what it reads must
// be a chain of hashes, as the lines must.
//
// The layout (bbolt's internal/common, version 2, byte order of the machine that wrote it):
//
//	page    id u64, flags u16, count u16, overflow u32, content
//	meta    magic, version, page size, flags u32, root and sequence u64, freelist,
//	        high-water mark, transaction u64, FNV-1a of all before u64
//	branch  count × (offset u32, key length u32, page u64), keys
//	leaf    count × (flags, offset, key length, value length u32), keys and values
//
// Offsets count from the start of their own element. The value of a bucket is its root
// page and sequence (u64 each); root 0 means that the page follows inline.
const (
	boltMagic    = 0xED0CDAED
	boltVersion  = 2
	boltPageSize = 4096
	boltMeta     = 56 // bytes of a meta that its checksum covers

	pageHeader    = 16
	elementHeader = 16
	flagBranch    = 1
	flagLeaf      = 2
	flagBucket    = 1 // of a leaf element

	maxDatabase = 1 << 32 // the file is read into memory, and may be sparse and claim any size
)

var native = binary.NativeEndian

// isDatabase says whether a file begins as a database does, in either of its meta pages.
func isDatabase(r io.ReaderAt) (bool, error) {
	b := make([]byte, 4)
	for page := range int64(2) {
		if _, err := r.ReadAt(b, page*boltPageSize+pageHeader); err != nil && err != io.EOF {
			return false, err
		}
		if native.Uint32(b) == boltMagic {
			return true, nil
		}
	}
	return false, nil
}

// linesOfDatabase returns what the file of lines holds in the place of a database.
func linesOfDatabase(b []byte) ([]byte, error) {
	d, err := openDatabase(b)
	if err != nil {
		return nil, err
	}
	var first, last []byte
	err = d.walk(d.buckets["ledger"], func(_ uint32, key, value []byte) error {
		switch string(key) {
		case "genesis":
			first = value
		case "head":
			last = value
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	now := state{head: Head{Hash: genesisHash(first)}}
	out := append(append([]byte{}, first...), '\n')
	err = d.walk(d.buckets["entries"], func(_ uint32, _, value []byte) error {
		e, err := decodeEntry(value)
		if err != nil {
			return err
		}
		if e.Commit != now.commit && now.commit != 0 {
			out = append(now.appendTo(out), '\n')
		}
		if now, err = now.follow(&e); err != nil {
			return err
		}
		out = append(append(out, value...), '\n')
		return nil
	})
	if err != nil {
		return nil, err
	}
	head := now.appendTo(nil)
	if string(head) != string(last) {
		return nil, fmt.Errorf("the entries end at %s, but the head record says %.200s", head, last)
	}
	if now.commit != 0 {
		out = append(append(out, head...), '\n')
	}
	return out, nil
}

// database is one committed state of a database.
type database struct {
	b       []byte
	used    []bool            // by page: each is read once, so that no circle has no end
	buckets map[string][]byte // the value of each
}

func openDatabase(b []byte) (*database, error) {
	var newest []byte
	for page := range 2 {
		if len(b) < (page+1)*boltPageSize {
			break
		}
		m := b[page*boltPageSize+pageHeader:][:boltMeta+8]
		sum := fnv.New64a()
		sum.Write(m[:boltMeta])
		if native.Uint32(m) == boltMagic && native.Uint32(m[4:]) == boltVersion && native.Uint32(m[8:]) == boltPageSize &&
			native.Uint64(m[boltMeta:]) == sum.Sum64() && (newest == nil || native.Uint64(m[48:]) > native.Uint64(newest[48:])) {
			newest = m
		}
	}
	if newest == nil {
		return nil, errForeign
	}
	d := &database{b: b, used: make([]bool, len(b)/boltPageSize), buckets: map[string][]byte{}}
	err := d.walkPage(native.Uint64(newest[16:]), func(flags uint32, key, value []byte) error {
		if flags&flagBucket != 0 && len(value) >= 16 {
			d.buckets[string(key)] = value
		}
		return nil
	})
	if err == nil && d.buckets["ledger"] == nil {
		err = errForeign
	}
	return d, err
}

type pairVisit func(flags uint32, key, value []byte) error

// walk visits the pairs of a bucket in the order of their keys.
func (d *database) walk(bucket []byte, visit pairVisit) error {
	if len(bucket) < 16 {
		return errors.New("a bucket is missing")
	}
	if root := native.Uint64(bucket); root != 0 {
		return d.walkPage(root, visit)
	}
	return d.walkContent(bucket[16:], visit)
}

func (d *database) walkPage(id uint64, visit pairVisit) error {
	if id >= uint64(len(d.used)) || d.used[id] {
		return fmt.Errorf("page %d is outside the file, or is used twice", id)
	}
	d.used[id] = true
	page := d.b[id*boltPageSize:]
	more := uint64(native.Uint32(page[12:]))
	if more >= uint64(len(d.used))-id {
		return fmt.Errorf("page %d runs over %d more pages", id, more)
	}
	return d.walkContent(page[:(more+1)*boltPageSize], visit)
}

func (d *database) walkContent(page []byte, visit pairVisit) error {
	if len(page) < pageHeader {
		return errors.New("a page is cut short")
	}
	flags, count := native.Uint16(page[8:]), int(native.Uint16(page[10:]))
	if flags != flagBranch && flags != flagLeaf || pageHeader+count*elementHeader > len(page) {
		return fmt.Errorf("page %d is no branch and no leaf of %d elements", native.Uint64(page), count)
	}
	for i := range count {
		e := page[pageHeader+i*elementHeader:]
		if flags == flagBranch {
			if err := d.walkPage(native.Uint64(e[8:]), visit); err != nil {
				return err
			}
			continue
		}
		at, key, value := uint64(native.Uint32(e[4:])), uint64(native.Uint32(e[8:])), uint64(native.Uint32(e[12:]))
		if at+key+value > uint64(len(e)) {
			return fmt.Errorf("page %d: element %d ends outside the page", native.Uint64(page), i)
		}
		if err := visit(native.Uint32(e), e[at:at+key], e[at+key:at+key+value]); err != nil {
			return err
		}
	}
	return nil
}

// The anchor of those ledgers had two slots of 512 bytes. The slot of commit c was c mod 2: text
// lines, the SHA-256 of them, and spaces, of which the last could be a plus.
const (
	oldAnchorSize = 1024
	oldAnchorText = "darrm ledger anchor 1\nledger %s\ncommit %d\nhead %s\nspent %s %s\n"
)

// decodeSlots returns the newer slot of an old anchor. One that cannot be read is the trace
// of a write cut short, or was never used.
func decodeSlots(b []byte) (newer anchor, err error) {
	err = errors.New("it has no readable slot")
	for slot := range 2 {
		a, slotErr := decodeSlot(b[slot*oldAnchorSize/2:][:oldAnchorSize/2])
		if slotErr == nil && a.commit%2 == uint64(slot) && (err != nil || a.commit > newer.commit) {
			newer, err = a, nil
		}
	}
	return newer, err
}

func decodeSlot(b []byte) (a anchor, err error) {
	text, sum, _ := strings.Cut(string(bytes.TrimRight(b, " +\n")), "sha256 ")
	var id, head, epsilon, delta string
	if _, err := fmt.Sscanf(text, oldAnchorText, &id, &a.commit, &head, &epsilon, &delta); err != nil {
		return a, err
	}
	if sum != Digest(sha256.Sum256([]byte(text))).String() {
		return a, errors.New("slot does not have its checksum")
	}
	if a.id, err = parseLedgerID(id); err != nil {
		return a, err
	}
	if a.head, err = ParseHead(head); err != nil {
		return a, err
	}
	a.spent, err = costJSON{epsilon, delta}.cost()
	return a, err
}
