package shuffled

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// vector is the specification's test vector of the closed forms; σ is from ε = 5,
// δ = 1e-6, G = 10, K = 50.
func vector(runs ...BoundRun) BoundInput {
	for i := range runs {
		runs[i].AvgSmoothness, runs[i].MaxSmoothness = 1, 1
	}
	return BoundInput{
		N: 1000, Dim: 10, StepSize: 1e-5, Distance: 5, Variance: 4, AvgSmoothness: 1, MaxSmoothness: 1,
		Beta: 0.05, StrongConvexity: 1, SmoothPsi: true, Convex: true, Runs: runs,
	}
}

func bound(t *testing.T, in BoundInput) Bound {
	t.Helper()
	return must.Get(ExcessRisk(in))(t)
}

func TestAcceptance21Bounds(t *testing.T) {
	dp := bound(t, vector(BoundRun{Epochs: 50, Private: 1000, Noise: 161.09214237}))
	must.Near(t, "step cap", dp.StepCap, 7.134110112853776e-05, 1e-12)
	must.Near(t, "initial", dp.Printed.Initial, 50, 1e-12)
	must.Near(t, "optimisation", dp.Printed.Optimisation, 0.01964809202, 1e-8)
	must.Near(t, "DP noise", dp.Printed.Noise, 1.529643948, 1e-8)
	must.Near(t, "DP noise, corrected", dp.Corrected.Noise, 26.76876909, 1e-8)
	prp := bound(t, vector(
		BoundRun{Epochs: 25, Private: 1000, Noise: 113.9093463},
		BoundRun{Epochs: 25, Cn: 100, MeanSquareC: 2000}))
	must.Near(t, "Priv-Pub M", prp.Printed.M(), 0.7503398698, 1e-8)
	must.Near(t, "Priv-Pub exact M", prp.PrintedExact.M(), 0.4347918156, 1e-8)
	must.Near(t, "Priv-Pub total", prp.Printed.Total(), 51.52032783, 1e-8)
	inter := bound(t, vector(BoundRun{Epochs: 50, Private: 500, Noise: 7.197066149, Cn: 60,
		MeanSquareC: 900}))
	must.Near(t, "Interleaved M", inter.Printed.M(), 0.1783616294, 1e-8)
	must.Near(t, "Interleaved exact M", inter.PrintedExact.M(), 0.1633717094, 1e-8)
	must.Near(t, "Interleaved total", inter.Printed.Total(), 50.37637135, 1e-8)
	if len(inter.Fails) != 0 {
		t.Errorf("%v", inter.Fails)
	}

	for _, v := range []struct {
		n, d                      int
		eps, p, dp, prp, int, sgd float64
	}{
		{1000, 784, 5, .5, 0.0994452482, 0.0626465808, 0.00157649362, 0.0056},
		{1000, 784, 10, .5, 0.0394648729, 0.0248613120, 0.000625631909, 0.0028},
		{159, 124, 1, .5, 0.847259357, 0.533739949, 0.0454449665, 0.0700347719},
		{2103, 11, 5, .5, 0.00352432218, 0.00222018385, 3.40612723e-05, 0.00031541843},
		{200, 21, 5, .25, 0.0260315200, 0.0103306155, 0.000918011726, 0.0045825757},
	} {
		rate := func(m Scheme) Rates {
			return must.Get(rate(m, v.n, v.d, v.eps, v.p))(t)
		}
		must.Near(t, "DP rate", rate(DPShuffleG).Printed, v.dp, 1e-8)
		must.Near(t, "Priv-Pub rate", rate(PrivPub).Printed, v.prp, 1e-8)
		must.Near(t, "Pub-Priv rate", rate(PubPriv).Printed, v.prp, 1e-8)
		must.Near(t, "Interleaved rate", rate(Interleaved).Printed, v.int, 1e-8)
		must.Near(t, "optimum", rate(DPSGD).Printed, v.sgd, 1e-8)
		if !(rate(Interleaved).Corrected < rate(PrivPub).Corrected &&
			rate(PrivPub).Corrected < rate(DPShuffleG).Corrected) {
			t.Errorf("%v: the corrected order differs", v)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 5000).Draw(t, "n")
		p := rapid.Float64Range(0.0001, 1).Draw(t, "p")
		a, err := rate(Interleaved, n, 10, 1, p)
		b, err2 := rate(PrivPub, n, 10, 1, p)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		inside := p >= 1/float64(n)
		if less := a.Printed <= b.Printed*(1+1e-12); less != inside &&
			math.Abs(a.Printed/b.Printed-1) > 1e-9 {
			t.Errorf("n = %d, p = %g: %g and %g", n, p, a.Printed, b.Printed)
		}
		for _, p := range []float64{1 / float64(n), 1} {
			a, _ := rate(Interleaved, n, 10, 1, p)
			b, _ := rate(PrivPub, n, 10, 1, p)
			if math.Abs(a.Printed/b.Printed-1) > 1e-9 {
				t.Errorf("p = %g: %g and %g", p, a.Printed, b.Printed)
			}
		}
	})
}

func TestExactBoundBelowClosedForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := func(name string) float64 { return rapid.Float64Range(0, 3).Draw(t, name) }
		in := BoundInput{N: rapid.IntRange(1, 50).Draw(t, "n"), Dim: 3, StepSize: 0.01,
			Distance: f("dist"), Variance: f("var"),
			AvgSmoothness: 1, MaxSmoothness: 1, Beta: 0.1, Projection: rapid.Bool().Draw(t, "projection")}
		for range rapid.IntRange(1, 3).Draw(t, "runs") {
			in.Runs = append(in.Runs, BoundRun{Epochs: rapid.IntRange(1, 30).Draw(t, "epochs"),
				Private: in.N, Noise: f("noise"),
				AvgSmoothness: f("avg"), MaxSmoothness: f("max"), Cn: f("cn"), MeanSquareC: f("c")})
		}
		b, err := ExcessRisk(in)
		if err != nil {
			t.Fatal(err)
		}
		if b.PrintedExact.M() > b.Printed.M()*(1+1e-12) ||
			b.CorrectedExact.M() > b.Corrected.M()*(1+1e-12) {
			t.Errorf("exact %g and %g, closed %g and %g", b.PrintedExact.M(), b.CorrectedExact.M(),
				b.Printed.M(), b.Corrected.M())
		}
		// The double loop of the definition, as the oracle of the exact form.
		var each []Terms
		for _, r := range in.Runs {
			for range r.Epochs {
				each = append(each, in.epoch(r, false))
			}
		}
		worst := 0.0
		for s := 1; s <= len(each); s++ {
			m := 0.0
			for k := 1; k <= s; k++ {
				e := each[k-1]
				m += (e.NonVanishing + e.Vanishing + e.Noise + e.Other) / float64(s+1-k)
			}
			worst = max(worst, m)
		}
		if math.Abs(b.PrintedExact.M()-worst) > 1e-9*worst {
			t.Errorf("M = %g, by the definition %g", b.PrintedExact.M(), worst)
		}
	})
}

