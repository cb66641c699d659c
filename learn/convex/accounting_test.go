package convex

import (
	"fmt"
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/must"
	"github.com/darrm/darrm/learn/train"
)

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
