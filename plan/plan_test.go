package plan

import (
	"context"
	"errors"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/testing/composetest"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality/answers"
	answerssolve "github.com/darrm/darrm/plurality/answers/solve"
)

var nothing = accountant.Cost{Epsilon: math.Inf(1)}

// request is one that most tests vary.
func request(t testing.TB, k, classes int, teachers accountant.Cost) Request {
	t.Helper()
	votes, err := Prior(k, classes, 0.75)
	if err != nil {
		t.Fatal(err)
	}
	return Request{
		Stated: ensemble.Stated{K: k, Classes: classes, Epsilon: &teachers.Epsilon, TeacherDelta: &teachers.Delta,
			Affected: new(1), Neighbours: accountant.ReplaceOne},
		Budget: accountant.Cost{Epsilon: 2, Delta: 1e-5}, Queries: 10, Votes: votes,
		SolveAnswers: normalNoise,
	}
}

// state states what each teacher promises, and how the teachers vote.
func (r *Request) state(each accountant.Cost, how ensemble.TeacherRandomness) {
	r.Epsilon, r.TeacherDelta, r.Teachers = &each.Epsilon, &each.Delta, how
}

// normalNoise makes tables for many answers quickly.
func normalNoise(ctx context.Context, p answers.Problem, prior answers.Prior) (*answers.Table,
	error) {
	return answerssolve.Best(ctx, p, prior,
		answerssolve.Options{Law: answers.NormalLaw, Price: game.Options{Step: 0.5}})
}

func mustPlan(t testing.TB, r Request) *Plan {
	t.Helper()
	return must.Get(New(context.Background(), r))(t)
}

func (p *Plan) named(t testing.TB, name string) Choice {
	t.Helper()
	i := slices.IndexFunc(p.Choices, func(c Choice) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no %s among %d choices; refused: %v", name, len(p.Choices), p.Refused)
	}
	return p.Choices[i]
}

// The labels' ε is the largest decimal of four digits that fits, by a composition worked out
// another way: it fits, and the next does not.
func TestLargestByBruteForce(t *testing.T) {
	for _, q := range []int{1, 2, 7, 40, 200} {
		for _, budget := range []accountant.Cost{{Epsilon: 0.05, Delta: 1e-7}, {Epsilon: 1, Delta: 1e-5},
			{Epsilon: 8, Delta: 1e-3}, {Epsilon: 3}} {
			r := request(t, 9, 3, nothing)
			r.Queries, r.Budget = q, budget
			lnmax, _ := ensemble.Describe("lnmax")
			x, err := r.largest(context.Background(), r.counts(lnmax, 0))
			if err != nil {
				t.Fatal(err)
			}
			next := gridValue(gridBelow(num.Decimal(x)) + 1)
			if d := composetest.Delta(q, x, 0, budget.Epsilon); d > budget.Delta*(1+1e-9)+1e-15 {
				t.Errorf("Q = %d, %v: ε₀ = %v costs δ = %v", q, budget, x, d)
			}
			// One label is charged by itself: no slack is spent on it.
			if d := composetest.Delta(q, next, 0, budget.Epsilon); q > 1 && d <= budget.Delta*(1-1e-6) {
				t.Errorf("Q = %d, %v: ε₀ = %v is not the largest, %v costs δ = %v", q, budget, x, next, d)
			}
		}
	}
}

