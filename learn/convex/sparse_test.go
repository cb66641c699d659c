package convex

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
)

// denseFrankWolfe is the method as its definition has it: every slope, every coordinate and
// every score anew in each step, over rows with their zeros. It shares roundings and coins
// with the other and nothing else.
func denseFrankWolfe(t *testing.T, p *frankWolfePlan, r *data.Records,
	seed uint64) (w []float64, vertices []int) {
	t.Helper()
	n, d := r.Len(), r.Dim()
	w = make([]float64, d)
	src := stream.Seeded(seed).Source()
	noisy, err := newNoisy(p.choice.kind, src)
	if err != nil {
		t.Fatal(err)
	}
	for step := 1; step <= p.schedule.Steps; step++ {
		if (step-1)%p.stride() == 0 {
			src.Restart(streamSelection, (step-1)/p.stride())
		}
		sum := make([]int64, d)
		for i := range n {
			z := 0.0
			for j, x := range r.Row(i) {
				z += x * w[j]
			}
			slope, _ := p.roundedSlope(z, r.Response(i))
			for j, x := range r.Row(i) {
				sum[j] += slope * p.feature(x)
			}
		}
		scores := make([]int64, 2*d)
		for j, s := range sum {
			scores[j], scores[d+j] = p.score(s), -p.score(s)
		}
		v, err := noisy.pick(scores)
		if err != nil {
			t.Fatal(err)
		}
		mu := 3 / float64(step+2)
		for j := range w {
			w[j] *= 1 - mu
		}
		if v < d {
			w[v] += mu
		} else {
			w[v-d] -= mu
		}
		vertices = append(vertices, v)
	}
	return w, vertices
}

// sparseTask has power-law features: column j is in a record with probability about 1/(j+1).
func sparseTask(t testing.TB, rng *rand.Rand, n, d int) *data.Sparse {
	t.Helper()
	b := data.SparseBuilder{Dim: d}
	for range n {
		var columns []int32
		var values []float64
		z := 0.0
		for j := range d {
			if rng.Float64() < 2/float64(j+2) {
				x := 2*rng.Float64() - 1
				columns, values = append(columns, int32(j)), append(values, x)
				if j%3 == 0 {
					z += 3 * x
				}
			}
		}
		y := 0.0
		if rng.Float64() < 1/(1+math.Exp(-z)) {
			y = 1
		}
		if err := b.Add(columns, values, y); err != nil {
			t.Fatal(err)
		}
	}
	return must.Get(b.Records())(t)
}

// With the same coins the sparse method chooses the dense one's vertices, step by step, for
// every selection, for slopes that change in every step and for coarse ones that seldom do.
// Its sums and levels are those of the draws, so that its law is the dense one's too: an
// exponential selection over the same scores in levels that were changed rather than made anew
// has the same law (package noise) though not the same items in the same places; with
// selections that keep no levels, and with one seed, the vertices are equal.
func TestSparseFrankWolfeIsTheDenseOne(t *testing.T) {
	raced.Sequential(t)
	rng := rand.New(rand.NewPCG(31, 32))
	r := sparseTask(t, rng, 120, 60)
	dense, err := r.Dense()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []Selection{PermuteAndFlip, LaplaceNoise} {
		for _, bits := range []int{4, 10, 0} {
			for _, l := range []loss.Loss{loss.Logistic{}, loss.GLM[loss.Hinge]{}} {
				c := FrankWolfe{Setting: Setting{Loss: l, Radius: 1,
					Target: accountant.Cost{Epsilon: 6, Delta: 1e-3}}, Set: l1(t, 60, 1), Steps: 150,
					SlopeBits: bits, Smoothing: 2, Selection: kind}
				p := frankWolfe(t, c, 120, 60)
				want, vertices := denseFrankWolfe(t, p, dense, 5)
				run := newFrankWolfeRun(p, r, r.Transpose(), stream.Seeded(5).Source())
				for k := range 150 {
					if err := run.Round(t.Context(), k); err != nil {
						t.Fatal(err)
					}
				}
				for j, w := range run.Output() {
					if math.Abs(w-want[j]) > 1e-12 {
						t.Fatalf("%s %s, %d bits: w[%d] = %g, dense %g", kind, l.Name(), bits, j, w, want[j])
					}
				}
				if run.touched > 100*r.NonZeros() && bits == 4 {
					t.Errorf("%s: %d features are visited in 150 steps, of %d", l.Name(), run.touched,
						r.NonZeros())
				}
				if distinct := len(slices.Compact(slices.Sorted(slices.Values(vertices)))); distinct < 10 {
					t.Errorf("%s: only %d vertices are chosen: this tests little", kind, distinct)
				}
			}
		}
	}
}

