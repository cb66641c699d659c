package ensemble

import (
	"errors"

	"github.com/darrm/darrm/internal/randsrc"
)

// Coins is the randomness of answers. It has three makers, so that resuming a release, or
// simulating one, is the same call as starting it:
//
//	SystemCoins       the operating system's generator: every answer is a new one
//	KeyedCoins        a secret key: the query of one name has one answer, however often it is drawn
//	SeededCoins       a seed: as KeyedCoins, but nothing is private; for experiments
//
// There is no way to pass another source. The zero Coins answer nothing. Coins are safe for
// concurrent use.
type Coins struct {
	system *randsrc.Secure
	key    *JobKey
	seeded func(query string) randsrc.Source
}

// SystemCoins returns coins of the operating system's generator, in which a query's name
// plays no part.
func SystemCoins() Coins { return Coins{system: randsrc.NewSecure()} }

// KeyedCoins returns the coins that key has for each query: the bytes
//
//	b = HMAC-SHA-256_k(0 ‖ query), HMAC-SHA-256_k(1 ‖ query), …,   k from the job's secret
//
// DaRRM takes ⌊b₀…b₇ / 2¹¹⌋ as its word and b₈ mod 2 as its coin. A query that is answered
// again, by work that is repeated say, has the same answer, and the two together are one
// release that costs PerAnswer once. HMAC-SHA-256 is taken for a pseudorandom function: then
// the answers of a job are those of SystemCoins to everybody who does not know the key and
// cannot tell the function from a random one, and the guarantee is against such (Mironov,
// Pandey, Reingold and Vadhan, Computational Differential Privacy (2009)). Given that:
//
//   - query names must differ within the job: two queries of one name share their coins, and
//     what their answers differ in is then no noise;
//   - the votes of a query must not change under one key (see [JobKey.Pin]);
//   - the key must not be seen by those who see the labels.
//
// Coins of a key that NewJobKey did not make answer nothing.
func KeyedCoins(key *JobKey) Coins { return Coins{key: key} }

// SeededCoins returns coins that follow from the seed and a query's name. Whoever knows the
// seed knows the votes: nothing that they answer is private.
func SeededCoins(seed uint64) Coins {
	return Coins{seeded: func(query string) randsrc.Source {
		return randsrc.NewSeededQuery(seed, query)
	}}
}

// SeededSequence returns coins of one stream from the seed, handed out in the order of the
// draws whatever the query's name. Nothing that they answer is private, and they are not safe
// for concurrent use. The published figures of package experiment are drawn so; use
// SeededCoins elsewhere, which do not depend on the order.
func SeededSequence(seed uint64) Coins {
	src := randsrc.NewSeeded(seed)
	return Coins{seeded: func(string) randsrc.Source { return src }}
}

// Private reports whether answers with these coins are releases. Those from a seed are not:
// they must be marked, and cannot be paid for.
func (c Coins) Private() bool { return c.seeded == nil && (c.system != nil || c.key != nil) }

var errNoCoins = errors.New("coins that nobody made: use SystemCoins, KeyedCoins or SeededCoins")

// sourceOf returns the source of one query's answer.
func (c Coins) sourceOf(query string) (randsrc.Source, error) {
	switch {
	case c.seeded != nil:
		return c.seeded(query), nil
	case c.system != nil:
		return c.system, nil
	case c.key != nil:
		return c.key.secret().Coins(query), nil
	}
	return nil, errNoCoins
}