// Whatever is asked for, no choice costs more than the budget, by Answers made anew from the
// mechanism; its δ includes the slack; it is for as many teachers as one record reaches; and
// the next larger m or ε₀ costs too much.
func TestChoicesKeepTheBudget(t *testing.T) {
	checks := 0
	rapid.Check(t, func(rt *rapid.T) {
		if checks++; checks > 6 && os.Getenv("DARRM_LONG") == "" {
			return // each takes up to half a second
		}
		k := rapid.IntRange(1, 9).Draw(rt, "K")
		r := request(t, k, rapid.IntRange(2, 4).Draw(rt, "classes"), nothing)
		r.Affected = new(rapid.IntRange(1, k).Draw(rt, "affected"))
		r.Queries = rapid.IntRange(1, 60).Draw(rt, "queries")
		r.Budget = accountant.Cost{
			Epsilon: rapid.SampledFrom([]float64{0.3, 1, 2.5, 7}).Draw(rt, "E"),
			Delta:   rapid.SampledFrom([]float64{0, 1e-9, 1e-5, 3e-3}).Draw(rt, "D"),
		}
		if rapid.Bool().Draw(rt, "private") {
			r.state(accountant.Cost{
				Epsilon: rapid.SampledFrom([]float64{0.01, 0.2, 1}).Draw(rt, "eps"),
				Delta:   rapid.SampledFrom([]float64{0, 1e-8, 1e-4}).Draw(rt, "Delta"),
			}, rapid.SampledFrom([]ensemble.TeacherRandomness{ensemble.FreshTeachers,
				ensemble.FrozenTeachers}).Draw(rt, "randomness"))
		}
		r.For = rapid.SampledFrom([]Purpose{"", ForStudent, ForLabels}).Draw(rt, "purpose")
		p := mustPlan(t, r)
		all := r.kinds(r.promise() && r.Teachers == ensemble.FreshTeachers)
		for i, c := range p.Choices {
			if !within(c.Total, r.Budget) || c.Mechanism.Setting().Affected != *r.Affected ||
				c.Mechanism.Problem().Affected != *r.Affected {
				rt.Fatalf("%s costs %v for t = %d", c.Name, c.Total, c.Mechanism.Problem().Affected)
			}
			value := func(c Choice) float64 { return math.Sqrt(c.Worth.Each()) }
			if r.For == ForLabels {
				value = func(c Choice) float64 { return c.Agreement.Expected }
			}
			if i > 0 && value(c) > value(p.Choices[i-1])+alike {
				rt.Fatalf("%s is after %s", c.Name, p.Choices[i-1].Name)
			}
			if c.Frozen {
				if want, err := accountant.Basic(*r.Affected, r.Each()); err != nil || c.Total != want ||
					!c.NoNoise {
					rt.Fatalf("frozen: %v, want %v, %v", c.Total, want, err)
				}
				continue
			}
			teachers := c.Mechanism.Teachers()
			if private := !math.IsInf(teachers.Epsilon, 1); private &&
				(teachers != r.Each() || r.Teachers != ensemble.FreshTeachers) {
				rt.Fatalf("%s presumes teachers that cost %v", c.Name, teachers)
			}
			again, err := c.Mechanism.Answers(r.Queries, c.Slack).Total()
			if err != nil || again.Cost != c.Total {
				rt.Fatalf("%s: planned %v, charged %v, %v", c.Name, c.Total, again.Cost, err)
			}
			if c.Name == ensemble.TableOfAnswers { // made for all of the budget
				if c.Total != r.Budget || c.Mechanism.Together().Most != r.Queries {
					rt.Fatalf("%+v costs %v of %v", c.Mechanism.Together(), c.Total, r.Budget)
				}
				continue
			}
			per := c.Mechanism.PerAnswer()
			union := new(big.Rat).Mul(num.Decimal(per.Delta), big.NewRat(int64(r.Queries), 1))
			if union.Add(union, num.Decimal(c.Slack)).Cmp(num.Decimal(r.Budget.Delta)) > 0 && !c.NoNoise {
				rt.Fatalf("%s: Q·%v + %v > %v", c.Name, per.Delta, c.Slack, r.Budget.Delta)
			}
			next := gridValue(gridBelow(num.Decimal(c.x)) + 1)
			if k := all[c.kind]; next <= k.most {
				if cost, err := r.cost(context.Background(), k, next); err == nil && within(cost, r.Budget) {
					rt.Fatalf("%s: x = %v, but %v costs %v", c.Name, c.x, next, cost)
				}
			}
		}
	})
}