// Sums and scores that are kept from step to step are those made anew, with levels too.
func TestSparseFrankWolfeKeepsItsSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	r := sparseTask(t, rng, 80, 40)
	for _, bits := range []int{3, 12, 0} {
		c := FrankWolfe{Setting: logistics(), Set: l1(t, 40, 2), Steps: 400, SlopeBits: bits}
		p := frankWolfe(t, c, 80, 40)
		run := newFrankWolfeRun(p, r, r.Transpose(), stream.Seeded(6).Source())
		for k := range p.schedule.Steps {
			var before [][]float64
			for _, v := range run.State() {
				before = append(before, slices.Clone(v.Values))
			}
			if err := run.Round(t.Context(), k); err != nil {
				t.Fatal(err)
			}
			if k%50 == 49 { // a round that failed is done again from its state
				for i, v := range run.State() {
					copy(v.Values, before[i])
				}
				if k > 2 {
					copy(run.direction, make([]float64, 40))
					copy(run.margin, make([]float64, 80))
				}
				if err := run.Round(t.Context(), k); err != nil {
					t.Fatal(err)
				}
			}
			if k%7 != 0 {
				continue
			}
			for j, v := range run.sum {
				if v := p.score(v); run.scores[j] != v || run.scores[40+j] != -v {
					t.Fatalf("%d bits, step %d: the score of vertex %d is %d, its sum %d", bits, k, j,
						run.scores[j], v)
				}
			}
			run.refresh()
			anew := newFrankWolfeRun(p, r, r.Transpose(), stream.Seeded(6).Source())
			for i, v := range run.State() {
				copy(anew.State()[i].Values, v.Values)
			}
			anew.rebuild()
			anew.refresh()
			if !slices.Equal(run.sum, anew.sum) || !slices.Equal(run.slope, anew.slope) {
				t.Fatalf("%d bits, step %d: sums that were kept are not those made anew", bits, k)
			}
		}
	}
}

// The law of the chosen vertices over two steps is the product of exponential selections, by
// enumeration; the sparse run has it. 30,000 runs over 16 sequences, some put together to
// expect 20 or more: chi-square beyond its 1e-6 point, at most 56 for 15 degrees of freedom,
// has probability 1e-6, and the seeds are fixed. A selection at half the scale is beyond it.
func TestSparseFrankWolfeLaw(t *testing.T) {
	raced.Sequential(t)
	b := data.SparseBuilder{Dim: 2}
	for i, x := range []float64{1, 0.5, -0.8} {
		if err := b.Add([]int32{int32(i % 2)}, []float64{x}, float64(i%2)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := b.Records()
	if err != nil {
		t.Fatal(err)
	}
	c := FrankWolfe{Setting: logistics(), Set: l1(t, 2, 1), Steps: 2}
	c.Target.Epsilon = 8
	p := frankWolfe(t, c, 3, 2)
	// By the definition, over the dense sums.
	scores := func(w []float64) []float64 {
		sum := make([]float64, 2)
		for i := range 3 {
			columns, values := r.Row(i)
			slope, _ := p.roundedSlope(geometry.SparseDot(columns, values, w), r.Response(i))
			sum[columns[0]] += float64(p.score(slope * p.feature(values[0])))
		}
		return []float64{sum[0], sum[1], -sum[0], -sum[1]}
	}
	law := func(s []float64) []float64 {
		out, total := make([]float64, 4), 0.0
		for i := range s {
			out[i] = math.Exp(-s[i] / selectionScale)
			total += out[i]
		}
		for i := range out {
			out[i] /= total
		}
		return out
	}
	vertex := func(i int, share float64, w []float64) []float64 {
		w = slices.Clone(w)
		for j := range w {
			w[j] *= 1 - share
		}
		w[i%2] += share * float64(1-2*(i/2))
		return w
	}
	want := map[string]float64{}
	key := func(w []float64) string { return fmt.Sprintf("%.6f %.6f", w[0], w[1]) }
	for i, pi := range law(scores([]float64{0, 0})) {
		first := vertex(i, 1, []float64{0, 0})
		for j, pj := range law(scores(first)) {
			want[key(vertex(j, 0.75, first))] += pi * pj
		}
	}
	chi := func(scale int64) float64 {
		got, runs := map[string]float64{}, 30_000
		for seed := range runs {
			run := newFrankWolfeRun(p, r, r.Transpose(), stream.Seeded(uint64(seed)).Source())
			for k := range 2 {
				if scale != selectionScale { // the mutant's levels
					run.refresh()
					run.choose()
					run.levels, err = noise.NewLevels(run.scores, scale)
					if err != nil {
						t.Fatal(err)
					}
					run.fresh = k
				}
				if err := run.Round(t.Context(), k); err != nil {
					t.Fatal(err)
				}
			}
			got[key(run.Output())]++
		}
		sum, rest, seen := 0.0, 0.0, 0.0
		for k, p := range want {
			if e := p * float64(runs); e >= 20 {
				sum += (got[k] - e) * (got[k] - e) / e
			} else {
				rest, seen = rest+e, seen+got[k]
			}
			delete(got, k)
		}
		if len(got) > 0 {
			t.Errorf("outcomes that cannot be: %v", got)
		}
		if rest > 0 {
			sum += (seen - rest) * (seen - rest) / rest
		}
		return sum
	}
	if got := chi(selectionScale); got > 56 {
		t.Errorf("chi-square %g", got)
	}
	if got := chi(selectionScale / 2); got < 56 {
		t.Errorf("half the noise has chi-square %g", got)
	}
}
