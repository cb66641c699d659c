package convex

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/train"
)

// Scores on vertices far from 0 are large, however small the set is: where they would not fit the
// samplers' integers the plan is refused. The set is one unit wide; 2²⁶ units from 0 a sum of
// gradients n·M = 2³⁹ has scores of 2⁶⁶.
func TestScoresOfFarVertices(t *testing.T) {
	c := hinges(t, 2)
	c.Steps, c.Selection = 1, PermuteAndFlip
	at := func(far float64) error {
		c.Set = hull(2, [][]float64{{far, 0}, {far, 1}})
		p, err := c.plan(1000, 2)
		if err != nil {
			return err
		}
		// All records alike: the largest score there is.
		fw := p
		largest := float64(fw.n) * float64(fw.schedule.Levels) * math.Hypot(far, 1) /
			(fw.c.Set.Diameter() / 2)
		if largest > maxUnits {
			t.Errorf("vertices at %g: scores up to %g units are taken", far, largest)
		}
		return nil
	}
	if err := at(1000); err != nil {
		t.Error(err)
	}
	var broken *check.Error
	if err := at(0x1p26); !errors.As(err, &broken) ||
		!strings.Contains(err.Error(), "for scores up to") {
		t.Errorf("vertices at 2²⁶: %v", err)
	}
}

// The price is that of all steps, composed here from one step's event.
func TestEveryStepIsPriced(t *testing.T) {
	raced.Sequential(t)
	c := DPSGD{Setting: setting(), Ball: 1, Rate: 0.05, Steps: 40}
	p := sampled(t, c, 1000, 3)
	step := accountant.SubsampledGaussian{NoiseMultiplier: p.noise, SamplingRate: c.Rate,
		Neighbours: accountant.AddOrRemoveOne}
	a := must.Get(must.Get(accountant.New(accountant.AddOrRemoveOne))(t).Charge(step, c.Steps))(t)
	if want, got := must.Get(a.Epsilon(1e-6))(t), p.price.Cost.Epsilon; math.Abs(got-want) > 1e-9 {
		t.Errorf("priced at %.9g, but %d steps cost %.9g", got, c.Steps, want)
	}
	if run := must.Get(p.Train(records(t, [][]float64{{1, 0, 0}}, []float64{1})))(t).Rounds; run !=
		c.Steps {
		t.Errorf("%d steps are run", run)
	}
}

// A search ends with a gradient of norm γ in each of two worlds, on whichever side: the points that
// it may end at are apart by what the record does and twice γ/λ, and by twice γ/λ even where the
// records are the same.
func TestToleranceCountsInBothWorlds(t *testing.T) {
	const lambda = 2
	far := func(p *minimised, x, side float64) float64 {
		// J(w) = |xw - 30| + λw²/2, smoothed far from here, is least at x/λ.
		w := x/lambda + side*p.tolerance/lambda*(1-1e-6)
		g, sum, v, b := make([]float64, 1), make([]float64, 1), []float64{w}, []float64{0}
		if err := p.gradient(t.Context(), records(t, [][]float64{{x}}, []float64{30}), b, v, g,
			sum); err != nil {
			t.Fatal(err)
		}
		if vec.Norm(g)+p.rounding(b, v) > p.tolerance {
			t.Errorf("%g is no certified point: gradient %g, tolerance %g", w, vec.Norm(g), p.tolerance)
		}
		return w
	}
	out := output(t, OutputPerturbation{Setting: setting(), Lambda: lambda}, 1, 1)
	if apart := far(out, 1, 1) - far(out, -1, -1); apart > out.sensitivity ||
		apart < out.sensitivity*(1-1e-6) {
		t.Errorf("output perturbation: points %.12g apart, sensitivity %.12g", apart, out.sensitivity)
	}
	s := setting()
	s.Target.Epsilon = 10
	obj := objective(t, ObjectivePerturbation{Setting: s, Lambda: lambda, Smoothing: 1}, 1, 1)
	if apart := far(obj, 1, 1) - far(obj, 1, -1); apart > obj.sensitivity ||
		apart < obj.sensitivity*(1-1e-5) {
		t.Errorf("objective perturbation: points %.12g apart, sensitivity %.12g", apart, obj.sensitivity)
	}
}

// The published figures of the primitives, from the shared accountant.
func TestAcceptance5Accountant(t *testing.T) {
	for target, want := range map[accountant.Cost]float64{
		{Epsilon: 1, Delta: 1e-5}: 3.73063163, {Epsilon: 1, Delta: 1e-6}: 4.22467889,
		{Epsilon: 0.5, Delta: 1e-5}: 7.03182668,
	} {
		got, err := accountant.GaussianNoise(target)
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, fmt.Sprint("noise for ", target), got, want, 1e-8)
		// The inverse, and monotone in both.
		back, err := accountant.GaussianEpsilon(got, target.Delta)
		if err != nil || !(back <= target.Epsilon) {
			t.Error(target, back, err)
		}
		must.Near(t, "back", back, target.Epsilon, 1e-9)
		for _, easier := range []accountant.Cost{{Epsilon: 1.1 * target.Epsilon, Delta: target.Delta},
			{Epsilon: target.Epsilon, Delta: 2 * target.Delta}} {
			if less, err := accountant.GaussianNoise(easier); err != nil || !(less < got) {
				t.Errorf("%v needs %v, %v needs %v (%v)", easier, less, target, got, err)
			}
		}
		must.Near(t, "classical", math.Sqrt(2*math.Log(1.25/target.Delta))/target.Epsilon,
			map[float64]float64{3.73063163: 4.844805, 4.22467889: 5.298803, 7.03182668: 9.689611}[want],
			1e-6)
	}
	for _, c := range []struct{ delta, mu, want float64 }{
		{1e-5, .1, 0.34066936}, {1e-5, .2, 0.72552175}, {1e-5, .5, 1.99309140}, {1e-5, 1, 4.37717810},
		{1e-6, .1, 0.39685738}, {1e-6, .13452, 0.54504920}, {1e-6, .2, 0.83411755},
		{1e-6, .5, 2.25408465}, {1e-6, 1, 4.88655412},
	} {
		got, err := accountant.GaussianEpsilon(1/c.mu, c.delta)
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, fmt.Sprintf("epsilon at mu = %v", c.mu), got, c.want, 2e-8)
	}
	for _, c := range []struct {
		rho, delta, standard,
		tight float64
	}{{.01, 1e-6, 0.75338444, 0.62169265}, {.5, 1e-5, 5.29852591, 4.72838698}} {
		got, err := accountant.EpsilonFromZCDP(c.rho, c.delta)
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, "zCDP", got, c.standard, 1e-8)
		e := accountant.Gaussian{NoiseMultiplier: 1 / math.Sqrt(2*c.rho),
			Neighbours: accountant.ReplaceOne}
		best, err := train.LeastEpsilon(e, accountant.ReplaceOne, c.delta, accountant.MethodRDP)
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, "zCDP at the best order", best.Cost.Epsilon, c.tight, 1e-4)
	}
}
