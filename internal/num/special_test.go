package num

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// point is the interval around the decimal of f.
func point(f float64) Interval { return FromRat(Decimal(f)) }

// relativeBits returns -log2 of the relative width of x, at least.
func relativeBits(x Interval) int {
	width := new(big.Float).Sub(x.hi, x.lo)
	if width.Sign() == 0 {
		return math.MaxInt
	}
	width.Quo(width, new(big.Float).Abs(x.lo))
	return -width.MantExp(nil)
}

// Sixty digits each from mpmath 1.3 at 70 digits: log, exp, expm1, sqrt and
// erfc(x/√2)/2.
func TestSpecialFunctionsKnownDigits(t *testing.T) {
	cases := []struct {
		f    string
		x    float64
		want string
	}{
		{"log", 1e-300, "-690.775527898213705205397436405309262280330446588631892809998"},
		{"log", 0.5, "-0.693147180559945309417232121458176568075500134360255254120680"},
		{"log", 1.0001, "0.0000999950003333083353331666809511310634820644010710755126612943"},
		{"log", 2, "0.693147180559945309417232121458176568075500134360255254120680"},
		{"log", 10, "2.30258509299404568401799145468436420760110148862877297603333"},
		{"log", 1e300, "690.775527898213705205397436405309262280330446588631892809998"},
		{"tail", 0.001, "0.499601057786088937415409677555673058731496752185221700810061"},
		{"tail", 0.5, "0.308537538725986896362295389391662260116397824445422063179224"},
		{"tail", -0.5, "0.691462461274013103637704610608337739883602175554577936820776"},
		{"tail", 1, "0.158655253931457051414767454367962077522087033273395609012606"},
		{"tail", 5.75, "0.00000000446217245390161187306922258841623522851619903657180407428316"},
		{"tail", 6.25, "0.000000000205226342521893888162276359579163839146211994908051370869145"},
		{"tail", 20, "2.75362411860623369507562278085746533280749773475933056769937e-89"},
		{"tail", 38.5, "1.40818246317051746177009963024519838735398435391239951351304e-324"},
		{"exp", -700, "9.85967654375977085670537294784946510511560018140094171058647e-305"},
		{"exp", -0.5, "0.606530659712633423603799534991180453441918135487186955682892"},
		{"exp", 700, "1.01423205473500450945532959523126761520467957224307334878054e+304"},
		{"exp", 123456.5, "2.99712660468155875100921780690144906492992602719799859813120e+53616"},
		{"exp", -123456.5, "3.33652905565612183399145077848865043527686099717524475566806e-53617"},
		{"expm1", 0.001, "0.00100050016670834166805575399305831156307620058070146022851467"},
		{"expm1", 0.5, "0.648721270700128146848650787814163571653776100710148011575079"},
		{"sqrt", 2, "1.41421356237309504880168872420969807856967187537694807317668"},
		{"sqrt", 0.1, "0.316227766016837933199889354443271853371955513932521682685750"},
	}
	for _, c := range cases {
		var got Interval
		switch c.f {
		case "log":
			got = Log(point(c.x))
		case "tail":
			got = NormalTail(point(c.x))
		case "exp":
			got = ExpReal(point(c.x))
		case "expm1":
			got = Expm1(point(c.x))
		case "sqrt":
			got = Sqrt(point(c.x))
		}
		exact, ok := new(big.Rat).SetString(c.want) // ParseFloat is not exact at e-53617
		if !ok {
			t.Fatal(c.want)
		}
		want := new(big.Float).SetPrec(400).SetRat(exact)
		// The reference carries 60 digits: give it one unit of the 58th.
		slack := new(big.Float).Abs(want)
		slack.Quo(slack, big.NewFloat(1e58))
		if got.lo.Cmp(new(big.Float).Add(want, slack)) > 0 ||
			got.hi.Cmp(new(big.Float).Sub(want, slack)) < 0 {
			t.Errorf("%s(%g) = [%.60g, %.60g], reference %s", c.f, c.x, got.lo, got.hi, c.want)
		}
		if got.lo.Cmp(got.hi) > 0 {
			t.Errorf("%s(%g): empty interval", c.f, c.x)
		}
		if b := relativeBits(got); b < 200 {
			t.Errorf("%s(%g) is known to 2^-%d only", c.f, c.x, b)
		}
	}
}