// Frozen private teachers whose training fits need no noise, however many labels; where it
// does not fit they are planned for as teachers that promise nothing. Fresh ones pay for every
// label.
func TestFrozenAndFresh(t *testing.T) {
	r := request(t, 11, 2, accountant.Cost{Epsilon: 0.1, Delta: 1e-7})
	r.Affected, r.Teachers = new(4), ensemble.FrozenTeachers
	r.Budget.Epsilon = 0.4 // exactly four teachers
	for _, r.Queries = range []int{1, 10, 1_000_000} {
		p := mustPlan(t, r)
		if c := p.Choices[0]; len(p.Choices) != 1 || !c.Frozen || !c.NoNoise || !p.Fits ||
			c.Total.Epsilon != 0.4 || c.Agreement.Expected < 1-1e-12 {
			t.Errorf("Q = %d: %+v", r.Queries, p)
		}
	}
	// A budget's δ counts as its ε does: four teachers' δ is just below 4e-7.
	for delta, fits := range map[float64]bool{4e-7: true, 3.99e-7: false} {
		of := r
		of.Queries, of.Budget.Delta = 10, delta
		if p := mustPlan(t, of); p.Fits != fits {
			t.Errorf("δ = %v: fits %v", delta, p.Fits)
		}
	}
	r.Queries, r.Affected = 10, new(5)
	p := mustPlan(t, r)
	if p.Fits || p.Training == nil || p.Training.Cost.Epsilon != 0.5 || !p.FitsIfDisjoint {
		t.Errorf("training: %+v", p.Training)
	}
	for _, c := range p.Choices {
		if c.Frozen || c.NoNoise || !math.IsInf(c.Mechanism.Problem().Epsilon, 1) {
			t.Errorf("%s rests on teachers that cost too much: %+v", c.Name, c.Mechanism.Problem())
		}
	}
	r.Affected, r.Teachers = new(4), ensemble.FreshTeachers
	p = mustPlan(t, r)
	c := p.named(t, ensemble.OptimalTeachers)
	if p.Fits || p.Training != nil || c.NoNoise || c.Mechanism.Problem().M >= 4 ||
		c.Mechanism.Teachers().Epsilon != 0.1 {
		t.Errorf("fresh: fits %v, %+v", p.Fits, c.Mechanism.Problem())
	}
	// All four votes of each of ten queries may be revealed for 40 teachers' ε.
	r.Budget.Epsilon = 4
	p = mustPlan(t, r)
	if c := p.named(t, ensemble.OptimalTeachers); !p.Fits || !c.NoNoise || c.Mechanism.Problem().M != 4 {
		t.Errorf("fresh, large budget: fits %v, %+v", p.Fits, c.Mechanism.Problem())
	}
}

// More than two classes without need of noise: said, though there is no mechanism for it.
func TestManyClassesOfPrivateTeachers(t *testing.T) {
	r := request(t, 11, 3, accountant.Cost{Epsilon: 0.1, Delta: 1e-7})
	r.Teachers = ensemble.FrozenTeachers
	if p := mustPlan(t, r); !p.Fits || p.Choices[0].Name == ensemble.OptimalTeachers ||
		p.Choices[0].Frozen {
		t.Errorf("%+v", p)
	}
}

// The advice is itself a plan: with its budget, or its number of queries, labels agree as
// often as was wanted, and with a budget that is 3 % less they do not.
func TestAdviceIsFeasible(t *testing.T) {
	for _, r := range []Request{
		request(t, 11, 2, nothing),
		func() Request {
			r := request(t, 11, 2, accountant.Cost{Epsilon: 0.4, Delta: 1e-9})
			r.Teachers, r.Affected = ensemble.FreshTeachers, new(3)
			return r
		}(),
	} {
		r.Queries, r.Agreement = 12, 0.95
		if os.Getenv("DARRM_LONG") != "" {
			r.Queries = 30
		}
		p := mustPlan(t, r)
		a := p.Advice
		if a == nil || a.Epsilon <= r.Budget.Epsilon || a.Queries < 1 || a.Queries >= r.Queries {
			t.Fatalf("advice %+v, best %+v", a, p.Choices[0].Agreement)
		}
		more, fewer, less := r, r, r
		more.Budget.Epsilon, less.Budget.Epsilon, fewer.Queries = a.Epsilon, 0.97*a.Epsilon, a.Queries
		if a.EpsilonName == ensemble.TableOfAnswers { // advised by normal noise, and tables are better
			less.Budget.Epsilon = 0.7 * a.Epsilon
		}
		if got := mustPlan(t, more); got.Advice != nil {
			t.Errorf("budget %v: agreement %v", a.Epsilon, got.Choices[0].Agreement.Expected)
		}
		if got := mustPlan(t, fewer); got.Advice != nil {
			t.Errorf("%d queries: agreement %v", a.Queries, got.Choices[0].Agreement.Expected)
		}
		if got := mustPlan(t, less); got.Advice == nil {
			t.Errorf("budget %v would do: agreement %v", less.Budget.Epsilon,
				got.Choices[0].Agreement.Expected)
		}
	}
}

