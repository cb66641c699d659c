package ensemble

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/darrm/darrm/internal/noise/noisetest"
	"github.com/darrm/darrm/internal/randsrc"
)

// binomial is the law of the ones among n coins of probability p.
func binomial(n int, p float64) []float64 {
	law := make([]float64, n+1)
	for k := range law {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		law[k] = math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	}
	return law
}

// Every missing vote becomes each class with the same probability, by a coin of its own:
// of 9 missing votes the number of any class is Binomial(9, 1/C) over the queries, with
// coins from a seed and from a key.
//
// Seed and key are fixed, so the outcome is always the same; with another each of the
// 15 comparisons would give a false alarm with probability 1e-6 at most. Power: a vote that
// is always one class, one coin for a whole query, and a coin of probability 0.45 instead
// of 0.5 are missed with probability below 1e-6. For the last, of 4000 queries a share of
// 0.621 instead of 0.5 has at most 4 of 9 ones; its standard deviation is 0.0077, and what
// is further than 0.047 from 0.5 is refused.
func TestMissingVotesAreFairCoins(t *testing.T) {
	const k, n = 9, 4000
	for _, classes := range []int{2, 3} {
		m := everyMechanism(t, classes)[0]
		for name, coins := range map[string]randsrc.Coins{
			"seed 0": randsrc.SeededCoins(0), "seed 1": randsrc.SeededCoins(1),
			"key": randsrc.KeyedCoins(chosenKey(t, []byte("0123456789abcdef0123456789abcdef")), "r"),
		} {
			seen := make([][]int, classes) // of each class, the queries by their number of votes
			for c := range seen {
				seen[c] = make([]int, k+1)
			}
			for i := range n {
				counts := make([]int, classes)
				if _, err := m.AnswerMissing(coins, fmt.Sprint(i), counts, k); err != nil {
					t.Fatal(err)
				}
				for c, votes := range counts {
					seen[c][votes]++
				}
			}
			for c := range seen {
				if err := noisetest.Check(seen[c], binomial(k, 1/float64(classes))); err != nil {
					t.Errorf("%d classes, class %d, %s: %v", classes, c, name, err)
				}
			}
		}
	}
}

// The guesses and the answer's noise share no coin: with all votes missing, γ = 1/2 at every
// count and an odd K, an answer is a fair coin whatever the guesses came out as. Queries
// whose guesses give class 1 are compared with 1/2·(1 + γ) = 3/4 answers of 1. The key is
// fixed; over keys a false alarm has probability 1e-6 at most. Were the answer's word that
// of the first guess, its share of answers would be 1.
func TestGuessesAreNotTheNoise(t *testing.T) {
	m := anyGamma(t, 1, 0.5)
	coins := randsrc.KeyedCoins(chosenKey(t, []byte("0123456789abcdef0123456789abcdef")), "r")
	var seen [2][2]int
	for i := range 4000 {
		counts := []int{0, 0}
		class, err := m.AnswerMissing(coins, fmt.Sprint(i), counts, 1)
		if err != nil {
			t.Fatal(err)
		}
		seen[counts[1]][class]++
	}
	for vote, want := range [][]float64{{0.75, 0.25}, {0.25, 0.75}} {
		if err := noisetest.Check(seen[vote][:], want); err != nil {
			t.Errorf("queries with vote %d: %v", vote, err)
		}
	}
}

// A vote that is there is never changed, a query without missing votes takes no coin for
// them, and a number of missing votes that does not fit the counts is refused untouched.
func TestOnlyMissingVotesAreDrawn(t *testing.T) {
	m := everyMechanism(t, 2)[0]
	row := []int{4, 4}
	if _, err := m.AnswerMissing(randsrc.SystemCoins(), "", row, 1); err != nil {
		t.Fatal(err)
	}
	if row[0]+row[1] != 9 || row[0] < 4 || row[1] < 4 {
		t.Errorf("four votes each and a coin became %v", row)
	}
	row = []int{8, 1}
	if _, err := m.AnswerMissing(randsrc.SystemCoins(), "", row, 0); err != nil ||
		!slices.Equal(row, []int{8, 1}) {
		t.Errorf("8 and 1 votes became %v, %v", row, err)
	}
	for _, missing := range []int{-1, 1, 2, 10} {
		if class, err := m.AnswerMissing(randsrc.SystemCoins(), "", row, missing); err == nil ||
			class != noAnswer || !slices.Equal(row, []int{8, 1}) {
			t.Errorf("%d missing of none: %d, %v, %v", missing, class, err, row)
		}
	}
}
