package ensemble

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
)

// Answers with the system's randomness, n = 200,000 draws for each number of votes,
// against the stated law at 5 standard deviations. One comparison gives a false alarm with
// probability 5.7e-7; the 9 comparisons with 0 < Pr < 1 here, with probability 5.2e-6: one
// run in 190,000. Exactness is shown in exact_test.go; this is about the wiring to the real
// source.
func TestReleaseFrequencies(t *testing.T) {
	raced.Sequential(t)
	const n = 200_000
	coins := randsrc.SystemCoins()
	for _, m := range []*Mechanism{anyGamma(t, 3, 1, 0.3), anyGamma(t, 6, 0.9, 0.05, 0.5)} {
		for l := range m.setting.K + 1 {
			numerator, err := ofOne(m)(l)
			if err != nil {
				t.Fatal(err)
			}
			p := float64(numerator) / (1 << 54)
			ones := 0
			for range n {
				class, err := m.Answer(coins, "", []int{m.setting.K - l, l})
				if err != nil {
					t.Fatal(err)
				}
				ones += class
			}
			sigma := math.Sqrt(n * p * (1 - p))
			if d := math.Abs(float64(ones) - n*p); d > 5*sigma {
				t.Errorf("K = %d, l = %d: %d ones of %d, want %v: %.1f standard deviations", m.setting.K, l,
					ones, n, n*p, d/sigma)
			}
		}
	}
}

