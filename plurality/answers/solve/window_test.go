package solve

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/lp"
	"github.com/darrm/darrm/plurality/answers"
)

// linear is the best agreement of any table of one answer, monotone or not and alike for both classes
// or not: a linear program over the probability of class 1 at each number of its votes, or at each
// lead where votes may be missing.
func linear(t testing.TB, p answers.Problem, weight []float64, each game.Each) float64 {
	t.Helper()
	n, apart := p.K+1, 2
	if p.Missing {
		n, apart = 2*p.K+1, 1
	}
	lead := func(i int) int { return -p.K + apart*i }
	factor := math.Exp(each.Epsilon)
	program, base := lp.Problem{}, 0.0
	for i := range n {
		d := lead(i)
		program.Lower, program.Upper = append(program.Lower, 0), append(program.Upper, 1)
		switch w := weight[max(d, -d)] / 2; {
		case d > 0:
			program.C = append(program.C, -w)
		case d < 0:
			program.C = append(program.C, w)
			base += w
		default:
			program.C = append(program.C, 0)
			base += 2 * w
		}
	}
	solver := must.Get(lp.New(program))(t)
	defer solver.Close()
	var rows []lp.Row
	for i := range n {
		for j := range n {
			if d := lead(j) - lead(i); i == j || max(d, -d) > 2*p.Affected {
				continue
			}
			first, second := make([]float64, n), make([]float64, n)
			first[i], first[j] = 1, -factor
			second[i], second[j] = -1, factor
			rows = append(rows, lp.Row{Coef: first, RHS: each.Delta},
				lp.Row{Coef: second, RHS: factor - 1 + each.Delta})
		}
	}
	if err := solver.AddRows(rows); err != nil {
		t.Fatal(err)
	}
	return base - must.Get(solver.Solve(t.Context()))(t).Objective
}

// The window of one answer is what a linear program over all tables finds, of both parities, and
// where votes may be missing.
func TestWindowIsTheLinearProgram(t *testing.T) {
	settings := 0
	rapid.Check(t, func(rt *rapid.T) {
		p := problem(rapid.IntRange(1, 9).Draw(rt, "K"), 2, 1, 1, 0.1)
		p.Affected = rapid.IntRange(1, min(p.K, 4)).Draw(rt, "t")
		p.Missing = rapid.Bool().Draw(rt, "missing")
		each := game.Each{Epsilon: rapid.SampledFrom([]float64{.1, .3, .5, 1}).Draw(rt, "epsilon"),
			Delta: rapid.SampledFrom([]float64{0, 1e-3, .02, .1}).Draw(rt, "delta")}
		weight := rapid.SliceOfN(rapid.Float64Range(0, 1), p.K+1, p.K+1).Draw(rt, "weight")
		sum := 0.0
		for d := range weight {
			if !p.Missing && (p.K-d)%2 != 0 {
				weight[d] = 0
			}
			sum += weight[d]
		}
		if sum == 0 {
			rt.Skip()
		}
		value := 0.0
		leads := p.Window(weight, oneLink(each))
		for d := range weight {
			weight[d] /= sum
			if d == 0 {
				value += weight[d]
			} else {
				value += weight[d] * leads[d]
			}
		}
		if want := linear(t, p, weight, each); math.Abs(value-want) > 1e-9 {
			rt.Fatalf("%+v, %+v: %.12f, the linear program %.12f", p, each, value, want)
		}
		settings++
	})
	if settings < 50 {
		t.Errorf("%d settings", settings)
	}
}

