package pairwise

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/learn/data"
)

// striped are records in the unit ball whose class is the sign of the first feature, which is the
// smallest: the others are noise.
func striped(t testing.TB, n int, seed uint64) *data.Records {
	rng := rand.New(rand.NewPCG(seed, 5))
	rows, y := make([][]float64, n), make([]float64, n)
	for i := range rows {
		y[i] = float64(rng.IntN(2))
		rows[i] = []float64{0.08*(2*y[i]-1) + 0.03*rng.NormFloat64(), 0.35 * rng.NormFloat64(),
			0.35 * rng.NormFloat64(), 0.35 * rng.NormFloat64()}
	}
	return records(t, rows, y)
}

// nearest returns the share of the test records whose nearest record of the others, by M, has their
// class.
func nearest(m []float64, others, test *data.Records) float64 {
	d, right := others.Dim(), 0
	apart := make([]float64, d)
	for i := range test.Len() {
		best, class := math.Inf(1), 0.0
		for j := range others.Len() {
			floats.SubTo(apart, test.Row(i), others.Row(j))
			form := 0.0
			for a, v := range apart {
				form += v * floats.Dot(m[a*d:(a+1)*d], apart)
			}
			if form < best {
				best, class = form, others.Response(j)
			}
		}
		if class == test.Response(i) {
			right++
		}
	}
	return float64(right) / float64(test.Len())
}

// A private metric's nearest neighbours are better than Euclid's: it finds which feature counts.
func TestMetricBeatsEuclid(t *testing.T) {
	own := striped(t, 100_000, 1)
	p := plan(t, Metric{Radius: 0.8, Bound: 20, Target: accountant.Cost{Epsilon: 4, Delta: 1e-6},
		Threshold: 0.3}, own.Len(), own.Dim())
	m := traintest.Simulate(t, traintest.Trained(t, p, own), 1)
	others, test := striped(t, 400, 2), striped(t, 400, 3)
	euclid := nearest([]float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, others, test)
	if got := nearest(m, others, test); got < euclid+0.02 || got < 0.97 {
		t.Errorf("nearest neighbours are right in %.3f, by Euclid in %.3f (M = %.3v)", got, euclid, m)
	}
}

// A step goes against the gradient, by central differences of the loss.
func TestMetricGradient(t *testing.T) {
	r := records(t, [][]float64{{0.5, -0.2}, {-0.3, 0.4}, {0.1, 0.9}}, []float64{0, 1, 1})
	e := &metricRun{p: &metricPlan{c: Metric{Threshold: 0.7}, d: 2}, rows: r,
		apart: make([]float64, 2)}
	at := []float64{0.3, 0.1, 0.1, 0.8}
	for _, pair := range [][2]int{{1, 0}, {2, 1}} {
		f := func(m []float64) float64 {
			x := []float64{r.Row(pair[0])[0] - r.Row(pair[1])[0], r.Row(pair[0])[1] - r.Row(pair[1])[1]}
			form := x[0]*x[0]*m[0] + x[0]*x[1]*(m[1]+m[2]) + x[1]*x[1]*m[3]
			tau := 1.0
			if r.Response(pair[0]) != r.Response(pair[1]) {
				tau = -1
			}
			return math.Log1p(math.Exp(-tau * (0.7 - form)))
		}
		e.u = append([]float64{}, at...)
		e.step(pair[0], pair[1], 1)
		for i := range at {
			up, down := append([]float64{}, at...), append([]float64{}, at...)
			up[i] += 1e-6
			down[i] -= 1e-6
			if want := (f(up) - f(down)) / 2e-6; math.Abs(at[i]-e.u[i]-want) > 1e-8 {
				t.Errorf("pair %v, number %d: %g, by differences %g", pair, i, at[i]-e.u[i], want)
			}
		}
	}
}