// Identities between the functions: they meet only if every tail and every rounding
// side is right, because the intervals are 200 bits narrow.
func TestSpecialFunctionIdentities(t *testing.T) {
	meet := func(t *rapid.T, what string, x, y Interval) {
		t.Helper()
		if x.Cmp(y) != 0 {
			t.Fatalf("%s: [%.40g, %.40g] and [%.40g, %.40g] do not meet", what, x.lo, x.hi, y.lo, y.hi)
		}
	}
	rapid.Check(t, func(t *rapid.T) { // one identity a draw keeps the race run short
		x := point(rapid.Float64Range(-2000, 2000).Draw(t, "x"))
		y := point(rapid.Float64Range(-2000, 2000).Draw(t, "y"))
		p := point(rapid.Float64Range(1e-300, 1e300).Draw(t, "p"))
		small := point(rapid.Float64Range(0, 0.1).Draw(t, "small"))
		switch rapid.IntRange(0, 4).Draw(t, "identity") {
		case 0:
			meet(t, "e^x·e^y", ExpReal(x.Add(y)), ExpReal(x).Mul(ExpReal(y)))
		case 1:
			meet(t, "ln e^x", Log(ExpReal(x)), x)
		case 2:
			meet(t, "√p·√p", Sqrt(p).Mul(Sqrt(p)), p)
		case 3:
			meet(t, "e^ln p", ExpReal(Log(p)), p)
		case 4:
			meet(t, "expm1", Expm1(small).Add(FromInt(1)), ExpReal(small))
		}
	})
}

// Where one takes over from the other the series and the continued fraction must agree; both are good
// there to far more than 200 bits.
func TestNormalTailBranchesAgree(t *testing.T) {
	end := new(big.Float).SetPrec(precision).SetInt64(largestSeries)
	x := Interval{end, end}
	series := NormalTail(x)
	rest := Interval{x.lo, x.Add(FromInt(251).Quo(x)).hi}
	for n := int64(250); n >= 1; n-- {
		rest = x.Add(FromInt(n).Quo(rest))
	}
	density := ExpReal(FromInt(-largestSeries * largestSeries / 2)).Quo(rootTwoPi())
	fraction := density.Quo(rest)
	if series.Cmp(fraction) != 0 || relativeBits(fraction) < 200 || relativeBits(series) < 200 {
		t.Errorf("Q: series [%.60g, %.60g], fraction [%.60g, %.60g]", series.lo, series.hi,
			fraction.lo, fraction.hi)
	}
}

// Wherever the fraction is used it is deep enough.
func TestNormalTailIsNarrow(t *testing.T) {
	for x := 0.01; x < 40000; x *= 1.07 {
		if b := relativeBits(NormalTail(point(x))); b < 200 {
			t.Errorf("Q(%g) is known to 2^-%d only", x, b)
		}
	}
}

// An interval argument gives the union of the values at its ends.
func TestSpecialFunctionsOfWideIntervals(t *testing.T) {
	x := Interval{point(1).lo, point(2).hi}
	for _, c := range []struct {
		name string
		f    func(Interval) Interval
	}{{"log", Log}, {"exp", ExpReal}, {"expm1", Expm1}, {"sqrt", Sqrt}, {"tail", NormalTail}} {
		at1, wide, at2 := c.f(point(1)), c.f(x), c.f(point(2))
		for _, at := range []Interval{at1, at2} {
			if wide.lo.Cmp(at.lo) > 0 || wide.hi.Cmp(at.hi) < 0 {
				t.Errorf("%s([1,2]) = [%g, %g] misses [%g, %g]", c.name, wide.lo, wide.hi, at.lo, at.hi)
			}
		}
	}
}

