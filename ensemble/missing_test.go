package ensemble

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/noise/noisetest"
	"github.com/darrm/darrm/votes"
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
// of 9 missing votes the number of any class is Binomial(9, 1/C) over the queries.
//
// The source is seeded, so the outcome is always the same; with another seed each of the
// 10 comparisons would give a false alarm with probability 1e-6 at most. Power: a vote that
// is always one class, one coin for a whole query, and a coin of probability 0.45 instead
// of 0.5 are missed with probability below 1e-6. For the last, of 4000 queries a share of
// 0.621 instead of 0.5 has at most 4 of 9 ones; its standard deviation is 0.0077, and what
// is further than 0.047 from 0.5 is refused.
func TestMissingVotesAreFairCoins(t *testing.T) {
	const k, n = 9, 4000
	head := "t1"
	for i := 2; i <= k; i++ {
		head += fmt.Sprintf(",t%d", i)
	}
	file := head + "\n" + strings.Repeat("NA"+strings.Repeat(",NA", k-1)+"\n", n)
	for _, classes := range []int{2, 3} {
		a := everyMechanism(t, classes)[0]
		for seed := range uint64(2) {
			r, err := votes.NewReader(context.Background(), strings.NewReader(file), votes.Options{Missing: votes.MissingCoin, Classes: votes.IntegerClasses(classes)})
			if err != nil {
				t.Fatal(err)
			}
			s := a.Simulate(seed)
			seen := make([][]int, classes) // of each class, the queries by their number of votes
			for c := range seen {
				seen[c] = make([]int, k+1)
			}
			for b, err := range r.Batches() {
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.DrawBatch(context.Background(), b); err != nil {
					t.Fatal(err)
				}
				for i := range b.Len() {
					for c, votes := range b.Row(i) {
						seen[c][votes]++
					}
				}
			}
			r.Close()
			for c := range seen {
				if err := noisetest.Check(seen[c], binomial(k, 1/float64(classes))); err != nil {
					t.Errorf("%d classes, class %d, seed %d: %v", classes, c, seed, err)
				}
			}
		}
	}
}

// A vote that is there is never changed, and a query without missing votes takes no coin.
func TestOnlyMissingVotesAreDrawn(t *testing.T) {
	r, err := votes.NewReader(context.Background(), strings.NewReader("t1,t2,t3,t4,t5,t6,t7,t8,t9\n1,1,1,1,NA,0,0,0,0\n1,0,0,0,0,0,0,0,0\n"), votes.Options{Missing: votes.MissingCoin})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := everyMechanism(t, 2)[0].AnswerBatch(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	if row := b.Row(0); row[0]+row[1] != 9 || row[0] < 4 || row[1] < 4 {
		t.Errorf("four votes each and a coin became %v", row)
	}
	if row := b.Row(1); row[0] != 8 || row[1] != 1 {
		t.Errorf("8 and 1 votes became %v", row)
	}
}
