package accountant

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/darrm/darrm/internal/testing/composetest"
	"github.com/darrm/darrm/internal/testing/raced"
)

func mustNew(t testing.TB, r Relation, charges ...Charge) Accountant {
	t.Helper()
	a, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range charges {
		if a, err = a.Charge(c.Event, c.Count); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func TestReportSaysWhichBoundWon(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		charges []Charge
		delta   float64
		best    Method
		methods int // that apply
	}{
		{"one repeated cost", []Charge{{ApproxDP{Cost{0.2676, 0.0003}, ReplaceOne}, 100}}, 0.03,
			MethodOptimal, 4},
		{"gaussians", []Charge{{Gaussian{5, ReplaceOne}, 10}, {Gaussian{7, ReplaceOne}, 3}}, 1e-6,
			MethodGaussian, 4},
		{"subsampled", []Charge{{SubsampledGaussian{1.5, 0.04, AddOrRemoveOne}, 2250}}, 1e-5, MethodPLD,
			2},
		{"different costs", []Charge{{ApproxDP{Cost{0.1, 1e-6}, ReplaceOne}, 50},
			{ApproxDP{Cost{0.3, 0}, ReplaceOne}, 9}}, 1e-3, MethodOptimal, 4},
		{"pure, no δ", []Charge{{RandomizedResponse{0.5, ReplaceOne}, 4}}, 0, MethodBasic, 2},
		{"nothing", nil, 1e-6, MethodBasic, 7},
	} {
		if raced.Enabled && c.name == "subsampled" {
			continue
		}
		relation := ReplaceOne
		if len(c.charges) > 0 {
			relation = c.charges[0].Event.Relation()
		}
		r, err := mustNew(t, relation, c.charges...).AtDelta(c.delta)
		if err != nil {
			t.Fatal(err)
		}
		best, ok := r.Best()
		if !ok || best.Method != c.best {
			t.Errorf("%s: %+v", c.name, r)
		}
		for i, b := range r.Bounds {
			t.Logf("%s: %-8s %v %s", c.name, b.Method, b.Cost, b.Note)
			if i > 0 && b.Cost.Epsilon < r.Bounds[i-1].Cost.Epsilon {
				t.Errorf("%s: bounds are not in order", c.name)
			}
		}
		for _, f := range r.Refused {
			t.Logf("%s: %-8s %v", c.name, f.Method, f.Err)
		}
		if len(r.Bounds)+len(r.Refused) != 7 {
			t.Errorf("%s: %d methods", c.name, len(r.Bounds)+len(r.Refused))
		}
		if len(r.Bounds) != c.methods {
			t.Errorf("%s: %d methods apply, want %d", c.name, len(r.Bounds), c.methods)
		}
	}
}

// At the ε of AtDelta every method gives back at most that δ, and no method claims less
// than an exact one allows.
func TestReportsAgreeBothWays(t *testing.T) {
	if raced.Enabled {
		t.Skip("slow, and nothing in it is concurrent")
	}
	t.Parallel()
	for _, c := range []struct {
		charges []Charge
		exact   Method
	}{
		{[]Charge{{ApproxDP{Cost{0.1, 1e-6}, ReplaceOne}, 100}}, MethodOptimal},
		{[]Charge{{Gaussian{4, ReplaceOne}, 8}}, MethodGaussian},
	} {
		a := mustNew(t, ReplaceOne, c.charges...)
		const delta = 1e-3
		there, err := a.AtDelta(delta)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range there.Bounds {
			back, _, err := a.deltaBy(b.Method, b.Cost.Epsilon)
			// Orders and grids are searched anew, so the two directions meet to about
			// 1e-3 only.
			if err != nil || back > delta*(1+2e-3) {
				t.Errorf("%v, %s: ε(%g) = %g, δ there %g, %v", c.charges, b.Method, delta, b.Cost.Epsilon, back,
					err)
			}
			if exact, _, err := a.deltaBy(c.exact, b.Cost.Epsilon); err != nil || exact > delta*(1+1e-12) {
				t.Errorf("%v: %s claims %v, but δ there is %g, %v", c.charges, b.Method, b.Cost, exact, err)
			}
		}
		if best, _ := there.Best(); best.Method != c.exact {
			t.Errorf("%v: %s won over the exact %s", c.charges, best.Method, c.exact)
		}
	}
	// Without an exact method, mixtures go both ways too.
	a := mustNew(t, ReplaceOne, Charge{Laplace{3, ReplaceOne}, 12},
		Charge{Gaussian{10, ReplaceOne}, 5})
	eps, err := a.Epsilon(1e-3)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := a.Delta(eps); err != nil || d > 1e-3*(1+1e-5) {
		t.Errorf("Delta(%g) = %g, %v", eps, d, err)
	}
}

// The count counts: the mutant that charges once must report less than the truth.
func TestCountIsNotIgnored(t *testing.T) {
	raced.Sequential(t)
	e := ApproxDP{Cost{0.1, 1e-6}, ReplaceOne}
	right, err := mustNew(t, ReplaceOne, Charge{e, 40}).Epsilon(1e-3)
	if err != nil {
		t.Fatal(err)
	}
	mutant, err := mustNew(t, ReplaceOne, Charge{e, 1}).Epsilon(1e-3)
	if err != nil {
		t.Fatal(err)
	}
	if d := composetest.Delta(40, e.Cost.Epsilon, e.Cost.Delta, right); d > 1e-3*(1+1e-9) {
		t.Errorf("ε = %g has δ = %g", right, d)
	}
	if d := composetest.Delta(40, e.Cost.Epsilon, e.Cost.Delta, mutant); d <= 1e-3 {
		t.Errorf("the mutant's ε = %g is not caught: δ = %g", mutant, d)
	}
	// One by one, together, and inside a composition are the same.
	a := mustNew(t, ReplaceOne)
	for range 40 {
		if a, err = a.Charge(e, 1); err != nil {
			t.Fatal(err)
		}
	}
	inner, err := Compose(Charge{e, 5})
	if err != nil {
		t.Fatal(err)
	}
	nested := mustNew(t, ReplaceOne, Charge{inner, 8})
	if !reflect.DeepEqual(a.Charges(), nested.Charges()) || a.Charges()[0].Count != 40 {
		t.Errorf("%v and %v", a.Charges(), nested.Charges())
	}
}

func TestAccountantIsImmutable(t *testing.T) {
	a := mustNew(t, ReplaceOne, Charge{Gaussian{1, ReplaceOne}, 1})
	b, err := a.Charge(Gaussian{1, ReplaceOne}, 5)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Charge(Laplace{1, ReplaceOne}, 2); err != nil {
		t.Fatal(err)
	}
	a.Charges()[0].Count = 99
	if a.Charges()[0].Count != 1 || b.Charges()[0].Count != 6 || len(b.Charges()) != 1 {
		t.Errorf("%v, %v", a.Charges(), b.Charges())
	}
	parts := []Charge{{Laplace{1, ReplaceOne}, 2}}
	c, err := Compose(parts...)
	if err != nil {
		t.Fatal(err)
	}
	parts[0].Count = 0
	if c.String() != "(2 × laplace noise 1)" {
		t.Errorf("%v", c)
	}
}

func TestAccountantRefusesAndChargesNothing(t *testing.T) {
	a := mustNew(t, ReplaceOne, Charge{Laplace{1, ReplaceOne}, 1})
	before := a.Charges()
	huge, err := Compose(Charge{Laplace{1, ReplaceOne}, math.MaxInt32})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name        string
		event       Event
		count       int
		unsupported bool
	}{
		{"unknown event", foreign{}, 1, true},
		{"no event", nil, 1, true},
		{"other relation", Laplace{1, AddOrRemoveOne}, 1, true},
		{"no relation", Laplace{1, 0}, 1, false},
		{"sampling under replacement", SubsampledGaussian{1, 0.1, ReplaceOne}, 1, true},
		{"no count", Laplace{1, ReplaceOne}, 0, false},
		{"negative count", Laplace{1, ReplaceOne}, -1, false},
		{"overflowing count", Laplace{1, ReplaceOne}, math.MaxInt32, false},
		{"overflowing nested count", huge, 2, false},
		{"bad parameter", Laplace{math.NaN(), ReplaceOne}, 1, false},
		{"bad cost", ApproxDP{Cost{-1, 0}, ReplaceOne}, 1, false},
		{"large cost", ApproxDP{Cost{1e5, 0}, ReplaceOne}, 1, false},
		{"bad response", RandomizedResponse{math.NaN(), ReplaceOne}, 1, false},
		{"nil pointer to an event", (*Gaussian)(nil), 1, true},
		{"pointer to an event", &Gaussian{1, ReplaceOne}, 1, true},
		{"event within another's", struct{ Gaussian }{Gaussian{1, ReplaceOne}}, 1, true},
		{"discrete noise without sensitivity", DiscreteGaussian{1, 0, ReplaceOne}, 1, false},
		{"discrete noise NaN", DiscreteGaussian{math.NaN(), 1, ReplaceOne}, 1, false},
		{"negative noise", Gaussian{-1, ReplaceOne}, 1, false},
		{"subnormal noise", Gaussian{5e-324, ReplaceOne}, 1, false},
		{"infinite noise", Gaussian{math.Inf(1), ReplaceOne}, 1, false},
		{"rate above 1", SubsampledGaussian{1, math.Nextafter(1, 2), AddOrRemoveOne}, 1, false},
		{"rate NaN", SubsampledGaussian{1, math.NaN(), AddOrRemoveOne}, 1, false},
		{"delta of 1", ApproxDP{Cost{1, 1}, ReplaceOne}, 1, false},
		{"delta NaN", ApproxDP{Cost{1, math.NaN()}, ReplaceOne}, 1, false},
	} {
		got, err := a.Charge(c.event, c.count)
		if err == nil || errors.Is(err, ErrUnsupported) != c.unsupported {
			t.Errorf("%s: %v", c.name, err)
		}
		if !reflect.DeepEqual(got.Charges(), before) {
			t.Errorf("%s was charged: %v", c.name, got.Charges())
		}
	}
	if _, err := New(0); err == nil {
		t.Error("New(0) gave no error")
	}
	if _, err := (Accountant{}).Charge(Laplace{1, ReplaceOne}, 1); err == nil {
		t.Error("the zero Accountant was charged")
	}
	if _, err := (Accountant{}).AtDelta(0.1); err == nil {
		t.Error("the zero Accountant reported")
	}
	if _, err := Compose(); err == nil {
		t.Error("Compose() gave no error")
	}
	if _, err := Compose(Charge{Laplace{1, ReplaceOne}, 1},
		Charge{Laplace{1, AddOrRemoveOne}, 1}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("Compose of two relations: %v", err)
	}
	if _, err := a.AtDelta(0.1, "best"); err == nil {
		t.Error("an unknown method gave no error")
	}
	for _, x := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := a.AtDelta(x); err == nil {
			t.Errorf("AtDelta(%g)", x)
		}
		if _, err := a.AtEpsilon(x); err == nil {
			t.Errorf("AtEpsilon(%g)", x)
		}
	}
	// No method has a finite ε here: the error has the reason of each.
	b := mustNew(t, ReplaceOne, Charge{ApproxDP{Cost{1, 0.5}, ReplaceOne}, 3})
	if eps, err := b.Epsilon(0.1); !errors.Is(err, ErrDeltaTooSmall) {
		t.Errorf("Epsilon = %g, %v", eps, err)
	}
}
