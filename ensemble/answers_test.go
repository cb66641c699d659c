package ensemble

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/testing/composetest"
	"github.com/darrm/darrm/internal/testing/must"
)

// optimalDelta returns the δ of k mechanisms together at ε, by the optimal composition.
func optimalDelta(t testing.TB, k int, each accountant.Cost, epsilon float64) float64 {
	t.Helper()
	a, err := accountant.New(accountant.ReplaceOne)
	if err == nil {
		a, err = a.Charge(accountant.ApproxDP{Cost: each, Neighbours: accountant.ReplaceOne}, k)
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.AtEpsilon(epsilon, accountant.MethodOptimal)
	if err != nil || len(r.Bounds) != 1 {
		t.Fatal(r, err)
	}
	return r.Bounds[0].Cost.Delta
}

// foreign is an event that the accountant does not know.
type foreign struct{}

func (foreign) Relation() accountant.Relation { return accountant.ReplaceOne }
func (foreign) String() string                { return "something else" }

// The thesis' running example: K = 11, ε = 0.0892 each, m = 3.
func thesisRelease(queries int, r TeacherRandomness) Answers {
	return Answers{
		Queries: queries, PerAnswer: accountant.Cost{Epsilon: 0.2676, Delta: 0.0003},
		Teachers: accountant.Cost{Epsilon: 0.0892, Delta: 1e-4},
		K:        11, Affected: 11, Randomness: r, Slack: 1e-4,
	}
}

func mustTotal(t *testing.T, r Answers) Total {
	t.Helper()
	return must.Get(r.Total())(t)
}

func TestReleaseTotals(t *testing.T) {
	fresh := mustTotal(t, thesisRelease(100, FreshTeachers))
	if s := fmt.Sprintf("%.3f %.3f", fresh.QueryFold.Epsilon, fresh.QueryFold.Delta); s !=
		"15.044 0.030" || !fresh.QueryFoldHolds {
		t.Errorf("fresh: Q-fold %s, holds %v", s, fresh.QueryFoldHolds)
	}
	if fresh.Cost.Epsilon >= fresh.QueryFold.Epsilon || fresh.Cost.Delta > fresh.QueryFold.Delta {
		t.Errorf("fresh: %v does not improve on %v", fresh.Cost, fresh.QueryFold)
	}
	// Frozen: the same however many queries, and at most Kε.
	for _, q := range []int{2, 4, 100, 1_000_000} {
		frozen := mustTotal(t, thesisRelease(q, FrozenTeachers))
		if frozen.QueryFoldHolds || !(frozen.Cost.Epsilon <= 11*0.0892) ||
			frozen.Cost != mustTotal(t, thesisRelease(2, FrozenTeachers)).Cost {
			t.Errorf("frozen, Q = %d: %+v", q, frozen)
		}
	}
	// With K = 11, m = 3 the Q-fold figure of basic composition exceeds Kε from the
	// fourth query on.
	for q, exceeds := range map[int]bool{3: false, 4: true} {
		r := thesisRelease(q, FrozenTeachers)
		r.Slack = 0
		total := mustTotal(t, r)
		if (total.QueryFold.Epsilon > total.Cost.Epsilon) != exceeds {
			t.Errorf("Q = %d: Q-fold %v, frozen %v", q, total.QueryFold, total.Cost)
		}
	}
	// Disjoint training data: one teacher's cost.
	r := thesisRelease(100, FrozenTeachers)
	r.Affected = 1
	if total := mustTotal(t, r); total.Cost != r.Teachers {
		t.Errorf("parallel: %+v", total)
	}
	// One answer has its own cost, frozen or not.
	if total := mustTotal(t, thesisRelease(1, FrozenTeachers)); total.Cost !=
		(accountant.Cost{Epsilon: 0.2676, Delta: 0.0003}) || !total.QueryFoldHolds {
		t.Errorf("one frozen answer: %+v", total)
	}
	if total := mustTotal(t, thesisRelease(0, FrozenTeachers)); total.Cost != (accountant.Cost{}) {
		t.Errorf("no answer: %+v", total)
	}
}

// A teacher trained once on a secret bit s draws a coin r and keeps (r, r ⊕ y), y the
// randomised response of s at ε. Either answer alone is a fair coin, 0-DP; both
// together reveal y, ε-DP and no better. Any total below ε for two frozen queries is
// wrong.
func TestFrozenTreatedAsFreshIsCaught(t *testing.T) {
	const eps = 1.5
	p := 1 / (1 + math.Exp(-eps))
	joint := func(s, a, b int) float64 { // Pr[answers = a, b | s]
		if a^b == s {
			return p / 2
		}
		return (1 - p) / 2
	}
	single, double := 0.0, 0.0
	for a := range 2 {
		for b := range 2 {
			double = max(double, math.Log(joint(0, a, b)/joint(1, a, b)))
		}
		single = max(single, math.Log((joint(0, a, 0)+joint(0, a, 1))/(joint(1, a, 0)+joint(1, a, 1))))
	}
	if math.Abs(single) > 1e-12 || math.Abs(double-eps) > 1e-12 {
		t.Fatalf("the example costs %g alone and %g together", single, double)
	}
	r := Answers{Queries: 2, PerAnswer: accountant.Cost{Epsilon: 1e-9, Delta: 0},
		Teachers: accountant.Cost{Epsilon: eps, Delta: 0}, K: 1, Affected: 1, Randomness: FrozenTeachers}
	if total := mustTotal(t, r); total.Cost.Epsilon < double-1e-12 {
		t.Errorf("frozen total %v, but the two answers cost %g", total.Cost, double)
	}
	mutant := r
	mutant.Randomness = FreshTeachers
	if total := mustTotal(t, mutant); total.Cost.Epsilon >= double-1e-12 {
		t.Errorf("frozen treated as fresh gives %v, which this test should tell from %g", total.Cost,
			double)
	}
	// No answer costs nothing, and needs no price of one.
	r = Answers{K: 3, Affected: 3, Randomness: FreshTeachers}
	if total := mustTotal(t, r); total.Cost != (accountant.Cost{}) {
		t.Errorf("no answer: %v", total.Cost)
	}
	// And fresh answers do need the count: 20 fresh answers of (0.1, 0) cost 2, not
	// 0.1.
	r = Answers{Queries: 20, PerAnswer: accountant.Cost{Epsilon: 0.1, Delta: 0}, K: 3, Affected: 3,
		Randomness: FreshTeachers}
	if total := mustTotal(t, r); composetest.Delta(20, r.PerAnswer.Epsilon, r.PerAnswer.Delta,
		total.Cost.Epsilon) > 0 || composetest.Delta(20, r.PerAnswer.Epsilon, r.PerAnswer.Delta,
		0.1) == 0 {
		t.Errorf("fresh: %v", total.Cost)
	}
}

// Several charges of which (ε, δ) alone is known need privacy loss distributions, and normal noise
// has an exact formula.
func TestMethodsThatApply(t *testing.T) {
	promise := func(eps float64) accountant.Charge {
		return accountant.Charge{Event: accountant.ApproxDP{Cost: accountant.Cost{Epsilon: eps},
			Neighbours: accountant.ReplaceOne}, Count: 3}
	}
	noise := accountant.Charge{Event: accountant.Gaussian{NoiseMultiplier: 20,
		Neighbours: accountant.ReplaceOne}, Count: 3}
	for name, c := range map[string]struct {
		charges       []accountant.Charge
		pld, gaussian bool
	}{
		"one promise":     {[]accountant.Charge{promise(0.1)}, false, false},
		"two promises":    {[]accountant.Charge{promise(0.1), promise(0.2)}, true, false},
		"noise":           {[]accountant.Charge{noise}, false, true},
		"noise, promises": {[]accountant.Charge{noise, promise(0.1)}, true, false},
	} {
		got := applicable(c.charges, false)
		if slices.Contains(got, accountant.MethodPLD) != c.pld ||
			slices.Contains(got, accountant.MethodGaussian) != c.gaussian {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What is stated of fresh teachers is judged too, though the answers' cost may not need it.
func TestFreshTeachersAreJudged(t *testing.T) {
	for _, teachers := range []accountant.Cost{{Epsilon: math.NaN()}, {Epsilon: -1},
		{Epsilon: 0.1, Delta: -1}, {Epsilon: math.Inf(1), Delta: 1}} {
		r := thesisRelease(3, FreshTeachers)
		r.Teachers = teachers
		var parameter *check.Error
		if total, err := r.Total(); !errors.As(err, &parameter) ||
			!strings.HasPrefix(parameter.Name, "teacher ") {
			t.Errorf("%+v: %+v, %v", teachers, total, err)
		}
	}
}

func TestReleaseRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*Answers){
		"randomness not stated": func(r *Answers) { r.Randomness = "" },
		"queries":               func(r *Answers) { r.Queries = -1 },
		"per answer":            func(r *Answers) { r.PerAnswer.Epsilon = math.NaN() },
		"per answer forgotten":  func(r *Answers) { r.PerAnswer = accountant.Cost{} },
		"per answer infinite":   func(r *Answers) { r.PerAnswer.Epsilon = math.Inf(1) },
		"teachers":              func(r *Answers) { r.Teachers.Epsilon = math.NaN() },
		"teachers negative":     func(r *Answers) { r.Teachers.Epsilon = -1 },
		"teachers forgotten":    func(r *Answers) { r.Teachers = accountant.Cost{} },
		"no affected":           func(r *Answers) { r.Affected = 0 },
		"slack NaN":             func(r *Answers) { r.Slack = math.NaN() },
		"delta NaN":             func(r *Answers) { r.Delta = math.NaN() },
		"delta and slack":       func(r *Answers) { r.Delta = 0.1 },
		"cost of noise": func(r *Answers) {
			r.PerAnswer.Delta, r.Noise = 2, NoisyAnswer{accountant.Gaussian{NoiseMultiplier: 20,
				Neighbours: accountant.ReplaceOne}, 11}
		},
		"noise for one vote": func(r *Answers) {
			r.Noise = NoisyAnswer{accountant.Gaussian{NoiseMultiplier: 20,
				Neighbours: accountant.ReplaceOne}, 1}
		},
		"noise for one vote less": func(r *Answers) {
			r.Noise = NoisyAnswer{accountant.Gaussian{NoiseMultiplier: 20,
				Neighbours: accountant.ReplaceOne}, 10}
		},
		"unknown noise": func(r *Answers) {
			r.PerAnswer, r.Noise = accountant.Cost{}, NoisyAnswer{foreign{}, 11}
		},
		"K":        func(r *Answers) { r.K = 0 },
		"affected": func(r *Answers) { r.Affected = 12 },
		"slack":    func(r *Answers) { r.Slack = 1 },
	} {
		r := thesisRelease(3, FrozenTeachers)
		spoil(&r)
		if total, err := r.Total(); err == nil {
			t.Errorf("%s: %+v", name, total)
		}
	}
}
