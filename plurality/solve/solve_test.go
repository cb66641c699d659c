package solve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	gammasolve "github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/lp"
	"github.com/darrm/darrm/plurality"
)

func optimal(t testing.TB, p plurality.Problem, objective plurality.Objective,
	o Options) *plurality.Table {
	t.Helper()
	return must.Get(Optimal(context.Background(), p, objective, o))(t)
}

// Two classes and one affected vote have a closed form, whatever the prior: the error k steps
// past the tie is ½e^{-εk} for even K and e^{-ε(k-1)}/(1+e^ε) for odd K (Ghosh, Roughgarden
// and Sundararajan, arXiv 0811.2841). Permute-and-flip reaches it for even K.
func TestTwoClassesClosedForm(t *testing.T) {
	for _, x := range []struct {
		k       int
		eps, mu float64
	}{{1, 1, .9}, {2, .5, .7}, {11, .3, .75}, {12, .3, .6}, {25, .1, .55}, {40, .2, .8}} {
		table := optimal(t, plurality.Problem{K: x.k, Classes: 2, Epsilon: x.eps, Affected: 1},
			plurality.Objective{Accuracy: x.mu}, Options{Gap: 1e-11})
		s := table.System()
		w, err := table.Objective.Weights(context.Background(), s.Space)
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for h := range s.Histograms() {
			votes := s.Histogram(h)
			lead := votes[0] - votes[1]
			e := math.Exp(-x.eps*float64(lead)/2) / 2
			if x.k%2 == 1 {
				e = math.Exp(-x.eps*float64(lead-1)/2) / (1 + math.Exp(x.eps))
			}
			if lead == 0 {
				e = 0 // either answer is a plurality class
			}
			want += w.Low[h] * (1 - e)
		}
		if table.Value > want+1e-13 || table.UpperBound < want-1e-13 || table.Gap > 1e-10 {
			t.Errorf("K=%d: [%.14f, %.14f], closed form %.14f", x.k, table.Value, table.UpperBound, want)
		}
		if x.k%2 == 0 {
			all := table.Baselines()
			if math.Abs(all[0].Value-want) > 1e-13 {
				t.Errorf("K=%d: permute-and-flip %.14f, closed form %.14f", x.k, all[0].Value, want)
			}
		}
	}
}

// Two classes are the private majority of teachers who promise nothing, for agreement, also
// where the first-order method finds them.
func TestTwoClassesFirstOrder(t *testing.T) {
	for _, x := range []struct {
		k, t           int
		eps, delta, mu float64
	}{{7, 1, .5, 0, .7}, {8, 1, .5, 0, .7}, {9, 2, .8, 0, .6}, {10, 3, 1, 0, .75}, {11, 11, 2, 0, .8},
		{9, 1, .3, 1e-3, .7}, {10, 2, .6, .05, .6}} {
		table := optimal(t, plurality.Problem{K: x.k, Classes: 2, Epsilon: x.eps, Delta: x.delta,
			Affected: x.t}, plurality.Objective{Accuracy: x.mu}, Options{Gap: 1e-9, Method: FirstOrder})
		counts, err := gamma.TwoSidedCounts(x.k, x.mu)
		if err != nil {
			t.Fatal(err)
		}
		majority, err := gammasolve.Optimal(context.Background(),
			constraints.Problem{K: x.k, TotalEpsilon: x.eps, Epsilon: math.Inf(1), Delta: x.delta,
				Affected: x.t},
			gammasolve.Options{Counts: counts})
		if err != nil {
			t.Fatal(err)
		}
		if d := table.Value - (1 - majority.ExpectedError); math.Abs(d) > 3e-9 {
			t.Errorf("%+v: plurality %.12f, majority %.12f", x, table.Value, 1-majority.ExpectedError)
		}
	}
}

