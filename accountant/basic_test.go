package accountant

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/testing/raced"
)

func TestBasicKnownValues(t *testing.T) {
	for _, c := range []struct {
		k    int
		each Cost
		want Cost
	}{
		{0, Cost{1, 0.1}, Cost{0, 0}},
		{1, Cost{0.1, 1e-5}, Cost{0.1, 1e-5}},
		{3, Cost{0.1, 0}, Cost{0.3, 0}},
		{11, Cost{0.13577, 0}, Cost{1.49347, 0}},
		{2, Cost{1, 0.5}, Cost{2, 0.75}},
		{3, Cost{0.5, 0.1}, Cost{1.5, 0.271}},
	} {
		got, err := Basic(c.k, c.each)
		if err != nil || got != c.want {
			t.Errorf("Basic(%d, %v) = %v, %v, want %v", c.k, c.each, got, err, c.want)
		}
	}
}

// The reported cost is never below the exact one, and above it by a few units in
// the last place only.
func TestBasicRoundsOutward(t *testing.T) {
	raced.Sequential(t)
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom([]int{1, 2, 3, 11, 60}).Draw(t, "k")
		each := Cost{rapid.Float64Range(0, 5).Draw(t, "ε"), rapid.Float64Range(0, 0.5).Draw(t, "δ")}
		got, err := Basic(k, each)
		if err != nil {
			t.Fatal(err)
		}
		eps := new(big.Rat).Mul(big.NewRat(int64(k), 1), num.Decimal(each.Epsilon))
		rest := big.NewRat(1, 1)
		for range k {
			rest.Mul(rest, new(big.Rat).Sub(big.NewRat(1, 1), num.Decimal(each.Delta)))
		}
		delta := new(big.Rat).Sub(big.NewRat(1, 1), rest)
		if num.Decimal(got.Epsilon).Cmp(eps) < 0 || num.Decimal(got.Delta).Cmp(delta) < 0 {
			t.Fatalf("%d × %v = %v is too small", k, each, got)
		}
		e, _ := eps.Float64()
		d, _ := delta.Float64()
		if got.Epsilon > e*(1+1e-15)+5e-324 || got.Delta > d*(1+1e-15)+5e-324 {
			t.Fatalf("%d × %v = %v is too large: exactly (%g, %g)", k, each, got, e, d)
		}
	})
}

func TestBasicAtScale(t *testing.T) {
	got, err := Basic(1_000_000_000, Cost{1e-3, 1e-12})
	if err != nil || got.Epsilon != 1e6 || math.Abs(got.Delta-(-math.Expm1(-1e-3))) > 1e-12 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestBasicRefuses(t *testing.T) {
	for _, c := range []struct {
		k    int
		each Cost
	}{{-1, Cost{1, 0}}, {2, Cost{-1, 0}}, {2, Cost{math.NaN(), 0}}, {2, Cost{math.Inf(1), 0}},
		{2, Cost{1, 1}}, {2, Cost{1, -1}}, {2, Cost{1, math.NaN()}}} {
		if got, err := Basic(c.k, c.each); err == nil {
			t.Errorf("Basic(%d, %v) = %v", c.k, c.each, got)
		}
	}
}