// Safe for concurrent use; the race detector watches.
func TestReleaseConcurrently(t *testing.T) {
	m, coins := anyGamma(t, 3, 1, 0.5), randsrc.SystemCoins()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 2000 {
				if class, err := m.Answer(coins, "", []int{0, 3}); err != nil || class != 1 { // γ(3) = 1
					t.Errorf("%d, %v", class, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// twoClasses returns ballots of votes for 1, with truths where there are any.
func twoClasses(t testing.TB, k int, ones, truths []int) *Ballots {
	t.Helper()
	b, err := NewBallots(k, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range ones {
		truth := NoTruth
		if truths != nil {
			truth = truths[i]
		}
		if err := b.Add([]int{k - l, l}, truth); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func evaluate(t testing.TB, m *Mechanism, b *Ballots) Score {
	t.Helper()
	return must.Get(m.Evaluate(b))(t)
}

// Evaluate against sums over the law that exact_test.go holds to the definition.
func TestEvaluateTwoClasses(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := rapid.IntRange(1, 6).Draw(rt, "K")
		m := anyGamma(t, k, rapid.SliceOfN(rapid.Float64Range(0, 1), (k+1)/2, (k+1)/2).Draw(rt,
			"gamma")...)
		ones := rapid.SliceOfN(rapid.IntRange(0, k), 0, 30).Draw(rt, "ones")
		var truths []int
		if rapid.Bool().Draw(rt, "labelled") {
			truths = rapid.SliceOfN(rapid.SampledFrom([]int{NoTruth, 0, 1}), len(ones), len(ones)).Draw(rt,
				"truths")
		}
		var want Score
		for i, l := range ones {
			n, err := ofOne(m)(l)
			if err != nil {
				rt.Fatal(err)
			}
			one := float64(n) / (1 << 54)
			answers := [2]float64{1 - one, one}
			switch {
			case 2*l > k:
				want.Agreement += one / float64(len(ones))
			case 2*l < k:
				want.Agreement += (1 - one) / float64(len(ones))
			default:
				want.Agreement += 1 / float64(len(ones)) // either answer is one of those with the most votes
			}
			if truths != nil && truths[i] != NoTruth {
				want.Labels++
				want.Accuracy += answers[truths[i]]
			}
		}
		if want.Labels > 0 {
			want.Accuracy /= float64(want.Labels)
		}
		got := evaluate(t, m, twoClasses(t, k, ones, truths))
		if got.Labels != want.Labels || math.Abs(got.Agreement-want.Agreement) > 1e-12 ||
			math.Abs(got.Accuracy-want.Accuracy) > 1e-12 {
			rt.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

// The simulation is seeded, so that this test always does the same; at 5 standard
// deviations of n = 100,000 answers it would fail for one seed in a million.
func TestEvaluateAgainstSimulation(t *testing.T) {
	const rounds = 10_000
	m := anyGamma(t, 5, 0.9, 0.5, 0.2)
	ones, truths := []int{0, 1, 2, 3, 4, 5, 5, 4, 2, 3}, []int{0, 0, 0, 1, 1, 1, 0, 1, 1, 1}
	score := evaluate(t, m, twoClasses(t, 5, ones, truths))
	coins := randsrc.SeededCoins(2024)
	agree, right := 0, 0
	for round := range rounds {
		for i, l := range ones {
			class, err := m.Answer(coins, fmt.Sprint(round, " ", i), []int{5 - l, l})
			if err != nil {
				t.Fatal(err)
			}
			if (class == 1) == (2*l > 5) {
				agree++
			}
			if class == truths[i] {
				right++
			}
		}
	}
	n := float64(rounds * len(ones))
	for name, pair := range map[string][2]float64{"agreement": {float64(agree), score.Agreement},
		"accuracy": {float64(right), score.Accuracy}} {
		if d := math.Abs(pair[0] - n*pair[1]); d > 5*math.Sqrt(n)/2 {
			t.Errorf("%s: %v of %v simulated, %v expected", name, pair[0], n, n*pair[1])
		}
	}
}

// Plain majority and pure coins are known in closed form; K must agree.
func TestEvaluateExtremes(t *testing.T) {
	b := twoClasses(t, 2, []int{0, 1, 2, 2}, []int{0, NoTruth, 1, 0})
	for c, want := range map[float64]Score{1: {Agreement: 1, Accuracy: 2.0 / 3, Labels: 3},
		0: {Agreement: 0.625, Accuracy: 0.5, Labels: 3}} {
		m := anyGamma(t, 2, c)
		if got := evaluate(t, m, b); got.Labels != want.Labels || got.Agreement != want.Agreement ||
			math.Abs(got.Accuracy-want.Accuracy) > 1e-15 {
			t.Errorf("γ ≡ %v: %+v, want %+v", c, got, want)
		}
		if got := evaluate(t, m, twoClasses(t, 2, nil, nil)); got != (Score{}) {
			t.Errorf("no queries: %+v", got)
		}
	}
	// fewer and more teachers than the votes'
	for _, m := range []*Mechanism{anyGamma(t, 1, 1), anyGamma(t, 3, 1, 1)} {
		if s, err := m.Evaluate(b); err == nil {
			t.Errorf("a mechanism for %d teachers scores votes of 2: %+v", m.setting.K, s)
		}
	}
}

// Scores of votes in which the classes have changed places are sums of each query's own
// probabilities, of an abstention too. Each vector of counts is worked out once, whichever order it
// comes in.
func TestEvaluateManyClasses(t *testing.T) {
	s := Setting{K: 6, Classes: 3, Affected: 1, Neighbours: accountant.ReplaceOne}
	b, err := NewBallots(6, 3)
	if err != nil {
		t.Fatal(err)
	}
	votes := [][]int{{4, 2, 0}, {0, 4, 2}, {2, 0, 4}, {2, 2, 2}, {1, 1, 4}, {3, 3, 0}, {0, 3, 3},
		{4, 2, 0}}
	for i, counts := range votes {
		if err := b.Add(counts, i%3); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"gnmax", "confident-gnmax", "lnmax", "permute-and-flip"} {
		m, err := Calibrated(name, s, accountant.Cost{Epsilon: 1, Delta: 1e-2}, Check{Ratio: 2})
		if err != nil {
			t.Fatal(err)
		}
		var want Score
		for i, counts := range votes {
			p, err := m.Probabilities(counts)
			if err != nil {
				t.Fatal(err)
			}
			for c, n := range counts {
				if n == slices.Max(counts) {
					want.Agreement += p[c] / float64(len(votes))
				}
			}
			want.Accuracy += p[i%3] / float64(len(votes))
			if m.Abstains() {
				want.Abstained += p[3] / float64(len(votes))
			}
		}
		got, err := m.Evaluate(b)
		if err != nil || math.Abs(got.Agreement-want.Agreement) > 1e-12 ||
			math.Abs(got.Accuracy-want.Accuracy) > 1e-12 || math.Abs(got.Abstained-want.Abstained) > 1e-12 {
			t.Errorf("%s: %+v, want %+v, %v", name, got, want, err)
		}
	}
	calls := 0
	b.score(func(counts []int) []float64 {
		calls++
		return make([]float64, 3)
	})
	if calls != 4 {
		t.Errorf("%d vectors of counts were worked out, want 4", calls)
	}
}
