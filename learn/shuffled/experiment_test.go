package shuffled_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// long reports whether tests that take minutes shall run: DARRM_LONG=1.
func long() bool { return os.Getenv("DARRM_LONG") == "1" }

// toy is the specification's small problem of mean estimation: n = 200, d = 50, means
// 2.006 apart, scatter 0.3.
func toy(t testing.TB) datasets.Set {
	t.Helper()
	const n, d = 200, 50
	rng := rand.New(rand.NewPCG(1, 2))
	sample := func(shift float64) *data.Records {
		x := make([]float64, n*d)
		for i := range x {
			x[i] = 5/math.Sqrt(d) + 0.3*rng.NormFloat64()
			if i%d%2 == 0 {
				x[i] += shift
			} else {
				x[i] -= shift
			}
		}
		return must.Get(data.NewRecords(n, d, x, nil))(t)
	}
	return datasets.Set{
		Name: "toy", Private: sample(0), Public: sample(2 / math.Sqrt(d)),
		Task: loss.MeanEstimation{}, Regularizer: geometry.Ball{Radius: 10}, Start: make([]float64, d),
	}
}

// study tunes methods on one data set.
type study struct {
	t       *testing.T
	set     datasets.Set
	problem train.Problem
	optimum train.Optimum
	etas    []float64
	seeds   []uint64
	epochs  int
	order   iteration.SampleOrder
	quiet   bool
}

func newStudy(t *testing.T, set datasets.Set, repeats int, etas []float64) *study {
	t.Helper()
	o, err := set.Problem().Optimum()
	if err != nil {
		t.Fatal(err)
	}
	s := &study{t: t, set: set, problem: set.Problem(), optimum: o, etas: etas, epochs: 50,
		order: iteration.Reshuffled}
	for i := range repeats {
		s.seeds = append(s.seeds, uint64(i))
	}
	return s
}

// grid is a grid of a configuration on the study's data.
func (s *study) grid(c shuffled.Config, etas []float64, seeds ...uint64) train.Grid {
	g := c.Grid(s.set.Private, s.set.Public)
	g.StepSizes, g.Seeds = etas, seeds
	return g
}

// after moves the seeds on, so that studies do not share their noise.
func (s *study) after(others int) *study {
	for i := range s.seeds {
		s.seeds[i] += uint64(others)
	}
	return s
}

func (s *study) config(m shuffled.Scheme, eps, p float64) shuffled.Config {
	return shuffled.Config{
		Task: s.set.Task, Regularizer: s.set.Regularizer, Method: m, Fraction: p, Epochs: s.epochs,
		Order: s.order, Clip: 10, Start: s.set.Start,
		Target: accountant.Cost{Epsilon: eps, Delta: 1e-6}, Mode: iteration.Paper,
	}
}

// tune returns the mean excess at the best step size.
func (s *study) tune(m shuffled.Scheme, eps, p float64) train.Tuned {
	s.t.Helper()
	// Above 2/L a clipped run may end anywhere, and sometimes near the optimum.
	l := max(s.set.Task.Smoothness(s.set.Private.MaxNorm()),
		s.set.Task.Smoothness(s.set.Public.MaxNorm()))
	etas := train.Below(s.etas, l)
	seeds := s.seeds
	if m == shuffled.PublicOnly {
		seeds = seeds[:1] // nothing is random
	}
	cells, err := s.grid(s.config(m, eps, p), etas, seeds...).Run(context.Background(),
		s.problem.Objective, s.optimum)
	if err != nil {
		s.t.Fatal(err)
	}
	best, err := train.Best(cells)
	if err != nil {
		s.t.Fatal(err)
	}
	if !s.quiet {
		s.t.Logf("%-12s %-12s eps %-3g p %-4g: %.4g ± %.2g at step size %g", s.set.Name, m, eps, p,
			best.Mean, best.Std, best.StepSize)
	}
	return best
}

