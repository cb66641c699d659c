package ensemble

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/raced"
)

// corners are the vertices of the pairs (p, p') of an (ε, Δ)-DP bit. Whatever is convex in
// each teacher's pair is largest there.
func corners(teacher accountant.Cost) [][2]float64 {
	e, d := math.Exp(teacher.Epsilon), teacher.Delta
	low := (1 - d) / (1 + e)
	return [][2]float64{{0, 0}, {1, 1}, {d, 0}, {0, d}, {1, 1 - d}, {1 - d, 1}, {low, 1 - low},
		{1 - low, low}}
}

// sameVotesDelta returns the exact δ(ε) of so many answers to one row of votes of K
// teachers, all of which one record reaches, for the worst teachers that keep the promise:
// given l ones, each answer is 1 with probability ½ + ½·sign(l-K/2)·γ(l). The law of the
// answers depends on how many are 1 only.
func sameVotesDelta(gamma []float64, teacher accountant.Cost, answers int, eps float64) float64 {
	k := len(gamma) - 1
	ones := make([][]float64, k+1) // [l][j]: Pr[j of the answers are 1 | l ones]
	for l := range ones {
		q := 0.5 - 0.5*gamma[l]
		if 2*l > k {
			q = 0.5 + 0.5*gamma[l]
		}
		ones[l] = []float64{1}
		for range answers {
			ones[l] = flipped(ones[l], q)
		}
	}
	vertices := corners(teacher)
	worst := 0.0
	var choose func(from, left int, p, p2 []float64)
	choose = func(from, left int, p, p2 []float64) {
		if left == 0 {
			delta := 0.0
			for j := range answers + 1 {
				a, b := 0.0, 0.0
				for l := range ones {
					a += p[l] * ones[l][j]
					b += p2[l] * ones[l][j]
				}
				delta += max(0, a-math.Exp(eps)*b)
			}
			worst = max(worst, delta)
			return
		}
		for i := from; i < len(vertices); i++ {
			choose(i, left-1, flipped(p, vertices[i][0]), flipped(p2, vertices[i][1]))
		}
	}
	choose(0, k, []float64{1}, []float64{1})
	return worst
}

// flipped is the law of a count plus a coin that falls 1 with probability p.
func flipped(law []float64, p float64) []float64 {
	out := make([]float64, len(law)+1)
	for l, x := range law {
		out[l] += (1 - p) * x
		out[l+1] += p * x
	}
	return out
}

