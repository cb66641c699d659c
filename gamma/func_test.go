package gamma

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/testing/must"
)

// drawFree draws values left of the middle, of shape any; ends and values that need rounding
// are likely.
func drawFree(t *rapid.T, k int) []float64 {
	value := rapid.OneOf(
		rapid.Float64Range(0, 1),
		rapid.Float64Range(-1, 1),
		rapid.SampledFrom([]float64{0, 1, 1. / 3, 0x1p-53, 0x1p-54, 0x1p-1074, math.Nextafter(1, 0), -1,
			-1. / 3, -0x1p-53, -0x1p-54, math.Nextafter(-1, 0)}),
	)
	return rapid.SliceOfN(value, (k+1)/2, (k+1)/2).Draw(t, "γ")
}

// mirror returns all K+1 values of the function with the given free ones.
func mirror(k int, free []float64) []float64 {
	values := make([]float64, k+1)
	for l, v := range free {
		values[l], values[k-l] = v, v
	}
	return values
}

func mustFree(t testing.TB, k int, free ...float64) Func {
	t.Helper()
	return must.Get(FromFree(k, free))(t)
}

func TestNewRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		values []float64
		want   string // in the error
	}{
		{nil, "number of teachers K"},
		{[]float64{1}, "number of teachers K"},
		{make([]float64, constraints.MaxTeachers+2), "number of teachers K"},
		{[]float64{nan, nan}, "gamma(0) = NaN"},
		{[]float64{1, nan, nan, 1}, "gamma(1) = NaN"},
		{[]float64{inf, inf}, "gamma(0) = +Inf"},
		{[]float64{-1.25, -1.25}, "gamma(0) = -1.25"},
		{[]float64{1, -inf, -inf, 1}, "gamma(1) = -Inf"},
		{[]float64{0.25, -0.25}, "symmetric"},
		{[]float64{1, -0.5, 1}, "a tie releases a fair coin"},
		{[]float64{1, 1.5, 1.5, 1}, "gamma(1) = 1.5"},
		{[]float64{1, math.Nextafter(1, 2), math.Nextafter(1, 2), 1}, "gamma(1) = 1.0000000000000002"},
		{[]float64{1, 0.5}, "symmetric"},
		{[]float64{1, 0.5, 0.5000000000000001, 1}, "symmetric"},
		{[]float64{1, nan, 1}, "gamma(1) = NaN"},
		{[]float64{1, 0.5, 1}, "a tie releases a fair coin"},
		{[]float64{1, 0x1p-1074, 1}, "a tie releases a fair coin"},
	} {
		if _, err := New(c.values); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New(%.20v): %v, want an error with %q", c.values, err, c.want)
		}
	}
	for _, c := range []struct {
		k    int
		free []float64
		want string
	}{
		{0, nil, "number of teachers K"},
		{-1, nil, "number of teachers K"},
		{constraints.MaxTeachers + 1, nil, "number of teachers K"},
		{3, []float64{1}, "1 free values of gamma for K = 3, want 2"},
		{4, []float64{1, 1, 0}, "3 free values of gamma for K = 4, want 2"},
		{3, []float64{1, nan}, "gamma(1) = NaN"},
		{3, []float64{1, math.Nextafter(-1, -2)}, "gamma(1) = -1.0000000000000002"},
	} {
		if _, err := FromFree(c.k, c.free); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("FromFree(%d, %v): %v, want an error with %q", c.k, c.free, err, c.want)
		}
	}
	if _, err := Constant(-5, 0.5); err == nil {
		t.Error("Constant takes K = -5")
	}
	if _, err := Constant(5, 1.01); err == nil {
		t.Error("Constant takes c = 1.01")
	}
}

func TestNewErrorsAreTyped(t *testing.T) {
	var pe *constraints.ParameterError
	if _, err := New(nil); !errors.As(err, &pe) {
		t.Errorf("New(nil): %T %v, want a ParameterError", err, err)
	}
	if _, err := FromFree(0, nil); !errors.As(err, &pe) {
		t.Errorf("FromFree(0): %T %v, want a ParameterError", err, err)
	}
}