func TestAcceptance24NoiseFreeFloor(t *testing.T) {
	set := toy(t)
	s := newStudy(t, set, 1, nil)
	run := func(schedule shuffled.Schedule) []float64 {
		c := s.config("", 0, 0)
		c.StepSize, c.Target = 1e-4, accountant.Cost{Delta: 1e-6}
		p, err := shuffled.Scheduled(c, schedule, set.Private, set.Public)
		if err != nil {
			t.Fatal(err)
		}
		return must.Get(train.Simulate(p.Algorithm(), 1).Run(context.Background(), nil))(t)
	}
	excess := func(x []float64) float64 {
		return s.problem.Objective(x) - s.optimum.Value
	}
	half, err := set.Public.Head(100)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []struct {
		private int
		public  *data.Records
		want    float64
	}{{0, set.Public, 2.011}, {100, half, 0.503}} {
		got := excess(run(shuffled.Schedule{{Epochs: 1000, Private: v.private}}))
		p := float64(v.private) / 200
		floor := 0.0
		d, q := set.Private.Mean(), v.public.Mean()
		for j := range d {
			floor += (1 - p) * (1 - p) * (d[j] - q[j]) * (d[j] - q[j]) / 2
		}
		if math.Abs(got-floor) > 0.02*floor || math.Abs(got-v.want) > 0.06*v.want {
			t.Errorf("n_d = %d: excess %g, floor of these samples %g, of the means %g", v.private, got,
				floor, v.want)
		}
	}
}

// The order of the methods on the toy problem. Means of few runs are compared, at fixed
// seeds.
func TestAcceptance25ToyOrdering(t *testing.T) {
	repeats, etas, epsilons := 3, []float64{1e-2, 5e-3, 1e-3, 5e-4, 1e-4, 5e-5, 1e-5}, []float64{1, 10}
	if long() {
		repeats, etas, epsilons = 10, train.StepSizes(), []float64{1, 5, 10}
	}
	if raced.Enabled {
		repeats, etas, epsilons = 2, []float64{1e-2, 5e-4, 1e-4, 5e-5}, []float64{10}
	}
	s := newStudy(t, toy(t), repeats, etas)
	public := s.tune(shuffled.PublicOnly, 1, 0.5).Mean
	want := map[float64][5]float64{ // public, dp, priv-pub, pub-priv, interleaved of the specification
		1: {2.01, 12.6, 2.01, 12.4, 6.9}, 5: {2.01, 11.0, 1.99, 7.9, 2.14},
		10: {2.01, 7.57, 1.82, 4.76, 0.98},
	}
	last := map[shuffled.Scheme]train.Tuned{}
	for _, eps := range epsilons {
		got := map[shuffled.Scheme]train.Tuned{}
		for _, m := range []shuffled.Scheme{shuffled.DPShuffleG, shuffled.PrivPub, shuffled.PubPriv,
			shuffled.Interleaved} {
			got[m] = s.tune(m, eps, 0.5)
			// Invariance (acceptance 28): more ε never worsens a method.
			if before, ok := last[m]; ok {
				se := math.Hypot(before.Std, got[m].Std) / math.Sqrt(float64(repeats))
				if got[m].Mean > before.Mean+2*se {
					t.Errorf("%s: %g at eps %g, %g before", m, got[m].Mean, eps, before.Mean)
				}
			}
			last[m] = got[m]
		}
		dp, prp, pup, inter := got[shuffled.DPShuffleG].Mean, got[shuffled.PrivPub].Mean,
			got[shuffled.PubPriv].Mean, got[shuffled.Interleaved].Mean
		if !(inter < pup && inter < dp) {
			t.Errorf("eps %g: interleaved %g, pub-priv %g, dp %g", eps, inter, pup, dp)
		}
		if eps == 10 && !(inter < prp && prp < public && public < pup && pup < dp) {
			t.Errorf("eps 10: interleaved %g, priv-pub %g, public %g, pub-priv %g, dp %g", inter, prp,
				public, pup, dp)
		}
		if long() {
			for i, v := range []float64{public, dp, prp, pup, inter} {
				if w := want[eps][i]; math.Abs(v-w) > 0.3*w {
					t.Errorf("eps %g, method %d: %g, the specification's run gave %g", eps, i, v, w)
				}
			}
		}
	}
}