// Two answers to the same votes are not two answers of teachers who voted twice. K = 5,
// m = 0.9, ε = 0.3, Δ = 0.01, δ = 1e-9: one answer is (0.27, 1e-9)-DP, but two to the same
// votes have δ(0.54) = 1.79e-3, not 2e-9. What covers them, however many, is the tQ-fold
// composition of the teachers' answers. All by exact enumeration of the worst teachers.
func TestAnyNumberOfAnswersToTheSameVotes(t *testing.T) {
	const k = 5
	// The best noise function of these parameters.
	gamma := []float64{0.9156006469449206, 0.5019284263850008, 0.15058177747758106,
		0.15058177747758106, 0.5019284263850008, 0.9156006469449206}
	r := Answers{
		Queries: 1, PerAnswer: accountant.Cost{Epsilon: 0.27, Delta: 1e-9},
		Teachers: accountant.Cost{Epsilon: 0.3, Delta: 0.01}, K: k, Affected: k,
		Randomness: FreshTeachers,
	}
	if d := sameVotesDelta(gamma, r.Teachers, 1, r.PerAnswer.Epsilon); !(d <= r.PerAnswer.Delta+
		1e-15) {
		t.Fatalf("one answer has δ(%g) = %g, not %g", r.PerAnswer.Epsilon, d, r.PerAnswer.Delta)
	}
	// The mutant: as if they had voted anew.
	twice := r
	twice.Queries = 2
	mutant := mustTotal(t, twice).Cost
	truth := sameVotesDelta(gamma, r.Teachers, 2, mutant.Epsilon)
	if mutant.Epsilon != 0.54 || truth < 1.79e-3 || mutant.Delta > 3e-9 {
		t.Errorf("two answers to fresh votes cost %v, to the same δ(%g) = %g: the test tells nothing",
			mutant, mutant.Epsilon, truth)
	}
	first := mustTotal(t, r).Cost
	for _, spend := range []func(*Answers){
		func(r *Answers) {},
		func(r *Answers) { r.Slack = SlackFor(r.Teachers) },
		func(r *Answers) { r.Slack = 0.01 },
		func(r *Answers) { r.Slack = 0.2 },
		func(r *Answers) { r.Delta = 0.06 },
		func(r *Answers) { r.Delta = 0.3 },
	} {
		r := r
		spend(&r)
		rest, err := r.AnyNumber()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(rest.Rule,
			" composition of 5 answers of teachers, for any number of answers to these votes") {
			t.Errorf("rule %q", rest.Rule)
		}
		for _, n := range []int{2, 3, 40} {
			if d := sameVotesDelta(gamma, r.Teachers, n, rest.Cost.Epsilon); d > rest.Cost.Delta {
				t.Errorf("%d answers: δ(%g) = %g, but %v was said to cover any number", n, rest.Cost.Epsilon, d,
					rest.Cost)
			}
			if d := sameVotesDelta(gamma, r.Teachers, n, first.Epsilon+rest.Cost.Epsilon); d > first.Delta+
				rest.Cost.Delta {
				t.Errorf("%d answers: δ = %g beyond the first answer's %v and the rest's %v", n, d, first,
					rest.Cost)
			}
		}
		// And it is not more than the votes themselves cost: all of γ = 1, told one by one.
		want := optimalDelta(t, k, r.Teachers, rest.Cost.Epsilon)
		if rest.Cost.Epsilon < k*r.Teachers.Epsilon && rest.Cost.Delta > want*(1+1e-9) {
			t.Errorf("%v, but the votes have δ = %g", rest.Cost, want)
		}
	}
	// The teachers' answers count, tQ of them, not Q and not t: more rows or a wider reach
	// cost more, the ensemble's own cost and noise do not matter.
	for _, tt := range []struct {
		queries, affected int
		want              string
	}{
		{1, 1, "one answer of one teacher"}, {1, 3, "optimal composition of 3 answers of teachers"},
		{4, 1, "optimal composition of 4 answers of teachers"},
		{1100, 5, "optimal composition of 5500 answers of teachers"},
	} {
		r := Answers{Queries: tt.queries, Teachers: accountant.Cost{Epsilon: 0.3, Delta: 1e-9}, K: k,
			Affected: tt.affected, Randomness: FreshTeachers, Slack: defaultSlack}
		got, err := r.AnyNumber()
		if err != nil || got.Rule != tt.want+", for any number of answers to these votes" {
			t.Errorf("%+v, %v, want %s", got, err, tt.want)
			continue
		}
		if d := optimalDelta(t, tt.queries*tt.affected, r.Teachers, got.Cost.Epsilon); d >
			got.Cost.Delta {
			t.Errorf("%+v: δ is %g", got, d)
		}
		r.PerAnswer, r.Noise = accountant.Cost{Epsilon: 9, Delta: 0.5},
			NoisyAnswer{accountant.Gaussian{NoiseMultiplier: 1, Neighbours: accountant.ReplaceOne}, 1}
		if again, err := r.AnyNumber(); err != nil || again != got {
			t.Errorf("%+v, %v, without the answers' cost %+v", again, err, got)
		}
	}
}

// Frozen teachers: the same for any number of rows, and what two answers cost.
func TestAnyNumberOfAnswersOfFrozenTeachers(t *testing.T) {
	for _, affected := range []int{1, 3, 11} {
		r := thesisRelease(2, FrozenTeachers)
		r.Affected = affected
		want := mustTotal(t, r)
		for _, q := range []int{0, 1, 2, 1_000_000} {
			r.Queries = q
			got, err := r.AnyNumber()
			if err != nil || got.Cost != want.Cost || got.Rule != want.Rule {
				t.Errorf("t = %d, Q = %d: %+v, %v, want %+v", affected, q, got, err, want)
			}
		}
	}
}

func TestAnyNumberRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*Answers){
		"teachers that promise nothing": func(r *Answers) {
			r.Teachers = accountant.Cost{Epsilon: math.Inf(1), Delta: 0}
		},
		"teachers that were not stated": func(r *Answers) { r.Teachers = accountant.Cost{} },
		"teachers":                      func(r *Answers) { r.Teachers.Delta = 2 },
		"randomness not stated":         func(r *Answers) { r.Randomness = "" },
		"queries":                       func(r *Answers) { r.Queries = -1 },
		"too many for an int":           func(r *Answers) { r.Queries = math.MaxInt },
		"affected":                      func(r *Answers) { r.Affected = 12 },
		"slack":                         func(r *Answers) { r.Slack = 1 },
		"delta below the teachers' own": func(r *Answers) { r.Slack, r.Delta = 0, 1e-9 },
	} {
		for _, randomness := range []TeacherRandomness{FreshTeachers, FrozenTeachers} {
			if randomness == FrozenTeachers && name == "too many for an int" {
				continue
			}
			r := thesisRelease(3, randomness)
			spoil(&r)
			if total, err := r.AnyNumber(); err == nil {
				t.Errorf("%s, %v: %+v", name, randomness, total)
			}
		}
	}
	r := thesisRelease(3, FreshTeachers)
	r.Teachers = accountant.Cost{Epsilon: math.Inf(1), Delta: 0}
	if _, err := r.AnyNumber(); !errors.Is(err, accountant.ErrUnsupported) {
		t.Errorf("%v", err)
	}
	r = thesisRelease(0, FreshTeachers)
	if total, err := r.AnyNumber(); err != nil || total.Cost != (accountant.Cost{}) {
		t.Errorf("no rows: %+v, %v", total, err)
	}
}

