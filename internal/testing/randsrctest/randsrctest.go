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

// errExhausted is returned by a [Sequence] that has no value left.
var errExhausted = errors.New("test source has no value left")

// Sequence is a source that yields Words and Bits in order, each from its own
// list, and errExhausted (or Err, if set) after the last. The zero value fails
// at once. It is not safe for concurrent use.
type Sequence struct {
	Words []uint64 // for Uint53; values of 2⁵³ and more are passed on as they are
	Bits  []bool   // for Bit
	Err   error    // what to return at the end; nil means errExhausted

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
	return fmt.Errorf("%w: %s number %d", errExhausted, kind, n+1)
}

// Used returns how many words and bits were drawn.
func (s *Sequence) Used() (words, bits int) { return s.words, s.bits }
