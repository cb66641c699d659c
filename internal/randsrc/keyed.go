package randsrc

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
)

// keyBytes is the size of a job's secret: 256 bits.
const keyBytes = 32

// What the secret's uses are called. Each has a subkey of its own, so no
// value of one is a value of another.
const (
	coinsLabel       = "darrm job key v1: coins"
	pinLabel         = "darrm job key v1: pin"
	fingerprintLabel = "darrm job key v1: fingerprint"
)

// keyMagic begins a key in transit and names its format.
const keyMagic = "darrm job key v1\n"

// Key is the secret of one job whose work may be done twice. It turns the name of
// a query into that query's coins, the same whenever and wherever they are drawn,
// so that a piece of work that is repeated draws the same answers, and not second
// ones that would have to be paid for. [NewKey] makes one; [ReadKey] receives one
// that another process made. It is safe for concurrent use.
//
//	symbol    Go name       meaning
//	s         secret        256 bits of the system's generator
//	F         HMAC-SHA-256  taken for a pseudorandom function
//	F_s(x)                  HMAC-SHA-256 with key s of the bytes x
//	k         coins         F_s("darrm job key v1: coins")
//	          pins          F_s("darrm job key v1: pin")
//
// # Security
//
// The coins of query q are the bytes F_k(0‖q), F_k(1‖q), …, the counters as 8 bytes, big-endian:
// they stand first and have a fixed length, so no two pairs of counter and query give the same
// input. Were F_s and F_k random functions, the coins of different queries would be independent and
// uniform and every probability exact, as with [Secure]. What differs is the advantage of telling
// HMAC-SHA-256 under an unknown key from a random function, for which nothing better is known than
// to search 2²⁵⁶ keys, or 2¹²⁸ outputs for a collision inside (M. Bellare, New Proofs for NMAC and
// HMAC: Security Without Collision-Resistance (2006)). So a release with these coins is
// differentially private against everybody who computes less than that (I. Mironov, O. Pandey, O.
// Reingold and S. Vadhan, Computational Differential Privacy (2009)). The system's generator, a
// cipher over a seed, has the same reservation.
//
// It needs three things of the caller:
//
//   - a name is one query's: two queries of one name share their coins, and the
//     difference of their answers is then not noise;
//   - a query's votes do not change under one key: an answer to the old votes and
//     one to the new, both seen, differ only if the votes do. [Key.Pin] is there to
//     notice a change;
//   - the key stays inside the job and ends with it: with it and the labels,
//     anyone computes which votes were possible. It does not print itself, and
//     has no text or JSON form.
type Key struct {
	// A function, because package fmt prints what unexported fields hold, whatever
	// Format says, when a struct around them is printed; of a function it prints the address.
	material func() *material
}

type material struct {
	secret      [keyBytes]byte
	coins, pins [sha256.Size]byte
}

// NewKey returns a new key from the operating system's generator. There is no way
// to choose one.
func NewKey() (*Key, error) {
	secret, err := Secret()
	if err != nil {
		return nil, err
	}
	return newKey(secret), nil
}

func newKey(secret [keyBytes]byte) *Key {
	m := &material{secret: secret}
	m.coins, m.pins = m.sub(coinsLabel), m.sub(pinLabel)
	return &Key{func() *material { return m }}
}

// sub returns F_s(label).
func (m *material) sub(label string) (out [sha256.Size]byte) {
	h := hmac.New(sha256.New, m.secret[:])
	io.WriteString(h, label)
	h.Sum(out[:0])
	return out
}

var errNoKey = errors.New("job key is nil or was not made by NewKey")

// ok refuses the zero value, whose coins everybody knows.
func (k *Key) ok() error {
	if k == nil || k.material == nil || k.material().secret == [keyBytes]byte{} {
		return errNoKey
	}
	return nil
}

// Fingerprint names the key without giving it away: it is F_s at a point that
// nothing else uses. It panics for a key that NewKey did not make.
func (k *Key) Fingerprint() [sha256.Size]byte {
	if err := k.ok(); err != nil {
		panic("randsrc: " + err.Error())
	}
	return k.material().sub(fingerprintLabel)
}

