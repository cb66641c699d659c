package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
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
	// HMAC(s, m) = SHA-256(s⊕opad ‖ SHA-256(s⊕ipad ‖ m)), the key padded to a block (RFC
	// 2104). Two calls on whole buffers take half as long as crypto/hmac on short messages.
	inner []byte // s⊕ipad, then a message
	outer [sha256.BlockSize + sha256.Size]byte
	sum   [4]uint64 // least significant first
	rows  int64
}

// VoteHash returns a digest of no rows. It is an [ErrSecret] where the secret beside the
// ledger is missing, is not this ledger's, or may be read by others than its owner, and an
// [ErrFormat] in a ledger of format 1.
func (l *Ledger) VoteHash() (*VoteHash, error) {
	if err := l.chargeable(); err != nil {
		return nil, err
	}
	path := l.path + SecretSuffix
	s, err := readSecret(path)
	if err != nil {
		return nil, err
	}
	if s.fingerprint() != l.genesis.secret {
		return nil, fmt.Errorf("%w: %s belongs to another ledger", ErrSecret, path)
	}
	return newVoteHash(s), nil
}

func newVoteHash(s secret) *VoteHash {
	h := &VoteHash{inner: make([]byte, sha256.BlockSize, 4*sha256.BlockSize)}
	copy(h.inner, s[:])
	copy(h.outer[:], s[:])
	for i := range sha256.BlockSize {
		h.inner[i] ^= 0x36
		h.outer[i] ^= 0x5c
	}
	return h
}

// Add adds the votes on one query: the class that each teacher voted for, in the order of
// the teachers, -1 for a vote that is missing.
func (h *VoteHash) Add(votes []int) { h.add('v', votes) }

// AddCounts adds one query of which only the number of votes for each class is known. It
// never equals a row of votes.
func (h *VoteHash) AddCounts(counts []int) { h.add('c', counts) }

func (h *VoteHash) add(kind byte, values []int) {
	h.inner = binary.AppendVarint(append(h.inner[:sha256.BlockSize], kind), int64(len(values)))
	for _, v := range values {
		h.inner = binary.AppendVarint(h.inner, int64(v))
	}
	d := h.hmac()
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
	h.inner = h.inner[:sha256.BlockSize]
	for i := range h.sum {
		h.inner = binary.BigEndian.AppendUint64(h.inner, h.sum[len(h.sum)-1-i])
	}
	return h.hmac()
}

// hmac is that of the message in inner.
func (h *VoteHash) hmac() Digest {
	d := sha256.Sum256(h.inner)
	copy(h.outer[sha256.BlockSize:], d[:])
	return sha256.Sum256(h.outer[:])
}

// plus adds mod 2²⁵⁶.
func (h *VoteHash) plus(x [4]uint64) {
	var carry uint64
	for i := range h.sum {
		h.sum[i], carry = bits.Add64(h.sum[i], x[i], carry)
	}
}
