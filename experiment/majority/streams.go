package majority

import "github.com/darrm/darrm/internal/randsrc"

// Streams of an experiment's seed. Each use has its own, so that one more draw in one
// place does not change the others.
const (
	streamPartition = 2 << 20
	streamPrivate   = 3 << 20 // + teacher
	streamPlain     = 4 << 20 // + teacher
	streamQueries   = 5 << 20 // + draw
	streamAnswers   = 6 << 20 // + a number of its own for every method, m and draw
)

// words makes a seeded source one for math/rand/v2, which has normal variates and
// permutations.
type words struct{ *randsrc.Seeded }

// Uint64 returns 64 random bits. A Seeded hands out 53 at a time and does not fail.
func (w words) Uint64() uint64 {
	high, _ := w.Uint53()
	low, _ := w.Uint53()
	return high<<11 ^ low
}
