package randsrc

import (
	"encoding/binary"
	"errors"
)

// Coins is the randomness of answers to votes. It has four makers, so that resuming a release, or
// simulating one, is the same call as starting it:
//
//	SystemCoins       the operating system's generator: every answer is a new one
//	KeyedCoins        a secret key: one row of votes has one answer, however often it is drawn
//	SeededCoins       a seed: as KeyedCoins, but nothing is private; for experiments
//	SeededSequence    a seed: one stream, in the order of the draws; for experiments
//
// There is no way to pass another source, and none to make Coins outside of this module. The zero
// Coins answer nothing. Coins are safe for concurrent use, but for SeededSequence and Own.
type Coins struct {
	system  Source // a *Secure or an *unshared
	key     *Key
	release string // of key
	seeded  func(query string) Source
}

// SystemCoins returns coins of the operating system's generator, in which a query's name
// plays no part.
func SystemCoins() Coins { return Coins{system: NewSecure()} }

// KeyedCoins returns the coins that key has for each row of votes of a release: the bytes
//
//	b = HMAC-SHA-256_k(0 ‖ row), HMAC-SHA-256_k(1 ‖ row), …,   k from the key's secret
//	row = release, name of the query, counts, missing votes, each so that it shows where it ends
//
// DaRRM takes ⌊b₀…b₇ / 2¹¹⌋ as its word and b₈ mod 2 as its coin. A row that is answered
// again, by work that is repeated say, has the same answer, and the two together are one
// release that costs PerAnswer once. HMAC-SHA-256 is taken for a pseudorandom function: then
// the answers of a job are those of SystemCoins to everybody who does not know the key and
// cannot tell the function from a random one, and the guarantee is against such (Mironov,
// Pandey, Reingold and Vadhan, Computational Differential Privacy (2009)). Given that:
//
//   - two releases, two names, and two vectors of votes under one name share no coin, so that
//     their answers differ by independent noise;
//   - two answers to changed votes under one name are still two releases, and who draws must refuse
//     the second (see [Key.Pin]): it was not paid for;
//   - query names must differ within the release: two of one name and the same votes have one
//     answer, and whether it is one tells whether the votes are the same;
//   - the key must not be seen by those who see the labels.
//
// Coins of a key that NewKey did not make answer nothing.
func KeyedCoins(key *Key, release string) Coins { return Coins{key: key, release: release} }

// SeededCoins returns coins that follow from the seed and a query's name. Whoever knows the
// seed knows the votes: nothing that they answer is private.
func SeededCoins(seed uint64) Coins {
	return Coins{seeded: func(query string) Source { return newSeededQuery(seed, query) }}
}

// SeededSequence returns coins of one stream from the seed, handed out in the order of the
// draws whatever the query's name. Nothing that they answer is private, and they are not safe
// for concurrent use. The published figures of package experiment are drawn so; use
// SeededCoins elsewhere, which do not depend on the order.
func SeededSequence(seed uint64) Coins {
	src := NewSeeded(seed)
	return Coins{seeded: func(string) Source { return src }}
}

// Own returns coins of the same maker for one goroutine alone: those of the operating system's
// generator have a buffer of their own without a lock, and are not safe for concurrent use.
func (c Coins) Own() Coins {
	if c.system != nil {
		c.system = new(unshared)
	}
	return c
}

// Named reports whether a query's name decides its coins. Those of the operating system's
// generator take any name.
func (c Coins) Named() bool { return c.system == nil }

// Private reports whether answers with these coins are releases. Those from a seed are not:
// they must be marked, and cannot be paid for.
func (c Coins) Private() bool { return c.seeded == nil && (c.system != nil || c.key != nil) }

var errNoCoins = errors.New("coins that nobody made: use SystemCoins, KeyedCoins or SeededCoins")

// Of returns the source of the answer to one row: these are the counts of votes of the query of
// this name, and so many are missing.
func (c Coins) Of(query string, counts []int, missing int) (Source, error) {
	switch {
	case c.seeded != nil:
		return c.seeded(query), nil
	case c.system != nil:
		return c.system, nil
	case c.key != nil:
		return c.key.Coins(row(c.release, query, counts, missing)), nil
	}
	return nil, errNoCoins
}

// row names a row of votes: no two that differ have the same name.
func row(release, query string, counts []int, missing int) string {
	b := binary.AppendUvarint(nil, uint64(len(release)))
	b = append(b, release...)
	b = binary.AppendUvarint(b, uint64(len(query)))
	b = append(b, query...)
	b = binary.AppendUvarint(b, uint64(len(counts)))
	for _, n := range counts {
		b = binary.AppendVarint(b, int64(n))
	}
	return string(binary.AppendVarint(b, int64(missing)))
}
