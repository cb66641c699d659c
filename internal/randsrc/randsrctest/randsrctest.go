// Package randsrctest feeds chosen values to code under test, so that a test
// can go through every outcome of a random draw.
//
// Its types satisfy randsrc.Source and can never be a *randsrc.Secure: code
// that releases does not accept them.
package randsrctest

import (
	"errors"
	"fmt"

	"github.com/darrm/darrm/internal/randsrc"
)

// ErrExhausted is returned by a [Sequence] that has no value left.
var ErrExhausted = errors.New("test source has no value left")

// Sequence is a source that yields Words and Bits in order, each from its own
// list, and ErrExhausted (or Err, if set) after the last. The zero value fails
// at once. It is not safe for concurrent use.
type Sequence struct {
	Words []uint64 // for Uint53; values of 2⁵³ and more are passed on as they are
	Bits  []bool   // for Bit
	Err   error    // what to return at the end; nil means ErrExhausted

	words, bits int
}

var _ randsrc.Source = (*Sequence)(nil)

// Uint53 returns the next of Words.
func (s *Sequence) Uint53() (uint64, error) {
	if s.words == len(s.Words) {
		return 0, s.end("word", len(s.Words))
	}
	s.words++
	return s.Words[s.words-1], nil
}

// Bit returns the next of Bits.
func (s *Sequence) Bit() (bool, error) {
	if s.bits == len(s.Bits) {
		return false, s.end("bit", len(s.Bits))
	}
	s.bits++
	return s.Bits[s.bits-1], nil
}

func (s *Sequence) end(kind string, n int) error {
	if s.Err != nil {
		return s.Err
	}
	return fmt.Errorf("%w: %s number %d", ErrExhausted, kind, n+1)
}

// Used returns how many words and bits were drawn.
func (s *Sequence) Used() (words, bits int) { return s.words, s.bits }

// Counter is a source whose n-th word is n·Step mod 2⁵³ and whose bits
// alternate, beginning with false. It never fails. With an odd Step the first
// 2⁵³ words are all different. It is not safe for concurrent use.
type Counter struct {
	Step uint64

	next uint64
	bit  bool
}

var _ randsrc.Source = (*Counter)(nil)

// Uint53 returns the next multiple of Step.
func (c *Counter) Uint53() (uint64, error) {
	u := c.next
	c.next = (c.next + c.Step) % randsrc.One53
	return u, nil
}

// Bit returns false, true, false, …
func (c *Counter) Bit() (bool, error) {
	b := c.bit
	c.bit = !c.bit
	return b, nil
}
