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
		case accountant.MethodGaussian, accountant.MethodPLD:
			near(t, string(bound.Method), bound.Cost.Epsilon, epsilon(t, withMode(withNoise(iteration(100, 1000, 500, 10), 7), accountant.IterationGaussianExact), 1e-6), 1e-4)
		default:
			t.Errorf("method %s: %v", bound.Method, bound.Cost)
		}
	}
	if len(r.Bounds) != 4 {
		t.Errorf("%+v", r)
	}
	for _, bad := range []accountant.Iteration{{}, withMode(withNoise(iteration(5, 9, 4, 1), 1), "poisson")} {
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

// In an Accountant each event is accounted by its own mode, whatever is beside it.
func TestAccountantHonoursEachMode(t *testing.T) {
	const alpha = 6.0
	all := withNoise(iteration(3, 40, 30, 1), 1.5)
	all.Order, all.Released = accountant.ShuffledOnce, accountant.LastIterate
	modes := []accountant.IterationMode{accountant.IterationPaper, accountant.IterationSOMixture, accountant.IterationCrossEpoch, accountant.IterationBest, ""}
	a, err := accountant.New(accountant.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	sum, alone := 0.0, map[accountant.IterationMode]float64{}
	for _, m := range modes {
		e := all
		e.Mode = m
		if alone[m], err = accountant.RDP(e, alpha); err != nil {
			t.Fatal(err)
		}
		sum += alone[m]
		if a, err = a.Charge(e, 1); err != nil {
			t.Fatal(err)
		}
	}
	if len(a.Charges()) != len(modes) {
		t.Fatalf("charges of different modes were merged: %v", a.Charges())
	}
	for _, m := range modes[1:] {
		if !(alone[m] < 0.9*alone[accountant.IterationPaper]) {
			t.Errorf("%s: %g, the source's %g: the modes do not tell apart", m, alone[m], alone[accountant.IterationPaper])
		}
	}
	if least := min(alone[accountant.IterationSOMixture], alone[accountant.IterationCrossEpoch]); alone[accountant.IterationBest] != least || alone[""] != least {
		t.Errorf("best %g, \"\" %g, the smallest of the others %g", alone[accountant.IterationBest], alone[""], least)
	}
	// In one epoch cross-epoch is the source's mode, and the mixture less.
	once := all
	once.Epochs, once.Mode = 1, accountant.IterationBest
	least, err := accountant.RDP(once, alpha)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []accountant.IterationMode{accountant.IterationPaper, accountant.IterationSOMixture, accountant.IterationCrossEpoch} {
		once.Mode = m
		if r, err := accountant.RDP(once, alpha); err != nil || least > r {
			t.Errorf("one epoch: best %g, %s %g, %v", least, m, r, err)
		}
	}
	// The sum at any order is above what the best order gives.
	r, err := a.AtDelta(1e-6, accountant.MethodRDP)
	if err != nil {
		t.Fatal(err)
	}
	eps := math.Inf(1)
	for u := -4.0; u < 6; u += 0.002 {
		order, total := 1+math.Exp(u), 0.0
		for _, c := range a.Charges() {
			d, err := accountant.RDP(c.Event, order)
			if err != nil {
				t.Fatal(err)
			}
			total += d
		}
		v, err := accountant.EpsilonFromRDP(order, total, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		eps = min(eps, v)
	}
	if best, ok := r.Best(); !ok || math.Abs(best.Cost.Epsilon-eps) > 1e-4*eps {
		t.Errorf("%+v, by hand %g", r, eps)
	}
}
