package num

import (
	"fmt"
	"math"
	"math/big"
	"sync"
)

// NormalTail returns an interval around the upper tail of the standard normal
// distribution,
//
//	Q(x) = ∫_x^∞ φ(t) dt,   φ(t) = e^{-t²/2}/√(2π),
//
// for |x| ≤ 40000, where Q is down to e^-8e8. It panics outside. Relative width: below
// 2⁻²⁰⁰ for x > 0. A call takes about a tenth of a millisecond.
//
// Up to x = 10 the series 1/2 - φ(x)·Σ x^(2n+1)/(2n+1)!! is used, above it Laplace's
// continued fraction φ(x)/(x + 1/(x + 2/(x + …))) (Abramowitz and Stegun, 26.2.11 and
// 26.2.14).
func NormalTail(x Interval) Interval {
	lo, hi := monotone(x, normalTailNarrow)
	return Interval{hi.lo, lo.hi} // decreasing in x
}

// largestSeries is where the difference of 1/2 and the series has lost 77 of its bits.
const largestSeries = 10

func normalTailNarrow(x Interval) Interval {
	if x.hi.Sign() < 0 {
		return FromInt(1).Sub(normalTailNarrow(FromInt(0).Sub(x)))
	}
	if x.hi.Cmp(big.NewFloat(40000)) > 0 {
		panic("num: NormalTail wants |x| ≤ 40000")
	}
	xx := x.Mul(x)
	density := ExpReal(FromInt(0).Sub(xx.scale(-1))).Quo(rootTwoPi())
	if x.lo.Cmp(big.NewFloat(largestSeries)) <= 0 {
		return FromInt(1).scale(-1).Sub(density.Mul(millsSeries(x, xx)))
	}
	// The part of the fraction after depth lies in [x, x + (depth+1)/x], whatever the depth; how wide
	// that leaves the whole falls as depth·x² and depth grow.
	square, _ := xx.lo.Float64()
	depth := 40 + int64(9000/square)
	t := Interval{x.lo, x.Add(FromInt(depth + 1).Quo(x)).hi}
	for n := depth; n >= 1; n-- {
		t = x.Add(FromInt(n).Quo(t))
	}
	return density.Quo(t)
}

// millsSeries returns Σ_{n≥0} x^(2n+1)/(2n+1)!! for 0 ≤ x ≤ largestSeries.
func millsSeries(x, xx Interval) Interval {
	if x.hi.Sign() == 0 {
		return x
	}
	s := newSeries(x, xx)
	// Past 2n+1 > 2x² each term is below half of the one before, so the terms left out sum to less
	// than the last one added.
	for n := int64(3); n <= 2*largestSeries*largestSeries+1 || !s.small(); n += 2 {
		s.next(n)
		s.add(&s.term)
	}
	return s.end()
}

var rootTwoPi = sync.OnceValue(func() Interval { return Sqrt(pi().scale(1)) })

// pi comes from Machin's formula π/4 = 4·atan(1/5) - atan(1/239).
var pi = sync.OnceValue(func() Interval {
	return FromInt(4).Mul(atanInverse(5)).Sub(atanInverse(239)).scale(2)
})

// atanInverse returns atan(1/n) = Σ (-1)^i/((2i+1)·n^(2i+1)) for n ≥ 2. The sum
// alternates, so the first term left out bounds the rest.
func atanInverse(n int64) Interval {
	power := FromInt(1).Quo(FromInt(n))
	sum := power
	for i := int64(1); ; i++ {
		power = power.Quo(FromInt(n * n))
		term := power.Quo(FromInt(2*i + 1))
		if term.hi.MantExp(nil) < -precision {
			return Interval{down().Sub(sum.lo, term.hi), up().Add(sum.hi, term.hi)}
		}
		if i%2 == 1 {
			sum = sum.Sub(term)
		} else {
			sum = sum.Add(term)
		}
	}
}

// Wilson returns the 95 % score interval (Wilson, 1927) for a share of n > 0 trials, which need not
// be a whole number:
//
//	(x + z²/2n ± z·√(x(1-x)/n + z²/4n²)) / (1 + z²/n),  z = 1.95996…
func Wilson(share, n float64) (low, high float64) {
	const z = 1.959963984540054
	middle := share + z*z/(2*n)
	half := z * math.Sqrt(max(0, share*(1-share))/n+z*z/(4*n*n))
	scale := 1 + z*z/n
	return max(0, (middle-half)/scale), min(1, (middle+half)/scale)
}

// MaxExpReal bounds the size of the argument of ExpReal. e^(2³⁰) is still a big.Float.
const MaxExpReal = 1 << 30

// ExpReal returns an interval around e^x for |x| ≤ 2³⁰; it panics outside.
//
// With n = ⌊x/ln 2⌋ - 1 and r = x - n·ln 2, which lies within (0, 3),
//
//	e^x = 2ⁿ·e^r
func ExpReal(x Interval) Interval {
	lo, hi := monotone(x, expNarrow)
	return Interval{lo.lo, hi.hi}
}

func expNarrow(x Interval) Interval {
	f, _ := x.lo.Float64()
	if math.Abs(f) > MaxExpReal {
		panic(fmt.Sprintf("num: ExpReal of %g, want |x| ≤ 2^30", f))
	}
	if x.lo.Sign() >= 0 && x.hi.Cmp(big.NewFloat(quick)) <= 0 {
		return FromInt(1).Add(expm1Small(x)) // never below 1
	}
	n := int64(math.Floor(f/math.Ln2)) - 1 // the float64 may be one off; r stays positive
	r := x.Sub(ln2().Mul(FromInt(n)))
	const halvings = 10 // 3/2^10 < 2⁻⁸
	e := FromInt(1).Add(expm1Small(r.scale(-halvings)))
	for range halvings {
		e = e.Mul(e)
	}
	return e.scale(int(n))
}

// scale returns 2ⁿ·x, exactly.
func (x Interval) scale(n int) Interval {
	return Interval{down().SetMantExp(x.lo, n), up().SetMantExp(x.hi, n)}
}

// Expm1 returns an interval around e^x - 1 for 0 ≤ x ≤ 8192, relatively accurate
// however small x is; it panics outside.
func Expm1(x Interval) Interval {
	if x.lo.Sign() < 0 {
		panic("num: Expm1 of an interval that is not ≥ 0")
	}
	if x.hi.Cmp(big.NewFloat(2*maxExp)) > 0 {
		panic("num: Expm1 beyond 8192") // aligning e^x with 1 takes as many bits as e^x has
	}
	if x.hi.Cmp(big.NewFloat(quick)) <= 0 {
		return expm1Small(x)
	}
	return ExpReal(x).Sub(FromInt(1))
}