// Each value is the multiple of 2⁻⁵³ next to what was asked for, on the side of 0, and the
// function is symmetric with 0 at a tie.
func TestQuantisationRoundsTowardsZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 12).Draw(t, "K")
		free := drawFree(t, k)
		f, err := FromFree(k, free)
		if err != nil {
			t.Fatal(err)
		}
		unit := new(big.Rat).SetFloat64(0x1p-53)
		for l, v := range free {
			want := new(big.Rat).SetFloat64(v)
			got := new(big.Rat).Mul(unit, new(big.Rat).SetInt64(f.Numerator(l)))
			left := new(big.Rat).Sub(want, got)
			if got.Sign()*want.Sign() < 0 || left.Sign()*want.Sign() < 0 || left.Abs(left).Cmp(unit) >= 0 {
				t.Fatalf("γ(%d) = %v became %d/2⁵³", l, v, f.Numerator(l))
			}
			if at := new(big.Rat).SetFloat64(f.At(l)); at.Cmp(got) != 0 {
				t.Fatalf("At(%d) = %v is not %d/2⁵³", l, f.At(l), f.Numerator(l))
			}
		}
		for l := range k + 1 {
			if f.Numerator(l) != f.Numerator(k-l) {
				t.Fatalf("γ(%d) ≠ γ(%d)", l, k-l)
			}
			if 2*l == k && f.Numerator(l) != 0 {
				t.Fatalf("γ(%d) = %d/2⁵³ at a tie", l, f.Numerator(l))
			}
		}
	})
}

// What a Func says of itself makes the same Func again.
func TestValuesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 12).Draw(t, "K")
		f := Func{make([]int64, k+1)}
		for l := range (k + 1) / 2 {
			f.set(l, rapid.Int64Range(-One, One).Draw(t, "numerator"))
		}
		for name, read := range map[string]func([]float64) (Func, error){"New": New,
			"exactly": func(v []float64) (Func, error) { return fromMultiples(v, Any) }} {
			g, err := read(f.Values())
			if err != nil || !g.Equal(f) || !f.Equal(g) {
				t.Fatalf("%s(%v) = %v, %v", name, f.Values(), g.Values(), err)
			}
		}
		phi := f.Phi()
		for l, x := range phi {
			want := f.At(l)
			if 2*l < k {
				want = -want
			}
			if x != want || phi[k-l] != -x {
				t.Fatalf("φ(%d) = %v, φ(%d) = %v, γ = %v", l, x, k-l, phi[k-l], want)
			}
		}
	})
}

func TestExactlyRefusesWhatNewRounds(t *testing.T) {
	for _, v := range []float64{0x1p-54, 0x1p-1074, 0x1.8p-53, 0.1, 1. / 3} {
		values := mirror(1, []float64{v})
		f, err := New(values)
		if err != nil {
			t.Fatal(err)
		}
		// 0.1 and 1/3 are float64s below 1/2, which may have finer digits.
		fits := f.At(0) == v
		if _, err := fromMultiples(values, Any); (err == nil) != fits {
			t.Errorf("exactly(%v): %v, but rounding it gives %v", v, err, f.At(0))
		}
	}
	if _, err := fromMultiples([]float64{0x1p-54, 0x1p-54}, Any); err == nil ||
		!strings.Contains(err.Error(), "multiple of 2^-53") {
		t.Errorf("2⁻⁵⁴: %v", err)
	}
	if _, err := fromMultiples([]float64{2, 2}, Any); err == nil {
		t.Error("2 passes")
	}
}

func TestValuesAreCopies(t *testing.T) {
	f := mustFree(t, 3, 1, 0.5)
	f.Values()[0] = 0
	f.Phi()[0] = 0
	if f.At(0) != 1 {
		t.Errorf("γ(0) = %v after its copy was written to", f.At(0))
	}
	values := []float64{1, 0.5, 0.5, 1}
	g, err := New(values)
	if err != nil {
		t.Fatal(err)
	}
	values[0] = 0
	if g.At(0) != 1 {
		t.Error("a Func shares memory with its argument")
	}
}

