package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/lp"
)

func problem(t testing.TB, k int, m, eps, teacherDelta float64) constraints.Problem {
	t.Helper()
	return must.Get(constraints.NewProblem(k, m, eps, teacherDelta))(t)
}

// affecting returns p for teachers of which one record reaches t.
func affecting(p constraints.Problem, t int) constraints.Problem {
	p.Affected = t
	return p
}

func optimal(t testing.TB, p constraints.Problem, o Options) *gamma.Table {
	t.Helper()
	table, err := Optimal(context.Background(), p, o)
	if err != nil {
		t.Fatalf("%+v %+v: %v", p, o, err)
	}
	return table
}

// long reports whether tests that take minutes shall run: DARRM_LONG=1.
func long() bool { return os.Getenv("DARRM_LONG") == "1" }

// The project's reference values, computed by full enumeration and by another
// cutting-plane program, which agree to 1e-10. ε = 0.1, μ = 0.75, δ = 1-(1-Δ)^m.
// digits is to how many γ is printed.
func TestReferenceOptima(t *testing.T) {
	for _, c := range []struct {
		k      int
		m      float64
		delta  float64
		shape  gamma.Shape
		want   float64
		gamma  []float64
		digits float64
	}{
		{11, 1, 1e-5, gamma.Free, 0.215672492986, []float64{1, 9. / 11, 7. / 11, 5. / 11, 3. / 11,
			1. / 11}, 1e-9},
		{11, 3, 1e-5, gamma.Free, 0.041269485245, []float64{1, 0.977696, 1, 1, 0.542340, 0.939241},
			5.1e-7},
		{11, 3, 1e-5, gamma.Monotone, 0.041430263904, []float64{1, 1, 1, 0.92697, 0.70767, 0.70767},
			5.1e-6},
		{11, 3, 0, gamma.Free, 0.041306023299, nil, 0},
		{11, 7, 0, gamma.Free, 0, []float64{1, 1, 1, 1, 1, 1}, 1e-12},
		{11, 9, 0, gamma.Free, 0, []float64{1, 1, 1, 1, 1, 1}, 1e-12},
		{11, 11, 0, gamma.Free, 0, []float64{1, 1, 1, 1, 1, 1}, 1e-12},
		{13, 2, 1e-5, gamma.Free, 0.1063209979, []float64{1, 1, 0.942984, 0.826745, 0.741627, 0.281205,
			0.563592}, 5.1e-7},
		{15, 4, 0, gamma.Free, 0.024491582496, nil, 0},
		{41, 5, 0, gamma.Free, 0.0174197572, nil, 0},
	} {
		for _, method := range []Method{CuttingPlanes, Exhaustive} {
			name := fmt.Sprintf("K=%d m=%g Δ=%g %s %s", c.k, c.m, c.delta, c.shape, method)
			table := optimal(t, problem(t, c.k, c.m, 0.1, c.delta), Options{Shape: c.shape, Method: method})
			if got := table.ExpectedError; math.Abs(got-c.want) > 1.2e-10 {
				t.Errorf("%s: expected error %.12f, want %.12f", name, got, c.want)
			}
			if table.Gap > 1e-9 {
				t.Errorf("%s: gap %g", name, table.Gap)
			}
			for l, want := range c.gamma {
				if got := table.Func().At(l); math.Abs(got-want) > c.digits {
					t.Errorf("%s: γ(%d) = %.9f, want %.6f", name, l, got, want)
				}
			}
			t.Logf("%s: error %.12f gap %.2g slack %.2g proof %d", name, table.ExpectedError, table.Gap,
				table.Certificate().Slack, len(table.Proof.Multipliers))
		}
	}
}

