package iteration_test

import (
	"errors"
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/learn/shuffled/iteration"
)

func event(t *testing.T, e iteration.Steps) accountant.Event {
	t.Helper()
	return must.Get(e.Event())(t)
}

// An Iteration is charged like any event, twice as two trainings; what cannot be
// certified is refused before anything is charged.
func TestIterationIsAnEvent(t *testing.T) {
	raced.Sequential(t)
	a, err := accountant.New(accountant.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	e := withNoise(steps(50, 1000, 500, 10), 7)
	b, err := a.Charge(event(t, e), 2)
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
			must.Near(t, "zcdp", bound.Cost.Epsilon, want, 1e-8)
		case accountant.MethodRDP:
			if bound.Cost.Epsilon > want {
				t.Errorf("rdp %g, zcdp %g", bound.Cost.Epsilon, want)
			}
		case accountant.MethodGaussian, accountant.MethodPLD:
			must.Near(t, string(bound.Method), bound.Cost.Epsilon,
				epsilon(t, withMode(withNoise(steps(100, 1000, 500, 10), 7), iteration.GaussianExact), 1e-6),
				1e-4)
		default:
			t.Errorf("method %s: %v", bound.Method, bound.Cost)
		}
	}
	if len(r.Bounds) != 4 {
		t.Errorf("%+v", r)
	}
	for _, bad := range []iteration.Steps{{}, withMode(withNoise(steps(5, 9, 4, 1), 1), "poisson")} {
		if got, err := bad.Event(); err == nil {
			t.Errorf("%v is %v", bad, got)
		}
	}
	mixed, err := a.Charge(event(t, withMode(e, iteration.RRMixture)), 1)
	if err != nil {
		t.Fatal(err)
	}
	if mixed, err = mixed.Charge(accountant.Gaussian{NoiseMultiplier: 10,
		Neighbours: accountant.ReplaceOne}, 3); err != nil {
		t.Fatal(err)
	}
	if eps, err := mixed.Epsilon(1e-6); err != nil || !(eps > 0) || math.IsInf(eps, 1) {
		t.Errorf("%g, %v", eps, err)
	}
	if none, err := withNoise(e, 0).Event(); !errors.Is(err, accountant.ErrUnsupported) { // ε = +Inf
		t.Errorf("an event without noise: %v, %v", none, err)
	}
	poisson, err := accountant.New(accountant.AddOrRemoveOne)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := poisson.Charge(event(t, e), 1); !errors.Is(err, accountant.ErrUnsupported) {
		t.Errorf("for add or remove: %v", err)
	}
}

// In an Accountant each event is accounted by its own mode, whatever is beside it.
func TestAccountantHonoursEachMode(t *testing.T) {
	const alpha = 6.0
	all := withNoise(steps(3, 40, 30, 1), 1.5)
	all.Order, all.Released = iteration.ShuffledOnce, iteration.LastIterate
	modes := []iteration.Mode{iteration.Paper, iteration.SOMixture, iteration.CrossEpoch,
		iteration.Best, ""}
	a, err := accountant.New(accountant.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	sum, alone := 0.0, map[iteration.Mode]float64{}
	for _, m := range modes {
		e := all
		e.Mode = m
		if alone[m], err = accountant.RDP(event(t, e), alpha); err != nil {
			t.Fatal(err)
		}
		sum += alone[m]
		if a, err = a.Charge(event(t, e), 1); err != nil {
			t.Fatal(err)
		}
	}
	// "best" and "" are cross-epoch here, and like events are charged together.
	if c := a.Charges(); len(c) != len(modes)-2 || c[2].Count != 3 {
		t.Fatalf("charges of different modes were merged: %v", c)
	}
	for _, m := range modes[1:] {
		if !(alone[m] < 0.9*alone[iteration.Paper]) {
			t.Errorf("%s: %g, the source's %g: the modes do not tell apart", m, alone[m],
				alone[iteration.Paper])
		}
	}
	if least := min(alone[iteration.SOMixture], alone[iteration.CrossEpoch]); alone[iteration.Best] !=
		least || alone[""] != least {
		t.Errorf("best %g, \"\" %g, the smallest of the others %g", alone[iteration.Best], alone[""],
			least)
	}
	// In one epoch cross-epoch is the source's mode, and the mixture less.
	once := all
	once.Epochs, once.Mode = 1, iteration.Best
	least, err := accountant.RDP(event(t, once), alpha)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []iteration.Mode{iteration.Paper, iteration.SOMixture, iteration.CrossEpoch} {
		once.Mode = m
		if r, err := accountant.RDP(event(t, once), alpha); err != nil || least > r {
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
			total += float64(c.Count) * d
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

// Without amplification epochs of shuffled gradients are Gaussian mechanisms of sensitivity
// 2G, one an epoch, by every method that takes both.
func TestAccountantTakesIterations(t *testing.T) {
	raced.Sequential(t)
	run := iteration.Steps{Epochs: 5, Records: 100, Private: 100, Clip: 1, Noise: 40,
		Order: iteration.FixedOrder, StepSize: 0.1, Neighbours: accountant.ReplaceOne}
	account := func(e accountant.Event, count int) accountant.Report {
		a, err := accountant.New(accountant.ReplaceOne)
		if err != nil {
			t.Fatal(err)
		}
		if a, err = a.Charge(e, count); err != nil {
			t.Fatal(err)
		}
		return must.Get(a.AtDelta(1e-6))(t)
	}
	r := account(event(t, run), 3)
	same := account(accountant.Gaussian{NoiseMultiplier: 20, Neighbours: accountant.ReplaceOne}, 15)
	if len(r.Bounds) != 4 || len(same.Bounds) != 4 {
		t.Fatalf("%+v, as gaussians %+v", r, same)
	}
	for i, b := range r.Bounds {
		if want := same.Bounds[i]; b.Method != want.Method ||
			math.Abs(b.Cost.Epsilon/want.Cost.Epsilon-1) > 1e-6 {
			t.Errorf("%+v, as gaussians %+v", b, want)
		}
	}
	for name, spoil := range map[string]func(*iteration.Steps){
		"other relation":     func(e *iteration.Steps) { e.Neighbours = accountant.AddOrRemoveOne },
		"bad clip":           func(e *iteration.Steps) { e.Clip = math.NaN() },
		"uncertified mode":   func(e *iteration.Steps) { e.Mode = iteration.CrossEpoch },
		"order not stated":   func(e *iteration.Steps) { e.Order = 0 },
		"negative noise":     func(e *iteration.Steps) { e.Noise = -1 },
		"relation forgotten": func(e *iteration.Steps) { e.Neighbours = 0 },
	} {
		bad := run
		spoil(&bad)
		if got, err := bad.Event(); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}
