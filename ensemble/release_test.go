package ensemble

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/votes"
)

// Release with the system's randomness, n = 200,000 draws for each number of votes,
// against ProbabilityOfOne at 5 standard deviations. One comparison gives a false
// alarm with probability 5.7e-7; the 9 comparisons with 0 < Pr < 1 here, with
// probability 5.2e-6: one run in 190,000. Exactness is shown in exact_test.go; this
// is about the wiring to the real source.
func TestReleaseFrequencies(t *testing.T) {
	const n = 200_000
	for _, m := range []*Mechanism{anyGamma(t, 3, 1, 0.3), anyGamma(t, 6, 0.9, 0.05, 0.5)} {
		for l := range m.K() + 1 {
			numerator, err := m.ProbabilityOfOne(l)
			if err != nil {
				t.Fatal(err)
			}
			p := float64(numerator) / (1 << 54)
			ones := 0
			for range n {
				one, err := m.Release(l)
				if err != nil {
					t.Fatal(err)
				}
				if one {
					ones++
				}
			}
			sigma := math.Sqrt(n * p * (1 - p))
			if d := math.Abs(float64(ones) - n*p); d > 5*sigma {
				t.Errorf("K = %d, l = %d: %d ones of %d, want %v: %.1f standard deviations", m.K(), l, ones, n, n*p, d/sigma)
			}
		}
	}
}

// Safe for concurrent use; the race detector watches.
func TestReleaseConcurrently(t *testing.T) {
	m := anyGamma(t, 3, 1, 0.5)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 2000 {
				if one, err := m.Release(3); err != nil || !one { // γ(3) = 1
					t.Errorf("%t, %v", one, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// With γ ≡ 1 and no ties the answers are the majorities, so their order shows.
func TestAggregateKeepsTheOrder(t *testing.T) {
	m := anyGamma(t, 5, 1, 1, 1)
	rapid.Check(t, func(t *rapid.T) {
		ones := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 3*contextEvery).Draw(t, "ones")
		table := &votes.Table{K: 5, Ones: ones}
		for name, aggregate := range map[string]func(context.Context, *votes.Table) ([]votes.Label, error){
			"Mechanism": m.Aggregate, "Simulation": m.Simulate(3).Aggregate,
		} {
			labels, err := aggregate(context.Background(), table)
			if err != nil || len(labels) != len(ones) {
				t.Fatalf("%s: %d labels, %v; want %d", name, len(labels), err, len(ones))
			}
			for i, l := range labels {
				if l != votes.LabelOf(2*ones[i] > 5) {
					t.Fatalf("%s: label %d of %d ones is %v", name, i, ones[i], l)
				}
			}
		}
	})
}

func TestAggregateErrors(t *testing.T) {
	m := anyGamma(t, 3, 1, 0.5)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	tests := []struct {
		name  string
		ctx   context.Context
		table *votes.Table
		is    error
		want  string
	}{
		{"other K", context.Background(), &votes.Table{K: 5, Ones: []int{1}}, nil, "K = 5 teachers, but the noise function is for 3"},
		{"other K, no queries", context.Background(), &votes.Table{K: 2}, nil, "K = 2"},
		{"a count above K, last", context.Background(), &votes.Table{K: 3, Ones: []int{1, 2, 4}}, nil, "votes for 1 = 4"},
		{"a negative count", context.Background(), &votes.Table{K: 3, Ones: []int{-1}}, nil, "votes for 1 = -1"},
		{"cancelled", cancelled, &votes.Table{K: 3, Ones: []int{1}}, context.Canceled, "canceled"},
	}
	for _, tt := range tests {
		for name, aggregate := range map[string]func(context.Context, *votes.Table) ([]votes.Label, error){
			"Mechanism": m.Aggregate, "Simulation": m.Simulate(3).Aggregate,
		} {
			labels, err := aggregate(tt.ctx, tt.table)
			if labels != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s, %s: %v, %v; want no labels and an error with %q", tt.name, name, labels, err, tt.want)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%s, %s: %v is not %v", tt.name, name, err, tt.is)
			}
		}
	}
}

// countdown is a context that is done after a number of looks at it.
type countdown struct {
	context.Context
	looks int
}

func (c *countdown) Err() error {
	if c.looks--; c.looks < 0 {
		return context.Canceled
	}
	return nil
}

// A long file is given up in the middle, and nothing comes of its first half.
func TestAggregateIsCancelledInTheMiddle(t *testing.T) {
	m := anyGamma(t, 1, 0.5)
	table := &votes.Table{K: 1, Ones: make([]int, 10*contextEvery)}
	ctx := &countdown{context.Background(), 3}
	labels, err := m.Aggregate(ctx, table)
	if labels != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%d labels, %v", len(labels), err)
	}
	if labels, err := m.Aggregate(&countdown{context.Background(), 1000}, table); err != nil || len(labels) != table.Len() {
		t.Errorf("%d labels, %v", len(labels), err)
	}
}

