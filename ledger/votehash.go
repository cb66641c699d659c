package ledger

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math/bits"
)

// VoteHash computes the digest by which a ledger recognises the votes of a draw:
//
//	HMAC(s, Σ_rows HMAC(s, row) mod 2²⁵⁶)
//
// with SHA-256, the key s of the ledger's secret, and the sum as 32 bytes, big-endian. It
// does not depend on the order of the rows, on their ids, nor on the format and the number
// of files that held them; it does on the order of the teachers within a row.
//
// A row is encoded as one byte, "v" for votes or "c" for counts, the number of its values,
// and the values, each as encoding/binary.AppendVarint writes it: signed, zigzag, base 128.
// The number comes first and no value is the beginning of another, so that different rows
// have different encodings.
//
// Draws that differ have different digests, up to a probability that does not matter: they
// differ in the multiplicity of some row, by d with 0 < |d| < 2⁶³. To one who does not know
// s the HMAC of that row is as random, given those of all others, and d times it meets the
// one value that makes the sums equal with probability at most 2⁶³/2²⁵⁶. Without s the
// digest tells of the votes only whether two draws of one ledger are equal.
//
// A VoteHash is not safe for concurrent use: take one per reader and [VoteHash.Merge] them.
type VoteHash struct {
	key  secret
	mac  hash.Hash
	sum  [4]uint64 // least significant first
	rows int64
	row  []byte // scratch
	out  [sha256.Size]byte
}

// VoteHash returns a digest of no rows. It is an [ErrSecret] where the secret beside the
// ledger is missing, is not this ledger's, or may be read by others than its owner, and an
// [ErrFormat] in a ledger of format 1.
func (l *Ledger) VoteHash() (*VoteHash, error) {
	if err := l.chargeable(); err != nil {
		return nil, err
	}
	path, err := l.store.SecretPath()
	if err != nil {
		return nil, err
	}
	s, err := readSecret(path)
	if err != nil {
		return nil, err
	}
	if s.fingerprint() != l.genesis.secret {
		return nil, fmt.Errorf("%w: %s belongs to another ledger", ErrSecret, path)
	}
	return newVoteHash(s), nil
}

func newVoteHash(s secret) *VoteHash { return &VoteHash{key: s, mac: hmac.New(sha256.New, s[:])} }

// Add adds the votes on one query: the class that each teacher voted for, in the order of
// the teachers, -1 for a vote that is missing.
func (h *VoteHash) Add(votes []int) { h.add('v', votes) }

// AddCounts adds one query of which only the number of votes for each class is known. It
// never equals a row of votes.
func (h *VoteHash) AddCounts(counts []int) { h.add('c', counts) }

func (h *VoteHash) add(kind byte, values []int) {
	h.row = binary.AppendVarint(append(h.row[:0], kind), int64(len(values)))
	for _, v := range values {
		h.row = binary.AppendVarint(h.row, int64(v))
	}
	d := h.hmac(h.row)
	h.plus([4]uint64{
		binary.BigEndian.Uint64(d[24:]), binary.BigEndian.Uint64(d[16:]),
		binary.BigEndian.Uint64(d[8:]), binary.BigEndian.Uint64(d[:]),
	})
	h.rows++
}

// Merge adds all rows of other, which is of the same ledger. Each row is one query: files
// that hold different teachers' votes on the same queries cannot be merged.
func (h *VoteHash) Merge(other *VoteHash) {
	h.plus(other.sum)
	h.rows += other.rows
}

// Rows returns how many rows were added.
func (h *VoteHash) Rows() int64 { return h.rows }

// Sum returns the digest of the rows so far. Rows may still be added.
func (h *VoteHash) Sum() Digest {
	var b [32]byte
	for i, word := range h.sum {
		binary.BigEndian.PutUint64(b[24-8*i:], word)
	}
	return Digest(h.hmac(b[:]))
}

// hmac returns a slice that holds until the next call.
func (h *VoteHash) hmac(message []byte) []byte {
	h.mac.Reset()
	h.mac.Write(message)
	return h.mac.Sum(h.out[:0])
}

// plus adds mod 2²⁵⁶.
func (h *VoteHash) plus(x [4]uint64) {
	var carry uint64
	for i := range h.sum {
		h.sum[i], carry = bits.Add64(h.sum[i], x[i], carry)
	}
}
