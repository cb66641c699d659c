package solve

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
)

// Teachers that promise nothing, one reached by a record: the best binary vote-count
// mechanism. Only one vote moves, so the constraints are those of neighbouring vote
// counts, and the release is ε-DP iff ln-odds of answering 1 move by at most ε a step.
func TestNonPrivateTeachers(t *testing.T) {
	for _, k := range []int{1, 2, 5, 11, 20} {
		for _, eps := range []float64{0.1, 1, 3} {
			p, err := constraints.NewTotalProblem(k, k, eps, math.Inf(1), 0)
			if err != nil {
				t.Fatal(err)
			}
			p.Affected = 1
			table := optimal(t, p, Options{})
			if table.Gap > 1e-9 {
				t.Errorf("K=%d ε=%g: gap %g", k, eps, table.Gap)
			}
			// From the definition: Pr[1|L] against Pr[1|L±1], all L, both outputs.
			phi := table.Func().Phi()
			for l := range k {
				a, b := (1+phi[l])/2, (1+phi[l+1])/2
				if e := math.Exp(eps); b > e*a+1e-12 || a > e*b+1e-12 || 1-a > e*(1-b)+1e-12 ||
					1-b > e*(1-a)+1e-12 {
					t.Errorf("K=%d ε=%g: from %d to %d votes Pr[1] goes from %g to %g", k, eps, l, l+1, a, b)
				}
			}
			// The known optimum among all symmetric functions: start at the
			// middle and climb as fast as the definition allows.
			best := climb(k, eps)
			for l := 0; 2*l < k; l++ {
				if got := table.Func().At(l); math.Abs(got-best[l]) > 1e-7 {
					t.Errorf("K=%d ε=%g: γ(%d) = %.9f, want %.9f", k, eps, l, got, best[l])
				}
			}
		}
	}
}

// climb returns the largest γ with Pr[1|L] within ε of its neighbours: odds move by a
// factor e^ε at most in the direction that the definition binds.
func climb(k int, eps float64) []float64 {
	e := math.Exp(eps)
	up := func(p float64) float64 { return min(e*p, 1-(1-p)/e) } // largest next Pr[1]
	gamma := make([]float64, k+1)
	p := 0.5
	l := k / 2
	if k%2 == 1 {
		// The two middle counts are neighbours with Pr and 1-Pr: p ≤ e(1-p).
		p = e / (1 + e)
		l = (k + 1) / 2
		gamma[l], gamma[k-l] = 2*p-1, 2*p-1
	}
	for l++; l <= k; l++ {
		p = up(p)
		gamma[l], gamma[k-l] = 2*p-1, 2*p-1
	}
	return gamma
}