func TestAcceptance26MNIST(t *testing.T) {
	set, err := datasets.Standin(datasets.MNIST69, 1)
	if err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("DARRM_DATA_MNIST"); dir != "" {
		if set, err = datasets.Load(context.Background(), datasets.MNIST69, dir, 1); err != nil {
			t.Fatal(err)
		}
		set.Name = "mnist (real)"
	}
	if raced.Enabled {
		t.Skip("statistics only")
	}
	if !long() {
		// Three methods, one run each, at the step sizes that the whole grid finds best.
		at := func(eta float64, m shuffled.Scheme) float64 {
			return newStudy(t, set, 1, []float64{eta}).tune(m, 10, 0.5).Mean
		}
		public, inter, dp := at(1e-4, shuffled.PublicOnly), at(5e-5, shuffled.Interleaved),
			at(5e-6, shuffled.DPShuffleG)
		if !(2*inter < public && 2*public < dp) {
			t.Errorf("interleaved %g, public %g, dp %g", inter, public, dp)
		}
		return
	}
	s := newStudy(t, set, 2, []float64{1e-3, 5e-4, 1e-4, 5e-5, 1e-5, 5e-6})
	for _, eps := range []float64{5, 10} {
		public := s.tune(shuffled.PublicOnly, eps, 0.5).Mean
		inter := s.tune(shuffled.Interleaved, eps, 0.5).Mean
		prp := s.tune(shuffled.PrivPub, eps, 0.5).Mean
		pup := s.tune(shuffled.PubPriv, eps, 0.5).Mean
		dp := s.tune(shuffled.DPShuffleG, eps, 0.5).Mean
		if !(inter < public && math.Abs(prp-public) < 0.03*public && max(prp, public) < pup && pup < dp) {
			t.Errorf("eps %g: interleaved %g, public %g, priv-pub %g, pub-priv %g, dp %g", eps, inter,
				public, prp, pup, dp)
		}
	}
	a, b, c := s.tune(shuffled.Interleaved, 10, 0.25).Mean, s.tune(shuffled.Interleaved, 10, 0.5).Mean,
		s.tune(shuffled.Interleaved, 10, 0.75).Mean
	if !(a > b && b > c) {
		t.Errorf("p = .25, .5, .75: %g, %g, %g", a, b, c)
	}
}

// Interleaved is the best of all five methods on every stand-in for Crime. At ε = 5 it is
// so by the factor 1.5 on each; at ε = 1 the factor depends on the data drawn and on the
// noise, with a median of 1.5 over 24 stand-ins (1.15 to 1.78): the specification's run, at
// 2.1, drew well. Its figures are within our noise all the same: TestReferenceRunOnStandins.
func TestAcceptance27Crime(t *testing.T) {
	if raced.Enabled {
		t.Skip("statistics only")
	}
	epsilons, standins, repeats, etas := []float64{5}, 1, 10, []float64{1e-5, 5e-6, 1e-6}
	if long() {
		epsilons, standins, repeats, etas = []float64{1, 5}, 12, 10, train.StepSizes()
	}
	for _, eps := range epsilons {
		var factors []float64
		for k := range standins {
			set, err := datasets.Standin(datasets.Crime, uint64(k))
			if err != nil {
				t.Fatal(err)
			}
			s := newStudy(t, set, repeats, etas).after(100 * k)
			runnerUp := math.Inf(1)
			for _, m := range []shuffled.Scheme{shuffled.PublicOnly, shuffled.DPShuffleG, shuffled.PrivPub,
				shuffled.PubPriv} {
				runnerUp = min(runnerUp, s.tune(m, eps, 0.5).Mean)
			}
			factors = append(factors, runnerUp/s.tune(shuffled.Interleaved, eps, 0.5).Mean)
		}
		slices.Sort(factors)
		t.Logf("eps %g: the runner-up has %.3g times the excess", eps, factors)
		least, median := 1.5, 1.5
		if eps == 1 {
			least, median = 1, 1.3
		}
		if factors[0] < least || factors[len(factors)/2] < median {
			t.Errorf("eps %g: factors %.3g, but they must be at least %g, and %g in the middle", eps,
				factors, least, median)
		}
	}
}