// No bound is preferred for a smaller ε at a larger δ: without slack for it, the teachers'
// answers are no bargain, and one answer has its own cost whatever the slack.
func TestReleaseComparesAtEqualDelta(t *testing.T) {
	raced.Sequential(t)
	for _, tt := range []struct {
		name string
		r    Answers
		want accountant.Cost
	}{
		// The teachers' nine answers have an ε below 1.5, but at a δ that one answer does not have.
		{"one answer", Answers{Queries: 1, PerAnswer: accountant.Cost{Epsilon: 1.5, Delta: 1e-5},
			Teachers: accountant.Cost{Epsilon: 0.2, Delta: 1e-6}, K: 9, Affected: 9,
			Randomness: FreshTeachers, Slack: 0.1}, accountant.Cost{Epsilon: 1.5, Delta: 1e-5}},
		{"one frozen answer", Answers{Queries: 1, PerAnswer: accountant.Cost{Epsilon: 1.5, Delta: 1e-5},
			Teachers: accountant.Cost{Epsilon: 0.5, Delta: 1e-5}, K: 2, Affected: 2,
			Randomness: FrozenTeachers}, accountant.Cost{Epsilon: 1.5, Delta: 1e-5}},
		// (0.5, 1e-3) of the teachers has the smaller ε and the larger δ.
		{"noise of frozen teachers", Answers{Queries: 10,
			Noise: NoisyAnswer{accountant.RandomizedResponse{Epsilon: 1, Neighbours: accountant.ReplaceOne},
				1}, Teachers: accountant.Cost{Epsilon: 0.5, Delta: 1e-3}, K: 2, Affected: 1,
			Randomness: FrozenTeachers}, accountant.Cost{Epsilon: 10, Delta: 0}},
	} {
		b := mustBounds(t, tt.r)
		if total := mustTotal(t, tt.r); total.Cost != tt.want || b.Delta != tt.want.Delta {
			t.Errorf("%s: %+v at δ = %g, want %v", tt.name, total, b.Delta, tt.want)
		}
		// Asked for, the larger δ buys the smaller ε.
		tt.r.Slack, tt.r.Delta = 0, 0.01
		if total := mustTotal(t, tt.r); total.Cost.Epsilon >= tt.want.Epsilon ||
			total.Cost.Delta != 0.01 {
			t.Errorf("%s at δ = 0.01: %+v", tt.name, total)
		}
	}
	for _, randomness := range []TeacherRandomness{FreshTeachers, FrozenTeachers} {
		for _, q := range []int{1, 2, 50} {
			for _, teachers := range []accountant.Cost{{}, {Epsilon: 0.0892, Delta: 1e-4},
				{Epsilon: 0.0892, Delta: 1e-8}, {Epsilon: 0.0892, Delta: 0}} {
				for _, slack := range []float64{0, 1e-6, 0.01} {
					for _, noise := range []NoisyAnswer{{},
						{accountant.RandomizedResponse{Epsilon: 0.3, Neighbours: accountant.ReplaceOne}, 11}} {
						r := thesisRelease(q, randomness)
						r.Teachers, r.Slack, r.Noise = teachers, slack, noise
						if randomness == FrozenTeachers && teachers == (accountant.Cost{}) && noise.Event == nil {
							continue
						}
						b := mustBounds(t, r)
						for _, x := range b.Bounds {
							if x.Holds && x.Cost.Delta > b.Delta {
								t.Errorf("%+v: %+v has a larger δ than %g", r, x, b.Delta)
							}
						}
					}
				}
			}
		}
	}
}

// A pure promise stays pure, and no δ is presumed: the slack is within the δ of one answer,
// whatever the number of answers.
func TestDefaultSlack(t *testing.T) {
	if a, b := SlackFor(accountant.Cost{Epsilon: 3, Delta: 0}),
		SlackFor(accountant.Cost{Epsilon: 0, Delta: 1e-300}); a != 0 || b != 1e-300 ||
		SlackFor(accountant.Cost{Epsilon: 0, Delta: 1e-3}) != 1e-6 {
		t.Errorf("slack %g and %g", a, b)
	}
	r := Answers{Queries: 5000, PerAnswer: accountant.Cost{Epsilon: 0.5, Delta: 0}, K: 3, Affected: 3,
		Randomness: FreshTeachers}
	r.Slack = SlackFor(r.PerAnswer)
	if total := mustTotal(t, r); total.Cost != (accountant.Cost{Epsilon: 2500, Delta: 0}) {
		t.Errorf("%+v", total)
	}
}