// The same release asked for by m or by its total must be the same table.
func TestTotalEpsilonIsMEpsilon(t *testing.T) {
	byM := optimal(t, problem(t, 9, 2.5, 0.2, 1e-5), Options{})
	p, err := constraints.NewTotalProblem(9, 9, 0.5, 0.2, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	byTotal := optimal(t, p, Options{})
	if p.Delta != byM.Problem().Delta || p.TotalDecimal() != "0.5" ||
		!byM.Func().Equal(byTotal.Func()) {
		t.Errorf("by m %+v %v\nby total %+v %v", byM.Problem(), byM.Func(), p, byTotal.Func())
	}
}

func TestNoNoiseNeeded(t *testing.T) {
	p := problem(t, 2001, 1, 0.1, 1e-5)
	p.Affected = 1
	table := optimal(t, p, Options{})
	if table.ExpectedError != 0 || table.Gap != 0 || table.Func().Numerator(1000) != gamma.One ||
		table.Certificate().Method != gamma.PostProcessing {
		t.Errorf("error %g, gap %g, γ(1000) = %g, by %s", table.ExpectedError, table.Gap,
			table.Func().At(1000), table.Certificate().Method)
	}
}

// Weights from counts that are a binomial law give the binomial prior's table.
func TestCountsOfABinomialAreThePrior(t *testing.T) {
	p := problem(t, 9, 2, 0.1, 1e-5)
	counts := make([]float64, 10)
	c := 1.0
	for l := range counts {
		counts[l] = c * math.Pow(0.75, float64(l)) * math.Pow(0.25, float64(9-l))
		c = c * float64(9-l) / float64(l+1)
	}
	byCounts := optimal(t, p, Options{Counts: counts})
	if byCounts.Gap > 1e-9 || byCounts.PriorMean != 0 {
		t.Errorf("gap %g, prior mean %g", byCounts.Gap, byCounts.PriorMean)
	}
	// Not the same objective: a count of l < K/2 is an error of its own here, where
	// the mean prior lets it cancel one of K-l. But a point mass is the same.
	point := make([]float64, 10)
	point[7] = 5
	alone := optimal(t, p, Options{Counts: point})
	for _, other := range []*gamma.Table{byCounts, optimal(t, p, Options{})} {
		if alone.Func().At(7) < other.Func().At(7)-1e-9 {
			t.Errorf("γ(7) = %g when only 7 votes matter, %g otherwise", alone.Func().At(7),
				other.Func().At(7))
		}
	}
	for name, bad := range map[string][]float64{
		"too few": {1, 2, 3}, "negative": {1, 1, 1, 1, 1, 1, 1, 1, 1, -1},
		"NaN":  {1, 1, 1, 1, 1, 1, 1, 1, 1, math.NaN()},
		"none": make([]float64, 10), "overflow": {math.MaxFloat64, math.MaxFloat64, 0, 0, 0, 0, 0, 0, 0,
			0},
	} {
		var pe *constraints.ParameterError
		if _, err := Optimal(context.Background(), p, Options{Counts: bad}); !errors.As(err, &pe) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var pe *constraints.ParameterError
	if _, err := Optimal(context.Background(), p,
		Options{Counts: point, WorstCase: true}); !errors.As(err, &pe) {
		t.Errorf("two priors: %v", err)
	}
}

// The worst case: the least γ(l) is as large as that of any private function, those
// optimal for other objectives and the best constant among them, and the proof shows it.
func TestWorstCase(t *testing.T) {
	for _, k := range []int{1, 2, 5, 8, 11} {
		for _, m := range []float64{1, 2, 3} {
			for _, shape := range []gamma.Shape{gamma.Free, gamma.Monotone} {
				for _, method := range []Method{CuttingPlanes, Exhaustive} {
					p := problem(t, k, m, 0.1, 1e-5)
					table := optimal(t, p, Options{WorstCase: true, Shape: shape, Method: method})
					if table.Gap > 1e-9 {
						t.Errorf("K=%d m=%g %s: gap %g", k, m, shape, table.Gap)
					}
					others := []gamma.Func{optimal(t, p, Options{Shape: shape}).Func()}
					for _, b := range table.Baselines {
						others = append(others, b.Certified.Func())
					}
					for _, f := range others {
						if (shape == gamma.Free || f.Monotone()) && gamma.WorstError(f) < table.ExpectedError-1e-9 {
							t.Errorf("K=%d m=%g %s: worst error %g, another function has %g", k, m, shape,
								table.ExpectedError, gamma.WorstError(f))
						}
					}
				}
			}
		}
	}
}

// WorstError is the maximum of ErrorAt over a grid of probabilities, corners included.
func TestWorstErrorIsTheWorst(t *testing.T) {
	f := optimal(t, problem(t, 3, 1.5, 0.3, 1e-3), Options{}).Func()
	worst := 0.0
	for i := range 11 * 11 * 11 {
		e, err := gamma.ErrorAt(f, []float64{float64(i%11) / 10, float64(i/11%11) / 10,
			float64(i/121) / 10})
		if err != nil {
			t.Fatal(err)
		}
		worst = max(worst, e)
	}
	if got := gamma.WorstError(f); math.Abs(got-worst) > 1e-15 {
		t.Errorf("WorstError = %g, on a grid %g", got, worst)
	}
}

// When time is up, the best table so far is certified, and its stated gap to the optimum is true.
func TestBestOnCancel(t *testing.T) {
	p := problem(t, 41, 5, 0.1, 1e-5)
	want := optimal(t, p, Options{}).ExpectedError
	for _, stopAt := range []int{0, 1, 2, 3} {
		ctx, cancel := context.WithCancel(context.Background())
		if stopAt == 0 {
			cancel()
		}
		o := Options{BestOnCancel: true, Progress: func(p Progress) {
			if p.Round == stopAt {
				cancel()
			}
		}}
		table, err := Optimal(ctx, p, o)
		cancel()
		if err != nil {
			t.Fatalf("stopped after round %d: %v", stopAt, err)
		}
		if table.LowerBound > want || table.ExpectedError < want-1e-9 ||
			table.Gap < want-table.LowerBound-1e-9 {
			t.Errorf("stopped after round %d: error %g, at least %g, gap %g; the optimum is %g", stopAt,
				table.ExpectedError, table.LowerBound, table.Gap, want)
		}
		for _, b := range table.Baselines {
			if e := table.BaselineError(b); e < table.ExpectedError {
				t.Errorf("stopped after round %d: %s is better, %g against %g", stopAt, b.Name, e,
					table.ExpectedError)
			}
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	if _, err := Optimal(ctx, p, Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without BestOnCancel: %v", err)
	}
}

// countdown is a context that ends when it has been asked a number of times.
type countdown struct {
	context.Context
	left *atomic.Int64
}

func (c countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Time may be up at any place, in a certificate too: there is a table all the same.
func TestBestOnCancelAnywhere(t *testing.T) {
	p := problem(t, 21, 2, 0.5, 1e-4)
	var asked atomic.Int64
	asked.Store(math.MaxInt64)
	if _, err := Optimal(countdown{t.Context(), &asked}, p, Options{}); err != nil {
		t.Fatal(err)
	}
	all := math.MaxInt64 - asked.Load()
	for i := range int64(60) {
		asked.Store(all * i / 60)
		table, err := Optimal(countdown{t.Context(), &asked}, p, Options{BestOnCancel: true})
		if err != nil {
			t.Fatalf("after %d of %d: %v", all*i/60, all, err)
		}
		if table.BetterBaseline() != nil {
			t.Errorf("after %d of %d: a baseline is better", all*i/60, all)
		}
	}
}

// The extremes: a correct table or a parameter error, never anything else.
func TestExtremes(t *testing.T) {
	for _, c := range []struct {
		k                    int
		m, eps, delta, limit float64 // limit on the relative gap
	}{
		{11, 3, 1e-6, 0, 1e-6}, {11, 3, 1e-6, 1e-15, 1e-6}, {11, 3, 20, 0, 1e-9}, {11, 3, 20, 1e-5, 1e-9},
		{11, 35, 20, 0, 1e-9},
		{11, 3, 0.1, 1e-15, 1e-9}, {11, 3, 0.1, 0.5, 1e-9}, {5, 0.5, 0.1, 0.5, 1e-9},
		{1, 1, 0.1, 0, 1e-9}, {1, 0.5, 0.1, 1e-5, 1e-9},
		{2, 1, 0.1, 1e-5, 1e-9}, {2, 3, 0.1, 0, 1e-9}, {11, 0.3, 0.1, 1e-5, 1e-9},
		{11, 50, 0.1, 1e-5, 1e-9}, {7, 1, 0, 0.1, 1e-9}, {7, 2, 0, 1e-6, 1e-6},
	} {
		table := optimal(t, problem(t, c.k, c.m, c.eps, c.delta), Options{})
		if table.Gap > c.limit*table.ErrorOfCoin() {
			t.Errorf("%+v: error %g, gap %g", c, table.ExpectedError, table.Gap)
		}
	}
	for _, c := range []struct{ m, eps float64 }{{36, 20}, {7001, 0.1}} {
		var pe *constraints.ParameterError
		if _, err := constraints.NewProblem(11, c.m, c.eps, 0); !errors.As(err, &pe) {
			t.Errorf("m=%g ε=%g: %v", c.m, c.eps, err)
		}
	}
}
