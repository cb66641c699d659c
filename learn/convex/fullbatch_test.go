package convex

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

var relations = []accountant.Relation{accountant.ReplaceOne, accountant.BlankOne,
	accountant.AddOrRemoveOne}

func softmax(t testing.TB, classes int) loss.Softmax {
	return must.Get(loss.NewSoftmax(classes))(t)
}

// gaussianDelta is δ(ε) of one normal noise, written down anew: Φ(-ε/μ+μ/2) - e^ε·Φ(-ε/μ-μ/2).
func gaussianDelta(mu, epsilon float64) float64 {
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	return phi(-epsilon/mu+mu/2) - math.Exp(epsilon)*phi(-epsilon/mu-mu/2)
}

// All steps together cost exactly what one normal noise of μ = √T·Δ/σ does, by a formula of the test's
// own; and no less noise would do.
func TestFullBatchPrice(t *testing.T) {
	raced.Sequential(t)
	for _, relation := range relations {
		for _, l := range []loss.Loss{loss.Logistic{}, softmax(t, 7)} {
			s := setting()
			s.Loss, s.Neighbours = l, relation
			p := sampled(t, DPSGD{Setting: s, Rate: 1, Steps: 37}, 1000, 3)
			b := p.price.Blocks[0]
			delta := 2.0
			if relation != accountant.ReplaceOne {
				delta = 1
			}
			delta *= min(p.norm, p.c.GradientNorm)
			mu := math.Sqrt(37) * delta / b.Deviation
			if got := gaussianDelta(mu, 1); !(got <= 1e-6 && got > 0.9999e-6) {
				t.Errorf("%v, %s: delta %g at the target's epsilon", relation, l.Name(), got)
			}
			if notes := strings.Join(p.price.Notes, "\n"); strings.Contains(notes,
				"one release for all 7 classes") != (p.classes == 7) {
				t.Errorf("%d classes: %s", p.classes, notes)
			}
			if p.price.Cost != s.Target || p.price.Relation != relation ||
				p.price.Bound != accountant.MethodGaussian || p.price.Dim != 3*p.classes {
				t.Errorf("%v: %+v", relation, p.price)
			}
			if bound := must.Get(train.LeastEpsilon(p.price.Event, relation, 1e-6))(t); bound.Cost.Epsilon >
				1.0001 {
				t.Errorf("%v: the event costs %v", relation, bound)
			}
		}
	}
}

// neighbours draws records of d features and K classes and returns a set and its neighbour.
func neighbours(t *testing.T, rng *rand.Rand, n, d, classes int, relation accountant.Relation) [2]*data.Records {
	var out [2]*data.Records
	rows, y := make([][]float64, n), make([]float64, n)
	for i := range rows {
		rows[i], y[i] = make([]float64, d), float64(rng.IntN(classes))
		for j := range rows[i] {
			rows[i][j] = 3 * rng.NormFloat64()
		}
	}
	out[0] = records(t, rows, y)
	other, z := slices.Clone(rows), slices.Clone(y)
	switch relation {
	case accountant.ReplaceOne:
		other[0] = make([]float64, d)
		for j := range other[0] {
			other[0][j] = -rows[0][j]
		}
		if rng.IntN(2) == 0 {
			other[0], z[0] = rows[0], float64((int(z[0])+1)%classes)
		}
	case accountant.BlankOne:
		other[0] = make([]float64, d)
	default:
		other, z = other[1:], z[1:]
	}
	out[1] = records(t, other, z)
	return out
}

// For the same model, neighbours' sums of gradients differ by at most the sensitivity that is priced, and
// by nearly as much: with short gradients or not, for several classes, and for a loss that lies of
// itself.
func TestFullBatchSensitivity(t *testing.T) {
	raced.Sequential(t)
	rng := rand.New(rand.NewPCG(31, 32))
	for _, relation := range relations {
		for name, l := range map[string]loss.Loss{"logistic": loss.Logistic{}, "lying": loss.GLM[lying]{},
			"softmax": softmax(t, 4)} {
			for _, limit := range []float64{0.05, 0.4, 9} {
				s := setting()
				s.Loss, s.Neighbours = l, relation
				p := sampled(t, DPSGD{Setting: s, Rate: 1, Steps: 3, GradientNorm: limit}, 6, 3)
				classes := max(2, p.classes)
				most, w := 0.0, make([]float64, p.size())
				for range 3000 {
					for j := range w {
						w[j] = 8 * rng.NormFloat64()
					}
					var sums [2][]float64
					for k, r := range neighbours(t, rng, 6, 3, classes, relation) {
						own := r.Shortened(s.Radius)
						g := newGradients(&p.task, p.limit, own, own.Len())
						sums[k] = make([]float64, len(w))
						if err := g.sum(t.Context(), sums[k], w, nil); err != nil {
							t.Fatal(err)
						}
					}
					most = max(most, floats.Distance(sums[0], sums[1], 2))
				}
				priced := p.price.Blocks[0].Sensitivity
				if !(most <= priced*(1+1e-12)) { // nor no number
					t.Errorf("%v, %s, C = %v: %v, priced %v", relation, name, limit, most, priced)
				}
				if most < 0.9*priced && (limit < 1 || name == "lying") {
					t.Errorf("%v, %s, C = %v: at most %v of %v", relation, name, limit, most, priced)
				}
			}
		}
	}
}

