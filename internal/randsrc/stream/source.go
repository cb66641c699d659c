package stream

import (
	"math/rand/v2"

	"github.com/darrm/darrm/internal/randsrc"
)

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
