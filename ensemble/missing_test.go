package ensemble

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/noisetest"
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

// Plans complete votes by coins of each query alone: a vote that is missing or not changes one vote of its query, and
// no other query. The coins are the same in every run and fair: of 4000 queries with 9 missing votes the number of a
// class is Binomial(9, 1/C). They are fixed, so the outcome is too.
func TestCompletedVotes(t *testing.T) {
	for _, classes := range []int{2, 3} {
		seen := make([]int, 10)
		for query := range int64(4000) {
			counts := make([]int, classes)
			if err := Complete(query, counts, 9); err != nil {
				t.Fatal(err)
			}
			seen[counts[0]]++
			for missing := range 9 {
				fewer := make([]int, classes)
				if err := Complete(query, fewer, missing); err != nil {
					t.Fatal(err)
				}
				total := 0
				for c, n := range fewer {
					total += n
					if n > counts[c] {
						t.Fatalf("query %d: %d missing votes are %v, 9 are %v", query, missing, fewer, counts)
					}
				}
				if total != missing {
					t.Fatalf("query %d: %d missing votes are %v", query, missing, fewer)
				}
			}
		}
		if err := noisetest.Check(seen, binomial(9, 1/float64(classes))); err != nil {
			t.Errorf("%d classes: %v", classes, err)
		}
	}
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

// Where a vote may be none, K is the number of teachers and not that of the votes: noise that went
// by the votes that are there would tell a record that makes one teacher silent.
func TestAuditSeesNoiseByTheVotesThatAreThere(t *testing.T) {
	const eps = 1.2
	s := Setting{9, 2, 1, accountant.ReplaceOne, true}
	for name, law := range map[string]func(counts []int) []float64{
		"noise in proportion to the votes": func(counts []int) []float64 {
			n := counts[0] + counts[1]
			return bruteFlip(eps / 2 * float64(s.K) / float64(max(1, n)))(counts)
		},
		"no noise where nobody is of another mind": func(counts []int) []float64 {
			if counts[0] == 0 || counts[1] == 0 {
				return plainMajority(counts)
			}
			return bruteFlip(eps / 2)(counts)
		},
		"a query without votes has a class of its own": func(counts []int) []float64 {
			if counts[0]+counts[1] == 0 {
				return []float64{1, 0}
			}
			return bruteFlip(eps / 2)(counts)
		},
	} {
		worst := 0.0
		votesIn(s, func(counts []int) {
			p := law(counts)
			neighboursIn(s, counts, func(other []int) {
				worst = max(worst, trueEpsilon(p, law(other), 0))
			})
		})
		if worst <= eps+1e-9 {
			t.Errorf("%s: ε is %v, and the audit allows %v", name, worst, eps)
		}
	}
}

// What was not proved for votes that may be none refuses them by name, and what was proved for them
// draws no vote in the place of one.
func TestWhatTakesVotesThatMayBeNone(t *testing.T) {
	s := Setting{K: 5, Classes: 2, Affected: 1, Neighbours: accountant.ReplaceOne, Missing: true}
	target := accountant.Cost{Epsilon: 1, Delta: 1e-3}
	made := 0
	for _, d := range Mechanisms() {
		if !d.Calibrated() {
			continue
		}
		m, err := Calibrated(d.Name, s, target, Check{Ratio: CheckRatio})
		if d.Missing != (err == nil) {
			t.Errorf("%s: %v", d.Name, err)
		}
		if err != nil {
			continue
		}
		made++
		for _, counts := range [][]int{{0, 0}, {5, 0}, {1, 2}} {
			if _, err := m.Simulate(1, "q", slices.Clone(counts)); err != nil {
				t.Errorf("%s: %v: %v", d.Name, counts, err)
			}
		}
		if _, err := m.Simulate(1, "q", []int{3, 3}); err == nil {
			t.Errorf("%s: 6 votes of 5 teachers", d.Name)
		}
		if _, err := m.AnswerMissing(randsrc.SeededCoins(1), "q", []int{1, 2}, 2); err == nil {
			t.Errorf("%s: a vote that is none became a coin", d.Name)
		}
		plain := s
		plain.Missing = false
		other := must.Get(Calibrated(d.Name, plain, target, Check{Ratio: CheckRatio}))(t)
		if other.PerAnswer() != m.PerAnswer() || other.Parameters() != m.Parameters() {
			t.Errorf("%s: another price or noise than of votes that are all there", d.Name)
		}
	}
	if made != len(MissingNames())-2 { // one has a table, one a price of all answers alone
		t.Errorf("%d mechanisms made, want all of %v but those of many answers", made, MissingNames())
	}
}

// A comparison of votes that may be none names what refuses them, and scores what does not.
func TestComparisonOfVotesThatMayBeNone(t *testing.T) {
	b := must.Get(NewBallots(5, 2))(t)
	if err := b.Add([]int{1, 2}, 1); err == nil {
		t.Error("a missing vote was taken without a word")
	}
	b.AllowMissing()
	for _, counts := range [][]int{{1, 2}, {0, 0}, {5, 0}} {
		if err := b.Add(counts, NoTruth); err != nil {
			t.Fatal(err)
		}
	}
	o := CompareOptions{Target: accountant.Cost{Epsilon: 1, Delta: 1e-3},
		Teachers: accountant.Cost{Epsilon: math.Inf(1)}, Affected: 1, Neighbours: accountant.ReplaceOne}
	c := must.Get(Compare(t.Context(), b, o))(t)
	for _, row := range c.Rows {
		d, _ := Describe(row.Name)
		if d.Missing != (row.Refused == nil) && !errors.Is(row.Refused, ErrMissing) {
			t.Errorf("%s: %v", row.Name, row.Refused)
		}
		if row.Refused == nil && !(row.Score.Agreement > 0.3) {
			t.Errorf("%s: %+v", row.Name, row.Score)
		}
	}
	o.Teachers = accountant.Cost{Epsilon: 1}
	if _, err := Compare(t.Context(), b, o); !errors.Is(err, ErrMissing) {
		t.Errorf("private teachers: %v", err)
	}
	plain := must.Get(PermuteAndFlip(Setting{K: 5, Classes: 2, Affected: 1,
		Neighbours: accountant.ReplaceOne}, 1))(t)
	if _, err := plain.Evaluate(b); !errors.Is(err, ErrMissing) {
		t.Errorf("a mechanism for K votes was scored: %v", err)
	}
}

// What one record can change is more where a vote may be none.
func TestAffectedInWords(t *testing.T) {
	for want, s := range map[string]Setting{
		"one record can change the vote of one teacher only (training data in disjoint parts)": {K: 9, Affected: 1},
		"one record can change at most 2 of the 9 votes":                                       {K: 9, Affected: 2},
		"one record can change all 9 votes":                                                    {K: 9, Affected: 9},
		"one record can change all 9 votes, or whether they vote": {K: 9, Affected: 9,
			Missing: true},
	} {
		if got := s.affectedInWords(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
