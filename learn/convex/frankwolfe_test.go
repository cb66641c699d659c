package convex

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

func l1(t testing.TB, d int, r float64) geometry.OnAxes {
	t.Helper()
	return must.Get(geometry.NewL1Ball(d, r))(t)
}

func frankWolfe(t testing.TB, c FrankWolfe, n, d int) *frankWolfePlan {
	t.Helper()
	p, err := c.plan(n, d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// labelled are the records of the published traces with the labels of their signs.
func labelled(t testing.TB) *data.Sparse {
	r := traceRecords(t)
	rows, y := make([][]float64, 8), make([]float64, 8)
	for i := range rows {
		rows[i] = r.Row(i)
		if r.Response(i) > 0 {
			y[i] = 1
		}
	}
	return data.SparseOf(records(t, rows, y))
}

// hinges is the hinge loss on the unit ℓ1 ball at (1, 1e-6).
func hinges(t testing.TB, d int) FrankWolfe {
	return FrankWolfe{Setting: Setting{Loss: loss.GLM[loss.Hinge]{}, Radius: 1,
		Target: accountant.Cost{Epsilon: 1, Delta: 1e-6}}, Set: l1(t, d, 1)}
}

// The published parameters.
func TestAcceptance4FrankWolfeParameters(t *testing.T) {
	for _, c := range []struct {
		n, d, steps int
		s, beta     float64
	}{{4096, 50, 28, 8.14889611e-2, 2.68183}, {65536, 100, 300, 1.66709523e-2, 8.66117}} {
		config := hinges(t, c.d)
		config.Noise = Printed
		p := frankWolfe(t, config, c.n, c.d)
		if p.schedule.Steps != c.steps {
			t.Errorf("n = %d: T = %d, want %d", c.n, p.schedule.Steps, c.steps)
		}
		must.Near(t, "s", p.printedScale(), c.s, 1e-8)
		must.Near(t, "s in use", p.schedule.Scale, c.s, 1e-6)
		if p.schedule.Scale < p.printedScale() {
			t.Error("rounding lowered the noise")
		}
		must.Near(t, "beta", p.schedule.Beta, c.beta, 2e-6)
	}
}

// The published trace: vertices exactly, iterates to all digits, gradients to the rounding
// that the plan states.
func TestAcceptance4FrankWolfeTrace(t *testing.T) {
	c := hinges(t, 2)
	c.Smoothing, c.Steps, c.SlopeBits = 2, 4, 30
	for name, set := range map[string]geometry.Polytope{"ball": l1(t, 2, 1),
		"list": hull(1, [][]float64{{1, 0}, {0, 1}, {-1, 0}, {0, -1}})} {
		c.Set = set
		p := frankWolfe(t, c, 8, 2)
		p.quiet = true
		r := labelled(t)
		run := newFrankWolfeRun(p, r, r.Transpose(), stream.Seeded(1).Source())
		for k, want := range []struct{ g, w []float64 }{
			{[]float64{-.535, -.295}, []float64{1, 0}},
			{[]float64{-.195, -.34}, []float64{.25, .75}},
			{[]float64{-.4772, -.0504}, []float64{.7, .3}},
			{[]float64{-.411, -.263}, []float64{.85, .15}},
		} {
			if err := run.Round(t.Context(), k); err != nil {
				t.Fatal(err)
			}
			for j, w := range run.Output() {
				g := math.Ldexp(float64(run.sum[j]), -p.schedule.SlopeBits-p.schedule.FeatureBits) / 8
				if math.Abs(g-want.g[j]) > 1e-6 {
					t.Errorf("%s, step %d: g[%d] = %.9f, want %.9f", name, k+1, j, g, want.g[j])
				}
				if math.Abs(w-want.w[j]) > 1e-12 {
					t.Errorf("%s, step %d: w[%d] = %.15f, want %.15f", name, k+1, j, w, want.w[j])
				}
			}
		}
	}
}

// listed is the convex hull of a list of points, measured in ‖·‖_p: a polytope whose vertices are not on
// the axes.
type listed struct {
	p, diameter float64
	points      [][]float64
}

func hull(p float64, points [][]float64) *listed {
	h := &listed{p: p, points: points}
	for i, x := range points {
		for _, y := range points[i+1:] {
			h.diameter = max(h.diameter, geometry.Norm(floats.SubTo(make([]float64, len(x)), x, y), p))
		}
	}
	return h
}

func (h *listed) Name() string {
	return fmt.Sprintf("hull of %d points in %d, l%v", len(h.points), h.Dim(), h.p)
}
func (h *listed) Dim() int          { return len(h.points[0]) }
func (h *listed) Norm() float64     { return h.p }
func (h *listed) Diameter() float64 { return h.diameter }
func (h *listed) Vertices() int     { return len(h.points) }

func (h *listed) Vertex(i int) (coordinates []int32, values []float64) {
	for j, x := range h.points[i] {
		if x != 0 {
			coordinates, values = append(coordinates, int32(j)), append(values, x)
		}
	}
	return coordinates, values
}

func (h *listed) Minimize(v, g []float64) {
	copy(v, slices.MinFunc(h.points, func(x, y []float64) int {
		return cmp.Compare(floats.Dot(x, g), floats.Dot(y, g))
	}))
}

// The published compositions of noisy maxima: the source's formula, and that the accountant's
// is never more.
func TestAcceptance5NoisyMaximumComposition(t *testing.T) {
	for _, c := range []struct {
		eps   float64
		k     int
		delta float64
		want  float64
	}{{.1, 10, 1e-6, 1.76742905}, {.06726, 16, 1e-6, 1.48908687}, {.01, 1000, 1e-5, 1.61792880}} {
		must.Near(t, "adv", advanced(c.eps, float64(c.k), c.delta), c.want, 1e-8)
		for _, kind := range []Selection{LaplaceNoise, Exponential} {
			event, err := accountant.Compose(accountant.Charge{Event: choice{kind, Range}.event(c.eps,
				accountant.ReplaceOne), Count: c.k})
			if err != nil {
				t.Fatal(err)
			}
			best, err := train.LeastEpsilon(event, accountant.ReplaceOne, c.delta, stepMethods...)
			if err != nil || best.Cost.Epsilon > min(c.want, c.eps*float64(c.k))*(1+1e-12) {
				t.Errorf("%s: %v, %v, above %v", kind, best, err, c.want)
			}
		}
	}
	for _, c := range []struct {
		rho, delta, standard,
		tight float64
	}{{.01, 1e-6, 0.75338444, 0.62169265}, {.5, 1e-5, 5.29852591, 4.72838698}} {
		standard, err := accountant.EpsilonFromZCDP(c.rho, c.delta)
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, "zCDP", standard, c.standard, 1e-7)
		curve, err := zcdpCurve(accountant.ReplaceOne, c.rho, "test")
		if err != nil {
			t.Fatal(err)
		}
		best, err := train.LeastEpsilon(curve, accountant.ReplaceOne, c.delta, accountant.MethodRDP)
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, "zCDP, tight", best.Cost.Epsilon, c.tight, 1e-4)
	}
}