// The table is the same, byte for byte, whatever the number of workers, for programs of which several have a part.
func TestWorkersDoNotMatter(t *testing.T) {
	for _, p := range []plurality.Problem{
		{K: 36, Classes: 5, Epsilon: .5, Affected: 1},
		{K: 75, Classes: 3, Epsilon: .5, Delta: 1e-3, Affected: 1},
	} {
		o := plurality.Objective{Accuracy: .5}
		s := must.Get(plurality.NewSystem(p))(t)
		if n := mustProgram(t, s, o, must.Get(o.Weights(t.Context(), s.Space))(t)).workers(7); n < 2 {
			t.Errorf("%+v: %d worker", p, n)
		}
		var first []byte
		for _, workers := range []int{1, 7} {
			table := optimal(t, p, o, Options{Gap: 1e-2, Method: FirstOrder, Workers: workers})
			var b bytes.Buffer
			if err := table.Encode(&b); err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = b.Bytes()
			}
			if !bytes.Equal(first, b.Bytes()) {
				t.Errorf("%+v: %d workers make another table", p, workers)
			}
		}
	}
}

// Polishing closes the gap: histograms that hardly ever occur are not yet private when those that
// count are.
func TestPolishingPays(t *testing.T) {
	raced.Elsewhere(t, "TestWorkersDoNotMatter")
	p, o := plurality.Problem{K: 100, Classes: 3, Epsilon: .1, Affected: 1},
		plurality.Objective{Accuracy: .5}
	s, err := plurality.NewSystem(p)
	if err != nil {
		t.Fatal(err)
	}
	w, err := o.Weights(context.Background(), s.Space)
	if err != nil {
		t.Fatal(err)
	}
	gaps := map[bool]float64{}
	for _, polished := range []bool{true, false} {
		pr := mustProgram(t, s, o, w)
		ctx, cancel := context.WithCancel(context.Background())
		f := &firstOrder{program: pr, best: &incumbent{x: s.PermuteAndFlip(), upper: 1}, workers: 1,
			progress: func(p Progress) {
				if p.Steps > 2000 {
					cancel()
				}
			}}
		if !polished {
			f.polished = 1 << 40 // no budget
		}
		if err := f.run(ctx, 1e-12); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		cancel()
		gaps[polished] = f.best.gap()
	}
	t.Logf("after 2000 steps the gap is %.2g polished and %.2g not", gaps[true], gaps[false])
	if gaps[true] > 0.3*gaps[false] {
		t.Errorf("after 2000 steps the gap is %.2g polished and %.2g not", gaps[true], gaps[false])
	}
}

// An engine's sums do not depend on its workers either, also where programs are so small that
// Optimal uses one.
func TestParallelSums(t *testing.T) {
	want := math.NaN()
	for _, workers := range []int{1, 2, 5, 100} {
		g := &engine{workers: workers, stopped: func() bool { return false }}
		got := g.parallel(1000, func(from, to int) (sum float64) {
			for i := from; i < to; i++ {
				sum += 1 / float64(i+1)
			}
			return sum
		})
		if math.IsNaN(want) {
			want = got
		}
		if got != want {
			t.Errorf("%d workers: %v, want %v", workers, got, want)
		}
	}
}

// The gap is what was asked for, progress runs to it, and bounds only get better.
func TestGapAndProgress(t *testing.T) {
	for _, gap := range []float64{1e-2, 1e-4, 1e-7} {
		last := Progress{UpperBound: 1}
		table := optimal(t, plurality.Problem{K: 20, Classes: 4, Epsilon: .5, Affected: 1},
			plurality.Objective{Accuracy: .5}, Options{Gap: gap, Progress: func(p Progress) {
				if p.Value < last.Value || p.UpperBound > last.UpperBound || p.Steps < last.Steps ||
					p.Elapsed < last.Elapsed {
					t.Errorf("%+v after %+v", p, last)
				}
				last = p
			}})
		if table.Gap > gap || last.Gap() > gap || math.Abs(table.Gap-last.Gap()) > 0.2*gap {
			t.Errorf("gap %g: the table's is %g, the last progress' %g", gap, table.Gap, last.Gap())
		}
	}
}