// Δ = 0, m = 1 and ε small: γ(l) = |2l/K-1|, releasing one teacher's answer (Jiang
// 2024, Lemma 3.4.2), for odd and even K.
func TestOneTeacherAllowance(t *testing.T) {
	for _, k := range []int{1, 2, 3, 4, 5, 8, 11, 20, 31} {
		for _, eps := range []float64{0.01, 0.1} {
			table := optimal(t, problem(t, k, 1, eps, 0), Options{})
			want := make([]float64, (k+1)/2)
			for l := range want {
				want[l] = 1 - 2*float64(l)/float64(k)
			}
			// The program is ill-conditioned in γ for large K, not in its objective:
			// differences of 2e-8 near the middle are worth less than 1e-9.
			tolerance := 1e-9
			if k > 20 {
				tolerance = 1e-7
			}
			for l, w := range want {
				if got := table.Func().At(l); math.Abs(got-w) > tolerance {
					t.Errorf("K=%d ε=%g: γ(%d) = %.12f, want %.12f", k, eps, l, got, w)
				}
			}
			if e := freeError(t, k, want); math.Abs(table.ExpectedError-e) > 1e-9 {
				t.Errorf("K=%d ε=%g: error %.12f, want %.12f", k, eps, table.ExpectedError, e)
			}
		}
	}
}

// Where ε is not small, |2l/K-1| is not optimal: randomised response on the
// majority with γ ≡ (e^ε-1)/(e^ε+1) is ε-DP whatever the teachers are, and better
// for many teachers. The optimum is as good as either.
func TestOneTeacherAllowanceLargeEpsilon(t *testing.T) {
	for _, k := range []int{3, 8, 11, 31} {
		for _, eps := range []float64{1, 3} {
			one, response := make([]float64, (k+1)/2), make([]float64, (k+1)/2)
			for l := range one {
				one[l] = 1 - 2*float64(l)/float64(k)
				response[l] = math.Tanh(eps / 2)
			}
			got := optimal(t, problem(t, k, 1, eps, 0), Options{}).ExpectedError
			if limit := min(freeError(t, k, one), freeError(t, k, response)); got > limit+1e-9 {
				t.Errorf("K=%d ε=%g: error %.12f, want at most %.12f", k, eps, got, limit)
			}
		}
	}
}

// freeError is the expected error of the given free values under the default prior.
func freeError(t testing.TB, k int, free []float64) float64 {
	t.Helper()
	f, err := gamma.FromFree(k, free)
	if err != nil {
		t.Fatal(err)
	}
	w, err := gamma.Weights(k, DefaultPriorMean)
	if err != nil {
		t.Fatal(err)
	}
	return must.Get(gamma.ExpectedError(f, w))(t)
}

// Δ = 0 and m ≥ (K+1)/2: no noise is needed, Jiang (2025), Theorem 3.5.1 as
// it extends to teachers that differ.
func TestEnoughAllowanceNeedsNoNoise(t *testing.T) {
	for _, k := range []int{1, 2, 3, 4, 5, 6, 9, 11, 21} {
		for _, eps := range []float64{0.01, 0.1, 1, 3} {
			for _, m := range []float64{float64(k+1) / 2, float64(k), float64(k) + 0.5} {
				f := optimal(t, problem(t, k, m, eps, 0), Options{}).Func()
				for l := range (k + 1) / 2 {
					if f.At(l) < 1-1e-9 {
						t.Errorf("K=%d m=%g ε=%g: γ(%d) = %.12f", k, m, eps, l, f.At(l))
					}
				}
			}
		}
	}
}

// A record that reaches one teacher only: releasing the plain majority costs what
// that teacher costs, by post-processing.
func TestOneAffectedTeacherNeedsNoNoise(t *testing.T) {
	for _, k := range []int{1, 2, 3, 6, 11, 15} {
		for _, delta := range []float64{0, 1e-5, 1e-2} {
			for _, eps := range []float64{0.01, 0.1, 1} {
				f := optimal(t, affecting(problem(t, k, 1, eps, delta), 1), Options{}).Func()
				for l := range (k + 1) / 2 {
					if f.At(l) < 1-1e-9 {
						t.Errorf("K=%d Δ=%g ε=%g: γ(%d) = %.12f", k, delta, eps, l, f.At(l))
					}
				}
			}
		}
	}
}