// The best tables agree as often as those of another implementation, which rounds to nearest on a
// lattice, or more often, and the bounds are its bounds or less.
func TestFewAnswersOfAnyReach(t *testing.T) {
	for _, x := range []struct {
		k, t, q              int
		epsilon, delta       float64
		before, value, bound float64 // before: neighbours by normal noise or at distance 1
	}{
		{6, 2, 3, 1.2, 1e-5, .6909, .699015, .699020},
		{10, 2, 1, 2, 1e-5, .9247, .957128, .957128},
		{10, 2, 2, 2, 1e-5, .8229, .867119, .867124},
		{10, 2, 5, 2, 1e-5, .6993, .721805, .721859},
		{20, 2, 50, 2, 1e-5, .5928, .592689, .593753},
		{15, 2, 20, 2, 1e-5, .6062, .606073, .608222},
		{25, 2, 10, 3, 1e-6, .7807, .796929, .804370},
		{25, 3, 10, 2, 1e-5, 0, .669159, .674382},
		{5, 1, 2, 1, 1e-6, .7398, .740076, .740255},
		{25, 1, 5, 2, 1e-5, .9418, .942218, .951754},
		{13, 1, 6, 2, 1e-6, .80512, .813924, 1},
	} {
		p := problem(x.k, 2, x.q, x.epsilon, x.delta)
		p.Affected = x.t
		got := must.Get(Best(t.Context(), p, accuracy(.75), Options{}))(t)
		t.Logf("K=%d t=%d Q=%d (%g, %g): %.6f for %.4f by %s, bound %.6f", x.k, x.t, x.q,
			x.epsilon, x.delta, got.Value, x.before, got.Law.Name, got.UpperBound)
		if x.q == 1 && got.Value < .957128319 {
			t.Errorf("%+v: %.9f, want .957128320, the optimum", p, got.Value)
		}
		if got.Value < x.value-3e-4 || got.Value < x.before-1e-4 || got.UpperBound > x.bound+1e-6 {
			t.Errorf("%+v: %.6f by %+v, want %.6f; bound %.6f, want %.6f", p, got.Value, got.Law, x.value,
				got.UpperBound, x.bound)
		}
	}
}

// Of more classes the best tables of few answers are those of one answer, and the bound by events is
// below that of another implementation. Of one answer it is the optimum.
func TestFewAnswersOfClasses(t *testing.T) {
	for _, x := range []struct {
		c, q                 int
		delta                float64
		before, value, bound float64
	}{
		{3, 2, 1e-5, .857052, .911773, .917895}, {3, 5, 1e-5, .706563, .736032, .771480},
		{3, 2, 1e-6, .860719, .911773, .917895}, {3, 1, 1e-5, 0, 0, 1},
	} {
		p := problem(9, x.c, x.q, 2, x.delta)
		got := must.Get(Best(t.Context(), p, uneven, Options{}))(t)
		t.Logf("K=9 C=%d Q=%d (2, %g): %.6f for %.6f by %s, bound %.6f", x.c, x.q, x.delta, got.Value,
			x.before, got.Law.Name, got.UpperBound)
		if got.Value < x.value || got.UpperBound > x.bound || got.UpperBound < got.Value {
			t.Errorf("%+v: %.6f by %s, want %.6f; bound %.6f, want %.6f", p, got.Value, got.Law.Name, x.value,
				got.UpperBound, x.bound)
		}
		if x.q == 1 && got.UpperBound > got.Value+5e-5 {
			t.Errorf("one answer: %.6f, bound %.6f", got.Value, got.UpperBound)
		}
	}
}

// A table for a smaller promise, more answers or more reach keeps the larger promise too. So a value
// never falls as ε or δ grows, and never rises with Q or t, but for what the search leaves.
func TestValuesAreMonotone(t *testing.T) {
	const left = 4e-4 // the promise is met within a tolerance
	rng := rand.New(rand.NewPCG(55, 1))
	settings, worse := 16, 0
	if long {
		settings = 400
	}
	for i := range settings {
		p := problem(2+rng.IntN(11), 2, 1+rng.IntN(12), .2+3.8*rng.Float64(), math.Pow(10, -3-5*rng.Float64()))
		if i%8 == 0 { // the programs of more classes take a second
			p.Classes, p.K, p.Answers = 3, 2+rng.IntN(4), 1+rng.IntN(4)
		}
		p.Affected = 1 + rng.IntN(min(3, p.K))
		more := p
		switch rng.IntN(4) {
		case 0:
			more.Epsilon *= 1 + .5*rng.Float64()
		case 1:
			more.Delta *= 1 + 9*rng.Float64()
		case 2:
			more.Answers = max(1, p.Answers-1-rng.IntN(3))
		case 3:
			more.Affected = max(1, p.Affected-1)
		}
		prior := answers.DefaultPrior(p)
		a := must.Get(Best(t.Context(), p, prior, Options{}))(t)
		b := must.Get(Best(t.Context(), more, prior, Options{}))(t)
		if b.Value < a.Value-1e-9 {
			worse++
		}
		if b.Value < a.Value-left {
			t.Errorf("%.6f by %s for %+v, and %.6f by %s for %+v", a.Value, a.Law.Name, p, b.Value, b.Law.Name, more)
		}
	}
	t.Logf("%d of %d pairs of settings are worse by more than 1e-9, none may be by %g", worse, settings, left)
	if 10*worse > settings {
		t.Errorf("%d of %d pairs of settings are worse", worse, settings)
	}
}