// An answer's cost and its noise together: the best of both at one δ.
func TestReleaseOfCostAndNoise(t *testing.T) {
	noise := normalOnVotes(40, 1)
	delta := 1e-7
	one, err := accountant.New(accountant.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	if one, err = one.Charge(noise.Event, 1); err != nil {
		t.Fatal(err)
	}
	eps, err := one.Epsilon(delta)
	if err != nil {
		t.Fatal(err)
	}
	r := Answers{Queries: 200, PerAnswer: accountant.Cost{Epsilon: eps * (1 + 1e-9), Delta: delta},
		Noise: noise, K: 250, Affected: 1, Randomness: FrozenTeachers,
		Teachers: accountant.Cost{Epsilon: math.Inf(1), Delta: 0}, Slack: 1e-5}
	b := mustBounds(t, r)
	best, _ := b.Best()
	alone := r
	alone.Noise = NoisyAnswer{}
	byCost := mustTotal(t, alone)
	if best.Method != accountant.MethodGaussian || best.Cost.Delta != b.Delta ||
		best.Cost.Epsilon > 0.9*byCost.Cost.Epsilon || byCost.Cost.Delta != b.Delta {
		t.Errorf("%+v at δ = %g, by the cost alone %+v", best, b.Delta, byCost)
	}
	// A pure promise stays pure.
	r = Answers{Queries: 4, PerAnswer: accountant.Cost{Epsilon: 0.5, Delta: 0},
		Noise: NoisyAnswer{accountant.Laplace{Scale: 2, Neighbours: accountant.ReplaceOne}, 1}, K: 10,
		Affected: 1, Randomness: FreshTeachers}
	if total := mustTotal(t, r); total.Cost != (accountant.Cost{Epsilon: 2, Delta: 0}) {
		t.Errorf("%+v", total)
	}
	// Noise that the accountant knows as nothing but the cost is the same thing, once.
	r = Answers{Queries: 50, PerAnswer: accountant.Cost{Epsilon: 0.5, Delta: 1e-6}, K: 10, Affected: 1,
		Randomness: FreshTeachers, Slack: 1e-6}
	plain := mustBounds(t, r)
	r.Noise = NoisyAnswer{accountant.ApproxDP{Cost: r.PerAnswer, Neighbours: accountant.ReplaceOne}, 1}
	if got := mustBounds(t, r); len(got.Bounds) != len(plain.Bounds) ||
		len(got.Refused) != len(plain.Refused) {
		t.Errorf("%+v, without the noise %+v", got, plain)
	}
}

// More answers than the optimal composition takes: General's closed form, which is far
// below the sum and never below the optimal one.
func TestReleaseOfVeryManyAnswers(t *testing.T) {
	raced.Sequential(t)
	r := Answers{Queries: accountant.MaxOptimalCount + 1,
		PerAnswer: accountant.Cost{Epsilon: 1e-3, Delta: 1e-12},
		Teachers:  accountant.Cost{Epsilon: 1e-3, Delta: 1e-12}, K: 9, Affected: 9,
		Randomness: FreshTeachers, Slack: defaultSlack}
	total := mustTotal(t, r)
	sum, err := accountant.Basic(r.Queries, r.PerAnswer)
	if err != nil {
		t.Fatal(err)
	}
	fewer, err := accountant.Optimal(accountant.MaxOptimalCount, r.PerAnswer, total.Cost.Delta)
	if err != nil || total.Cost.Epsilon < fewer.Epsilon || total.Cost.Epsilon > 0.01*sum.Epsilon ||
		total.Rule != fmt.Sprintf("general composition of %d answers", r.Queries) {
		t.Errorf("%+v, the sum %v, the least %v, %v", total, sum, fewer, err)
	}
	rest, err := r.AnyNumber()
	if err != nil || rest.Cost.Epsilon < total.Cost.Epsilon || rest.Cost.Epsilon > sum.Epsilon {
		t.Errorf("%+v, %v", rest, err)
	}
	r.Randomness = FrozenTeachers
	frozen := mustTotal(t, r)
	r.Queries = 2
	if few := mustTotal(t, r); frozen.Cost != few.Cost {
		t.Errorf("frozen %+v, of two answers %+v", frozen, few)
	}
}