// Pin returns a hash under a subkey of its own. Two streams of bytes with the same
// sum are the same stream, and without the key the sum says nothing about the
// stream, so that it may stand where votes may not. It panics for a key that NewKey
// did not make.
func (k *Key) Pin() hash.Hash {
	if err := k.ok(); err != nil {
		panic("randsrc: " + err.Error())
	}
	return hmac.New(sha256.New, k.material().pins[:])
}

// Send writes the key for [ReadKey] in another process of the same job. Whoever
// reads what it writes can undo the noise of the whole job.
func (k *Key) Send(w io.Writer) error {
	if err := k.ok(); err != nil {
		return err
	}
	_, err := w.Write(append([]byte(keyMagic), k.material().secret[:]...))
	return err
}

// ReadKey receives a key that [Key.Send] wrote, all of r. The fingerprint must come
// another way than the key: a key that was exchanged, by mistake or on purpose, would
// answer anew what was answered before, and is an error.
func ReadKey(r io.Reader, fingerprint [sha256.Size]byte) (*Key, error) {
	const size = len(keyMagic) + keyBytes
	b, err := io.ReadAll(io.LimitReader(r, int64(size)+1))
	defer clear(b)
	if err != nil {
		return nil, fmt.Errorf("read job key: %w", err)
	}
	if len(b) != size || string(b[:len(keyMagic)]) != keyMagic {
		return nil, errors.New("read job key: these bytes are not a job key")
	}
	k := newKey([keyBytes]byte(b[len(keyMagic):]))
	if err := k.ok(); err != nil {
		return nil, fmt.Errorf("read job key: %w", err)
	}
	// Both are public, so the comparison may take as long as it likes.
	if k.Fingerprint() != fingerprint {
		return nil, errors.New("read job key: it is not the key that this job began with")
	}
	return k, nil
}

// Format prints what k is and not what it holds, whatever the verb.
func (k Key) Format(f fmt.State, _ rune) { io.WriteString(f, "job key (secret)") }

// MarshalText fails, so that no encoder writes the key by accident.
func (k Key) MarshalText() ([]byte, error) {
	return nil, errors.New("a job key has no text form")
}

// Format prints no coins.
func (s Keyed) Format(f fmt.State, _ rune) { io.WriteString(f, "coins of a query (secret)") }

// Coins returns the coins of one query: two calls with the same name are the same
// coins, from the beginning.
func (k *Key) Coins(query string) *Keyed { return &Keyed{key: k, query: query} }

// Keyed is a [Source] of one query's coins, from [Key.Coins]. The zero value fails.
// It is not safe for concurrent use.
type Keyed struct {
	key   *Key
	query string
	next  uint64 // counter of the next block
	block [sha256.Size]byte
	left  int // unused bytes, at the end of block
}

var _ Source = (*Keyed)(nil)

// Uint53 returns an integer uniform on {0, …, 2⁵³-1}: the top 53 of 64 bits.
func (s *Keyed) Uint53() (uint64, error) {
	b, err := s.take(8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b) >> 11, nil
}

// Bit returns a fair coin, the lowest bit of one byte.
func (s *Keyed) Bit() (bool, error) {
	b, err := s.take(1)
	if err != nil {
		return false, err
	}
	return b[0]&1 == 1, nil
}

// take returns the next n ≤ 32 bytes, valid until the next call. The rest of a
// block that is too short is given up.
func (s *Keyed) take(n int) ([]byte, error) {
	if s == nil {
		return nil, errNoKey
	}
	if err := s.key.ok(); err != nil {
		return nil, err
	}
	if s.left < n {
		h := hmac.New(sha256.New, s.key.material().coins[:])
		var counter [8]byte
		binary.BigEndian.PutUint64(counter[:], s.next)
		h.Write(counter[:])
		io.WriteString(h, s.query)
		h.Sum(s.block[:0])
		s.next++
		s.left = len(s.block)
	}
	b := s.block[len(s.block)-s.left:][:n]
	s.left -= n
	return b, nil
}