func TestBoundHypotheses(t *testing.T) {
	in := vector(BoundRun{Epochs: 50, Private: 500, Noise: 7, Cn: 60, MeanSquareC: 900,
		GapSmoothness: 2})
	in.StepSize, in.SmoothPsi, in.Convex = 1e-3, false, false
	fails := strings.Join(bound(t, in).Fails, "\n")
	for _, want := range []string{"step size 0.001", "twice differentiable", "not convex",
		"strong convexity 1"} {
		if !strings.Contains(fails, want) {
			t.Errorf("%q is missing in %q", want, fails)
		}
	}
	if b := bound(t, vector(BoundRun{Epochs: 1, Private: 1000})); len(b.Fails) != 1 {
		t.Errorf("K = 1: %v", b.Fails)
	}
	// The appendix's terms for other ψ are vacuous at scale, and of the printed bound only.
	in = vector(BoundRun{Epochs: 50, Private: 1000, Noise: 161})
	plain := bound(t, in)
	in.Projection = true
	proj := bound(t, in)
	must.Near(t, "projection", proj.Printed.Other, 10*161*161*(1+math.Log(50)), 1e-9)
	in.Projection, in.L1Bound = false, 2
	if l1 := bound(t, in); l1.Printed.Other != 2000 || l1.Corrected != plain.Corrected ||
		proj.Corrected != plain.Corrected || proj.StepCap >= plain.StepCap {
		t.Errorf("l1 %+v, projection %+v", l1, proj)
	}
	for name, f := range map[string]func(*BoundInput){
		"n":         func(in *BoundInput) { in.N = 0 },
		"d":         func(in *BoundInput) { in.Dim = 0 },
		"runs":      func(in *BoundInput) { in.Runs = nil },
		"step size": func(in *BoundInput) { in.StepSize = math.NaN() },
		"distance":  func(in *BoundInput) { in.Distance = -1 },
		"noise":     func(in *BoundInput) { in.Runs[0].Noise = math.Inf(1) },
		"epochs":    func(in *BoundInput) { in.Runs[0].Epochs = 0 },
		"private":   func(in *BoundInput) { in.Runs[0].Private = 2000 },
		"beta":      func(in *BoundInput) { in.Beta, in.Runs[0].Cn = 0, 1 },
	} {
		in := vector(BoundRun{Epochs: 50, Private: 1000, Noise: 161})
		f(&in)
		if _, err := ExcessRisk(in); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func estimate(t *testing.T, task loss.Loss, private, public *data.Records, nd int,
	o DissimilarityOptions) Dissimilarity {
	t.Helper()
	return must.Get(EstimateDissimilarity(context.Background(), task, private, public, nd, o))(t)
}

func TestAcceptance22SpecialBounds(t *testing.T) {
	// Without noise and public data the bound is the non-private one.
	b := bound(t, vector(BoundRun{Epochs: 50, Private: 1000}))
	want := 25/(1e-5*1000*50) + 10*1e-10*1e6*4*(1+math.Log(50))
	must.Near(t, "non-private", b.Printed.Total(), want, 1e-12)
	must.Near(t, "non-private, corrected", b.CorrectedExact.Total(), want, 1e-12)
	// P a permutation of D.
	private := gaussians(t, 1, 30, 4, func(int) float64 { return 0 }, 1, true)
	perm := make([]int, 30)
	identity(perm)
	slices.Reverse(perm)
	public, err := private.Select(perm)
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range []loss.Loss{loss.MeanEstimation{}, loss.LeastSquares{}, loss.Logistic{}} {
		if d := estimate(t, task, private, public, 0,
			DissimilarityOptions{Probes: [][]float64{{1, 2, 3, 4}}}); d.Cn > 1e-10 {
			t.Errorf("%s: C_n = %g", task.Name(), d.Cn)
		}
	}
}

func TestAcceptance23Dissimilarity(t *testing.T) {
	check := func(what string, got []float64, want ...float64) {
		t.Helper()
		for i := range want {
			if len(got) != len(want) || math.Abs(got[i]-want[i]) > 1e-12 {
				t.Errorf("%s: %v, want %v", what, got, want)
				return
			}
		}
	}
	d, p := scalars(t, 1, -1), scalars(t, 1, -1)
	check("±1, n_d = 0", estimate(t, loss.MeanEstimation{}, d, p, 0, DissimilarityOptions{}).Max, 2, 0)
	check("±1, n_d = 1", estimate(t, loss.MeanEstimation{}, d, p, 1, DissimilarityOptions{}).Max, 2)
	d, p = scalars(t, 0, 2, 4, 6), scalars(t, 1, 1, 1, 1)
	for nd, want := range [][]float64{{5, 8, 9, 8}, {5, 8, 9}, {5, 8}, {5}} {
		e := estimate(t, loss.MeanEstimation{}, d, p, nd, DissimilarityOptions{})
		check(fmt.Sprintf("n_d = %d", nd), e.Max, want...)
		if !e.Exact {
			t.Error("not exact")
		}
		must.Near(t, "mean over permutations", e.Mean[len(e.Mean)-1], []float64{8, 6, 4, 2.5}[nd], 1e-12)
		// The alternating search finds the same maxima.
		g, h := gradients(loss.MeanEstimation{}, d, 4, []float64{0}, 0),
			gradients(loss.MeanEstimation{}, p, 4-nd, []float64{0}, 0)
		sum := []float64{0}
		for i := range h {
			floats.AddScaled(sum, 1, h[i])
			if got := largestSubsetGap(g, sum, i+1, 3, stream.Seeded(1).Stream("x", 0),
				make([]int, 4)); math.Abs(got-want[i]) > 1e-12 {
				t.Errorf("n_d = %d, i = %d: search finds %g, want %g", nd, i, got, want[i])
			}
		}
	}
}

// The search against enumeration in three dimensions, and C_n = n·‖m_D-m_P‖ for n_d = 0.
func TestDissimilaritySearch(t *testing.T) {
	found, wanted := 0.0, 0.0
	for seed := range uint64(20) {
		zero := func(int) float64 { return 0 }
		private, public := gaussians(t, seed, 7, 3, zero, 1, false),
			gaussians(t, seed+100, 7, 3, zero, 1, false)
		e := estimate(t, loss.MeanEstimation{}, private, public, 2, DissimilarityOptions{})
		g, h := gradients(loss.MeanEstimation{}, private, 7, make([]float64, 3), 0),
			gradients(loss.MeanEstimation{}, public, 5, make([]float64, 3), 0)
		sum := make([]float64, 3)
		for i := range h {
			floats.AddScaled(sum, 1, h[i])
			got := largestSubsetGap(g, sum, i+1, 3, stream.Seeded(seed).Stream("x", 0), make([]int, 7))
			if got > e.Max[i]+1e-9 {
				t.Errorf("search finds %g, above the maximum %g", got, e.Max[i])
			}
			found += got
			wanted += e.Max[i]
		}
		mean := 0.0
		for j, m := range private.Mean() {
			mean += (m - public.Mean()[j]) * (m - public.Mean()[j])
		}
		full := estimate(t, loss.MeanEstimation{}, private, public, 0, DissimilarityOptions{})
		must.Near(t, "C_n", full.Cn, 7*math.Sqrt(mean), 1e-9)
	}
	if found < 0.97*wanted {
		t.Errorf("the search finds %g of %g in all", found, wanted)
	}
	private := gaussians(t, 3, 40, 3, func(int) float64 { return 0 }, 1, true)
	public := gaussians(t, 4, 40, 3, func(int) float64 { return 1 }, 1, true)
	e := estimate(t, loss.Logistic{}, private, public, 20, DissimilarityOptions{Clip: 0.5})
	if e.Exact || len(e.Max) != 20 || e.Cn <= 0 || e.Cn > 20 || e.MeanSquare(40) <= 0 {
		t.Errorf("%+v", e)
	}
	for i := range e.Max {
		if e.Mean[i] > e.Max[i] {
			t.Errorf("mean above maximum at %d", i)
		}
	}
	for name, err := range map[string]error{
		"n_d": second(EstimateDissimilarity(context.Background(), loss.Logistic{}, private, public,
			40, DissimilarityOptions{})),
		"probe": second(EstimateDissimilarity(context.Background(), loss.Logistic{}, private, public,
			4, DissimilarityOptions{Probes: [][]float64{{1}}})),
		"dimension": second(EstimateDissimilarity(context.Background(), loss.Logistic{}, private,
			scalars(t, 1), 39, DissimilarityOptions{})),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestGapSmoothness(t *testing.T) {
	private := records(t, [][]float64{{2, 0}, {0, 1}}, []float64{0, 1})
	public := records(t, [][]float64{{1, 0}, {0, 3}}, []float64{0, 1})
	// 2/2·‖diag(4,1) - diag(1,9)‖ = 8.
	must.Near(t, "ridge", gapSmoothness(loss.LeastSquares{}, private, public, 0), 8, 1e-6)
	must.Near(t, "logistic", gapSmoothness(loss.Logistic{}, private, public, 0), 1, 1e-6)
	must.Near(t, "n_d = 1", gapSmoothness(loss.LeastSquares{}, private, public, 1), 1, 1e-6)
	if l := gapSmoothness(loss.MeanEstimation{}, private, public, 0); l != 0 {
		t.Errorf("mean: %g", l)
	}
	if l := gapSmoothness(quadratic{}, private, public, 0); !math.IsInf(l, 1) {
		t.Errorf("unknown task: %g", l)
	}
}

func TestPlanBounds(t *testing.T) {
	private := gaussians(t, 1, 20, 3, func(int) float64 { return 1 }, 1, true)
	public := gaussians(t, 2, 20, 3, func(int) float64 { return 0 }, 1, true)
	for _, m := range []Scheme{DPShuffleG, PrivPub, PubPriv, Interleaved} {
		c := config(m)
		c.Task, c.Regularizer, c.StepSize = loss.LeastSquares{}, geometry.L2{Lambda: 50}, 1e-4
		p := plan(t, c, private, public)
		o, err := train.Problem{Loss: c.Task, Regularizer: c.Regularizer, Records: private}.Optimum()
		if err != nil {
			t.Fatal(err)
		}
		in, err := p.Bounds(func(nd int) (Dissimilarity, error) {
			return EstimateDissimilarity(context.Background(), c.Task, private, public, nd,
				DissimilarityOptions{Probes: [][]float64{o.X}})
		}, o, 0)
		if err != nil {
			t.Fatal(err)
		}
		b := bound(t, in)
		if len(b.Fails) != 0 || !(b.Corrected.Total() > b.Printed.Initial) {
			t.Errorf("%s: %v, %+v", m, b.Fails, b.Corrected)
		}
		// Where its hypotheses hold, the corrected bound is above what runs do.
		excess := 0.0
		for seed := range uint64(20) {
			excess += (train.Problem{Loss: c.Task, Regularizer: c.Regularizer,
				Records: private}.Objective(simulate(t, p, seed)) - o.Value) / 20
		}
		if excess > b.CorrectedExact.Total() {
			t.Errorf("%s: excess %g above the corrected bound %g", m, excess, b.CorrectedExact.Total())
		}
	}
}

func TestTunedStepSize(t *testing.T) {
	must.Near(t, "without variance", tunedStepSize(10, 1, 1, 0, 2, 8), 1.0/40, 1e-12)
	must.Near(t, "with", tunedStepSize(10, 1, 1, 1e6, 1, 1), 1.0/1000, 1e-12)
}

// The bounds use C_i² of all steps but the last, over n.
func TestMeanSquareOfDissimilarity(t *testing.T) {
	d := Dissimilarity{Private: 1, Max: []float64{2, 3, 100}}
	if got := d.MeanSquare(4); got != 13./4 {
		t.Errorf("%v", got)
	}
	if got := (Dissimilarity{}).MeanSquare(4); got != 0 {
		t.Errorf("nothing: %v", got)
	}
}

// Public data that are the private data have no gap, and no smoothness of it.
func TestNoGapOfTheSameData(t *testing.T) {
	d := gaussians(t, 1, 10, 3, func(int) float64 { return 0 }, 1, true)
	for _, task := range []loss.Loss{loss.MeanEstimation{}, loss.LeastSquares{}, loss.Logistic{}} {
		if got := gapSmoothness(task, d, d, 0); got != 0 {
			t.Errorf("%s: %v", task.Name(), got)
		}
	}
}