// Evaluate against sums over ProbabilityOfOne, which exact_test.go holds to the
// definition, and against the frequencies of a simulation.
func TestEvaluate(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := rapid.IntRange(1, 6).Draw(rt, "K")
		m := anyGamma(t, k, rapid.SliceOfN(rapid.Float64Range(0, 1), (k+1)/2, (k+1)/2).Draw(rt, "gamma")...)
		table := &votes.Table{K: k, Ones: rapid.SliceOfN(rapid.IntRange(0, k), 0, 30).Draw(rt, "ones")}
		if rapid.Bool().Draw(rt, "labelled") {
			table.Labels = rapid.SliceOfN(rapid.SampledFrom([]votes.Label{votes.NoLabel, votes.Label0, votes.Label1}), table.Len(), table.Len()).Draw(rt, "labels")
		}
		var want Score
		for q := range table.All() {
			n, err := m.ProbabilityOfOne(q.Ones)
			if err != nil {
				rt.Fatal(err)
			}
			one := float64(n) / (1 << 54)
			answers := [2]float64{1 - one, one}
			if bit, ok := q.Majority().Value(); ok {
				want.Agreement += answers[bit] / float64(table.Len())
			} else {
				want.Agreement += 0.5 / float64(table.Len())
			}
			if bit, ok := q.Label.Value(); ok {
				want.Labels++
				want.Accuracy += answers[bit]
			}
		}
		if want.Labels > 0 {
			want.Accuracy /= float64(want.Labels)
		}
		got := Evaluate(m.Certified().Func(), table)
		if got.Labels != want.Labels || math.Abs(got.Agreement-want.Agreement) > 1e-12 || math.Abs(got.Accuracy-want.Accuracy) > 1e-12 {
			rt.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

// The simulation is seeded, so that this test always does the same; at 5 standard
// deviations of n = 100,000 answers it would fail for one seed in a million.
func TestEvaluateAgainstSimulation(t *testing.T) {
	const rounds = 10_000
	m := anyGamma(t, 5, 0.9, 0.5, 0.2)
	table := &votes.Table{
		K:      5,
		Ones:   []int{0, 1, 2, 3, 4, 5, 5, 4, 2, 3},
		Labels: []votes.Label{1, 1, 1, 2, 2, 2, 1, 2, 2, 2}, // Label0 = 1, Label1 = 2
	}
	score := Evaluate(m.Certified().Func(), table)
	s := m.Simulate(2024)
	agree, right := 0, 0
	for range rounds {
		labels, err := s.Aggregate(context.Background(), table)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range labels {
			q := table.Query(i)
			if l == q.Majority() {
				agree++
			}
			if l == q.Label {
				right++
			}
		}
	}
	n := float64(rounds * table.Len())
	for name, pair := range map[string][2]float64{"agreement": {float64(agree), score.Agreement}, "accuracy": {float64(right), score.Accuracy}} {
		if d := math.Abs(pair[0] - n*pair[1]); d > 5*math.Sqrt(n)/2 {
			t.Errorf("%s: %v of %v simulated, %v expected", name, pair[0], n, n*pair[1])
		}
	}
}

// Plain majority and pure coins are known in closed form; K must agree.
func TestEvaluateExtremes(t *testing.T) {
	table := &votes.Table{K: 2, Ones: []int{0, 1, 2, 2}, Labels: []votes.Label{votes.Label0, votes.NoLabel, votes.Label1, votes.Label0}}
	for c, want := range map[float64]Score{1: {Agreement: 0.875, Accuracy: 2.0 / 3, Labels: 3}, 0: {Agreement: 0.5, Accuracy: 0.5, Labels: 3}} {
		f, err := gamma.Constant(2, c)
		if err != nil {
			t.Fatal(err)
		}
		if got := Evaluate(f, table); got.Labels != want.Labels || got.Agreement != want.Agreement || math.Abs(got.Accuracy-want.Accuracy) > 1e-15 {
			t.Errorf("γ ≡ %v: %+v, want %+v", c, got, want)
		}
		if got := Evaluate(f, &votes.Table{K: 2}); got != (Score{}) {
			t.Errorf("no queries: %+v", got)
		}
	}
	for _, k := range []int{1, 3} { // fewer and more teachers than the function's
		f, err := gamma.Constant(k, 1)
		if err != nil {
			t.Fatal(err)
		}
		if !panics(func() { Evaluate(f, table) }) {
			t.Errorf("a function for %d teachers is evaluated on votes of 2", k)
		}
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// Nothing that aggregates alters the votes.
func TestVotesStayAsTheyAre(t *testing.T) {
	m := anyGamma(t, 3, 1, 0.5)
	table := &votes.Table{K: 3, Ones: []int{3, 1, 0}, Labels: []votes.Label{votes.Label1, votes.NoLabel, votes.Label0}}
	ones, labels := slices.Clone(table.Ones), slices.Clone(table.Labels)
	if _, err := m.Aggregate(context.Background(), table); err != nil {
		t.Fatal(err)
	}
	Evaluate(m.Certified().Func(), table)
	if !slices.Equal(ones, table.Ones) || !slices.Equal(labels, table.Labels) {
		t.Error("the table was altered")
	}
}
