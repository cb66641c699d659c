package federated

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
)

// toy is the first of section 6.5: two silos of two records, in one dimension.
func toy(t testing.TB) *data.Records {
	return must.Get(data.NewRecords(4, 2, []float64{1, 0, 1, 2, 3, 1, 3, 3}, nil))(t)
}

func toyPlan(t testing.TB, steps, rounds int, lagged bool) *Plan {
	c := PSGM{Setting: Setting{Loss: quadratic{d: 1}, Silos: []int{2, 2}, Start: []float64{5},
		Rounds: rounds, StepSize: 0.1, GradientClip: wide, DifferenceClip: wide, Target: target},
		Momentum: 0.5, Epsilon: 1, Account: Unshuffled, lagged: lagged}
	if steps > 1 {
		c.Local = Local{Steps: steps, Batch: 2, Clip: wide, NoNoise: true}
	}
	return must.Get(c.New(4, 2))(t).Noiseless()
}

// Acceptance test 12: the traces of section 6.5, and the printed variant behind the test's flag
// only.
func TestTraces(t *testing.T) {
	for _, c := range []struct {
		name   string
		steps  int
		lagged bool
		v, x   []float64
	}{
		{"H = 1", 1, false, []float64{6.5, 5.2, 4.16, 3.328}, []float64{4.35, 3.83, 3.414, 3.0812}},
		{"H = 2", 2, false, []float64{6.5, 4.03, 2.6598, 1.649076},
			[]float64{3.765, 3.0799, 2.574538, 2.29419508}},
		{"printed", 1, true, []float64{6.5, 5.85, 4.94, 3.991}, nil},
	} {
		x, v := trace(t, toyPlan(t, c.steps, 4, c.lagged), toy(t), 1)
		for r := range c.v {
			must.Near(t, c.name+": v", v[r][0], c.v[r], 1e-10)
			if c.x != nil {
				must.Near(t, c.name+": x", x[r][0], c.x[r], 1e-10)
			}
		}
	}
}

// Acceptance test 18, its first half: the middle points of the local phase, which Uniform may
// return.
func TestMiddlePointsOfTheLocalPhase(t *testing.T) {
	p := toyPlan(t, 2, 4, false)
	x, v := trace(t, p, toy(t), 1)
	before := []float64{5}
	for r, want := range []float64{4.35, 3.362, 2.81392, 2.4096304} {
		s := &Silo{&p.plan, r % 2, must.Get(toy(t).Select([]int{2 * (r % 2), 2*(r%2) + 1}))(t), seeded(1)}
		reply := must.Get(s.Local(t.Context(), Request{Round: r, Silo: r % 2, Model: before,
			Direction: v[r], Keep: 1}))(t)
		must.Near(t, "middle point", reply.Kept[0], want, 1e-10)
		must.Near(t, "end", reply.Model[0], x[r][0], 1e-12)
		before = x[r]
	}
}

// Acceptance test 13: heterogeneity decides what local steps are worth.
func TestHeterogeneity(t *testing.T) {
	const d, silos = 10, 8
	final := func(tau float64, steps int) float64 {
		var rows []float64
		spectrum := make([]float64, d)
		for j := range spectrum {
			spectrum[j] = math.Pow(0.01, float64(j)/9)
		}
		for m := range silos {
			a, b := make([]float64, d), make([]float64, d)
			for j := range a {
				s := -1.0
				if m>>(j%3)&1 == 1 {
					s = 1
				}
				a[j], b[j] = spectrum[j]+tau*s, math.Sin(1+10*float64(m)+float64(j))
			}
			rows = append(append(rows, a...), b...)
		}
		c := PSGM{Setting: Setting{Loss: linearised{quadratic{d: d}},
			Silos: []int{1, 1, 1, 1, 1, 1, 1, 1}, Rounds: 40, StepSize: 0.5, GradientClip: wide,
			Target: target}, Momentum: 1, Epsilon: 1, Account: Unshuffled}
		if tau > 0 {
			c.StepSize = min(0.5, 1/(float64(steps)*tau))
		}
		if steps > 1 {
			c.Local = Local{Steps: steps, Batch: 1, Clip: wide, NoNoise: true}
		}
		p := must.Get(c.New(silos, 2*d))(t).Noiseless()
		x, _ := trace(t, p, must.Get(data.NewRecords(silos, 2*d, rows, nil))(t), 1)
		g, sum := make([]float64, d), make([]float64, d)
		for m := range silos {
			c.Loss.Gradient(g, x[39], rows[m*2*d:(m+1)*2*d], 0)
			for j := range sum {
				sum[j] += g[j] / silos
			}
		}
		return vec.Norm(sum) * vec.Norm(sum)
	}
	got := map[[2]float64]float64{}
	for _, c := range []struct{ tau, h, want float64 }{
		{0, 1, 0.00795057}, {0, 5, 9.44589e-4}, {0, 20, 2.24588e-6}, {0.05, 1, 0.00795057},
		{0.05, 5, 9.41995e-4}, {0.05, 20, 1.62414e-6},
		{0.5, 1, 0.00795057}, {0.5, 5, 1.25556e-3}, {0.5, 20, 1.12045e-3},
	} {
		v := final(c.tau, int(c.h))
		got[[2]float64{c.tau, c.h}] = v
		must.Near(t, "squared gradient", v, c.want, 1e-4)
	}
	if a, b := got[[2]float64{0.05, 1}]/got[[2]float64{0.05, 20}],
		got[[2]float64{0.5, 1}]/got[[2]float64{0.5, 20}]; !(a > 1000) || !(b < 10) {
		t.Errorf("20 local steps gain %g at tau = 0.05 and %g at 0.5", a, b)
	}
}