func TestAcceptance27Standins(t *testing.T) {
	if raced.Enabled {
		t.Skip("statistics only")
	}
	best := func(_, dp, prp, pup, inter float64) bool { return inter < min(dp, prp, pup) }
	type one struct {
		name    string
		eps     float64
		repeats int
		etas    []float64
		check   func(public, dp, prp, pup, inter float64) bool
	}
	cases := []one{{datasets.CreditCard, 10, 3, []float64{5e-2, 1e-2, 1e-3, 1e-4, 5e-5, 1e-5}, best}}
	if long() {
		cases = []one{
			{datasets.COMPAS, 10, 10, train.StepSizes(), best},
			{datasets.CreditCard, 10, 10, train.StepSizes(), best},
			// 1.5e8 normals a run
			{datasets.CIFAR10, 5, 1, []float64{1e-5, 5e-6, 1e-6, 5e-7, 1e-7},
				func(public, dp, prp, pup, inter float64) bool {
					return dp <= inter && public >= max(dp, prp, pup, inter)
				}},
		}
	}
	for _, v := range cases {
		set, err := datasets.Standin(v.name, 3)
		if err != nil {
			t.Fatal(err)
		}
		s := newStudy(t, set, v.repeats, v.etas)
		var got [5]float64
		for i, m := range compared {
			got[i] = s.tune(m, v.eps, 0.5).Mean
		}
		if !v.check(got[0], got[1], got[2], got[3], got[4]) {
			t.Errorf("%s at eps %g: %.4g of %v", v.name, v.eps, got, compared)
		}
	}
}

// The order over ε of acceptance 28 is checked with the toy problem's; here that Public
// Only is the same run at every ε.
func TestAcceptance28PublicOnlyIsInvariant(t *testing.T) {
	s := newStudy(t, toy(t), 1, []float64{1e-2, 1e-3})
	a, b := s.tune(shuffled.PublicOnly, 0.1, 0.5), s.tune(shuffled.PublicOnly, 10, 0.5)
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%+v and %+v", a, b)
	}
}

func TestAcceptance29Deterministic(t *testing.T) {
	s := newStudy(t, toy(t), 3, nil)
	s.epochs = 5
	var first []train.Cell
	for _, m := range []shuffled.Scheme{shuffled.Interleaved, shuffled.DPShuffleG, shuffled.DPSGD} {
		for i, workers := range []int{1, 2, 3, 8, 0} {
			last, calls := 0, 0
			g := s.grid(s.config(m, 5, 0.5), []float64{1e-2, 1e-3, 1e-4}, 7, 5, 9)
			g.Workers, g.KeepTraces = workers, true
			g.Progress = func(done, total int) {
				if done != last+1 || total != 9 {
					t.Errorf("progress %d of %d after %d", done, total, last)
				}
				last = done
				calls++
			}
			cells, err := g.Run(context.Background(), s.problem.Objective, s.optimum)
			if err != nil {
				t.Fatal(err)
			}
			if calls != 9 {
				t.Errorf("%d calls of progress", calls)
			}
			if i == 0 {
				first = cells
			} else if !reflect.DeepEqual(cells, first) {
				t.Errorf("%s: %d workers give other cells", m, workers)
			}
			if len(cells[4].Trace) != 6 || cells[4].StepSize != 1e-3 || cells[4].Seed != 5 ||
				cells[4].Trace[5] != cells[4].Last {
				t.Errorf("cell %+v", cells[4])
			}
		}
		again, err := s.grid(s.config(m, 5, 0.5), []float64{1e-2}, 7).Run(context.Background(),
			s.problem.Objective, s.optimum)
		if err != nil || again[0].Last != first[0].Last {
			t.Errorf("without traces: %+v, %v, want %+v", again, err, first[0].Last)
		}
	}
}