// Shrink is never further from 0 than the exact product, and loses less than three units.
func TestShrinkIsBelowTheExactProduct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 9).Draw(t, "K")
		f, err := FromFree(k, drawFree(t, k))
		if err != nil {
			t.Fatal(err)
		}
		factor := rapid.OneOf(
			rapid.Float64Range(0, 1),
			rapid.SampledFrom([]float64{0, 1, 0.5, math.Nextafter(1, 0), 1 - 0x1p-52, 0x1p-53, 0x1p-1074,
				1. / 3}),
		).Draw(t, "factor")
		g := f.Shrink(factor)
		if g.K() != k {
			t.Fatalf("K = %d became %d", k, g.K())
		}
		for l := range k + 1 {
			exact := new(big.Rat).SetFloat64(factor)
			exact.Mul(exact, new(big.Rat).SetInt64(f.Numerator(l)))
			got := new(big.Rat).SetInt64(g.Numerator(l))
			if got.Sign()*exact.Sign() < 0 {
				t.Fatalf("%d/2⁵³ × %v = %d/2⁵³", f.Numerator(l), factor, g.Numerator(l))
			}
			if exact.Abs(exact); got.Abs(got).Cmp(exact) > 0 {
				t.Fatalf("%d/2⁵³ × %v = %d/2⁵³, beyond %v", f.Numerator(l), factor, g.Numerator(l), exact)
			}
			if lost := new(big.Rat).Sub(exact, got); lost.Cmp(big.NewRat(3, 1)) >= 0 {
				t.Fatalf("%d/2⁵³ × %v = %d/2⁵³ loses %v units", f.Numerator(l), factor, g.Numerator(l), lost)
			}
		}
		if factor == 1 && !g.Equal(f) {
			t.Fatal("shrinking by 1 is not the identity")
		}
	})
}

func TestShrinkPanicsOutsideTheUnitInterval(t *testing.T) {
	f := mustFree(t, 3, 1, 0.5)
	for _, factor := range []float64{-0.1, math.Nextafter(1, 2), math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic for %v", factor)
				}
			}()
			f.Shrink(factor)
		}()
	}
}

// A noise function dips where it rises towards the tie, on either side; not where it is flat, falls, or has a tie's value.
func TestDips(t *testing.T) {
	for _, c := range []struct {
		values []float64
		dips   bool
	}{
		{[]float64{1, .9, .5, .9, 1}, false},
		{[]float64{1, .9, 1, .9, 1}, false}, // a tie is a coin, whatever its value
		{[]float64{1, 1, .5, .9, .9, .5, 1, 1}, true},
		{[]float64{1, .5, .9, .9, 1, 1}, true},
		{[]float64{1, 1, .9, .9, .5, 1}, true},
		{[]float64{1 - 1e-9, 1, 1, 1 - 1e-9}, false},
	} {
		if got := Dips(c.values); got != c.dips {
			t.Errorf("Dips(%v) = %v", c.values, got)
		}
	}
}

func TestMonotone(t *testing.T) {
	for _, c := range []struct {
		k    int
		free []float64
		want bool
	}{
		{1, []float64{0}, true},
		{2, []float64{0.3}, true},
		{5, []float64{1, 0.5, 0}, true},
		{5, []float64{0.5, 0.5, 0.5}, true},
		{5, []float64{0.5, math.Nextafter(0.5, 1), 0}, false},
		{5, []float64{1, 0, 0x1p-53}, false},
		{4, []float64{1, 0.5}, true}, // the tie's 0 is below
		{4, []float64{0.5, 1}, false},
		{1, []float64{-1}, false}, {5, []float64{0.5, 0.25, -0x1p-53}, false},
	} {
		if got := mustFree(t, c.k, c.free...).Monotone(); got != c.want {
			t.Errorf("%v: monotone %v", c.free, got)
		}
	}
}

func TestEqual(t *testing.T) {
	f := mustFree(t, 3, 1, 0.5)
	for _, c := range []struct {
		g    Func
		want bool
	}{
		{f, true}, {mustFree(t, 3, 1, 0.5), true}, {f.Shrink(1), true},
		{mustFree(t, 3, 1, 0.5+0x1p-53), false},
		{mustFree(t, 4, 1, 0.5), false}, {mustFree(t, 5, 1, 0.5, 0), false}, {Func{}, false},
	} {
		if f.Equal(c.g) != c.want || c.g.Equal(f) != c.want {
			t.Errorf("%v and %v: equal %v", f.Values(), c.g, f.Equal(c.g))
		}
	}
}

func TestStringListsTheFreeValues(t *testing.T) {
	for _, c := range []struct {
		f    Func
		want string
	}{
		{mustFree(t, 5, 1, 1./3, 0), "1, 0.333333, 0"},
		{mustFree(t, 4, 0.5, 0.25), "0.5, 0.25"},
	} {
		if got := c.f.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
