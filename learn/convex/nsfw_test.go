package convex

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
)

func lp(t testing.TB, d int, p, r float64) geometry.LpBall {
	t.Helper()
	return must.Get(geometry.NewLpBall(d, p, r))(t)
}

func nsfw(t testing.TB, c NSFW, n, d int) *nsfwPlan {
	t.Helper()
	p, err := c.plan(n, d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The published schedules and noises. The squared sigmoid's constants are replaced by the
// published L0 = L1 = 1 where noise is compared.
func TestAcceptance4NSFWSchedule(t *testing.T) {
	for _, c := range []struct {
		p, y, first float64
		rounds      int
	}{{2, 199.3415, 2.837887e-3, 6}, {1.5, 28.3303, 5.446992e-3, 3}} {
		config := NSFW{Setting: logistics(), Set: lp(t, 50, c.p, 1), Noise: Corrected}
		p := nsfw(t, config, 1_000_000, 50)
		must.Near(t, "Y", math.Exp2(1.25*p.theory()), c.y, 1e-5)
		if p.c.Batches.Rounds != c.rounds || p.c.Batches.Size != 5239 {
			t.Errorf("p = %v: %+v", c.p, p.c.Batches)
		}
		must.Near(t, "sigma 0", p.blocks[0].Deviation, c.first, 1e-6)
		if c.p == 2 {
			p.change = 2 // L1·D
			sigma, hat := p.deviations(p.batches[2], Corrected)
			must.Near(t, "sigma 1", sigma, 5.675774e-3, 1e-6)
			must.Near(t, "sigma^ 1", hat, 1.135155e-2, 1e-6)
		}
	}
}

// The published traces, and the linear minimisation of the set.
func TestAcceptance4NSFWTrace(t *testing.T) {
	v := make([]float64, 2)
	lp(t, 2, 1.5, 1).Minimize(v, []float64{3, -4})
	must.Near(t, "minimum[0]", v[0], -0.4448513517, 1e-9)
	must.Near(t, "minimum[1]", v[1], 0.7908468475, 1e-9)
	for _, c := range []struct {
		p        float64
		w        [][]float64
		estimate []float64
	}{
		{1.5, [][]float64{{0.9244816991, 0.2311204248}, {0.7514879495, 0.4952688007},
			{0.6686939214, -0.2972385499}}, []float64{-0.2614857173, 0.2596463593}},
		{2, [][]float64{nil, nil, {0.7663206670, -0.3646270013}}, nil},
	} {
		p := nsfw(t, NSFW{Setting: logistics(), Set: lp(t, 2, c.p, 1),
			Batches: Batches{Rounds: 2, Size: 2, InOrder: true}}, 8, 2)
		p.quiet = true
		run := p.newRun(labelled(t), stream.Seeded(1), traintest.Silent{})
		for k, want := range c.w {
			if err := run.Round(t.Context(), k); err != nil {
				t.Fatal(err)
			}
			for j, w := range want {
				must.Near(t, fmt.Sprintf("p = %v, step %d, w[%d]", c.p, k, j), run.w[j], w, 1e-9)
			}
		}
		for j, g := range c.estimate {
			must.Near(t, "estimate", run.estimate[j], g, 1e-9)
		}
	}
}

// The published ledger: the printed noise breaks its promise, the corrected keeps it where
// batches divide evenly, and not where they do not, and calibrated noise always.
func TestAcceptance9NSFWLedger(t *testing.T) {
	at := func(noise Noise, eps, delta float64, b Batches) (*nsfwPlan, error) {
		// The printed sensitivities are for L0 = 1 and any L1·D: their ratio cancels.
		c := NSFW{Setting: logistics(), Set: lp(t, 3, 2, 1), Batches: b, Noise: noise}
		c.Target = accountant.Cost{Epsilon: eps, Delta: delta}
		p, err := c.plan(100_000, 3)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
	even := Batches{Rounds: 2, Size: 1000}
	for _, c := range []struct{ eps, delta, want float64 }{{2, 1e-6, 2.086}, {1, 1e-8, 1.031},
		{2, 1e-5, 2.040}} {
		if _, err := at(Printed, c.eps, c.delta, even); err == nil ||
			!strings.Contains(err.Error(), "above the target") {
			t.Errorf("printed at (%v, %v): %v, want a refusal", c.eps, c.delta, err)
		}
		p, err := at(Calibrated, c.eps, c.delta, even)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := p.Compare()
		if err != nil || math.Abs(rows[0].Epsilon-c.want) > 0.005 {
			t.Errorf("printed at (%v, %v): %+v, %v, want %v", c.eps, c.delta, rows, err, c.want)
		}
	}
	p, err := at(Printed, 1, 1e-6, even)
	if err != nil {
		t.Fatal(err)
	}
	must.Near(t, "printed at (1, 1e-6)", p.price.Cost.Epsilon, 0.983, 5e-3)
	for _, eps := range []float64{.1, .5, 1, 2} {
		for _, delta := range []float64{1e-5, 1e-6, 1e-8} {
			p, err := at(Corrected, eps, delta, even)
			if err != nil || p.price.Cost.Epsilon > eps {
				t.Errorf("corrected at (%v, %v): %v", eps, delta, err)
			}
			if delta != 1e-6 || eps < 1 {
				continue
			}
			calibrated, err := at(Calibrated, eps, delta, even)
			if err != nil {
				t.Fatal(err)
			}
			for k := range p.blocks {
				if !(calibrated.blocks[k].Deviation < p.blocks[k].Deviation) {
					t.Errorf("(%v, %v), step %d: calibrated noise is %g, corrected %g", eps, delta, k,
						calibrated.blocks[k].Deviation, p.blocks[k].Deviation)
				}
			}
		}
	}
	// b = 95: at t+1 = 32 a batch has 2 records, not 2.97.
	uneven := Batches{Rounds: 6, Size: 95}
	if _, err := at(Corrected, 2, 1e-6, uneven); err == nil ||
		!strings.Contains(err.Error(), "above the target") {
		t.Errorf("b = 95: %v", err)
	}
	if p, err := at(Calibrated, 2, 1e-6, uneven); err != nil || p.price.Cost.Epsilon > 2 {
		t.Errorf("b = 95, calibrated: %v", err)
	}
}

// No record is read in two batches, nor any other than the batch's, and no more than n.
func TestAcceptance13StochasticFrankWolfeReadsOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	const n, d = 700, 3
	rows, y := make([][]float64, n), make([]float64, n)
	for i := range rows {
		rows[i], y[i] = unit(rng, d), float64(rng.IntN(2))
	}
	r := data.SparseOf(records(t, rows, y))
	for _, b := range []Batches{{Rounds: 4}, {Rounds: 4, FullBudget: true},
		{Rounds: 3, Size: 9, InOrder: true}} {
		poly := polySFW(t, PolySFW{Setting: logistics(), Set: l1(t, d, 1), Batches: b}, n, d)
		normal := nsfw(t, NSFW{Setting: logistics(), Set: lp(t, d, 1.5, 1), Batches: b}, n, d)
		for name, start := range map[string]func(rows features) *stochasticRun{
			"polySFW": func(rows features) *stochasticRun { return poly.newRun(rows, stream.Seeded(3)) },
			"nSFW": func(rows features) *stochasticRun {
				return normal.newRun(rows, stream.Seeded(3), stream.Seeded(3).Normals())
			},
		} {
			c := &countedFeatures{features: r, reads: map[int]map[int]int{}}
			run := start(c)
			for k := range run.batches {
				c.round = k
				if err := run.Round(t.Context(), k); err != nil {
					t.Fatal(err)
				}
			}
			if want := run.batches[len(run.batches)-1].to; len(c.reads) != want || want > n {
				t.Errorf("%s, %+v: %d records are read, want %d", name, b, len(c.reads), want)
			}
			for i, by := range c.reads {
				if len(by) != 1 {
					t.Errorf("%s: record %d is read in steps %v", name, i, by)
				}
				for k, times := range by {
					if times != 1 || b.InOrder && (i < run.batches[k].from || i >= run.batches[k].to) {
						t.Errorf("%s: record %d is read %d times in step %d", name, i, times, k)
					}
				}
			}
		}
	}
}

type countedFeatures struct {
	features
	round int
	reads map[int]map[int]int
}

func (c *countedFeatures) Row(i int) ([]int32, []float64) {
	if c.reads[i] == nil {
		c.reads[i] = map[int]int{}
	}
	c.reads[i][c.round]++
	return c.features.Row(i)
}

// Task P3: the mean over the iterates of the Frank-Wolfe gap on fresh records.
func TestAcceptance12NonConvexGaps(t *testing.T) {
	const n, d = 1_000_000, 10
	draw := func(rng *rand.Rand, n int, scale float64) *data.Sparse {
		x, y := make([]float64, n*d), make([]float64, n)
		for i := range y {
			row := x[i*d : (i+1)*d]
			for j := range row {
				row[j] = 2*rng.Float64() - 1
			}
			if rng.Float64() < 1/(1+math.Exp(-6*(row[0]-0.7*row[1]))) {
				y[i] = 1
			}
			floats.Scale(scale, row)
		}
		r, err := data.NewRecords(n, d, x, y)
		if err != nil {
			t.Fatal(err)
		}
		return data.SparseOf(r)
	}
	link := loss.SquaredSigmoid{}
	gap := func(fresh *data.Sparse, set geometry.Set, w []float64) float64 {
		g := make([]float64, d)
		for i := range fresh.Len() {
			columns, values := fresh.Row(i)
			slope := link.Slope(geometry.SparseDot(columns, values, w), fresh.Response(i)) /
				float64(fresh.Len())
			for k, j := range columns {
				g[j] += slope * values[k]
			}
		}
		return geometry.Gap(set, w, g)
	}
	// mean returns the mean gap over the iterates, and that of the first.
	mean := func(run *stochasticRun, fresh *data.Sparse) (mean, first float64) {
		for k := range run.batches {
			at := gap(fresh, run.s.set, run.w)
			mean += at / float64(len(run.batches))
			if k == 0 {
				first = at
			}
			if err := run.Round(t.Context(), k); err != nil {
				t.Fatal(err)
			}
		}
		return mean, first
	}
	rng := rand.New(rand.NewPCG(12, 1))
	s := Setting{Loss: loss.GLM[loss.SquaredSigmoid]{}, Radius: 1,
		Target: accountant.Cost{Epsilon: 1, Delta: 1e-6}}
	const used = 40_000 // the printed batches read 38,245 records: no more need be drawn
	r, fresh := draw(rng, used, 1), draw(rng, 5000, 1)
	poly := func(noise Noise, quiet bool) float64 {
		p := polySFW(t, PolySFW{Setting: s, Set: l1(t, d, 3), Noise: noise,
			Batches: Batches{InOrder: true}}, n, d)
		p.quiet = quiet
		sum, seeds := 0.0, 3
		for seed := range seeds {
			m, first := mean(p.newRun(r, stream.Seeded(uint64(seed))), fresh)
			must.Near(t, "gap at 0", first, 0.283, 0.05)
			sum += m / float64(seeds)
		}
		return sum
	}
	off, printed, calibrated := poly(Printed, true), poly(Printed, false), poly(Calibrated, false)
	t.Logf("polySFW: no noise %.3f, printed %.3f, calibrated %.3f", off, printed, calibrated)
	if !(off <= 0.13) || !(printed <= 0.25 && printed < 0.283) || !(calibrated <= printed) {
		t.Errorf("polySFW: no noise %g, printed %g, calibrated %g", off, printed, calibrated)
	}
	if os.Getenv("DARRM_LONG") == "" {
		return // nSFW's R = 7 and full budget read most of a million records
	}
	r, fresh = draw(rng, n, 1/math.Sqrt(d)), draw(rng, 5000, 1/math.Sqrt(d))
	normal := func(noise Noise, b Batches, quiet bool) float64 {
		b.InOrder = true
		p := nsfw(t, NSFW{Setting: s, Set: lp(t, d, 2, 9), Noise: noise, Batches: b}, n, d)
		p.quiet = quiet
		m, first := mean(p.newRun(r, stream.Seeded(5), stream.Seeded(5).Normals()), fresh)
		must.Near(t, "gap at 0", first, 0.322, 0.05)
		t.Logf("nSFW %s %+v: %.3f (quiet %t)", noise, p.c.Batches, m, quiet)
		return m
	}
	if got := normal(Corrected, Batches{Rounds: 5, FullBudget: true}, false); !(got <= 0.10) {
		t.Errorf("nSFW, full budget: %g", got)
	}
	if got := normal(Calibrated, Batches{Rounds: 5, FullBudget: true}, false); !(got <= 0.10) {
		t.Errorf("nSFW, full budget, calibrated: %g", got)
	}
	// Documented weakness: the source's number of rounds with its batch size. The late, noisy
	// rounds undo the work.
	if got := normal(Corrected, Batches{}, false); !(got >= 0.18 && got <= 0.32) {
		t.Errorf("nSFW, default: %g", got)
	}
	if got := normal(Corrected, Batches{}, true); !(got <= 0.04) {
		t.Errorf("nSFW, no noise: %g", got)
	}
}

// The loops over a record's features give the bits of the plain ones, whether all columns are there
// or some.
func TestRecordLoops(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		d := 1 + rng.IntN(40)
		var columns []int32
		var values []float64
		v, w := make([]float64, d), make([]float64, d)
		sum := make([]int64, d)
		part := rng.IntN(2)
		for j := range d {
			v[j], w[j], sum[j] = rng.NormFloat64(), rng.NormFloat64(), rng.Int64N(1000)
			if part == 0 || rng.IntN(2) == 0 {
				columns, values = append(columns, int32(j)), append(values, rng.NormFloat64())
			}
		}
		xv, xw := dots(columns, values, v, w)
		if xv != geometry.SparseDot(columns, values, v) || xw != geometry.SparseDot(columns, values, w) {
			t.Fatalf("⟨x,v⟩ = %v, ⟨x,w⟩ = %v of %v at %v, %v, %v", xv, xw, values, columns, v, w)
		}
		factor, unit := rng.NormFloat64(), math.Ldexp(1, -rng.IntN(40))
		want := slices.Clone(sum)
		for k, j := range columns {
			want[j] += int64(factor * values[k] / unit)
		}
		addScaled(sum, columns, values, factor/unit)
		if !slices.Equal(sum, want) {
			t.Fatalf("%v more in units of %v of %v at %v: %v, want %v", factor, unit, values, columns, sum,
				want)
		}
	}
}

// The unit is a power of two, and sums of a batch fit 64 bits.
func TestGradientUnit(t *testing.T) {
	for _, size := range []float64{1e-9, 0.3, 1, 1.5, 2, 1e9} {
		s := smooth{task: task{norm: size / 2}, change: size / 2}
		for _, n := range []int{1, 1000, 1 << 30} {
			unit := s.gradientUnit(batch{to: n})
			if f, _ := math.Frexp(unit); f != 0.5 {
				t.Errorf("unit %v of %v is no power of two", unit, size)
			}
			if most := float64(n) * size / unit; !(most < 1<<62) {
				t.Errorf("%d gradients of length %v have a sum of %v units", n, size, most)
			}
		}
	}
}