func TestGridEnds(t *testing.T) {
	s := newStudy(t, toy(t), 1, nil)
	g := s.grid(s.config(shuffled.DPShuffleG, 5, 0.5), []float64{1e-3, 1e-4}, 1, 2, 3)
	ctx, cancel := context.WithCancel(context.Background())
	g.Progress = func(done, _ int) { cancel() }
	if _, err := g.Run(ctx, s.problem.Objective, s.optimum); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	g.Progress = nil
	g.StepSizes = []float64{1e-3, -1}
	if _, err := g.Run(context.Background(), s.problem.Objective, s.optimum); err == nil ||
		!strings.Contains(err.Error(), "step size") {
		t.Errorf("step size -1: %v", err)
	}
	g.StepSizes, g.Seeds = nil, nil
	if _, err := g.Run(context.Background(), s.problem.Objective, s.optimum); err == nil {
		t.Error("an empty grid")
	}
	// Runs that diverge count as +Inf and are never the best.
	c := s.config(shuffled.ShuffleG, 5, 0.5)
	c.Clip, c.Regularizer = math.Inf(1), nil
	cells, err := s.grid(c, []float64{1e4, 1e-3}, 1, 2).Run(context.Background(), s.problem.Objective,
		s.optimum)
	if err != nil {
		t.Fatal(err)
	}
	best, err := train.Best(cells)
	if err != nil || best.StepSize != 1e-3 || !cells[0].Diverged ||
		!math.IsInf(cells[0].Last.Excess, 1) || cells[2].Diverged {
		t.Errorf("best %+v, %v; cells %+v", best, err, cells)
	}
	if _, err := train.Best(cells[:2]); !errors.Is(err, train.ErrDiverged) {
		t.Errorf("all diverged: %v", err)
	}
	if got := len(train.StepSizes()); got != 18 {
		t.Errorf("%d step sizes", got)
	}
	if got := fmt.Sprint(train.Below([]float64{3, 2, 1}, 1)); got != "[2 1]" {
		t.Errorf("below: %s", got)
	}
}

func benchmarkPlan(b *testing.B, epochs int) *shuffled.Plan {
	set, err := datasets.Standin(datasets.MNIST69, 1)
	if err != nil {
		b.Fatal(err)
	}
	return must.Get(shuffled.NewPlan(b.Context(), shuffled.Config{
		Task: set.Task, Regularizer: set.Regularizer, Method: shuffled.DPShuffleG, Epochs: epochs,
		Order: iteration.Reshuffled, Clip: 10, StepSize: 1e-5,
		Target: accountant.Cost{Epsilon: 5, Delta: 1e-6},
	}, set.Private, set.Public))(b)
}

// One run of MNIST's size, n·d = 784,000 a epoch, beside its normals alone: see ns/normal
// of BenchmarkNormals. Allocations do not grow with the epochs.
func BenchmarkRun(b *testing.B) {
	for _, epochs := range []int{1, 4, 16} {
		b.Run(fmt.Sprintf("epochs=%d", epochs), func(b *testing.B) {
			p := benchmarkPlan(b, epochs)
			b.ReportAllocs()
			seed := uint64(0)
			for b.Loop() {
				if _, err := train.Simulate(p.Algorithm(), seed).Run(context.Background(), nil); err != nil {
					b.Fatal(err)
				}
				seed++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(epochs*784_000),
				"ns/normal")
		})
	}
}