// DIFF2-GD without noise and clips is gradient descent, whatever its period: differences add up to
// the gradient.
func TestDifferencesAddUp(t *testing.T) {
	var want [][]float64
	for _, period := range []int{1, 2, 3, 10} {
		c := Central{Setting: Setting{Loss: quadratic{d: 1}, Silos: []int{2, 2}, Start: []float64{5},
			Rounds: 7, StepSize: 0.1, GradientClip: wide, Target: target}, Period: period}
		if period > 1 {
			c.DifferenceClip = wide
		}
		x, v := trace(t, must.Get(c.New(4, 2))(t).Noiseless(), toy(t), 1)
		if want == nil {
			want = x
			must.Near(t, "v", v[0][0], 6.5, 1e-12)
			must.Near(t, "v", v[6][0], 6.5*math.Pow(0.8, 6), 1e-12)
		}
		for r := range x {
			must.Near(t, "x", x[r][0], want[r][0], 1e-12)
		}
	}
}

// Broadcasts of one round and one model that differ in the model before ask for other differences:
// the silo answers them with coins of their own. Two reports with one seed of which one bit is
// turned and the other not would tell the true sign.
func TestCoinsKnowThePreviousModel(t *testing.T) {
	_, silos, server := sending(t, 64, nil)
	step(t, silos, server)
	b := server.Broadcast()
	other := b
	other.Previous = slices.Clone(b.Previous)
	other.Previous[3] = math.Nextafter(other.Previous[3], 2)
	seeds := map[string]bool{}
	for _, b := range []Broadcast{b, other} {
		for _, messages := range must.Get(silos[0].Report(t.Context(), b))(t) {
			for i := 0; i < len(messages); i += 9 {
				seed := string(messages[i : i+8])
				if seeds[seed] {
					t.Fatal("a seed is used twice")
				}
				seeds[seed] = true
			}
		}
	}
	if len(seeds) != 2*2*16 {
		t.Errorf("%d seeds", len(seeds))
	}
}

// Each vector of several blocks is summed once, by whatever number of workers.
func TestBlockSumsTakeEachVectorOnce(t *testing.T) {
	const n = 2*BlockSize + 300
	for _, workers := range []int{1, 3} {
		var mu sync.Mutex
		taken := make([]int, n)
		sum := []float64{-1} // which is to be cleared
		err := blockSums(t.Context(), n, workers, sum, func(_, from, to int, sum []float64) error {
			mu.Lock()
			defer mu.Unlock()
			for i := from; i < to; i++ {
				taken[i]++
				sum[0] += float64(i)
			}
			return nil
		})
		if err != nil || sum[0] != n*(n-1)/2 {
			t.Errorf("%d workers: the sum is %g, want %d, %v", workers, sum[0], n*(n-1)/2, err)
		}
		for i, times := range taken {
			if times != 1 {
				t.Fatalf("%d workers: vector %d is taken %d times", workers, i, times)
			}
		}
	}
}
