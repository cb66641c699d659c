package accountant

import (
	"errors"
	"math"
	"testing"

	"github.com/darrm/darrm/internal/testing/raced"
)

// σ to 30 digits from mpmath 1.3 at 60 digits, bisecting the formula of Balle and Wang
// (2018).
func TestGaussianNoiseKnownDigits(t *testing.T) {
	raced.Sequential(t)
	for _, c := range []struct {
		target Cost
		sigma  float64
	}{
		{Cost{0.2676, 0.0003}, 9.12441371259464891942217016583},
		{Cost{0.2556, 0.0003}, 9.49412074901404125286896724757},
		{Cost{1, 1e-300}, 36.8654978941110996535448197783},
		{Cost{700, 1e-10}, 0.031629421631974084576842984671},
	} {
		got, err := GaussianNoise(c.target)
		if err != nil || got < c.sigma || got > c.sigma*(1+1e-15) {
			t.Errorf("GaussianNoise(%v) = %.17g, %v, want %.17g from above", c.target, got, err, c.sigma)
		}
	}
}

// The variances of google/differential-privacy's tests of its Gaussian noise, whose own
// bisection stops up to 0.1 % above the smallest σ: ours must be below theirs and above
// that.
func TestGaussianNoiseGoldenValues(t *testing.T) {
	for _, c := range []struct{ delta, variance, exact float64 }{
		{1e-10, 28.76478576660, 28.745531821853215458}, // exact: mpmath, 60 digits
		{1e-5, 11.73597717285, 11.72831253965148506},
	} {
		sigma, err := GaussianNoise(Cost{math.Log(3), c.delta})
		if err != nil {
			t.Fatal(err)
		}
		v := sigma * sigma
		if v > c.variance || v < c.variance/(1.001*1.001) || math.Abs(v-c.exact) > 1e-13*c.exact {
			t.Errorf("δ = %g: σ² = %.14g, published %.13g, exactly %.14g", c.delta, v, c.variance, c.exact)
		}
	}
}

func TestGaussianNoiseIsTheSmallest(t *testing.T) {
	raced.Sequential(t)
	for _, target := range []Cost{{1, 0.9}, {1e-6, 1e-5}, {1e4, 1e-300}} {
		sigma, err := GaussianNoise(target)
		if err != nil {
			t.Fatal(err)
		}
		d, err := GaussianDelta(sigma, target.Epsilon)
		if err != nil || d > target.Delta {
			t.Errorf("%v: δ(%g) = %g, %v", target, sigma, d, err)
		}
		if less, _ := GaussianDelta(sigma*(1-1e-13), target.Epsilon); less <= target.Delta {
			t.Errorf("%v: σ = %g is not the smallest", target, sigma)
		}
	}
}

// Several releases are one, with 1/σ² added up: never with more noise, and with less by
// no more than a unit in the last place.
func TestSummedNoise(t *testing.T) {
	for _, c := range []struct {
		charges []Charge
		sigma   float64
	}{
		{[]Charge{{Gaussian{10, ReplaceOne}, 4}}, 5},
		{[]Charge{{Gaussian{3, ReplaceOne}, 1}, {Gaussian{4, ReplaceOne}, 1}}, 2.4},
		// 1/√2 = 0.70710678118654752440…
		{[]Charge{{Gaussian{1, ReplaceOne}, 2}}, 0.7071067811865475},
		// below what a single event may have
		{[]Charge{{Gaussian{1e-4, ReplaceOne}, 2}}, 7.071067811865475e-05},
	} {
		if got, err := summedNoise(c.charges); err != nil || got > c.sigma ||
			got < math.Nextafter(c.sigma, 0) {
			t.Errorf("%v: noise %.17g, %v, want %.17g", c.charges, got, err, c.sigma)
		}
	}
}

func TestGaussianRefuses(t *testing.T) {
	nan := math.NaN()
	for _, c := range []Cost{{0, 0.1}, {1, 0}, {1, 1}, {-1, 0.1}, {nan, 0.1}, {1, nan}, {1e5, 0.1}} {
		if got, err := GaussianNoise(c); err == nil {
			t.Errorf("GaussianNoise(%v) = %g", c, got)
		}
	}
	for _, c := range [][2]float64{{0, 1}, {nan, 1}, {1e9, 1}, {1, -1}, {1, nan}, {1, 1e5}} {
		if got, err := GaussianDelta(c[0], c[1]); err == nil {
			t.Errorf("GaussianDelta(%v) = %g", c, got)
		}
	}
	if _, err := GaussianNoise(Cost{1e-300, 1e-300}); err == nil {
		t.Error("a noise beyond the range gave no error")
	}
	if eps, err := GaussianEpsilon(1e-4, 1e-9); !errors.Is(err, ErrUnsupported) {
		t.Errorf("an epsilon beyond the range: %g, %v", eps, err)
	}
	for _, s := range []float64{1e-4, 1, 1e8} {
		for _, e := range []float64{0, 1e-300, 1, 700, 1e4} {
			if d, err := GaussianDelta(s, e); err != nil || !(d >= 0 && d <= 1) {
				t.Errorf("GaussianDelta(%g, %g) = %g, %v", s, e, d, err)
			}
		}
	}
}
