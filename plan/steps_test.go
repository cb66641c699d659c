package plan

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality"
	answerssolve "github.com/darrm/darrm/plurality/answers/solve"
)

// A value is rounded up to the next decimal of the grid, and not beyond.
func TestGridCeilIsTheNext(t *testing.T) {
	for x, want := range map[float64]float64{1.2341: 1.235, 1.234: 1.234, 9.9991: 10, 1e-30: 1e-30, 1.0001e-30: 1.001e-30,
		math.Nextafter(2, 3): 2.001} {
		if got := gridCeil(x); got != want {
			t.Errorf("%v rounds up to %v, want %v", x, got, want)
		}
	}
}

// The first guess of the ε of one label is below what fits, and not far: the search begins near its end.
func TestGuessIsNearWhatFits(t *testing.T) {
	for _, q := range []int{1, 10, 100, 10_000} {
		r := request(t, 9, 3, nothing)
		r.Queries, r.Budget = q, accountant.Cost{Epsilon: 1, Delta: 1e-5}
		x := must.Get(r.largest(t.Context(), r.plurality()))(t)
		if got := r.sharedEpsilon() / x; !(got > 0.7 && got <= 1) {
			t.Errorf("%d labels: the guess is %v of what fits", q, got)
		}
	}
}

// Advice names the most labels that fit, from any number that is known to fit.
func TestMostQueriesByTryingAll(t *testing.T) {
	r := request(t, 9, 3, nothing)
	r.Queries = 40
	if err := r.validate(); err != nil {
		t.Fatal(err)
	}
	kind := slices.IndexFunc(r.kinds(false), func(k kind) bool { return k.name == "lnmax" })
	for _, x := range []float64{0.3, 0.5, 2.1} {
		want := 0
		for q := 1; q < r.Queries; q++ {
			fewer := r
			fewer.Queries = q
			if cost, err := fewer.cost(t.Context(), fewer.kinds(false)[kind], x); err == nil && within(cost, r.Budget) {
				want = q
			}
		}
		for _, known := range []int{0, 1, want / 2, want} {
			if got := r.mostQueries(t.Context(), false, kind, x, min(known, want)); got != want {
				t.Errorf("ε = %v, %d known: %d labels, want %d", x, known, got, want)
			}
		}
	}
}

// Mechanisms are told one by one as they are worked out, and the advice is the last step.
func TestProgressGoesUpByOne(t *testing.T) {
	r := request(t, 5, 2, nothing)
	r.Budget.Delta = 0
	var told []int
	of := 0
	r.Progress = func(done, all int) { told, of = append(told, done), all }
	mustPlan(t, r)
	for i, done := range told {
		if done != i+1 {
			t.Fatalf("told %v of %d", told, of)
		}
	}
	if len(told) == 0 || of != len(told)+1 {
		t.Errorf("told %v of %d", told, of)
	}
}

// Shares become counts of the ones and costs the price of either error; what is not stated stays.
func TestLossesByName(t *testing.T) {
	shares, costs := plurality.Shares{0.9, 0.1}, plurality.Costs{{0, 2}, {3, 0}}
	own := []float64{1, 2, 3, 4, 5}
	counts := must.Get(gamma.SharedCounts(4, 0.8, 0.1))(t)
	byDefault := must.Get(gamma.SharedCounts(4, gamma.DefaultPriorMean, 0.1))(t)
	for _, tt := range []struct {
		l    Losses
		mean float64
		want solve.Options
	}{
		{Losses{}, 0.8, solve.Options{Counts: own}},
		{Losses{Shares: shares}, 0.8, solve.Options{Shape: gamma.ByName, Counts: counts}},
		{Losses{Shares: shares}, 0, solve.Options{Shape: gamma.ByName, Counts: byDefault}},
		{Losses{Costs: costs}, 0.8, solve.Options{Shape: gamma.ByName, Counts: own, Costs: [2]float64{2, 3}}},
		{Losses{Shares: shares, Costs: costs}, 0.8, solve.Options{Shape: gamma.ByName, Counts: counts, Costs: [2]float64{2, 3}}},
	} {
		o := solve.Options{Counts: own}
		if err := tt.l.ByName(&o, 4, tt.mean); err != nil || o.Shape != tt.want.Shape || o.Costs != tt.want.Costs ||
			!slices.Equal(o.Counts, tt.want.Counts) {
			t.Errorf("%+v, mean %v: %+v, %v", tt.l, tt.mean, o, err)
		}
	}
	for _, l := range []Losses{{Shares: plurality.Shares{0.9, 0.2}}, {Costs: plurality.Costs{{0, -1}, {1, 0}}}} {
		if err := l.ByName(&solve.Options{}, 4, 0); err == nil {
			t.Errorf("%+v are losses", l)
		}
	}
}