// Stopped early: the best so far, certified, with a gap that is proved; or nothing.
func TestCancel(t *testing.T) {
	raced.Sequential(t)
	p, o := plurality.Problem{K: 30, Classes: 4, Epsilon: .2, Affected: 1},
		plurality.Objective{Accuracy: .5}
	for _, after := range []int{0, 1, 10} {
		for _, best := range []bool{true, false} {
			ctx, cancel := context.WithCancel(context.Background())
			calls, more := 0, 0 // until the context ends, and after it
			if after == 0 {
				cancel()
			}
			table, err := Optimal(ctx, p, o, Options{Gap: 1e-12, BestOnCancel: best,
				Progress: func(at Progress) {
					if at.UpperBound == 1 {
						return // before the first look
					}
					if ctx.Err() != nil {
						more++
					} else if calls++; calls == after {
						cancel()
					}
				}})
			cancel()
			if more > 0 {
				t.Errorf("it went on for %d steps after its end", more)
			}
			if !best {
				if table != nil || !errors.Is(err, context.Canceled) {
					t.Errorf("%v, want context.Canceled", err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			flip := table.Baselines()
			if table.Value < flip[0].Value-1e-12 || after > 1 && table.Gap > 0.2 || after == 10 &&
				table.Value < flip[0].Value+0.01 {
				t.Errorf("after %d calls: value %g, permute-and-flip %g, gap %g", after, table.Value,
					flip[0].Value, table.Gap)
			}
		}
	}
}

// Stopped before it began, δ > 0 has permute-and-flip too.
func TestCancelWithDelta(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := plurality.Problem{K: 9, Classes: 3, Epsilon: .5, Delta: 1e-3, Affected: 1}
	table, err := Optimal(ctx, p, plurality.Objective{Accuracy: .6}, Options{BestOnCancel: true})
	if err != nil {
		t.Fatal(err)
	}
	flip := table.Baselines()
	if table.Value < flip[0].Value-1e-12 || table.UpperBound != 1 {
		t.Errorf("value %g, permute-and-flip %g, bound %g", table.Value, flip[0].Value, table.UpperBound)
	}
}

// Whatever a solver leaves is made private, or refused: here a program whose cones are too
// wide, as after a wrong e^ε, and values that are none.
func TestNothingUncertified(t *testing.T) {
	ctx := context.Background()
	p, o := plurality.Problem{K: 9, Classes: 3, Epsilon: .5, Affected: 1},
		plurality.Objective{Accuracy: .6}
	right := optimal(t, p, o, Options{Gap: 1e-9})
	s, err := plurality.NewSystem(p)
	if err != nil {
		t.Fatal(err)
	}
	w, err := o.Weights(context.Background(), s.Space)
	if err != nil {
		t.Fatal(err)
	}
	pr := mustProgram(t, s, o, w)
	pr.e *= 1.2
	pr.rows.(*cliqueRows).e *= 1.2
	best := &incumbent{x: s.PermuteAndFlip(), upper: 1}
	f := &firstOrder{program: pr, best: best, workers: 1}
	if err := f.run(ctx, 1e-6); err != nil {
		t.Fatal(err)
	}
	if best.value < right.UpperBound+1e-3 {
		t.Fatalf("the wrong program's optimum is %g, the right one's %g", best.value, right.Value)
	}
	table, err := certified(ctx, s, o, w, best, pr, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	if table.Value > right.UpperBound || table.UpperBound < right.Value {
		t.Errorf("value %g and bound %g, the optimum is %g", table.Value, table.UpperBound, right.Value)
	}
	best.x[3] = math.NaN()
	if table, err := certified(ctx, s, o, w, best, pr, 1e-6); err == nil || table != nil {
		t.Error("NaN is certified")
	}
}

// What counts is the value once it is private: a point that is worth more before it is mixed, and less
// after, does not take the incumbent's place.
func TestIncumbentIsComparedAfterMixing(t *testing.T) {
	p, o := plurality.Problem{K: 9, Classes: 3, Epsilon: .5, Affected: 1},
		plurality.Objective{Accuracy: .6}
	s, err := plurality.NewSystem(p)
	if err != nil {
		t.Fatal(err)
	}
	w, err := o.Weights(t.Context(), s.Space)
	if err != nil {
		t.Fatal(err)
	}
	pr := mustProgram(t, s, o, w)
	private := s.PermuteAndFlip()
	certain := make([]float64, len(private)) // the plurality, without noise
	for h := range s.Histograms() {
		first, _ := s.Range(h)
		certain[first] = 1 / float64(s.ClassesOf(first))
	}
	f := &firstOrder{program: pr, best: &incumbent{x: private, upper: 1}, workers: 1}
	share, err := f.shares(t.Context(), shareExponent)
	if err != nil {
		t.Fatal(err)
	}
	g := newEngine(t.Context(), pr, pr.cost, share, private, 1)
	best := &incumbent{x: make([]float64, len(private)), upper: 1}
	best.offer(pr, g, private)
	kept := best.value
	loss := best.offer(pr, g, certain)
	if !(kept > 0) || !(pr.value(certain) > kept) || !(pr.value(certain)-loss < kept) {
		t.Fatalf("permute-and-flip %g, plurality %g before mixing and %g after: no such case", kept,
			pr.value(certain), pr.value(certain)-loss)
	}
	if best.value != kept || !slices.Equal(best.x, private) {
		t.Errorf("the plurality took its place, at %g", best.value)
	}
}

// A prior from public counts, and abstaining at a worth, both ways to say the same.
func TestPriorCounts(t *testing.T) {
	p := plurality.Problem{K: 6, Classes: 3, Epsilon: .7, Affected: 1}
	s, err := plurality.NewSystem(p)
	if err != nil {
		t.Fatal(err)
	}
	w, err := plurality.Objective{Accuracy: .6}.Weights(context.Background(), s.Space)
	if err != nil {
		t.Fatal(err)
	}
	var counts []plurality.HistogramCount
	for h := range s.Histograms() {
		counts = append(counts, plurality.HistogramCount{Votes: s.Histogram(h), Count: 1000 * w.Low[h]})
	}
	a := optimal(t, p, plurality.Objective{Accuracy: .6}, Options{Gap: 1e-9})
	b := optimal(t, p, plurality.Objective{Counts: counts}, Options{Gap: 1e-9})
	if math.Abs(a.Value-b.Value) > 2e-9 {
		t.Errorf("accuracy %.12f, counts %.12f", a.Value, b.Value)
	}
	// All weight on one histogram: the optimum is that of two neighbours, e^ε/(e^ε+…).
	one := optimal(t, p,
		plurality.Objective{Counts: []plurality.HistogramCount{{Votes: []int{0, 6, 0}, Count: 1}}},
		Options{Gap: 1e-9})
	if one.Value < a.Value || one.Gap > 1e-8 {
		t.Errorf("one histogram: %g with gap %g", one.Value, one.Gap)
	}
	// Abstaining is worth as much as it is said to be, and never takes from the rest.
	p.Abstain = true
	before := a.Value
	for _, value := range []float64{0, .3, .6, 1} {
		c := optimal(t, p, plurality.Objective{Accuracy: .6, AbstainValue: value}, Options{Gap: 1e-8})
		if c.Value < before-2e-8 || value == 1 && c.Value < 1-2e-8 {
			t.Errorf("abstaining at %g: %g, before %g", value, c.Value, before)
		}
		before = c.Value
	}
}

// HiGHS's interior point on the dual, where the build has it, ends at the same optimum.
func TestInteriorPoint(t *testing.T) {
	raced.Sequential(t)
	for _, p := range []plurality.Problem{
		{K: 11, Classes: 3, Epsilon: .5, Affected: 1},
		{K: 15, Classes: 5, Epsilon: .5, Affected: 1},
		{K: 11, Classes: 3, Epsilon: 1, Affected: 2},
		{K: 11, Classes: 3, Epsilon: .5, Delta: .01, Affected: 1},
		{K: 9, Classes: 3, Epsilon: .5, Affected: 1, Abstain: true},
	} {
		o := plurality.Objective{Accuracy: .6}
		if p.Abstain {
			o.AbstainValue = .4
		}
		a := optimal(t, p, o, Options{Gap: 1e-9})
		b, err := Optimal(context.Background(), p, o, Options{Gap: 1e-9, Method: InteriorPoint})
		if errors.Is(err, lp.ErrNoHiGHS) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.Gap > 1e-6 || b.Value > a.UpperBound || b.UpperBound < a.Value {
			t.Errorf("%+v: [%.12f, %.12f] by HiGHS, [%.12f, %.12f] by the first-order method", p, b.Value,
				b.UpperBound, a.Value, a.UpperBound)
		}
	}
}

func TestOptionsAreRefused(t *testing.T) {
	good := plurality.Problem{K: 5, Classes: 3, Epsilon: 1, Affected: 1}
	for name, x := range map[string]struct {
		p plurality.Problem
		a float64
		o Options
	}{
		"method":   {good, .6, Options{Method: "magic"}},
		"gap":      {good, .6, Options{Gap: -1}},
		"NaN":      {good, .6, Options{Gap: math.NaN()}},
		"workers":  {good, .6, Options{Workers: -1}},
		"accuracy": {good, .1, Options{}},
		"problem":  {plurality.Problem{}, .6, Options{}},
	} {
		table, err := Optimal(context.Background(), x.p, plurality.Objective{Accuracy: x.a}, x.o)
		var parameter *check.Error
		if table != nil || !errors.As(err, &parameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Hard corners: nearly no privacy, nearly all, one teacher, all affected, more classes than
// teachers.
func TestCorners(t *testing.T) {
	for _, p := range []plurality.Problem{
		{K: 1, Classes: 2, Epsilon: 1, Affected: 1},
		{K: 1, Classes: 50, Epsilon: 1, Affected: 1},
		{K: 4, Classes: 30, Epsilon: 1, Affected: 2},
		{K: 6, Classes: 3, Epsilon: 1e-3, Affected: 1},
		{K: 6, Classes: 3, Epsilon: 30, Affected: 1},
		{K: 6, Classes: 3, Epsilon: 700, Affected: 1},
		{K: 6, Classes: 3, Epsilon: 1, Affected: 6},
		{K: 6, Classes: 3, Epsilon: 1, Delta: 0.9, Affected: 1},
		{K: 6, Classes: 3, Epsilon: .1, Delta: 1e-12, Affected: 1},
	} {
		table := optimal(t, p, plurality.Objective{Accuracy: .7}, Options{Gap: 1e-6})
		if table.Gap > 1e-6 {
			t.Errorf("%+v: [%.9f, %.9f], gap %g", p, table.Value, table.UpperBound, table.Gap)
		}
	}
}

// The table of 100 teachers and 4 classes is read and verified again in less than ten
// seconds; the log has the time that it took.
func TestVerifyLarge(t *testing.T) {
	if os.Getenv("DARRM_LONG") == "" {
		t.Skip("DARRM_LONG is not set")
	}
	table := optimal(t, plurality.Problem{K: 100, Classes: 4, Epsilon: .1, Affected: 1},
		plurality.Objective{Accuracy: .5}, Options{Gap: 1e-4})
	var b bytes.Buffer
	if err := table.Encode(&b); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	claim, err := plurality.ReadClaim(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := claim.Verify(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes, %d rows, %d multipliers: read and verified in %v", b.Len(),
		table.Certificate().Rows, len(table.Proof.Rows), time.Since(began))
}

func ExampleOptimal() {
	table, err := Optimal(context.Background(),
		plurality.Problem{K: 11, Classes: 3, Epsilon: 0.5, Affected: 1},
		plurality.Objective{Accuracy: 0.6}, Options{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.5f of all answers are a plurality class, and no private mechanism has more "+
		"than %.5f\n", table.Value, table.UpperBound)
	// Output: 0.73240 of all answers are a plurality class, and no private mechanism has more than 0.73240
}

// Counts of few queries leave most histograms at 0. The search has larger steps where nothing
// occurs: 1,805 of them to a gap of 1e-3, and 7,410 with those that rare histograms have otherwise.
func TestSparseCounts(t *testing.T) {
	raced.Elsewhere(t, "TestWorkersDoNotMatter")
	p := plurality.Problem{K: 120, Classes: 3, Epsilon: 0.1, Affected: 1}
	rnd := rand.New(rand.NewPCG(3, 4))
	var o plurality.Objective
	for range 300 { // queries of the urn with A = 1
		votes := make([]int, p.Classes)
		for n := range p.K {
			x := rnd.Float64() * float64(1+n)
			class := 0
			for ; class < p.Classes-1; class++ {
				if x -= 1/float64(p.Classes) + float64(votes[class]); x < 0 {
					break
				}
			}
			votes[class]++
		}
		o.Counts = append(o.Counts, plurality.HistogramCount{Votes: votes, Count: 1})
	}
	steps := 0
	table := optimal(t, p, o, Options{Method: FirstOrder, Gap: 1e-3,
		Progress: func(p Progress) { steps = p.Steps }})
	if table.Gap > 1e-3 || steps > 4000 {
		t.Errorf("%d steps to a gap of %.3g", steps, table.Gap)
	}
}
