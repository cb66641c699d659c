package ledger

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestCostKnownValues(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta float64
		cost, budget   string // rounded up, rounded down; written by hand from the units
	}{
		{0.13577, 1e-5, "(0.13577, 1e-5)", "(0.13577, 1e-5)"},
		{0.1, 0, "(0.1, 0)", "(0.1, 0)"},
		{1e-12, 1e-24, "(1e-12, 1e-24)", "(1e-12, 1e-24)"},
		{1.5e-12, 2.5e-24, "(2e-12, 3e-24)", "(1e-12, 2e-24)"},
		{1e-300, 1e-300, "(1e-12, 1e-24)", ""},
		// what was granted would be 0 for ever
		{1e-13, 1e-6, "(1e-12, 1e-6)", ""}, {1, 1e-30, "(1, 1e-24)", ""}, {0, 1e-6, "(0, 1e-6)", "(0, 1e-6)"},
		{0, 0, "(0, 0)", ""},
		{0.1234567890123456, 0.3, "(0.123456789013, 0.3)", "(0.123456789012, 0.3)"},
		{700, 0.999999, "(700, 0.999999)", "(700, 0.999999)"},
		{123456, 1e-7, "(123456, 1e-7)", "(123456, 1e-7)"},
	} {
		if got, err := NewCost(c.epsilon, c.delta); err != nil || got.String() != c.cost {
			t.Errorf("NewCost(%g, %g) = %v, %v, want %s", c.epsilon, c.delta, got, err, c.cost)
		}
		got, err := NewBudget(c.epsilon, c.delta)
		if (err != nil) != (c.budget == "") || err == nil && got.String() != c.budget {
			t.Errorf("NewBudget(%g, %g) = %v, %v, want %s", c.epsilon, c.delta, got, err, c.budget)
		}
	}
}

func TestCostRefuses(t *testing.T) {
	for _, c := range [][2]float64{{-1, 0}, {math.NaN(), 0}, {math.Inf(1), 0}, {1, 1}, {1, -1e-9},
		{1, math.NaN()}, {1e30, 0}} {
		if got, err := NewCost(c[0], c[1]); err == nil {
			t.Errorf("NewCost(%g, %g) = %v", c[0], c[1], got)
		}
		if got, err := NewBudget(c[0], c[1]); err == nil {
			t.Errorf("NewBudget(%g, %g) = %v", c[0], c[1], got)
		}
	}
	if got, err := costOf(big.NewRat(1, 1), big.NewRat(11, 10), true); err == nil {
		t.Errorf("δ = 1.1: %v", got)
	}
	if got, err := costOf(big.NewRat(-1, 1e18), new(big.Rat), true); err == nil {
		t.Errorf("ε < 0: %v", got)
	}
}

// A cost never falls below the exact number, a budget never rises above it, and
// neither is off by a unit or more.
func TestRoundingIsOutward(t *testing.T) {
	units := []*big.Rat{big.NewRat(1, 1e12), new(big.Rat).Mul(big.NewRat(1, 1e12),
		big.NewRat(1, 1e12))}
	rapid.Check(t, func(t *rapid.T) {
		// Any denominator, so that most numbers fall between units.
		exact := [2]*big.Rat{
			big.NewRat(rapid.Int64Range(0, math.MaxInt64).Draw(t, "a"),
				rapid.Int64Range(1, math.MaxInt64).Draw(t, "b")),
			big.NewRat(rapid.Int64Range(0, 1e15).Draw(t, "c"),
				rapid.Int64Range(1e15, math.MaxInt64).Draw(t, "d")),
		}
		for _, up := range []bool{true, false} {
			c, err := costOf(exact[0], exact[1], up)
			if err != nil {
				t.Fatal(err)
			}
			e, d := c.Rat()
			for i, got := range []*big.Rat{e, d} {
				diff := new(big.Rat).Sub(got, exact[i])
				if !up {
					diff.Neg(diff)
				}
				if diff.Sign() < 0 || diff.Cmp(units[i]) >= 0 {
					t.Fatalf("up %t: %v became %v", up, exact[i], got)
				}
			}
			high, _ := c.Ceil()
			low, _ := c.Floor()
			if new(big.Rat).SetFloat64(high).Cmp(e) < 0 && float64ToDecimal(t, high).Cmp(e) < 0 ||
				float64ToDecimal(t, low).Cmp(e) > 0 {
				t.Fatalf("%v lies outside [%g, %g]", e, low, high)
			}
		}
	})
}

func float64ToDecimal(t *rapid.T, x float64) *big.Rat {
	r, ok := new(big.Rat).SetString(big.NewFloat(x).Text('g', -1))
	if !ok {
		t.Fatalf("%g", x)
	}
	return r
}

func drawAmount(t *rapid.T, name string) amount {
	shift := rapid.UintRange(0, 127).Draw(t, name+" shift") // all sizes, not large ones only
	a := amount{rapid.Uint64().Draw(t, name+" hi"), rapid.Uint64().Draw(t, name+" lo")}
	for range shift {
		a.lo = a.lo>>1 | a.hi<<63
		a.hi >>= 1
	}
	return a
}

// Against math/big, with sums and products beyond 128 bits held at the largest.
func TestAmountArithmetic(t *testing.T) {
	saturate := func(x *big.Int) string {
		if x.Cmp(maxAmount.big()) > 0 {
			return maxAmount.String()
		}
		return x.String()
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawAmount(t, "a"), drawAmount(t, "b")
		n := rapid.Uint64().Draw(t, "n") >> rapid.UintRange(0, 63).Draw(t, "n shift")
		x, y := a.big(), b.big()
		if got, want := a.add(b).String(), saturate(new(big.Int).Add(x, y)); got != want {
			t.Fatalf("%v + %v = %v, want %v", a, b, got, want)
		}
		if got, want := a.times(n).String(),
			saturate(new(big.Int).Mul(x, new(big.Int).SetUint64(n))); got != want {
			t.Fatalf("%v · %d = %v, want %v", a, n, got, want)
		}
		diff := new(big.Int).Sub(x, y)
		if diff.Sign() < 0 {
			diff.SetInt64(0)
		}
		if got := a.minus(b).String(); got != diff.String() {
			t.Fatalf("%v - %v = %v, want %v", a, b, got, diff)
		}
		if a.less(b) != (x.Cmp(y) < 0) {
			t.Fatalf("%v < %v = %t", a, b, a.less(b))
		}
		parsed, err := parseAmount([]byte(a.String()))
		if fits := x.BitLen() <= maxBits; fits != (err == nil) || fits && parsed != a {
			t.Fatalf("parse %v: %v, %v", a, parsed, err)
		}
		for _, digits := range []int{epsilonDigits, deltaDigits} {
			r, ok := new(big.Rat).SetString(a.decimal(digits))
			if !ok || r.Cmp(a.rat(int64(digits))) != 0 {
				t.Fatalf("%v as a decimal of %d digits is %s", a, digits, a.decimal(digits))
			}
		}
	})
}

func TestParseAmountRefuses(t *testing.T) {
	for _, s := range []string{"", "-1", "+1", "01", "00", " 1", "1 ", "1_0", "0x1", "1e3", "1.0", "٣",
		"9999999999999999999999999999999999999", "99999999999999999999999999999999999999999"} {
		if a, err := parseAmount([]byte(s)); err == nil {
			t.Errorf("parseAmount(%q) = %v", s, a)
		}
	}
}
