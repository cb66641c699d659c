// Package randsrc supplies the two kinds of randomness as two types, so that
// one cannot be passed for the other.
//
// A function that releases an answer about private data takes a [*Secure]. A
// function that simulates takes a [Source], which both kinds satisfy, and
// experiments give it a [*Seeded] so that they can be repeated. There is no way
// outside this package to build a Secure over anything but the system's
// generator; package randsrctest feeds chosen values to code under test, as a
// Source only.
//
// Samplers work on integers, so that probabilities are exact and not rounded:
//
//	symbol   Go name          meaning
//	u        Source.Uint53    uniform on {0, 1, …, 2⁵³-1}
//	k        Bernoulli53's k  the probability as an integer numerator, p = k/2⁵³
//	2⁵³      One53            the numerator of probability 1
package randsrc

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
)

// One53 is 2⁵³, the numerator that stands for probability 1 in [Bernoulli53].
const One53 uint64 = 1 << 53

// A Source yields independent random values. An error means that no randomness
// was to be had; the value beside it is zero and must not be used.
type Source interface {
	// Uint53 returns an integer uniform on {0, …, 2⁵³-1}.
	Uint53() (uint64, error)
	// Bit returns a fair coin.
	Bit() (bool, error)
}

var (
	_ Source = (*Secure)(nil)
	_ Source = (*Seeded)(nil)
)

// Bernoulli53 returns true with probability exactly k/2⁵³, for 0 ≤ k ≤ 2⁵³:
//
//	Pr[u < k] = k / 2⁵³,   u uniform on {0, …, 2⁵³-1}
//
// It draws one u whatever k is, 0 and 2⁵³ included, so the number of draws says
// nothing about k. A k outside the range, a nil source, and a source that fails
// or leaves its range are errors; the result is then false and must not be used.
//
// Doubles sampled by inversion are not exact and have broken privacy proofs:
// Mironov, On Significance of the Least Significant Bits for Differential
// Privacy (2012).
func Bernoulli53(src Source, k uint64) (bool, error) {
	if k > One53 {
		return false, fmt.Errorf("k = %d, want 0 ≤ k ≤ 2^53 = %d", k, One53)
	}
	if src == nil {
		return false, errors.New("random source is nil")
	}
	u, err := src.Uint53()
	if err != nil {
		return false, fmt.Errorf("draw a random integer: %w", err)
	}
	if u >= One53 {
		return false, fmt.Errorf("random source returned %d, want less than 2^53 = %d", u, One53)
	}
	return u < k, nil
}

// Seeded is repeatable randomness for experiments, never for a release: who
// knows the seed knows every draw. It is the ChaCha8 generator of math/rand/v2,
// whose output for a seed is fixed by its specification. It never returns an
// error. It is not safe for concurrent use; give every goroutine a stream of
// its own with [NewSeededStream].
type Seeded struct {
	rng *rand.ChaCha8
}

// NewSeeded returns the generator of seed. It is NewSeededStream(seed, 0).
func NewSeeded(seed uint64) *Seeded { return NewSeededStream(seed, 0) }

// NewSeededStream returns generator number stream of seed. Different pairs give
// generators that are independent for all practical purposes: the key is
//
//	SHA-256("darrm seeded source v1" ‖ seed ‖ stream), integers as 8 bytes, little-endian
func NewSeededStream(seed, stream uint64) *Seeded {
	b := []byte("darrm seeded source v1")
	b = binary.LittleEndian.AppendUint64(b, seed)
	b = binary.LittleEndian.AppendUint64(b, stream)
	return &Seeded{rng: rand.NewChaCha8(sha256.Sum256(b))}
}

// Uint53 returns an integer uniform on {0, …, 2⁵³-1}; the error is nil.
func (s *Seeded) Uint53() (uint64, error) { return s.rng.Uint64() >> 11, nil }

// Bit returns a fair coin; the error is nil. It uses up one 64-bit output.
func (s *Seeded) Bit() (bool, error) { return s.rng.Uint64()>>63 == 1, nil }

// newSeededQuery returns the generator that seed has for one query, by its name. Other
// names give other generators, as in [NewSeededStream]: the key is
//
//	SHA-256("darrm seeded query v1" ‖ seed ‖ name), the seed as 8 bytes, little-endian
func newSeededQuery(seed uint64, name string) *Seeded {
	b := binary.LittleEndian.AppendUint64([]byte("darrm seeded query v1"), seed)
	return &Seeded{rng: rand.NewChaCha8(sha256.Sum256(append(b, name...)))}
}
