package ensemble

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
)

func mustBounds(t *testing.T, r Answers) Report {
	t.Helper()
	return must.Get(r.Bounds())(t)
}

// find returns the bound of the kind.
func find(t *testing.T, r Report, of string, m accountant.Method) Bound {
	t.Helper()
	i := slices.IndexFunc(r.Bounds, func(b Bound) bool { return b.Of == of && b.Method == m })
	if i < 0 {
		t.Fatalf("no %s bound of %s in %+v", m, of, r)
	}
	return r.Bounds[i]
}

// Frozen teachers that promise nothing: the mechanism's own randomness is fresh in each
// answer and holds for any votes, so answers add up. An enumeration of two answers of
// the best mechanism for K = 1, a coin that is flipped with probability 1/(1+e^ε), says
// the same: ε alone, 2ε together.
func TestFrozenTeachersThatPromiseNothingAddUp(t *testing.T) {
	const eps = 0.5
	p := 1 / (1 + math.Exp(-eps))
	r := Answers{Queries: 2, PerAnswer: accountant.Cost{Epsilon: eps, Delta: 0},
		Teachers: accountant.Cost{Epsilon: math.Inf(1), Delta: 0}, K: 1, Affected: 1,
		Randomness: FrozenTeachers}
	total := mustTotal(t, r)
	if exact := 2 * math.Log(p/(1-p)); math.Abs(total.Cost.Epsilon-exact) > 1e-12 ||
		!total.QueryFoldHolds || total.Rule != "basic composition of 2 answers" {
		t.Errorf("%+v, exactly %g", total, exact)
	}
	// With a promise of their own, per-answer costs that rest on it do not add up.
	r.Teachers = accountant.Cost{Epsilon: 3, Delta: 0}
	if total := mustTotal(t, r); total.Cost.Epsilon != 3 || total.QueryFoldHolds {
		t.Errorf("%+v", total)
	}
	// The same, as fresh noise on the votes of teachers of any kind: both bounds hold.
	r.PerAnswer, r.Noise = accountant.Cost{}, NoisyAnswer{accountant.RandomizedResponse{Epsilon: eps,
		Neighbours: accountant.ReplaceOne}, 1}
	b := mustBounds(t, r)
	if best, ok := b.Best(); !ok || best.Cost.Epsilon != 1 || len(b.Bounds) != 3 {
		t.Errorf("%+v", b)
	}
	r.Queries = 100
	if best, _ := mustBounds(t, r).Best(); best.Of != OfTeachers || best.Cost.Epsilon != 3 {
		t.Errorf("%+v", best)
	}
	r.Teachers = accountant.Cost{} // not stated: the noise alone carries it
	if best, _ := mustBounds(t, r).Best(); best.Of != OfAnswers || best.Cost.Epsilon != 50 {
		t.Errorf("%+v", best)
	}
}