// The sum has the same bits on one core and on several, and is that of the loss's own gradients.
func TestFullBatchSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	const n, d = 5000, 5
	rows, y := make([][]float64, n), make([]float64, n)
	for i := range rows {
		rows[i], y[i] = make([]float64, d), float64(rng.IntN(3))
		for j := range rows[i] {
			rows[i][j] = rng.NormFloat64() / 4
		}
	}
	r, l := records(t, rows, y), softmax(t, 3)
	w, want, one := make([]float64, 3*d), make([]float64, 3*d), make([]float64, 3*d)
	for j := range w {
		w[j] = rng.NormFloat64()
	}
	for i := range n {
		l.Gradient(one, w, r.Row(i), y[i])
		floats.Add(want, one)
	}
	s := setting()
	s.Loss, s.Radius = l, 10
	p := sampled(t, DPSGD{Setting: s, Rate: 1, Steps: 3, GradientNorm: 100}, n, d)
	var bits [2][]float64
	for k, cores := range []int{1, 4} {
		before := runtime.GOMAXPROCS(cores)
		bits[k] = make([]float64, 3*d)
		err := newGradients(&p.task, p.limit, r, n).sum(t.Context(), bits[k], w, nil)
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(bits[0], bits[1]) {
		t.Error("sums differ between one core and four")
	}
	if floats.Distance(bits[0], want, math.Inf(1)) > 1e-6*floats.Norm(want, math.Inf(1)) { // features are rounded
		t.Errorf("%v, want %v", bits[0], want)
	}
}

// The steps of squares are bounded, however many records there are, so that a line is found; and C grows with the
// records up to the longest gradient.
func TestFullBatchSchedule(t *testing.T) {
	s := setting()
	s.Loss, s.Clip, s.Radius = loss.LeastSquares{}, 1, 2
	before := 0.0
	for _, n := range []int{100, 10_000, 1_000_000} {
		p := sampled(t, DPSGD{Setting: s, Rate: 1}, n, 3)
		if most := mostStretch / (2 * 4.0); p.c.StepSize > most*(1+1e-9) {
			t.Errorf("%d records: a step of %v, want %v at most", n, p.c.StepSize, most)
		}
		if p.limit < before || p.limit > p.norm || p.limit < 0.049*p.norm {
			t.Errorf("%d records: C = %v of %v, after %v", n, p.limit, p.norm, before)
		}
		before = p.limit
	}
	if before != sampled(t, DPSGD{Setting: s, Rate: 1}, 10, 3).norm {
		t.Errorf("a million records shorten gradients to %v", before)
	}
	rng := rand.New(rand.NewPCG(49, 50))
	rows, y := make([][]float64, 20_000), make([]float64, 20_000)
	for i := range rows {
		u := 2*rng.Float64() - 1
		rows[i], y[i] = []float64{u, 1}, u/2-0.25
	}
	s.Radius, s.Target.Epsilon = math.Sqrt2, 8
	p := sampled(t, DPSGD{Setting: s, Rate: 1}, len(rows), 2)
	w := traintest.Simulate(t, traintest.Trained(t, p.Plan(), records(t, rows, y)), 1)
	if math.Abs(w[0]-0.5) > 0.02 || math.Abs(w[1]+0.25) > 0.02 {
		t.Errorf("the line is %v", w)
	}
}

// three are records of three classes about points of their own, with a constant feature.
func three(t testing.TB, n int) *data.Records {
	rng := rand.New(rand.NewPCG(5, 6))
	rows, y := make([][]float64, n), make([]float64, n)
	centres := [][2]float64{{0.7, 0}, {-0.4, 0.6}, {-0.4, -0.6}}
	for i := range rows {
		k := rng.IntN(3)
		y[i] = float64(k)
		rows[i] = []float64{centres[k][0] + 0.2*rng.NormFloat64(), centres[k][1] + 0.2*rng.NormFloat64(), 1}
	}
	return records(t, rows, y).Shortened(1.5)
}