// Tables of few histograms are advised too: the least budget for many classes is that of the optimum.
func TestAdviceOfTheOptimum(t *testing.T) {
	r := request(t, 5, 3, nothing)
	r.Budget, r.Queries, r.Agreement = accountant.Cost{Epsilon: 1}, 2, 0.95
	a := mustPlan(t, r).Advice
	if a == nil || a.EpsilonName != ensemble.OptimalCounts {
		t.Errorf("%+v", a)
	}
}

// A composition of labels without a δ of their own has the whole budget's, which no grid rounds down.
func TestSlackOfPureLabels(t *testing.T) {
	r := request(t, 5, 2, nothing)
	r.Budget.Delta = 1.23456789e-5
	if slack, ok := r.slack(0); !ok || slack != r.Budget.Delta {
		t.Errorf("%v of %v, %t", slack, r.Budget.Delta, ok)
	}
	if slack, ok := r.slack(1e-6); !ok || !(slack > 0 && slack <= 1.23456789e-5-10*1e-6) {
		t.Errorf("%v beside ten labels of δ = 1e-6, %t", slack, ok)
	}
	if _, ok := r.slack(2e-6); ok {
		t.Error("ten labels of δ = 2e-6 fit")
	}
}

// Each number is planned for as a request of its own, and told as it is.
func TestNumbersArePlans(t *testing.T) {
	r := request(t, 5, 2, nothing)
	r.Budget.Delta = 0
	var told []int
	r.Progress = func(done, of int) { told = append(told, done, of) }
	all := must.Get(Numbers(t.Context(), r, []int{1, 3}))(t)
	if !slices.Equal(told, []int{1, 2, 2, 2}) || len(all) != 2 || all[0].Queries != 1 || all[1].Queries != 3 {
		t.Fatalf("told %v: %+v", told, all)
	}
	r.Progress, r.Queries = nil, 3
	if own := mustPlan(t, r).Choices[0]; own.Title() != all[1].Plan.Choices[0].Title() || own.Total != all[1].Plan.Choices[0].Total {
		t.Errorf("%+v, planned alone %+v", all[1].Plan.Choices[0], own)
	}
}

func TestInfeasible(t *testing.T) {
	r := request(t, 11, 2, nothing)
	r.Budget, r.Queries = accountant.Cost{Epsilon: 1e-6}, 100
	_, err := New(context.Background(), r)
	var infeasible *InfeasibleError
	if !errors.As(err, &infeasible) || len(infeasible.Refused) == 0 ||
		!strings.Contains(err.Error(), "100 labels cost (0.0001, 0) even at the smallest ε or m of one label that a plan considers, 1e-06") {
		t.Errorf("%v", err)
	}
}

func TestRequestErrors(t *testing.T) {
	for want, change := range map[string]func(*Request){
		"budget epsilon = 0, but":            func(r *Request) { r.Budget.Epsilon = 0 },
		"budget epsilon = NaN":               func(r *Request) { r.Budget.Epsilon = math.NaN() },
		"budget delta = 1, but":              func(r *Request) { r.Budget.Delta = 1 },
		"queries = 0, but":                   func(r *Request) { r.Queries = 0 },
		"affected = 12, but":                 func(r *Request) { r.Affected = new(12) },
		"number of classes = 1":              func(r *Request) { r.Classes = 1 },
		"same numbers of teachers and class": func(r *Request) { r.Votes, _ = DefaultLaw(r.K, 3) },
		"agreement = 2, but":                 func(r *Request) { r.Agreement = 2 },
		"teachers = not stated":              func(r *Request) { r.Epsilon = new(1.0) },
		"teachers' cost = (0, 0)":            func(r *Request) { r.state(accountant.Cost{}, "") },
		"epsilon = -1, but": func(r *Request) {
			r.Epsilon, r.Teachers = new(-1.0), ensemble.FreshTeachers
		},
	} {
		r := request(t, 11, 2, nothing)
		change(&r)
		if p, err := New(context.Background(), r); p != nil || err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", want, p, err)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r := request(t, 101, 2, nothing)
	r.Progress = func(done, of int) { cancel() }
	if p, err := New(ctx, r); p != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", p, err)
	}
}

