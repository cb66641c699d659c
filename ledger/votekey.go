package ledger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/darrm/darrm/internal/handle"
)

// New returns an empty hash with the key of h, for another goroutine or another reading.
func (h *VoteHash) New() *VoteHash { return newVoteHash(handle.Made(h).key) }

// partSize is the size of a Part: the sum and the number of rows, big-endian.
const partSize = 32 + 8

// Part returns what h has added up so far, for [VoteHash.MergePart] in another process. It
// tells nothing without the key.
func (h *VoteHash) Part() []byte {
	h = handle.Made(h)
	part := make([]byte, 0, partSize)
	for _, word := range h.sum {
		part = binary.BigEndian.AppendUint64(part, word)
	}
	return binary.BigEndian.AppendUint64(part, uint64(h.rows))
}

// MergePart adds what another process added up with the same key.
func (h *VoteHash) MergePart(part []byte) error {
	if len(part) != partSize {
		return errors.New("this is no part of a digest of votes")
	}
	var sum [4]uint64
	for i := range sum {
		sum[i] = binary.BigEndian.Uint64(part[8*i:])
	}
	h.plus(sum)
	h.rows += int64(binary.BigEndian.Uint64(part[32:]))
	return nil
}

// voteKeyMagic begins a key that SendKey wrote.
const voteKeyMagic = "darrm vote key 1\n"

// SendKey writes the key for [CutVoteKey] in another process that reads votes of the same
// ledger. Whoever has it can test a guess at the votes of a draw.
func (h *VoteHash) SendKey(w io.Writer) error {
	if h == nil || h.mac == nil || w == nil {
		return errors.New("a digest of a ledger and a writer must be given")
	}
	_, err := w.Write(append([]byte(voteKeyMagic), h.key[:]...))
	return err
}

// CutVoteKey returns an empty hash with the key that b begins with, and what follows it; a
// nil hash and b where it begins with none.
func CutVoteKey(b []byte) (*VoteHash, []byte, error) {
	rest, ok := bytes.CutPrefix(b, []byte(voteKeyMagic))
	switch {
	case !ok:
		return nil, b, nil
	case len(rest) < len(secret{}):
		return nil, b, errors.New("the key of votes is cut short")
	}
	return newVoteHash(secret(rest[:len(secret{})])), rest[len(secret{}):], nil
}
