package randsrc

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

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