// By the rule alone three classes are told apart at ε = 1, and a run that is stopped after any step goes
// on with the same noise.
func TestFullBatchLearnsClasses(t *testing.T) {
	const n = 2000
	r, l := three(t, n), softmax(t, 3)
	for _, relation := range []accountant.Relation{accountant.ReplaceOne, accountant.AddOrRemoveOne} {
		s := setting()
		s.Loss, s.Radius, s.Neighbours = l, 1.5, relation
		p := sampled(t, DPSGD{Setting: s, Rate: 1}, n, 3)
		a := traintest.Trained(t, p.Plan(), r)
		w := traintest.Simulate(t, a, 1)
		right := 0
		for i := range n {
			z := make([]float64, 3)
			for k := range z {
				z[k] = floats.Dot(w[3*k:3*k+3], r.Row(i))
			}
			if float64(floats.MaxIdx(z)) == r.Response(i) {
				right++
			}
		}
		if right < n*95/100 {
			t.Errorf("%v: %d of %d are right", relation, right, n)
		}
	}
	s := setting()
	s.Loss, s.Radius = l, 1.5
	p := sampled(t, DPSGD{Setting: s, Rate: 1, Steps: 9}, n, 3)
	a := traintest.Trained(t, p.Plan(), r)
	traintest.Resumes(t, "softmax", a, 4, traintest.Simulate(t, a, 4))
}

// Where records are added or removed, how many there are does not show: steps, step size and divisor
// are those of the public number.
func TestFullBatchDividesByThePublicNumber(t *testing.T) {
	s := setting()
	s.Loss = loss.Logistic{}
	p := sampled(t, DPSGD{Setting: s, Rate: 1, Steps: 1, StepSize: 2, GradientNorm: 1}, 50, 1)
	for _, count := range []int{1, 20, 300} {
		a := traintest.Trained(t, p.Plan(), records(t, repeat(count, 1), ones(count)))
		run := a.Start(stream.Seeded(1)).(*sampledRun)
		run.noise = traintest.Silent{}
		if err := run.Round(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		if want := 2 * 0.5 * float64(count) / 50; math.Abs(run.w[0]-want) > 1e-6 {
			t.Errorf("%d records: %v, want %v", count, run.w[0], want)
		}
	}
	s.Neighbours = accountant.ReplaceOne
	q := sampled(t, DPSGD{Setting: s, Rate: 1}, 50, 1)
	if _, err := q.Train(records(t, repeat(20, 1), ones(20))); err == nil {
		t.Error("another number of records was taken where one is replaced")
	}
}

// One run of three steps on two records cannot be told from one with a record replaced better than ε
// and δ allow: 10⁵ runs a world, false alarm 4e-7. With the noise of Δ = C it can.
func TestAuditFullBatch(t *testing.T) {
	raced.Sequential(t)
	s := clippedSetting()
	s.Loss, s.Clip, s.Neighbours = loss.Logistic{}, 0, accountant.ReplaceOne
	c := DPSGD{Setting: s, Rate: 1, Steps: 3, StepSize: 0.1, GradientNorm: 0.3}
	sound := sampled(t, c, 2, 1)
	audit := func(p *sampledPlan) bool {
		var starts [2]func(train.Coins) train.Run
		for k, y := range []float64{0, 1} {
			starts[k] = traintest.Trained(t, p.Plan(), records(t, repeat(2, 1), []float64{1, y})).Start
		}
		zero, one := views(starts, func(r train.Run) float64 {
			rounds(t, r, 3)
			return r.State()[0].Values[0] // all noise is in the last iterate
		})
		return traintest.Broken(zero, one, approxAllowed(sound.price.Cost))
	}
	quarter := *sound
	quarter.price.Blocks = slices.Clone(sound.price.Blocks)
	quarter.price.Blocks[0].Deviation /= 4
	if audit(sound) {
		t.Error("the method as it is breaks its promise")
	}
	if !audit(&quarter) {
		t.Error("a quarter of the noise passes")
	}
}

// What no rule or price is for is refused before there are records.
func TestFullBatchRefusals(t *testing.T) {
	s := setting()
	s.Loss = softmax(t, 3)
	for name, change := range map[string]func(c *DPSGD){
		"gradient norm":     func(c *DPSGD) { c.GradientNorm = -1 },
		"sampling rate":     func(c *DPSGD) { c.Rate = -1 },
		"neighbours":        func(c *DPSGD) { c.Rate, c.Neighbours = 0.5, accountant.ReplaceOne },
		"number of classes": func(c *DPSGD) { c.Loss = loss.Softmax{} },
		"step size":         func(c *DPSGD) { c.StepSize = math.NaN() },
		"number of records": func(c *DPSGD) { c.Loss = s.Loss },
	} {
		c, n := DPSGD{Setting: s, Rate: 1}, 100
		if change(&c); name == "number of records" {
			n = 0
		}
		var broken *check.Error
		if _, err := c.Plan(n, 2); !errors.As(err, &broken) || broken.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := sampled(t, DPSGD{Setting: s, Rate: 1}, 2, 1)
	for _, y := range []float64{-1, 0.5, 3} {
		if _, err := p.Train(records(t, repeat(2, 1), []float64{0, y})); err == nil {
			t.Error(fmt.Sprint("a record of class ", y, " was taken"))
		}
	}
	for _, m := range []Method{PhasedSGD{Setting: s, Ball: 1}, ObjectivePerturbation{Setting: s, Ball: 1}} {
		if _, err := m.Plan(100, 2); err == nil {
			t.Errorf("%T took several classes", m)
		}
	}
}
