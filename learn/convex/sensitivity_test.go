package convex

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
)

// lying is a link whose slopes are steeper, and change faster, than its methods state: no account
// may rest on them.
type lying struct{ loss.Logit }

func (lying) Name() string { return "lying" }
func (lying) Slope(z, y float64) float64 {
	switch {
	case z > 0.9:
		return math.NaN()
	case z > 0.8:
		return math.Inf(1)
	}
	return 5*math.Sin(40*z) - y
}

// worldsOf are two sets of n records of d features that differ in record i, which is in one as
// far as may be from the other.
func worldsOf(t *testing.T, rng *rand.Rand, n, d, i int, q float64) [2]*data.Sparse {
	t.Helper()
	var b [2]data.SparseBuilder
	for k := range n {
		for w := range b {
			b[w].Dim = d
		}
		row := func() ([]int32, []float64, float64) {
			columns, x := make([]int32, d), make([]float64, d)
			for j := range x {
				columns[j], x[j] = int32(j), rng.NormFloat64()
			}
			norm := geometry.Norm(x, q) * (1 + 1e-12)
			for j := range x {
				x[j] /= norm
			}
			return columns, x, float64(rng.IntN(2))
		}
		columns, x, y := row()
		for w := range b {
			if k == i && w == 1 {
				for j := range x {
					x[j] = -x[j]
				}
				if rng.IntN(2) == 0 {
					columns, x, y = row()
				}
			}
			if err := b[w].Add(columns, x, y); err != nil {
				t.Fatal(err)
			}
		}
	}
	var out [2]*data.Sparse
	for w := range b {
		r, err := b[w].Records()
		if err != nil {
			t.Fatal(err)
		}
		out[w] = r
	}
	return out
}

// Given the same vertices, neighbours' estimates differ by at most what the account has, in the
// step that reads the record and in all later ones, also with a loss that lies of itself; and
// come near it. Batches do not divide evenly.
func TestStochasticEstimatesAreWithinTheirSensitivity(t *testing.T) {
	raced.Sequential(t)
	rng := rand.New(rand.NewPCG(61, 62))
	for _, q := range []float64{math.Inf(1), 3, 2} {
		s := logistics()
		var set geometry.Set = l1(t, 3, 0.3)
		if !math.IsInf(q, 1) {
			set = lp(t, 3, geometry.Dual(q), 0.3)
		}
		for _, l := range []loss.Loss{loss.Logistic{}, loss.GLM[lying]{}} {
			s.Loss = l
			task, err := smoothTask(s, set, 100, 3)
			if err != nil {
				t.Fatal(err)
			}
			b := Batches{Rounds: 4, Size: 11, InOrder: true}
			batches, err := b.schedule(100, 1)
			if err != nil {
				t.Fatal(err)
			}
			nearest := 0.0
			for range 400 {
				own := rng.IntN(len(batches))
				i := batches[own].from
				var runs [2]*stochasticRun
				choices := rng.Uint64()
				for w, r := range worldsOf(t, rng, 100, 3, i, q) {
					runs[w] = newStochasticRun(task, batches, r, stream.Seeded(1), true)
					same := rand.New(rand.NewPCG(choices, 0))
					runs[w].direct = func(_ int, _, v []float64) error {
						g := []float64{same.NormFloat64(), same.NormFloat64(), same.NormFloat64()}
						set.Minimize(v, g)
						return nil
					}
				}
				bound := 0.0
				for k, b := range batches {
					for _, r := range runs {
						if err := r.Round(t.Context(), k); err != nil {
							t.Fatal(err)
						}
					}
					switch {
					case k == own:
						bound = task.moved(b)
					case b.step == 0:
						bound = 0
					default:
						bound *= 1 - stepSize(b.step)
					}
					x := make([]float64, 3)
					for j := range x {
						x[j] = runs[0].estimate[j] - runs[1].estimate[j]
					}
					got := geometry.Norm(x, q)
					if got > bound*(1+1e-9)+1e-15 {
						t.Fatalf("%s, q = %v: record %d moves the estimate of step %d by %g, the account has %g",
							l.Name(), q, i, k, got, bound)
					}
					if k == own {
						nearest = max(nearest, got/bound)
					}
				}
			}
			// Slopes of the logistic loss near 0 are half of what they may be.
			if nearest < map[string]float64{"logistic": 0.45, "lying": 0.9}[l.Name()] {
				t.Errorf("%s, q = %v: only %g of the sensitivity is reached", l.Name(), q, nearest)
			}
		}
	}
}

// Given the same iterate, neighbours' scores differ in range by at most the units that the
// account has, on the axes and on a list of vertices, also with a loss that lies.
func TestFrankWolfeScoresAreWithinTheirSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(63, 64))
	var points [][]float64
	for range 9 {
		points = append(points, []float64{rng.NormFloat64() + 5, rng.NormFloat64(), rng.NormFloat64()})
	}
	simplex, err := geometry.NewSimplex(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []geometry.Polytope{l1(t, 3, 1), simplex, hull(1.5, points),
		hull(2, points)} {
		for _, l := range []loss.Loss{loss.Logistic{}, loss.GLM[lying]{}} {
			c := FrankWolfe{Setting: logistics(), Set: set, Steps: 3}
			c.Loss = l
			p := frankWolfe(t, c, 12, 3)
			p.quiet = true
			nearest := 0.0
			for range 400 {
				var runs [2]*frankWolfeRun
				i := rng.IntN(12)
				w := []float64{rng.NormFloat64() / 5, rng.NormFloat64() / 5, rng.NormFloat64() / 5}
				for k, r := range worldsOf(t, rng, 12, 3, i, geometry.Dual(set.Norm())) {
					run := newFrankWolfeRun(p, r, r.Transpose(), stream.Seeded(1).Source())
					copy(run.direction, w)
					for i := range 12 {
						columns, values := r.Row(i)
						run.margin[i] = geometry.SparseDot(columns, values, w)
					}
					run.rebuild()
					run.refresh()
					if _, err := run.choose(); err != nil {
						t.Fatal(err)
					}
					runs[k] = run
				}
				low, high := math.Inf(1), math.Inf(-1)
				for v, s := range runs[0].scores {
					change := float64(s - runs[1].scores[v])
					low, high = min(low, change), max(high, change)
				}
				if high-low > p.units() {
					t.Fatalf("%s, %s: scores change by a range of %g, the account has %g", set.Name(), l.Name(),
						high-low, p.units())
				}
				nearest = max(nearest, (high-low)/p.units())
			}
			if nearest < 0.2 { // no two of the listed points need lie along a record
				t.Errorf("%s, %s: only %g of the range is reached", set.Name(), l.Name(), nearest)
			}
		}
	}
}