// K = 1 has one teacher to pass on or not: γ(0) is the largest g with
// g·(2a-1)·(1+E)/(E-1+2δ) ≤ 1 at corner (a,b), and so on for (1,1-Δ). Worked out in
// closed form for Δ = 0: γ(0) = min(1, (E-1)(e^ε+1)/((E+1)(e^ε-1))).
// K = 2 has the free value γ(0) too: ties release a coin.
func TestOneAndTwoTeachers(t *testing.T) {
	for _, m := range []float64{0.25, 0.5, 0.9, 1, 2} {
		for _, eps := range []float64{0.1, 1, 3} {
			e, x := math.Exp(m*eps), math.Exp(eps)
			want := min(1, (e-1)*(x+1)/((e+1)*(x-1)))
			if got := optimal(t, problem(t, 1, m, eps, 0), Options{}).Func().At(0); math.Abs(got-want) >
				1e-9 {
				t.Errorf("K=1 m=%g ε=%g: γ(0) = %.12f, want %.12f", m, eps, got, want)
			}
			// K = 2: φ = (-g,0,g), so Φ = g(p1+p2-1) is a sum over teachers and the
			// worst multiset is found among the ten by hand.
			a := x / (x + 1)
			worst := 0.0
			pairs := [][2]float64{{0, 0}, {1, 1}, {a, 1 - a}, {1 - a, a}}
			for i, u := range pairs {
				for _, v := range pairs[i:] {
					worst = max(worst, (u[0]+v[0]-1)-e*(u[1]+v[1]-1))
				}
			}
			want = min(1, (e-1)/worst)
			if got := optimal(t, problem(t, 2, m, eps, 0), Options{}).Func().At(0); math.Abs(got-want) >
				1e-9 {
				t.Errorf("K=2 m=%g ε=%g: γ(0) = %.12f, want %.12f", m, eps, got, want)
			}
		}
	}
}

func TestUtilityGrowsWithAllowance(t *testing.T) {
	for _, shape := range []gamma.Shape{gamma.Free, gamma.Monotone} {
		for _, delta := range []float64{0, 1e-5} {
			last := math.Inf(1)
			for _, m := range []float64{0.25, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 6} {
				e := optimal(t, problem(t, 11, m, 0.1, delta), Options{Shape: shape}).ExpectedError
				if e > last+1e-10 {
					t.Errorf("%s Δ=%g: error rises to %.12f from %.12f at m = %g", shape, delta, e, last, m)
				}
				if m <= 4 && !(e < last-1e-4) {
					t.Errorf("%s Δ=%g: error %.12f at m = %g is no better than %.12f", shape, delta, e, m, last)
				}
				last = e
			}
		}
	}
}

func TestUtilityFallsWithAffectedTeachers(t *testing.T) {
	for _, k := range []int{8, 9} {
		last := 0.0
		for affected := 1; affected <= k; affected++ {
			p := affecting(problem(t, k, 2, 0.1, 1e-5), affected)
			e := optimal(t, p, Options{}).ExpectedError
			if e < last-1e-10 {
				t.Errorf("K=%d: error falls to %.12f from %.12f at t = %d", k, e, last, affected)
			}
			last = e
		}
		if last < 0.05 {
			t.Errorf("K=%d: error %g with all teachers affected", k, last)
		}
	}
}

func TestMonotoneIsMonotone(t *testing.T) {
	for _, delta := range []float64{0, 1e-5} {
		free := optimal(t, problem(t, 11, 3, 0.1, delta), Options{})
		monotone := optimal(t, problem(t, 11, 3, 0.1, delta), Options{Shape: gamma.Monotone})
		if free.Func().Monotone() || !monotone.Func().Monotone() {
			t.Errorf("Δ=%g: free %v, monotone %v", delta, free.Func(), monotone.Func())
		}
		if monotone.ExpectedError < free.ExpectedError {
			t.Errorf("Δ=%g: monotone error %v, free %v", delta, monotone.ExpectedError, free.ExpectedError)
		}
	}
}