// Runs on records of which one was replaced, with the same silent noise, end a phase no farther
// apart than its sensitivity, which is 4Gη_k for G = 4R². What is found is near a quarter of it.
func TestMetricSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	worst := 0.0
	for range 30 {
		n, d := 8+rng.IntN(120), 1+rng.IntN(3)
		draw := func() ([]float64, float64) {
			x := make([]float64, d)
			for j := range x {
				x[j] = 3 * rng.NormFloat64() // mostly beyond the radius
			}
			return x, float64(rng.IntN(2))
		}
		rows, y := make([][]float64, n), make([]float64, n)
		for i := range rows {
			rows[i], y[i] = draw()
		}
		p := must.Get(Metric{Radius: 0.8, Bound: 5, Threshold: 0.05 + 2*rng.Float64(),
			StepSize: 4 * rng.Float64(), Target: accountant.Cost{Epsilon: 1, Delta: 1e-5}}.plan(n, d))(t)
		b := p.price.Blocks[0]
		if want := 4 * 4 * 0.8 * 0.8 * b.StepSize; math.Abs(b.Sensitivity-want) > 1e-9*want {
			t.Fatalf("sensitivity %g, not %g", b.Sensitivity, want)
		}
		end := func() []float64 {
			v := func() []float64 { return make([]float64, d*d) }
			e := &metricRun{p: p, rows: records(t, rows, y).Shortened(0.8), noise: traintest.Silent{},
				m: v(), u: v(), sum: v(), z: v(), apart: make([]float64, d)}
			if err := e.Round(context.Background(), 0); err != nil {
				t.Fatal(err)
			}
			return e.m
		}
		before := end()
		for range 20 {
			at := rng.IntN(b.To) * rng.IntN(2)
			rows[at], y[at] = draw()
			after := end()
			worst = max(worst, floats.Distance(before, after, 2)/b.Sensitivity)
			before = after
		}
	}
	if !(worst <= 1 && worst >= 0.15) {
		t.Errorf("the largest distance is %g sensitivities", worst)
	}
}

func TestMetricRefusals(t *testing.T) {
	good := Metric{Radius: 1, Bound: 1, Target: accountant.Cost{Epsilon: 1, Delta: 1e-5}}
	if p := plan(t, good, 100, 3); p.Price.Cost != good.Target {
		t.Errorf("costs %v", p.Price.Cost)
	}
	for name, change := range map[string]func(m *Metric){
		"radius": func(m *Metric) { m.Radius = 0 }, "bound": func(m *Metric) { m.Bound = math.Inf(1) },
		"threshold": func(m *Metric) { m.Threshold = -1 },
		"step size": func(m *Metric) { m.StepSize = 2.1 }, "delta = 0": func(m *Metric) {
			m.Target.Delta = 0
		}, "neighbours": func(m *Metric) { m.Neighbours = accountant.AddOrRemoveOne },
	} {
		m := good
		change(&m)
		if _, err := m.Plan(100, 3); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, size := range [][2]int{{3, 1}, {100, 0}, {100, 2000}} {
		if _, err := good.Plan(size[0], size[1]); err == nil {
			t.Errorf("%v was taken", size)
		}
	}
	p := plan(t, good, 100, 3)
	if _, err := p.Train(striped(t, 99, 1)); err == nil {
		t.Error("other records")
	}
}

// The noise of a phase has variance σ² along every symmetric matrix of norm 1: along diagonal ones,
// others, and mixed. Means of 4000 squares are off by more than 0.12 with probability below 1e-7;
// noise that were halved off the diagonal once more, or drawn for either half, is off by 0.5 or
// more.
func TestMetricNoise(t *testing.T) {
	good := Metric{Radius: 1, Bound: 1e9, StepSize: 1,
		Target: accountant.Cost{Epsilon: 1, Delta: 1e-5}}
	p := must.Get(good.plan(4, 2))(t)
	r := records(t, [][]float64{{0, 0}, {0, 0}, {0, 0}, {0, 0}}, []float64{0, 1, 0, 1})
	along := [][]float64{{1, 0, 0, 0}, {0, math.Sqrt2 / 2, math.Sqrt2 / 2, 0},
		{0.6, 0.4 * math.Sqrt2, 0.4 * math.Sqrt2, 0}}
	squares := make([]float64, len(along))
	const runs = 4000
	for seed := range uint64(runs) {
		v := func() []float64 { return make([]float64, 4) }
		e := &metricRun{p: p, rows: r, noise: stream.Seeded(seed).Normals(), m: []float64{1e6, 0, 0, 1e6},
			u: v(), sum: v(), z: v(), apart: make([]float64, 2)}
		// far inside the set, so that nothing is projected
		if err := e.Round(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		for k, a := range along {
			got := floats.Dot(a, e.m) - 1e6*(a[0]+a[3])
			squares[k] += got * got / runs
		}
	}
	sigma := p.price.Blocks[0].Deviation
	for k, v := range squares {
		if math.Abs(v/(sigma*sigma)-1) > 0.12 {
			t.Errorf("along %v the variance is %.3f of the stated", along[k], v/(sigma*sigma))
		}
	}
}
