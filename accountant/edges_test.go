package accountant

import (
	"errors"
	"math"
	"math/big"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/testing/raced"
)

// Guarantees so near to certain failure that 1-Π(1-δ) is 1 to 320 bits: refused, not
// divided by.
func TestCertainFailureIsRefused(t *testing.T) {
	a := mustNew(t, ReplaceOne, Charge{ApproxDP{Cost{0.1, 0.5}, ReplaceOne}, 10_000})
	r, err := a.AtDelta(0.9, MethodBasic, MethodGeneral, MethodOptimal)
	if err != nil || len(r.Bounds) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	for _, f := range r.Refused {
		if f.Method == MethodGeneral && !errors.Is(f.Err, ErrDeltaTooSmall) {
			t.Errorf("%v", f)
		}
	}
	if r, err := a.AtEpsilon(5, MethodGeneral, MethodOptimal); err != nil || len(r.Bounds) == 0 ||
		r.Bounds[0].Cost.Delta != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Parameters whose squares are beneath every float64 still cost something.
func TestTinyParametersAreNotNothing(t *testing.T) {
	t.Parallel()
	e := RandomizedResponse{1e-170, ReplaceOne} // ε² = 1e-340
	a := mustNew(t, ReplaceOne, Charge{e, 3})
	r, err := a.AtDelta(1e-300)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range r.Bounds {
		if b.Cost.Epsilon < 2.9e-170 { // δ(0) is 7.5e-171, far above 1e-300
			t.Errorf("%v", b)
		}
	}
	if r, err = a.AtEpsilon(0); err != nil {
		t.Fatal(err)
	}
	for _, b := range r.Bounds {
		if b.Cost.Delta < 7.5e-171 {
			t.Errorf("%v", b)
		}
	}
	for _, e := range []Event{e, SubsampledGaussian{0.3, 1e-200, AddOrRemoveOne}} {
		for _, alpha := range []float64{1.5, 2, 7.3} {
			if rho, err := RDP(e, alpha); err != nil || !(rho > 0) {
				t.Errorf("%v at order %g: %g, %v", e, alpha, rho, err)
			}
		}
	}
	if eps, err := EpsilonFromZCDP(5e-324, 0.5); err != nil ||
		eps < 2*math.Sqrt(5e-324)*math.Sqrt(math.Ln2)*(1-1e-9) {
		t.Errorf("zCDP of the smallest float64: %g, %v", eps, err)
	}
}

// The smallest costs that there are, and sums, halves and products of them that no float64
// holds, round up to something: what is not free is never charged as if it were.
func TestSubnormalCostsAreNotNothing(t *testing.T) {
	raced.Sequential(t)
	const tiny = 5e-324 // its decimal is above the float64's value of 4.94e-324
	for _, k := range []int{1, 2, 3, 1000} {
		for _, each := range []Cost{{tiny, 0}, {0, tiny}, {tiny, tiny}, {1e-310, 3e-320}} {
			parts := []Repeated{{each, k}}
			check := func(what string, c Cost, err error) {
				t.Helper()
				exact := new(big.Rat).Mul(big.NewRat(int64(k), 1), num.Decimal(each.Epsilon))
				if err != nil || num.Decimal(c.Epsilon).Cmp(exact) < 0 {
					t.Errorf("%s of %d × %v: %v, %v", what, k, each, c, err)
				}
				if each.Delta > 0 && !(num.Decimal(c.Delta).Cmp(num.Decimal(each.Delta)) >= 0 &&
					(k == 1 || c.Delta > each.Delta)) {
					t.Errorf("%s of %d × %v: δ = %g, %v", what, k, each, c.Delta, err)
				}
			}
			c, err := Basic(k, each)
			check("Basic", c, err)
			c, err = BasicHeterogeneous(append(parts, Repeated{Cost{}, 3}))
			check("BasicHeterogeneous", c, err)
			if c, err := General(k, each, 1e-300); err != nil || each.Epsilon > 0 && !(c.Epsilon > 0) ||
				!(c.Delta >= 1e-300) {
				t.Errorf("General of %d × %v: %v, %v", k, each, c, err)
			}
			a := mustNew(t, ReplaceOne, Charge{ApproxDP{each, ReplaceOne}, k})
			report, err := a.AtEpsilon(0)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range report.Bounds {
				if !(b.Cost.Delta > 0) {
					t.Errorf("%s of %d × %v: %v", b.Method, k, each, b.Cost)
				}
			}
		}
	}
	if c, err := pureOrApprox(Laplace{1e8, ReplaceOne}); err != nil || c.Epsilon != 1e-8 {
		t.Errorf("%v, %v", c, err)
	}
	if rho, err := zcdp([]Charge{{RandomizedResponse{1e-170, ReplaceOne}, 1}}); err != nil ||
		rho != tiny {
		t.Errorf("ρ = %g, %v", rho, err)
	}
}

// Subnormal ε: the search for the smallest ε ends.
func TestOptimalEndsForSubnormalEpsilon(t *testing.T) {
	for _, eps := range []float64{1e-305, 3e-310, 5e-324, 7e-320} {
		for _, k := range []int{2, 3, 10} {
			o := mustOptimal(t, k, Cost{eps, 0})
			for _, delta := range []float64{5e-324, 1e-310, 2e-310, 1e-308, 3e-307} {
				got, err := o.epsilon(delta)
				if err != nil || !(got >= 0 && got <= float64(k)*eps*1.2) {
					t.Errorf("%d × %g at δ = %g: ε = %g, %v", k, eps, delta, got, err)
				}
				if d, err := o.delta(got); err != nil || d > delta {
					t.Errorf("%d × %g: δ(%g) = %g, %v, want %g", k, eps, got, d, err, delta)
				}
			}
		}
	}
}

// A sum of ε beyond float64 is refused, not reported as +Inf.
func TestInfiniteSumsAreRefused(t *testing.T) {
	each := Cost{1e305, 0}
	if c, err := Basic(1_000_000, each); !errors.Is(err, ErrUnsupported) {
		t.Errorf("Basic: %v, %v", c, err)
	}
	if c, err := General(1_000_000, each, 0.1); !errors.Is(err, ErrUnsupported) {
		t.Errorf("General: %v, %v", c, err)
	}
	for _, parts := range [][]Repeated{
		{{each, 1_000}, {Cost{3e305, 0}, 400}}, {{Cost{1e308, 0}, 1}, {Cost{1.7e308, 0}, 1}},
	} {
		if _, err := optimalOf(parts); !errors.Is(err, ErrUnsupported) {
			t.Errorf("optimalOf(%v): %v", parts, err)
		}
	}
}

// Minus zero is zero.
func TestMinusZeroIsZero(t *testing.T) {
	raced.Sequential(t)
	zero := math.Copysign(0, -1)
	for i, e := range []Event{ApproxDP{Cost{zero, zero}, ReplaceOne},
		RandomizedResponse{zero, ReplaceOne}, SubsampledGaussian{1, zero, AddOrRemoveOne}} {
		a := mustNew(t, e.Relation(), Charge{e, 7})
		for _, delta := range []float64{zero, 1e-6}[:1+i%2] {
			r, err := a.AtDelta(delta)
			if err != nil {
				t.Fatal(err)
			}
			if best, ok := r.Best(); ok && !(best.Cost.Epsilon == 0) {
				t.Errorf("%v at δ = %g: %v", e, delta, best)
			}
		}
		if r, err := a.AtEpsilon(zero, MethodOptimal, MethodPLD); err != nil ||
			r.Bounds[0].Cost.Delta > 1e-300 || math.Signbit(r.Bounds[0].Cost.Epsilon) {
			t.Errorf("%v: %+v, %v", e, r, err)
		}
	}
}

// Orders near 1 and near the largest float64, and δ near 1, are rounded outward too:
// against the same conversion in 320 bits.
func TestConversionsAreOutward(t *testing.T) {
	t.Parallel()
	one := num.FromInt(1)
	for _, alpha := range []float64{1 + 0x1p-52, 1 + 1e-12, 1 + 1e-9, 1.001, 1.7, 2, 33.3, 1e6, 1e15} {
		a := binaryValue(alpha)
		m := a.Sub(one)
		for _, delta := range []float64{5e-324, 1e-300, 1e-5, 0.9, 0.999999, 1 - 1e-12, 1 - 0x1p-53} {
			log := num.Log(num.FromRat(num.Decimal(delta)))
			for _, rho := range []float64{0, 1e-300, 1e-3, 2, 1e6} {
				r := binaryValue(rho)
				classical := r.Sub(log.Quo(m))
				improved := r.Add(num.Log(m.Quo(a))).Sub(log.Add(num.Log(a)).Quo(m))
				for name, c := range map[string]struct {
					f    func(alpha, rho, delta float64) (float64, error)
					want num.Interval
				}{"improved": {EpsilonFromRDP, improved}, "classical": {ClassicalEpsilonFromRDP, classical}} {
					got, err := c.f(alpha, rho, delta)
					if err != nil || binaryValue(got).Cmp(c.want) < 0 {
						t.Errorf("%s(α = %.17g, ρ = %g, δ = %g) = %.17g, %v, exactly %.17g", name, alpha, rho, delta,
							got, err, c.want.Upper())
					}
				}
				if rho > 0 {
					r := num.FromRat(num.Decimal(rho))
					zcdp := r.Add(num.FromInt(2).Mul(num.Sqrt(r.Mul(num.FromInt(0).Sub(log)))))
					if got, err := EpsilonFromZCDP(rho, delta); err != nil ||
						num.FromRat(num.Decimal(got)).Cmp(zcdp) < 0 || got > zcdp.Upper()*(1+1e-15) {
						t.Errorf("zCDP(ρ = %g, δ = %g) = %.17g, %v, exactly %.17g", rho, delta, got, err,
							zcdp.Upper())
					}
				}
			}
		}
		// The inverse, at an ε of the same size.
		for _, eps := range []float64{0, 0.3, 50} {
			want := m.Mul(binaryValue(0.25).Sub(binaryValue(eps))).Add(m.Mul(num.Log(m.Quo(a)))).Sub(
				num.Log(a))
			if got := expUp(improvedLogDelta(alpha, 0.25, eps)); math.Abs(want.Lower()) < 700 &&
				binaryValue(got).Cmp(num.ExpReal(want)) < 0 {
				t.Errorf("ln δ at α = %g, ε = %g: δ = %.17g is below e^%.17g", alpha, eps, got, want.Nearest())
			}
		}
	}
	for _, e := range []Event{Laplace{1, ReplaceOne}, Laplace{1e-4, ReplaceOne},
		RandomizedResponse{1, ReplaceOne}} {
		cost, err := pureOrApprox(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, alpha := range []float64{1e300, math.MaxFloat64} {
			if rho, err := RDP(e, alpha); err != nil ||
				!(rho >= cost.Epsilon*(1-1e-9) && rho <= cost.Epsilon*(1+1e-8)) {
				t.Errorf("%v at order %g: %g, %v", e, alpha, rho, err)
			}
		}
	}
}

// Rényi divergences are rounded outward: against their formulas in 320 bits.
func TestRDPIsOutward(t *testing.T) {
	one, zero := num.FromInt(1), num.FromInt(0)
	exp := num.ExpReal
	for _, alpha := range []float64{1 + 1e-9, 1.01, 1.5, 2, 3, 17, 64, 511.5, 2048} {
		a := binaryValue(alpha)
		m := a.Sub(one)
		for _, eps := range []float64{1e-8, 1e-3, 0.1, 1, 12} {
			e := num.FromRat(num.Decimal(eps))
			p := exp(e).Quo(exp(e).Add(one))
			want := num.Log(p.Mul(exp(m.Mul(e))).Add(one.Sub(p).Mul(exp(zero.Sub(m.Mul(e)))))).Quo(m)
			if got, err := RDP(RandomizedResponse{eps, ReplaceOne}, alpha); err != nil ||
				binaryValue(got).Cmp(want) < 0 {
				t.Errorf("randomised response %g at %g: %.17g, %v, exactly %.17g", eps, alpha, got, err,
					want.Upper())
			}
			w := a.Quo(a.Add(a).Sub(one))
			want = num.Log(w.Mul(exp(m.Mul(e))).Add(one.Sub(w).Mul(exp(zero.Sub(a.Mul(e)))))).Quo(m)
			scale := num.FromRat(num.Decimal(1)).Quo(e).DecimalDown() // less noise
			if got, err := RDP(Laplace{scale, ReplaceOne}, alpha); err != nil ||
				binaryValue(got).Cmp(want) < 0 {
				t.Errorf("laplace %g at %g: %.17g, %v, exactly %.17g", scale, alpha, got, err, want.Upper())
			}
		}
		if alpha != math.Trunc(alpha) || alpha > 64 {
			continue
		}
		for _, c := range []struct{ sigma, q float64 }{{1, 0.01}, {0.3, 1e-100}, {0.1, 0.5}, {50, 1e-3},
			{1e4, 1 - 1e-9}} {
			s, q := num.FromRat(num.Decimal(c.sigma)), num.FromRat(num.Decimal(c.q))
			inverse := one.Quo(s.Mul(s).Mul(num.FromInt(2)))
			sum, choose := zero, one
			for k := int64(0); k <= int64(alpha); k++ {
				if k > 0 {
					choose = choose.Mul(num.FromInt(int64(alpha) - k + 1)).Quo(num.FromInt(k))
				}
				term := choose.Mul(exp(inverse.Mul(num.FromInt(k*k - k))))
				for range k {
					term = term.Mul(q)
				}
				for range int64(alpha) - k {
					term = term.Mul(one.Sub(q))
				}
				sum = sum.Add(term)
			}
			want := num.Log(sum).Quo(m)
			got, err := RDP(SubsampledGaussian{c.sigma, c.q, AddOrRemoveOne}, alpha)
			if err != nil || binaryValue(got).Cmp(want) < 0 && want.Upper() > 1e-80 {
				t.Errorf("%v at %g: %.17g, %v, exactly %.17g", c, alpha, got, err, want.Upper())
			}
		}
	}
}

// Rates so small that (e^L-1)/q is beyond float64: no mass goes missing as NaN.
func TestTinySamplingRates(t *testing.T) {
	if raced.Enabled {
		t.Skip("slow, and nothing in it is concurrent")
	}
	t.Parallel()
	for _, e := range []SubsampledGaussian{{0.05, 1e-60, AddOrRemoveOne},
		{0.02, 1e-300, AddOrRemoveOne}, {0.3, 5e-324, AddOrRemoveOne}, {0.01, 1e-9, AddOrRemoveOne}} {
		l := normalLoss{e.NoiseMultiplier, e.SamplingRate, false}
		m, err := l.discretise(0x1p-6)
		if err != nil {
			t.Errorf("%v: %v", e, err)
			continue
		}
		sum := m.infinite
		for _, x := range slices.Backward(m.mass) { // the small ones first
			if math.IsNaN(x) || x < 0 {
				t.Fatalf("%v: mass %g", e, x)
			}
			sum += x
		}
		if !(sum >= 1 && sum < 1+1e-9) {
			t.Errorf("%v: masses sum to %.17g", e, sum)
		}
		for _, loss := range []float64{1e-9, 0.5, 3, 150, 590, 610, 700} {
			x, wobble := l.locate(loss)
			if math.IsNaN(x) || math.IsInf(x, 0) || math.IsNaN(wobble) {
				t.Errorf("%v: loss %g at %g ± %g", e, loss, x, wobble)
			} else if back := l.loss(x); math.Abs(back-loss) > 1e-9*(1+loss)/
				(e.NoiseMultiplier*e.NoiseMultiplier) {
				t.Errorf("%v: loss %g at x = %g, where it is %g", e, loss, x, back)
			}
		}
		if e.SamplingRate != 1e-300 && e.SamplingRate != 1e-9 {
			continue
		}
		if eps, err := lossEpsilon([]Charge{{e, 100}}, 1e-6, testBits); err != nil || eps > 1 {
			t.Errorf("%v: ε = %g, %v", e, eps, err)
		}
	}
}

// Accountants are values that several goroutines may use at once (run with -race).
func TestConcurrentUse(t *testing.T) {
	composed, err := Compose(Charge{Laplace{3, ReplaceOne}, 2},
		Charge{ApproxDP{Cost{0.1, 1e-9}, ReplaceOne}, 3})
	if err != nil {
		t.Fatal(err)
	}
	a := mustNew(t, ReplaceOne, Charge{composed, 2})
	o := mustOptimal(t, 50, Cost{0.1, 1e-6})
	want, err := a.AtDelta(1e-5, MethodBasic, MethodGeneral, MethodOptimal)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if got, err := a.AtDelta(1e-5, MethodBasic, MethodGeneral, MethodOptimal); err != nil ||
				!reflect.DeepEqual(got, want) {
				t.Errorf("%+v, %v, alone %+v", got, err, want)
			}
			if _, err := a.Charge(composed, 1); err != nil {
				t.Error(err)
			}
			if _, err := o.epsilon(1e-3); err != nil {
				t.Error(err)
			}
			if _, err := GaussianDelta(2, 1); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if len(a.Charges()) != 2 {
		t.Errorf("%v", a.Charges())
	}
}

// Nested compositions stay as small as what they hold.
func TestNestedCompositions(t *testing.T) {
	c, err := Compose(Charge{Laplace{1, ReplaceOne}, 1}, Charge{Gaussian{5, ReplaceOne}, 2})
	for range 29 {
		if err != nil {
			t.Fatal(err)
		}
		c, err = Compose(Charge{c, 1}, Charge{c, 1}) // twice as many, each time
	}
	if parts := c.(composed).parts; err != nil || len(parts) != 2 || parts[0].Count != 1<<29 {
		t.Fatalf("%v, %v", c, err)
	}
	if c, err = Compose(Charge{c, 1}, Charge{c, 1}, Charge{c, 1}, Charge{c, 1}); err == nil {
		t.Errorf("the count overflowed: %v", c)
	}
}