func TestSpecialFunctionsPanicOutside(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"Log(0)", func() { Log(FromInt(0)) }},
		{"Log(-1)", func() { Log(FromInt(-1)) }},
		{"Sqrt(-1)", func() { Sqrt(FromInt(-1)) }},
		{"Expm1(-1)", func() { Expm1(FromInt(-1)) }},
		{"Expm1(8193)", func() { Expm1(FromInt(8193)) }},
		{"ExpReal(2e9)", func() { ExpReal(FromInt(2_000_000_000)) }},
		{"ExpReal(-2e9)", func() { ExpReal(FromInt(-2_000_000_000)) }},
		{"NormalTail(50000)", func() { NormalTail(FromInt(50000)) }},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", c.name)
				}
			}()
			c.f()
		}()
	}
}

// Where the series has lost most bits, and where the continued fraction begins and its depth falls,
// other sums hold the same number: the series far beyond its end, and the fraction ten times as deep. A
// fraction that is cut off without an interval for the rest would miss them.
func TestNormalTailByBothMethods(t *testing.T) {
	for _, x := range []*big.Rat{big.NewRat(6, 1), big.NewRat(999, 100), big.NewRat(1001, 100),
		big.NewRat(25, 2), big.NewRat(20, 1), big.NewRat(40, 1), big.NewRat(300, 1)} {
		got, at := NormalTail(FromRat(x)), FromRat(x)
		square := at.Mul(at)
		density := ExpReal(FromInt(0).Sub(square.scale(-1))).Quo(rootTwoPi())
		var want Interval
		if x.Cmp(big.NewRat(largestSeries, 1)) <= 0 {
			sum, term := at, at
			for n := int64(1); n < 1000; n++ { // 2n+1 far above 2x²: what follows is below the last term
				term = term.Mul(square).Quo(FromInt(2*n + 1))
				sum = sum.Add(term)
			}
			sum.hi = up().Add(sum.hi, term.hi)
			want = FromRat(big.NewRat(1, 2)).Sub(density.Mul(sum))
		} else {
			rest := at // cut off where it does not move any more
			for n := int64(2500); n >= 1; n-- {
				rest = at.Add(FromInt(n).Quo(rest))
			}
			want = density.Quo(rest)
		}
		if got.Cmp(want) != 0 || relativeBits(got) < 200 || relativeBits(want) < 200 {
			t.Errorf("Q(%v): %v and %v", x.FloatString(2), got.lo.Text('g', 100),
				want.lo.Text('g', 100))
		}
	}
}

// Narrow intervals on both sides of where the way of a function changes hold its values at both ends.
func TestNarrowIntervalsAcrossBranches(t *testing.T) {
	for _, f := range []struct {
		name   string
		of     func(Interval) Interval
		points []float64
	}{
		{"log", Log, []float64{0.25, 0.5, 0.75, 1, 1.5, 2, 3, 1024}},
		{"exp", ExpReal, []float64{0x1p-8, math.Ln2, 2, -3}},
		{"tail", NormalTail, []float64{largestSeries, 6, 0x1p-8, -2}},
	} {
		for _, p := range f.points {
			for _, width := range []int{-300, -200} { // taken whole, and by its ends
				bit := new(big.Float).SetMantExp(big.NewFloat(math.Abs(p)), width)
				x := Interval{down().Sub(big.NewFloat(p), bit), up().Add(big.NewFloat(p), bit)}
				got := f.of(x)
				for _, end := range []*big.Float{x.lo, x.hi} {
					at := f.of(Interval{end, end})
					if got.lo.Cmp(at.hi) > 0 || got.hi.Cmp(at.lo) < 0 {
						t.Errorf("%s around %g ± 2^%d: [%.60g, %.60g] leaves out an end, [%.60g, %.60g]", f.name, p,
							width, got.lo, got.hi, at.lo, at.hi)
					}
				}
				if b := relativeBits(got); p != 1 && b < min(200, -width-20) {
					t.Errorf("%s around %g ± 2^%d is known to 2^-%d only", f.name, p, width, b)
				}
			}
		}
	}
}
