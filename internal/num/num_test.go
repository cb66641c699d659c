package num

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// Digits of e, e^700 and 2^(-1/3) from a 60-digit table (PARI/GP exp(1),
// exp(700), 2^(-1/3)).
func TestKnownDigits(t *testing.T) {
	cases := []struct {
		name string
		got  Interval
		want string
	}{
		{"e", Exp(big.NewRat(1, 1)), "2.71828182845904523536028747135266249775724709369995957496697"},
		{"e^0.1", Exp(big.NewRat(1, 10)),
			"1.10517091807564762481170782649024666822454719473751871879286"},
		{"1-(1/2)^(1/2)", OneMinusPow(big.NewRat(1, 2), big.NewRat(1, 2)),
			"0.29289321881345247559915563789515096071516406231152596341166"},
	}
	for _, c := range cases {
		want, _ := new(big.Rat).SetString(c.want)
		// The table is truncated at 59 decimals: the interval must lie within
		// one unit of its last digit.
		ulp := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(58), nil))
		lo, _ := c.got.lo.Rat(nil)
		hi, _ := c.got.hi.Rat(nil)
		if lo.Cmp(new(big.Rat).Add(want, ulp)) > 0 || hi.Cmp(new(big.Rat).Sub(want, ulp)) < 0 {
			t.Errorf("%s = [%s, %s], table %s", c.name, lo.FloatString(60), hi.FloatString(60), c.want)
		}
		if c.got.lo.Cmp(c.got.hi) > 0 {
			t.Errorf("%s: empty interval", c.name)
		}
	}
}

// e^x·e^y = e^(x+y), and Pow against Exp: identities that a wrong tail or a
// wrong rounding side breaks, because the intervals are 200 bits narrow.
func TestExpIdentities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := big.NewRat(rapid.Int64Range(0, 350_000_000).Draw(t, "x"), 1_000_000)
		y := big.NewRat(rapid.Int64Range(0, 350_000_000).Draw(t, "y"), 1_000_000)
		sum := Exp(new(big.Rat).Add(x, y))
		prod := Exp(x).Mul(Exp(y))
		if sum.Cmp(prod) != 0 {
			t.Fatalf("e^%v·e^%v does not meet e^(x+y)", x, y)
		}
		width := new(big.Float).Sub(sum.hi, sum.lo)
		rel := width.Quo(width, sum.lo)
		if rel.Sign() != 0 && (rel.Sign() < 0 || rel.MantExp(nil) > -200) {
			t.Fatalf("e^(x+y) is known to 2^%d only", rel.MantExp(nil))
		}
		f, _ := new(big.Rat).Add(x, y).Float64()
		if m := math.Exp(f); math.Abs(m-sum.Nearest()) > 1e-12*m {
			t.Fatalf("e^%g = %g, math.Exp says %g", f, sum.Nearest(), m)
		}
	})
}

func TestOneMinusPowAgainstExactPowers(t *testing.T) {
	one := big.NewRat(1, 1)
	check := func(t interface{ Fatalf(string, ...any) }, d *big.Rat, n int64) {
		exact := big.NewRat(1, 1)
		for range n {
			exact.Mul(exact, new(big.Rat).Sub(one, d))
		}
		got := OneMinusPow(d, big.NewRat(n, 1))
		if got.Cmp(FromRat(exact.Sub(one, exact))) != 0 {
			t.Fatalf("1-(1-%v)^%d is not in its interval", d, n)
		}
		if width := new(big.Float).Quo(new(big.Float).Sub(got.hi, got.lo), got.lo); width.Sign() != 0 &&
			(width.Sign() < 0 || width.MantExp(nil) > -200) {
			t.Fatalf("1-(1-%v)^%d is known to 2^%d only", d, n, width.MantExp(nil))
		}
		// The n-th root, raised again.
		root := FromInt(1).Sub(OneMinusPow(d, big.NewRat(1, n)))
		back := FromInt(1)
		for range n {
			back = back.Mul(root)
		}
		if back.Cmp(FromRat(new(big.Rat).Sub(one, d))) != 0 {
			t.Fatalf("the %d-th root of 1-%v, raised again, misses it", n, d)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		den := rapid.Int64Range(2, 1_000_000_000).Draw(t, "den")
		check(t, big.NewRat(rapid.Int64Range(1, den-1).Draw(t, "num"), den),
			rapid.SampledFrom([]int64{1, 2, 3, 17, 30, 700}).Draw(t, "n"))
	})
	tiny := Decimal(1e-300)
	check(t, tiny, 3)
	check(t, tiny, 17)
	// Far in the tail the result is 1 up to e^-4096.
	if got := OneMinusPow(big.NewRat(1, 2), big.NewRat(1_000_000, 1)); got.Upper() != 1 ||
		got.Lower() < 1-0x1p-53 {
		t.Errorf("1-2^-1000000 in [%v, %v]", got.Lower(), got.Upper())
	}
}

