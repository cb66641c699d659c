package accountant_test

import (
	"errors"
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
)

// An Iteration is charged like any event, twice as two trainings; what cannot be
// certified is refused before anything is charged.
func TestIterationIsAnEvent(t *testing.T) {
	a, err := accountant.New(accountant.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	e := withNoise(iteration(50, 1000, 500, 10), 7)
	b, err := a.Charge(e, 2)
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.AtDelta(1e-6)
	if err != nil {
		t.Fatal(err)
	}
	rho := 2 * 0.4073485682
	want := rho + 2*math.Sqrt(rho*math.Log(1e6))
	for _, bound := range r.Bounds {
		switch bound.Method {
		case accountant.MethodZCDP:
			near(t, "zcdp", bound.Cost.Epsilon, want, 1e-8)
		case accountant.MethodRDP:
			if bound.Cost.Epsilon > want {
				t.Errorf("rdp %g, zcdp %g", bound.Cost.Epsilon, want)
			}
		default:
			t.Errorf("method %s: %v", bound.Method, bound.Cost)
		}
	}
	if len(r.Bounds) < 1 {
		t.Errorf("%+v", r)
	}
	for _, bad := range []accountant.Iteration{{}, withMode(withNoise(iteration(5, 9, 4, 1), 1), accountant.IterationGaussianExact)} {
		if _, err := a.Charge(bad, 1); err == nil {
			t.Errorf("%v charged", bad)
		}
	}
	mixed, err := a.Charge(withMode(e, accountant.IterationRRMixture), 1)
	if err != nil {
		t.Fatal(err)
	}
	if mixed, err = mixed.Charge(accountant.Gaussian{NoiseMultiplier: 10, Neighbours: accountant.ReplaceOne}, 3); err != nil {
		t.Fatal(err)
	}
	if eps, err := mixed.Epsilon(1e-6); err != nil || !(eps > 0) || math.IsInf(eps, 1) {
		t.Errorf("%g, %v", eps, err)
	}
	none, err := a.Charge(withNoise(e, 0), 1) // ε = +Inf
	if err == nil {
		_, err = none.Epsilon(1e-6)
	}
	if err == nil {
		t.Error("a finite figure without noise")
	}
	poisson, err := accountant.New(accountant.AddOrRemoveOne)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := poisson.Charge(e, 1); !errors.Is(err, accountant.ErrUnsupported) {
		t.Errorf("for add or remove: %v", err)
	}
}