// All bounds side by side. For fresh teachers, what the teachers answered one by one is a
// bound of its own: with t < m² it beats the composition of the ensemble's answers, by
// which the literature counts, where δ has room for it.
func TestReleaseBoundsOfFreshTeachers(t *testing.T) {
	r := Answers{Queries: 100, PerAnswer: accountant.Cost{Epsilon: 0.6244, Delta: 0.0007},
		Teachers: accountant.Cost{Epsilon: 0.0892, Delta: 1e-4}, K: 11, Affected: 11,
		Randomness: FreshTeachers, Slack: 1e-4}
	b := mustBounds(t, r)
	printed := find(t, b, OfAnswers, accountant.MethodGeneral)
	// Table B.7
	if s := fmt.Sprintf("%.3f %.3f", printed.Cost.Epsilon, printed.Cost.Delta); s != "45.683 0.068" {
		t.Errorf("%s", s)
	}
	if best, _ := b.Best(); best.Of != OfAnswers || best.Method != accountant.MethodOptimal ||
		len(b.Refused) != 3 || !errors.Is(b.Refused[0].Err, accountant.ErrDeltaTooSmall) {
		t.Errorf("%+v", b)
	}
	total := mustTotal(t, r)
	if total.QueryFold != printed.Cost || !total.QueryFoldHolds {
		t.Errorf("%+v", total)
	}
	// With room for the teachers' own δ.
	r.Slack, r.Delta = 0, 0.11
	b = mustBounds(t, r)
	best, _ := b.Best()
	if best.Of != OfTeacherAnswers || best.Method != accountant.MethodOptimal || best.Count != 1100 ||
		best.Cost.Epsilon > 0.4*find(t, b, OfAnswers, accountant.MethodOptimal).Cost.Epsilon {
		t.Errorf("%+v", best)
	}
	for _, x := range b.Bounds {
		t.Logf("%-40s %v", x.Rule(), x.Cost)
		if !x.Holds {
			t.Errorf("%+v", x)
		}
		each := r.PerAnswer
		if x.Of == OfTeacherAnswers {
			each = r.Teachers
		}
		// Each is true of what it composes.
		if d := optimalDelta(t, x.Count, each, x.Cost.Epsilon); d > x.Cost.Delta {
			t.Errorf("%+v: δ is %g", x, d)
		}
	}
	if total := mustTotal(t, r); total.Cost != best.Cost || total.Rule != best.Rule() {
		t.Errorf("%+v", total)
	}
	// Disjoint data: one teacher answers for the record, at a third of the cost.
	disjoint := Answers{Queries: 20, PerAnswer: accountant.Cost{Epsilon: 0.3, Delta: 0},
		Teachers: accountant.Cost{Epsilon: 0.1, Delta: 0}, K: 11, Affected: 1, Randomness: FreshTeachers}
	if total := mustTotal(t, disjoint); total.Cost != (accountant.Cost{Epsilon: 2, Delta: 0}) ||
		total.QueryFold != (accountant.Cost{Epsilon: 6, Delta: 0}) {
		t.Errorf("%+v", total)
	}
	// Teachers of which nothing is said add nothing.
	r.Teachers = accountant.Cost{}
	if best, _ := mustBounds(t, r).Best(); best.Of != OfAnswers ||
		best.Method != accountant.MethodOptimal {
		t.Errorf("%+v", best)
	}
	// At one total δ for all, and below the answers' own.
	r.Slack, r.Delta = 0, 0.08
	b = mustBounds(t, r)
	if len(b.Bounds) != 3 {
		t.Errorf("%+v", b)
	}
	for _, x := range b.Bounds {
		if d := optimalDelta(t, x.Count, r.PerAnswer, x.Cost.Epsilon); x.Cost.Delta != 0.08 || d > 0.08 {
			t.Errorf("%+v: δ is %g", x, d)
		}
	}
	r.Delta = 0.06
	if b = mustBounds(t, r); len(b.Bounds) != 0 || len(b.Refused) != 3 ||
		!errors.Is(b.Refused[0].Err, accountant.ErrDeltaTooSmall) {
		t.Errorf("%+v", b)
	}
	if total, err := r.Total(); !errors.Is(err, accountant.ErrDeltaTooSmall) {
		t.Errorf("%+v, %v", total, err)
	}
}