// A report says which class agrees most often if it is always answered, by votes; of a prior nobody knows.
func TestReportOfAlwaysOneClass(t *testing.T) {
	r := request(t, 3, 2, nothing)
	r.Queries, r.Budget.Delta = 2, 0
	o := ReportOptions{Classes: []string{"no", "yes"}}
	if got := NewReport(r, mustPlan(t, r), o).Always; got != nil {
		t.Errorf("by a prior: %+v", got)
	}
	r.Votes = must.Get(NewSample(3, 2))(t)
	for _, counts := range [][]int{{1, 2}, {0, 3}, {2, 1}, {1, 2}} {
		if err := r.Votes.Add(counts); err != nil {
			t.Fatal(err)
		}
	}
	if got := NewReport(r, mustPlan(t, r), o).Always; got == nil || *got != (ReportedAlways{Class: "yes", Agreement: 0.75}) {
		t.Errorf("by votes: %+v", got)
	}
}

// A plan that is cancelled while a larger table is tried ends: it does not fall back to the table before.
func TestCancelledWhileALargerTableIsTried(t *testing.T) {
	r := request(t, 12, 4, nothing)
	r.Queries, r.Budget = 100, accountant.Cost{Epsilon: 3, Delta: 1e-5}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tables := 0
	r.SolvePlurality = func(ctx context.Context, p plurality.Problem, o plurality.Objective, work int64) (*plurality.Table, error) {
		if tables++; tables == 2 {
			cancel()
			return nil, ctx.Err()
		}
		return SolvePlurality(ctx, p, o, work)
	}
	if err := r.validate(); err != nil {
		t.Fatal(err)
	}
	k := r.plurality()
	c := must.Get(r.built(ctx, k, must.Get(r.largest(ctx, k))(t)))(t)
	if got, err := r.larger(ctx, k, c); !errors.Is(err, context.Canceled) || got.Mechanism != nil || tables != 2 {
		t.Errorf("%d tables, %v, %v", tables, got.Mechanism, err)
	}
}

// Of kinds that are made for the whole budget the least ε and the most labels are advised, whichever comes first.
func TestAdviceOfAllLabels(t *testing.T) {
	r := request(t, 5, 2, nothing)
	of := func(name string, n answerssolve.Needs, ok bool, err error) kind {
		return kind{name: name, needs: func(context.Context) (answerssolve.Needs, bool, error) { return n, ok, err }}
	}
	low, many := of("low", answerssolve.Needs{Epsilon: 1.2341, Answers: 3}, true, nil), of("many", answerssolve.Needs{Epsilon: 5, Answers: 9}, true, nil)
	want := Advice{Epsilon: 1.235, EpsilonName: "low", Queries: 9, QueriesName: "many"}
	for _, all := range [][]kind{
		{low, many}, {many, low},
		{of("none", answerssolve.Needs{}, false, nil), low, many},
		{many, of("failed", answerssolve.Needs{Epsilon: 0.1, Answers: 90}, true, errors.New("too much work")), low},
	} {
		a := &Advice{}
		for _, k := range all {
			r.adviseAll(t.Context(), a, k)
		}
		if *a != want {
			t.Errorf("%+v, want %+v", *a, want)
		}
	}
	a := &Advice{}
	if r.adviseAll(t.Context(), a, of("dear", answerssolve.Needs{Epsilon: 2 * maxEpsilon}, true, nil)); *a != (Advice{}) {
		t.Errorf("beyond every budget: %+v", a)
	}
}

// Wherever the search begins, it finds the same value, by few costs.
func TestSearchFromAnyGuess(t *testing.T) {
	r := request(t, 9, 3, nothing)
	r.Budget.Delta = 0
	k := r.plurality()
	want := must.Get(r.largest(t.Context(), k))(t)
	for _, guess := range []float64{smallest, want / 1e3, want, 2 * want, 1e3 * want, k.most} {
		costs, answers := 0, k.answers
		k := k
		k.guess = func() float64 { return guess }
		k.answers = func(x float64) (ensemble.Answers, error) { costs++; return answers(x) }
		got := must.Get(r.largest(t.Context(), k))(t)
		if got != want || costs > 5 {
			t.Errorf("from %v: %v by %d costs, want %v", guess, got, costs, want)
		}
	}
}
