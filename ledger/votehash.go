package ledger

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math/bits"
	"os"

	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/readfile"
)

// VoteHash computes the digest by which a ledger recognises the votes of a draw:
//
//	k = HMAC(s, "darrm votes 1\n" ‖ ledger's id)
//	HMAC(k, "d" ‖ ensemble ‖ name ‖ Σ_rows HMAC(k, row) mod 2²⁵⁶)
//
// with SHA-256, the 32 bytes s of the ledger's secret, the 16 of its id, and the sum as 32
// bytes, big-endian. It does not depend on the order of the rows, on their ids, nor on the
// format and the number of files that held them; it does on the order of the teachers within
// a row. Ensemble and name are those of the draw, each with its number of bytes before it, as
// encoding/binary.AppendUvarint writes it, so that no two pairs have one encoding.
//
// A row is encoded as one byte, "v" for votes or "c" for counts, the number of its values,
// and the values, each as encoding/binary.AppendVarint writes it: signed, zigzag, base 128.
// The number comes first and no value is the beginning of another, so that different rows
// have different encodings.
//
// Votes of one draw that differ have different digests, up to a probability that does not
// matter: they differ in the multiplicity of some row, by d with 0 < |d| < 2⁶³. To one who does
// not know s the HMAC of that row is as random, given those of all others, and d times it meets
// the one value that makes the sums equal with probability at most 2⁶³/2²⁵⁶. Without s the
// digest tells nothing of the votes, nor whether two draws, of one ledger or of two that share
// a secret, have equal ones: their digests are of different messages, or have different keys.
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
// ledger is missing, is not this ledger's, or may be read by others than its owner.
func (l *Ledger) VoteHash() (*VoteHash, error) {
	if l.unmade() {
		return nil, errUnmade
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
	return newVoteHash(s.of(l.genesis.id)), nil
}

// of returns the key of the digests of a ledger's votes.
func (s *secret) of(id ledgerID) (key secret) {
	h := hmac.New(sha256.New, s[:])
	h.Write([]byte("darrm votes 1\n"))
	h.Write(id[:])
	h.Sum(key[:0])
	return key
}

func newVoteHash(key secret) *VoteHash {
	return &VoteHash{key: key, mac: hmac.New(sha256.New, key[:])}
}

// hash returns a digest of the rows of c.
func (c *cast) hash() *VoteHash {
	h := newVoteHash(c.key)
	h.sum = c.sum
	return h
}

// Add adds the votes on one query: the class that each teacher voted for, in the order of
// the teachers, -1 for a vote that is missing.
func (h *VoteHash) Add(votes []int) { handle.Made(h).add('v', votes) }

// AddCounts adds one query of which only the number of votes for each class is known. It
// never equals a row of votes.
func (h *VoteHash) AddCounts(counts []int) { handle.Made(h).add('c', counts) }

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
	h, other = handle.Made(h), handle.Made(other)
	h.plus(other.sum)
	h.rows += other.rows
}

// Rows returns how many rows were added.
func (h *VoteHash) Rows() int64 { return handle.Made(h).rows }

// Draw returns the draw of an ensemble, "" for none, with the rows so far. Rows may still be
// added for another.
func (h *VoteHash) Draw(ensemble, name string) *Draw {
	h = handle.Made(h)
	return &Draw{Name: name, Votes: h.digest(ensemble, name), cast: &cast{h.key, h.sum}}
}

// digest returns the digest of the rows as those of a draw.
func (h *VoteHash) digest(ensemble, name string) Digest {
	h.row = append(h.row[:0], 'd')
	for _, s := range [2]string{ensemble, name} {
		h.row = append(binary.AppendUvarint(h.row, uint64(len(s))), s...)
	}
	for i := range h.sum {
		h.row = binary.BigEndian.AppendUint64(h.row, h.sum[len(h.sum)-1-i])
	}
	return Digest(h.hmac(h.row))
}

// hmac returns a slice that holds until the next call.
func (h *VoteHash) hmac(message []byte) []byte {
	if h.mac == nil { // of no ledger, whose key nobody has: a digest without one would tell the votes
		return h.out[:]
	}
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

// SecretSuffix is added to the path of a ledger for the path of its secret.
const SecretSuffix = ".secret"

const (
	secretMagic = "darrm ledger secret 1\n"
	secretSize  = len(secretMagic) + 2*32 + 1
)

// secret is the key of the digests of votes. Whoever has it can test what somebody voted.
type secret [32]byte

// encode returns the file: a line that names the format, and one of hexadecimal digits.
func (s *secret) encode() []byte { return fmt.Appendf(nil, "%s%x\n", secretMagic, s[:]) }

// fingerprint is the SHA-256 of the file.
func (s *secret) fingerprint() Digest { return sha256.Sum256(s.encode()) }

// readSecret reads the file at path, which nobody but its owner may open.
func readSecret(path string) (s secret, err error) {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return s, fmt.Errorf("%w: %w", ErrSecret, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return s, fmt.Errorf("%w: %w", ErrSecret, err)
	}
	if readfile.Shared(info) {
		return s, fmt.Errorf(
			"%w: %s has mode %#o, so others than its owner may use it; only 0600 is accepted", ErrSecret,
			path, info.Mode().Perm())
	}
	b, err := io.ReadAll(io.LimitReader(f, int64(secretSize)+1))
	if err != nil {
		return s, fmt.Errorf("%w: read %s: %w", ErrSecret, path, err)
	}
	if digits, ok := bytes.CutPrefix(b, []byte(secretMagic)); ok && len(b) == secretSize {
		hex.Decode(s[:], digits[:2*len(s)]) // compared as a whole below
	}
	if !bytes.Equal(s.encode(), b) {
		return s, fmt.Errorf("%w: %s is not in the form of a secret", ErrSecret, path)
	}
	return s, nil
}

// ensureSecret returns the secret at path, and makes it where there is none: one that is there
// was left by a [Create] that was cut short, or belongs to one that goes on now, whose
// ledger may be the one that comes into being.
func ensureSecret(path string) (s secret, err error) {
	rand.Read(s[:]) // never fails: crypto/rand ends the program instead
	err = atomicfile.WriteNew(path, 0o600, atomicfile.Bytes(s.encode()))
	if errors.Is(err, fs.ErrExist) {
		return readSecret(path)
	}
	return s, err
}