func TestProgressIsReported(t *testing.T) {
	for _, method := range []Method{CuttingPlanes, Exhaustive} {
		var seen []Progress
		table := optimal(t, problem(t, 11, 3, 0.1, 1e-5),
			Options{Method: method, Progress: func(p Progress) { seen = append(seen, p) }})
		if len(seen) == 0 {
			t.Fatalf("%s: no progress", method)
		}
		for i, p := range seen {
			if p.Round != i+1 || p.Rows < 1 {
				t.Errorf("%s: report %d says %+v", method, i, p)
			}
			// Each relaxation bounds the optimum from below.
			if p.Error > table.ExpectedError+1e-9 {
				t.Errorf("%s: round %d has error %v, the optimum %v", method, p.Round, p.Error,
					table.ExpectedError)
			}
		}
		if last := seen[len(seen)-1]; last.Violation != 0 ||
			math.Abs(last.Error-table.ExpectedError) > 1e-9 {
			t.Errorf("%s: ended with %+v, error %v", method, last, table.ExpectedError)
		}
	}
}

func TestTableSaysWhoMadeIt(t *testing.T) {
	p := problem(t, 5, 2, 0.1, 1e-5)
	if table := optimal(t, p, Options{Version: "1.2.3"}); table.Solver != lp.Backend() ||
		table.Version != "1.2.3" ||
		table.PriorMean != DefaultPriorMean || table.Shape != gamma.Free || table.Problem() != p {
		t.Errorf("table of %+v by %q %q, prior %v, shape %s", table.Problem(), table.Solver,
			table.Version, table.PriorMean, table.Shape)
	}
}

func TestOptimalRefuses(t *testing.T) {
	good := problem(t, 11, 3, 0.1, 1e-5)
	bad := good
	bad.Epsilon = math.NaN()
	for name, c := range map[string]struct {
		p constraints.Problem
		o Options
	}{
		"problem":    {bad, Options{}},
		"prior mean": {good, Options{PriorMean: 0.5}},
		"shape":      {good, Options{Shape: "convex"}},
		"method":     {good, Options{Method: "guess"}},
	} {
		var pe *constraints.ParameterError
		if table, err := Optimal(context.Background(), c.p, c.o); table != nil || !errors.As(err, &pe) {
			t.Errorf("%s: %v %v, want a ParameterError", name, table, err)
		}
	}
}

func TestExhaustiveRefusesWhatDoesNotFit(t *testing.T) {
	table, err := Optimal(context.Background(), problem(t, 41, 5, 0.1, 1e-5),
		Options{Method: Exhaustive})
	var tooMany *TooManyRowsError
	if table != nil || !errors.As(err, &tooMany) {
		t.Fatalf("%v, want a TooManyRowsError", err)
	}
	if tooMany.Rows.String() != "73629072" || tooMany.Limit < 1 { // C(48,7)
		t.Errorf("%v rows, limit %d", tooMany.Rows, tooMany.Limit)
	}
}

// A solve that takes seconds begins no round after its context's end.
func TestOptimalHonoursTheContext(t *testing.T) {
	for _, method := range []Method{CuttingPlanes, Exhaustive} {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if table, err := Optimal(ctx, problem(t, 13, 3, 0.1, 1e-5), Options{Method: method}); table !=
			nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled before: %v", method, err)
		}
	}
	// Cancelled in the first round, when most of the work lies ahead.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	calls := 0
	_, err := Optimal(ctx, problem(t, 101, 5, 0.1, 1e-5), Options{Progress: func(Progress) {
		calls++
		cancel()
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled in the first round: %v", err)
	}
	if calls != 1 {
		t.Errorf("it went on for %d rounds after the context", calls-1)
	}
}