func TestGrid(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := rapid.Float64Range(1e-28, 1e6).Draw(rt, "x")
		r := num.Decimal(x)
		i := gridBelow(r)
		if num.Decimal(gridValue(i)).Cmp(r) > 0 || num.Decimal(gridValue(i+1)).Cmp(r) <= 0 ||
			gridFloor(r) != gridValue(i) {
			rt.Fatalf("%v is not between %v and %v", x, gridValue(i), gridValue(i+1))
		}
		if up := gridCeil(x); num.Decimal(up).Cmp(r) < 0 || gridCeil(gridValue(i)) != gridValue(i) {
			rt.Fatalf("%v rounds up to %v", x, up)
		}
	})
}

// A plan for votes that may be none takes mechanisms that are proved for them, names the others,
// and refuses private teachers, of whom nothing says that their promise covers whether they vote. A
// sample's votes that are not all there are taken then, and only then.
func TestPlanForVotesThatMayBeNone(t *testing.T) {
	r := Request{Stated: ensemble.Stated{K: 9, Classes: 2, Affected: new(1), Neighbours: accountant.ReplaceOne, Missing: true},
		Budget: accountant.Cost{Epsilon: 4, Delta: 1e-5}, Queries: 10}
	p := must.Get(New(t.Context(), r))(t)
	refused := map[string]bool{}
	for _, x := range p.Refused {
		refused[x.Name] = errors.Is(x.Err, ensemble.ErrMissing)
	}
	if !refused[ensemble.OptimalTeachers] || !refused[ensemble.OptimalCounts] {
		t.Errorf("refused: %+v", p.Refused)
	}
	many := false
	for _, c := range p.Choices {
		if !c.Mechanism.Setting().Missing {
			t.Errorf("%s is not for such votes", c.Name)
		}
		many = many || c.Mechanism.AnswersTable() != nil
	}
	if !many {
		t.Error("no table for many answers is among the choices")
	}
	law := must.Get(NewSample(9, 2))(t)
	if err := law.Add([]int{1, 2}); err == nil {
		t.Error("missing votes were taken without a word")
	}
	law.AllowMissing()
	for _, counts := range [][]int{{1, 2}, {0, 0}, {9, 0}} {
		if err := law.Add(counts); err != nil {
			t.Fatal(err)
		}
	}
	if err := law.Add([]int{5, 5}); err == nil {
		t.Error("10 votes of 9 teachers")
	}
	r.Votes = law
	if p, err := New(t.Context(), r); err != nil || len(p.Choices) == 0 {
		t.Errorf("%+v, %v", p, err)
	}
	r.Missing = false
	if _, err := New(t.Context(), r); err == nil {
		t.Error("votes that are none were planned for mechanisms that take none")
	}
	r.Votes, r.Missing, r.Epsilon, r.Teachers = nil, true, new(0.1), ensemble.FreshTeachers
	var bad *check.Error
	if _, err := New(t.Context(), r); !errors.As(err, &bad) || bad.Name != "epsilon" {
		t.Errorf("private teachers: %v", err)
	}
}

// A mechanism that fails for one reason with and without a δ of each label is refused once.
func TestRefusedOnce(t *testing.T) {
	r := request(t, 5, 2, nothing)
	r.Solve = func(context.Context, constraints.Problem) (*gamma.Table, error) { return nil, errors.New("too large") }
	p := must.Get(New(t.Context(), r))(t)
	if len(p.Refused) != 1 || p.Refused[0].Name != ensemble.OptimalCounts {
		t.Errorf("refused %v", p.Refused)
	}
}
