package randsrc

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// bufferSize is the number of bytes that Secure fetches at once: 64 draws of Uint53.
const bufferSize = 512

// systemReader is the operating system's generator as it was when this package
// was initialised. rand.Reader is a variable; a program that later puts a
// predictable reader there does not weaken a release.
var systemReader = rand.Reader

// Secret returns a new secret key from the operating system's generator.
func Secret() (key [keyBytes]byte, err error) {
	if _, err = io.ReadFull(systemReader, key[:]); err != nil {
		return [keyBytes]byte{}, fmt.Errorf("read system randomness: %w", err)
	}
	return key, nil
}

// errCopied is returned by a [Secure] that was copied after its first use.
var errCopied = errors.New("secure random source was copied after first use")

// Secure is randomness for releases: bytes of the operating system's generator
// through crypto/rand. The zero value is ready; [NewSecure] returns one. It is
// safe for concurrent use and must not be copied.
//
// Since Go 1.24 the reader of crypto/rand never returns an error: it ends the
// process if the system has no randomness. Errors are passed on all the same.
//
// # Buffering
//
// Bytes are fetched 512 at a time. That is as good as fetching each when
// needed, because every byte is used at most once (a mutex hands them out, a
// failed fetch discards what it got, a copied Secure refuses to work), is wiped
// as it is handed out, and never leaves the process: Go programs do not fork
// without exec, so no child inherits the buffer. What remains is a snapshot of
// a running virtual machine that is started twice: both copies would hand out
// the same bytes left in the buffer, at most 512.
type Secure struct {
	mu   sync.Mutex
	self *Secure   // detects copies, as in strings.Builder
	r    io.Reader // nil for the system's generator; set only by tests of this package
	buf  [bufferSize]byte
	left int // unused bytes, at the end of buf
}

// NewSecure returns a source over the operating system's generator. Nothing is
// read before the first draw.
func NewSecure() *Secure { return new(Secure) }

// Uint53 returns an integer uniform on {0, …, 2⁵³-1}: the top 53 of 64 bits.
func (s *Secure) Uint53() (uint64, error) {
	if s == nil {
		return 0, errNil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.word()
}

// word is Uint53 for who holds the mutex.
func (s *Secure) word() (uint64, error) {
	b, err := s.next(8)
	if err != nil {
		return 0, err
	}
	u := binary.LittleEndian.Uint64(b) >> 11
	binary.LittleEndian.PutUint64(b, 0)
	return u, nil
}

// Bit returns a fair coin, the lowest bit of one byte.
func (s *Secure) Bit() (bool, error) {
	if s == nil {
		return false, errNil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.coin()
}

// coin is Bit for who holds the mutex.
func (s *Secure) coin() (bool, error) {
	b, err := s.next(1)
	if err != nil {
		return false, err
	}
	bit := b[0]&1 == 1
	b[0] = 0
	return bit, nil
}

var errNil = errors.New("secure random source is nil")

// next returns n fresh bytes of the buffer, which the caller wipes before the mutex, which it
// holds, is free again.
func (s *Secure) next(n int) ([]byte, error) {
	if s.self != s {
		if s.self != nil {
			// The original hands out the same bytes: two answers would share their noise.
			return nil, errCopied
		}
		s.self = s
	}
	if s.left < n {
		if err := s.fill(); err != nil {
			return nil, err
		}
	}
	b := s.buf[bufferSize-s.left:][:n]
	s.left -= n
	return b, nil
}

// fill replaces the whole buffer; the few bytes still in it are given up.
func (s *Secure) fill() error {
	r := s.r
	if r == nil {
		r = systemReader
	}
	s.left = 0
	if _, err := io.ReadFull(r, s.buf[:]); err != nil {
		clear(s.buf[:]) // a part of the bytes is not kept: nobody says how good they are
		return fmt.Errorf("read system randomness: %w", err)
	}
	s.left = bufferSize
	return nil
}

// unshared is a Secure of one goroutine. A draw takes no mutex, which is a third of its time. Two
// goroutines that drew from one at once could be handed the same bytes: it never leaves the Coins
// that Own makes.
type unshared struct{ s Secure }

func (u *unshared) Uint53() (uint64, error) { return u.s.word() }
func (u *unshared) Bit() (bool, error)      { return u.s.coin() }
