// Package stream has the randomness of training. Coins are one key, from which the stream
// of each purpose and round is derived; Normals draws noise from a stream, Shuffle and Below
// draw orders and records.
//
//	stream(purpose, round) = ChaCha8 keyed by SHA-256("darrm shuffleg stream v1 " ‖ key ‖ round ‖ purpose)
//
// with the round as 8 bytes, little-endian. ChaCha8 is a cryptographically strong generator:
// without the key its output cannot be told from uniform, so that noise made of it gives the
// (ε, δ) of true noise against anyone who cannot break it. A run that is continued from any
// round is the same run.
package stream

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/darrm/darrm/internal/randsrc"
)

// Coins are all randomness of a run. The zero value is a key that everybody knows.
type Coins struct {
	key [32]byte
	// secret marks the key of a release: its normals are then sums of four.
	secret bool
}

// Secret draws coins for a release from the operating system's generator.
func Secret() (Coins, error) {
	key, err := randsrc.Secret()
	return Coins{key, true}, err
}

// Seeded returns the coins of a simulation. No release has their key but with probability
// 2⁻²⁵⁶ or so.
func Seeded(seed uint64) Coins {
	b := []byte("darrm shuffleg simulation key v1")
	return Coins{key: sha256.Sum256(binary.LittleEndian.AppendUint64(b, seed))}
}

// Restore returns coins whose key was kept: of a release, if secret, or of a simulation.
func Restore(key [32]byte, secret bool) Coins { return Coins{key, secret} }

// ForRelease reports whether the coins are a release's (Secret), not a simulation's.
func (c Coins) ForRelease() bool { return c.secret }

// Key returns the key, which tells all noise.
func (c Coins) Key() [32]byte { return c.key }

// Derive returns coins of their own for a part of a run, such as one of several trainings: a key
// that tells nothing of c's, nor of another part's.
func (c Coins) Derive(purpose string, part int) Coins {
	b := append([]byte("darrm training derived key v1 "), c.key[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(part))
	return Coins{sha256.Sum256(append(b, purpose...)), c.secret}
}

// Stream returns the generator of a purpose and round. Streams of other purposes and rounds
// are independent of it, so that methods can be compared on common randomness.
func (c Coins) Stream(purpose string, round int) *rand.ChaCha8 {
	rng := new(rand.ChaCha8)
	c.Restart(rng, purpose, round)
	return rng
}

// Restart turns rng into the stream of a purpose and round.
func (c Coins) Restart(rng *rand.ChaCha8, purpose string, round int) {
	var array [128]byte
	b := append(array[:0], "darrm shuffleg stream v1 "...)
	b = append(b, c.key[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(round))
	rng.Seed(sha256.Sum256(append(b, purpose...)))
}

// Shuffle permutes perm uniformly: Fisher and Yates, with unbiased indices.
func Shuffle(rng *rand.ChaCha8, perm []int) {
	for i := len(perm) - 1; i > 0; i-- {
		j := Below(rng, uint64(i+1))
		perm[i], perm[j] = perm[j], perm[i]
	}
}

// Below returns an integer uniform on {0, …, n-1}: outputs beyond the largest multiple of
// n are drawn again.
func Below(rng *rand.ChaCha8, n uint64) uint64 {
	last := math.MaxUint64 - math.MaxUint64%n - 1 // a multiple of n outputs lie in [0, last]
	for {
		if u := rng.Uint64(); u <= last {
			return u % n
		}
	}
}

// Source draws integers from the stream of a purpose and round: what exact samplers take.
// Restart it before the first draw.
type Source struct {
	coins Coins
	rng   rand.ChaCha8
}

var _ randsrc.Source = (*Source)(nil)

// Source returns a source of the coins' integers.
func (c Coins) Source() *Source { return &Source{coins: c} }

// Restart goes on with the stream of a purpose and round.
func (s *Source) Restart(purpose string, round int) { s.coins.Restart(&s.rng, purpose, round) }

// Uint53 returns an integer uniform on {0, …, 2⁵³-1}; the error is nil.
func (s *Source) Uint53() (uint64, error) { return s.rng.Uint64() >> 11, nil }

// Bit returns a fair coin; the error is nil. It uses up one output.
func (s *Source) Bit() (bool, error) { return s.rng.Uint64()>>63 == 1, nil }