// A rule of one part composes nothing.
func TestRules(t *testing.T) {
	for want, b := range map[string]Bound{
		"one answer":                            {Of: OfAnswers, Count: 1},
		"one of the teachers":                   {Of: OfTeachers, Count: 1},
		"one answer of one teacher":             {Of: OfTeacherAnswers, Count: 1},
		"basic composition of 2 answers":        {Of: OfAnswers, Count: 2, Method: accountant.MethodBasic},
		"the price of one answer":               {Of: OfAnswers, Count: 1, Method: methodGame},
		"the price of up to 5 answers together": {Of: OfAnswers, Count: 5, Method: methodGame},
	} {
		if got := b.Rule(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A slack that takes all of δ buys nothing: what is left is the basic composition.
func TestReleaseIsNotBoughtWithAllOfDelta(t *testing.T) {
	r := thesisRelease(100, FreshTeachers)
	r.Slack = 1 - 0x1p-53
	r.PerAnswer.Delta = 0.1
	if total := mustTotal(t, r); total.Rule != "basic composition of 100 answers" ||
		total.Cost.Epsilon != 26.76 || total.QueryFold != total.Cost {
		t.Errorf("%+v", total)
	}
	b := mustBounds(t, r)
	if b.Delta != 1 {
		t.Errorf("δ = %g", b.Delta)
	}
	var refused []string // of the answers, and of each teacher's
	for _, x := range b.Refused {
		if refused = append(refused, string(x.Method)); !errors.Is(x.Err, accountant.ErrDeltaTooSmall) {
			t.Errorf("%+v", x)
		}
	}
	if got := strings.Join(refused, " "); got != "general optimal general optimal" {
		t.Errorf("refused are %s", got)
	}
}

// Frozen teachers' Q-fold figures are there for comparison, after those that hold, and
// never the total.
func TestReleaseBoundsOfFrozenTeachers(t *testing.T) {
	for _, q := range []int{1, 2, 3, 100, 1_000_000} {
		b := mustBounds(t, thesisRelease(q, FrozenTeachers))
		held := true
		for _, x := range b.Bounds {
			if x.Holds && !held {
				t.Errorf("Q = %d: %+v", q, b)
			}
			held = x.Holds
			if want := x.Of == OfTeachers || q == 1; x.Holds != want {
				t.Errorf("Q = %d: %+v", q, x)
			}
		}
		if best, ok := b.Best(); !ok || best.Cost != mustTotal(t, thesisRelease(q, FrozenTeachers)).Cost {
			t.Errorf("Q = %d: %+v", q, b)
		}
	}
}

// A plan of noisy answers: each method that applies, none that needs the promise of
// teachers, and only as much as the exact one.
func TestReleaseOfNoisyAnswers(t *testing.T) {
	noise := normalOnVotes(40, 1)
	r := Answers{Queries: 200, Noise: noise, K: 250, Affected: 1, Randomness: FrozenTeachers,
		Slack: 1e-5}
	b := mustBounds(t, r)
	var methods []accountant.Method
	for _, x := range b.Bounds {
		methods = append(methods, x.Method)
		if x.Count != 200 || !x.Holds || x.Cost.Delta != 1e-5 {
			t.Errorf("%+v", x)
		}
	}
	if !reflect.DeepEqual(methods, []accountant.Method{accountant.MethodGaussian, accountant.MethodRDP,
		accountant.MethodZCDP}) {
		t.Errorf("%v", methods)
	}
	discrete, err := twoCounts(40, Setting{K: 250, Classes: 10, Affected: 1,
		Neighbours: accountant.ReplaceOne})
	if err != nil {
		t.Fatal(err)
	}
	r.Noise = NoisyAnswer{discrete, 1}
	best, _ := mustBounds(t, r).Best()
	if best.Method != accountant.MethodPLD || math.Abs(best.Cost.Epsilon/b.Bounds[0].Cost.Epsilon-1) >
		1e-3 {
		t.Errorf("%+v, normal %+v", best, b.Bounds[0])
	}
	// Laplace noise is more than its (ε, 0): the sum of its losses is smaller than any
	// composition of that.
	r.Queries, r.Noise = 40,
		NoisyAnswer{accountant.Laplace{Scale: 10, Neighbours: accountant.ReplaceOne}, 1}
	if best, _ := mustBounds(t, r).Best(); best.Method != accountant.MethodPLD {
		t.Errorf("laplace noise: %+v", best)
	}
	r.Noise = NoisyAnswer{discrete, 1}
	r.Slack = 0
	if total, err := r.Total(); err == nil {
		t.Errorf("normal noise at δ = 0: %+v", total)
	}
}
