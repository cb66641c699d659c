package noise

import (
	"math/big"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// Law holds the probabilities of a symmetric law of an integer Y as intervals, for
// audits. It is immutable.
type Law struct {
	mass []num.Interval // of 0, 1, …
	tail []num.Interval // Pr[Y ≥ k]
}

// Mass returns Pr[Y = k]; beyond the reach that the law was made with it panics.
func (l Law) Mass(k int) num.Interval { return l.mass[max(k, -k)] }

// Tail returns Pr[Y ≥ k]; beyond the reach that the law was made with it panics.
func (l Law) Tail(k int) num.Interval {
	if k <= 0 {
		return num.FromInt(1).Sub(l.tail[1-k])
	}
	return l.tail[k]
}

// Law returns the probabilities of |k| ≤ reach. Cost: some microseconds for each of
// √(reach² + (22σ)²) numbers.
func (g Gaussian) Law(reach int) Law {
	w := decayFrom(new(big.Rat).Inv(new(big.Rat).Add(g.Variance(), g.Variance())), 0)
	return newLaw(w.until(reach))
}

// Law returns the probabilities of |k| ≤ reach. Cost: some microseconds for each of
// reach + 230b numbers.
func (l Laplace) Law(reach int) Law {
	a := expMinus(new(big.Rat).Inv(l.Scale()))
	w := &decay{current: num.FromInt(1), ratio: a, slope: num.FromInt(1)}
	return newLaw(w.until(reach))
}

// newLaw normalises weights of 0, 1, …, with a bound on the sum of those that follow.
func newLaw(weights []num.Interval, rest num.Interval) Law {
	n := len(weights)
	above := make([]num.Interval, n+1) // Σ_{j ≥ k} w_j
	above[n] = rest
	for k := n - 1; k >= 0; k-- {
		above[k] = above[k+1].Add(weights[k])
	}
	total := weights[0].Add(above[1]).Add(above[1])
	l := Law{make([]num.Interval, n), make([]num.Interval, n)}
	for k := range n {
		l.mass[k] = weights[k].Quo(total)
		l.tail[k] = above[k].Quo(total)
	}
	return l
}

// decay is a sequence of positive numbers whose ratios fall by a constant factor:
// x_{i+1} = x_i·r_i, r_{i+1} = r_i·slope ≤ r_i.
type decay struct{ current, ratio, slope num.Interval }

// decayFrom returns e^{-a·k²} for k = from, from+1, …
func decayFrom(a *big.Rat, from int64) *decay {
	at := func(n int64) *big.Rat { return new(big.Rat).Mul(a, big.NewRat(n, 1)) }
	square := new(big.Rat).Mul(at(from), big.NewRat(from, 1))
	return &decay{expMinus(square), expMinus(at(2*from + 1)), expMinus(at(2))}
}

func (d *decay) next() {
	d.current = d.current.Mul(d.ratio)
	d.ratio = d.ratio.Mul(d.slope)
}

// rest returns an interval around the sum of all numbers after the current one: at least
// 0, and at most the geometric series of the current ratio.
func (d *decay) rest() num.Interval {
	one := num.FromInt(1)
	series := d.current.Mul(d.ratio).Quo(one.Sub(d.ratio))
	return series.Mul(unit) // [0, series]
}

// unit is the interval [0, 1].
var unit = num.FromInt(0).Hull(num.FromInt(1))

// until returns the numbers up to index reach, and on until they no longer matter beside
// that one, and what the others sum to.
func (d *decay) until(reach int) (numbers []num.Interval, rest num.Interval) {
	for {
		numbers = append(numbers, d.current)
		if n := len(numbers); n > reach+1 && negligible(d.current, numbers[reach]) {
			return numbers, d.rest()
		}
		d.next()
	}
}

// negligible reports whether x is below 2⁻³³⁰ of y.
func negligible(x, y num.Interval) bool {
	return x.Hi().MantExp(nil) < y.Lo().MantExp(nil)-330
}

// expMinus returns e^-x for x ≥ 0.
func expMinus(x *big.Rat) num.Interval {
	return num.ExpReal(num.FromRat(new(big.Rat).Neg(x)))
}

func ratio(num, den uint64) *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(num), new(big.Int).SetUint64(den))
}

// grid is the set of fractions that a parameter may be: those of integers with at most so many
// bits, and dyadic ones with denominators up to 2^shift.
type grid struct{ bits, shift int }

var (
	laplaceGrid = grid{31, 31}
	rateGrid    = grid{31, 52}
)

// RateDown returns x > 0 as a fraction where numerator and denominator are below 2³¹,
// otherwise x rounded down to 30 significant bits with a denominator of at most 2⁵².
// Where x is the rate of permute-and-flip, a smaller one is the private side.
func RateDown(x *big.Rat) (num, den uint64, err error) { return rateGrid.round(x, false) }

// round returns x > 0 itself where it is on the grid, otherwise x rounded up or down.
func (g grid) round(x *big.Rat, up bool) (num, den uint64, err error) {
	if x.Sign() > 0 && x.Num().BitLen() <= g.bits && x.Denom().BitLen() <= g.bits {
		return x.Num().Uint64(), x.Denom().Uint64(), nil
	}
	// 2^shift·x is below 2^bits, and not below 2^(bits-2) unless shift is at its bound.
	shift := min(g.shift, g.bits-1-(x.Num().BitLen()-x.Denom().BitLen()))
	if x.Sign() > 0 && shift >= -20 {
		n, d := new(big.Int).Set(x.Num()), new(big.Int).Set(x.Denom())
		n.Lsh(n, uint(max(0, shift)))
		d.Lsh(d, uint(max(0, -shift)))
		n, rest := n.QuoRem(n, d, new(big.Int))
		if up && rest.Sign() != 0 {
			n.Add(n, big.NewInt(1))
		}
		if n.Sign() > 0 {
			r := new(big.Rat).SetFrac(n.Lsh(n, uint(max(0, -shift))),
				new(big.Int).Lsh(big.NewInt(1), uint(max(0, shift))))
			return r.Num().Uint64(), r.Denom().Uint64(), nil
		}
	}
	return 0, 0, check.Want("value", x.RatString(), "positive and of a size that samplers take")
}