func TestDecimalUpAndDown(t *testing.T) {
	for _, x := range []float64{0, 0.1, 0.3, 1e-5, 5e-324, 1e300, 1, 0.7, 3.3} {
		i := FromRat(Decimal(x))
		if i.DecimalUp() != x || i.DecimalDown() != x {
			t.Errorf("%v goes up to %v and down to %v", x, i.DecimalUp(), i.DecimalDown())
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := big.NewRat(rapid.Int64Range(0, 1<<60).Draw(t, "num"),
			rapid.Int64Range(1, 1<<60).Draw(t, "den"))
		lo, hi := FromRat(x).DecimalDown(), FromRat(x).DecimalUp()
		if Decimal(lo).Cmp(x) > 0 || Decimal(hi).Cmp(x) < 0 {
			t.Fatalf("%v is not between %v and %v", x, lo, hi)
		}
		if steps := hi - lo; steps > 2*(math.Nextafter(hi, math.Inf(1))-hi) {
			t.Fatalf("%v: %v and %v are more than two steps apart", x, lo, hi)
		}
	})
}

// Every operation must keep the exact rational result inside.
func TestOperationsHoldTheExactResult(t *testing.T) {
	rat := func(t *rapid.T, name string) *big.Rat {
		return big.NewRat(rapid.Int64Range(-1_000_000, 1_000_000).Draw(t, name),
			rapid.Int64Range(1, 999_983).Draw(t, name+" denominator"))
	}
	holds := func(i Interval, x *big.Rat) bool {
		lo, _ := i.lo.Rat(nil)
		hi, _ := i.hi.Rat(nil)
		return lo.Cmp(x) <= 0 && x.Cmp(hi) <= 0
	}
	rapid.Check(t, func(t *rapid.T) {
		x, y := rat(t, "x"), rat(t, "y")
		xi, yi := FromRat(x), FromRat(y)
		if !holds(xi.Add(yi), new(big.Rat).Add(x, y)) ||
			!holds(xi.Sub(yi), new(big.Rat).Sub(x, y)) ||
			!holds(xi.Mul(yi), new(big.Rat).Mul(x, y)) {
			t.Fatalf("%v, %v: an exact result escaped", x, y)
		}
		if y.Sign() > 0 && !holds(xi.Quo(yi), new(big.Rat).Quo(x, y)) {
			t.Fatalf("%v / %v escaped", x, y)
		}
		lower, upper := new(big.Rat).SetFloat64(xi.Lower()), new(big.Rat).SetFloat64(xi.Upper())
		if lower.Cmp(x) > 0 || upper.Cmp(x) < 0 {
			t.Fatalf("float64 ends [%v, %v] do not hold %v", lower, upper, x)
		}
		if f, exact := x.Float64(); exact && (xi.Lower() != f || xi.Upper() != f) {
			t.Fatalf("%v is a float64 but its ends are %v, %v", f, xi.Lower(), xi.Upper())
		}
	})
}

func TestDecimalIsWhatPeopleRead(t *testing.T) {
	if Decimal(0.1).Cmp(big.NewRat(1, 10)) != 0 {
		t.Errorf("Decimal(0.1) = %v", Decimal(0.1))
	}
	if Decimal(1e-5).Cmp(big.NewRat(1, 100_000)) != 0 {
		t.Errorf("Decimal(1e-5) = %v", Decimal(1e-5))
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Decimal(%v) did not panic", x)
				}
			}()
			Decimal(x)
		}()
	}
}

// What is known of a number only within a wide interval is rounded beyond its far end, not
// its near one.
func TestEndsOfWideIntervals(t *testing.T) {
	seventh, third := big.NewRat(1, 7), big.NewRat(1, 3)
	x := FromRat(seventh).Hull(FromRat(third))
	for what, c := range map[string]struct {
		got    float64
		least  *big.Rat // got is at least this, or at most that
		atMost *big.Rat
	}{
		"Upper": {got: x.Upper(), least: third}, "Lower": {got: x.Lower(), atMost: seventh},
	} {
		exact := new(big.Rat).SetFloat64(c.got)
		if c.least != nil && exact.Cmp(c.least) < 0 || c.atMost != nil && exact.Cmp(c.atMost) > 0 {
			t.Errorf("%s of [1/7, 1/3] = %v", what, c.got)
		}
	}
	if up := x.DecimalUp(); Decimal(up).Cmp(third) < 0 || up > 0.3333333333333334 {
		t.Errorf("DecimalUp of [1/7, 1/3] = %v", up)
	}
	if down := x.DecimalDown(); Decimal(down).Cmp(seventh) > 0 || down < 0.1428571428571428 {
		t.Errorf("DecimalDown of [1/7, 1/3] = %v", down)
	}
	for _, c := range []struct{ a, b Interval }{{FromRat(seventh), FromRat(third)},
		{FromRat(third), FromRat(seventh)}} {
		h := c.a.Hull(c.b)
		if h.Lower() != FromRat(seventh).Lower() || h.Upper() != FromRat(third).Upper() {
			t.Errorf("hull: [%v, %v]", h.Lower(), h.Upper())
		}
	}
}