// The published ledger of the printed noise, in all its readings, and that the exponential
// mechanism halves what is spent at the same noise.
func TestAcceptance8FrankWolfeLedger(t *testing.T) {
	c := hinges(t, 50)
	c.Noise = Printed
	for rule, want := range map[Rule]struct{ advanced, zcdp float64 }{Sup: {0.683, 0.554},
		Range: {0.337, 0.265}} {
		c.Rule = rule
		p := frankWolfe(t, c, 4096, 50)
		if got := advanced(p.schedule.Epsilon, float64(p.schedule.Steps),
			1e-6); math.Abs(got-want.advanced) > 0.005 {
			t.Errorf("%s: advanced composition gives %g, want %g", rule, got, want.advanced)
		}
		// The published zCDP figures; the divergences of pure DP are below its line.
		curve, err := zcdpCurve(accountant.ReplaceOne,
			float64(p.schedule.Steps)*p.choice.rho(p.schedule.Epsilon), "test")
		if err != nil {
			t.Fatal(err)
		}
		line, err := train.LeastEpsilon(curve, accountant.ReplaceOne, 1e-6, accountant.MethodRDP)
		if got := p.price.Cost.Epsilon; err != nil || math.Abs(line.Cost.Epsilon-want.zcdp) > 0.005 ||
			!(got <= line.Cost.Epsilon && got > 0.9*line.Cost.Epsilon) {
			t.Errorf("%s: the price is %g, by zCDP %g, want %g", rule, got, line.Cost.Epsilon, want.zcdp)
		}
		exponential := c
		exponential.Selection = Exponential
		if got := frankWolfe(t, exponential, 4096, 50).price.Cost.Epsilon; !(got < 0.52*
			p.price.Cost.Epsilon) {
			t.Errorf("%s: the exponential mechanism spends %g, laplace %g", rule, got,
				p.price.Cost.Epsilon)
		}
	}
	rows, err := frankWolfe(t, c, 4096, 50).Compare()
	if err != nil {
		t.Fatal(err)
	}
	// With 3·L0·R per gradient and two of them the source is over its promise by its own rule,
	// advanced composition.
	if got := rows[0]; math.Abs(got.Epsilon-1.037) > 0.005 || got.Holds {
		t.Errorf("the text's reading: %+v", got)
	}
	for _, r := range rows[1:] {
		if !r.Holds || !(r.Epsilon < 0.7) {
			t.Errorf("%+v", r)
		}
	}
}

// Calibrated noise meets its target and is near it, for every selection.
func TestFrankWolfeCalibration(t *testing.T) {
	for _, kind := range []Selection{Exponential, PermuteAndFlip, LaplaceNoise} {
		for _, target := range []accountant.Cost{{Epsilon: 0.1, Delta: 1e-8}, {Epsilon: 1, Delta: 1e-6},
			{Epsilon: 8, Delta: 1e-5}} {
			c := hinges(t, 50)
			c.Selection, c.Target = kind, target
			p := frankWolfe(t, c, 8192, 50)
			got, err := train.LeastEpsilon(p.price.Event, accountant.ReplaceOne, target.Delta,
				p.price.Bound)
			if err != nil || !(got.Cost.Epsilon <= target.Epsilon &&
				got.Cost.Epsilon > 0.999*target.Epsilon) || p.price.Cost != target {
				t.Errorf("%s at %v: %v, price %v", kind, target, got, p.price.Cost)
			}
			if !(p.schedule.Scale < 0.4*p.printedScale()) {
				t.Errorf("%s at %v: scale %g, printed %g", kind, target, p.schedule.Scale, p.printedScale())
			}
		}
	}
}
