// Package vec has the norms and the clipping of private learning: the rounding error of a norm is
// bounded, and a clipped vector is never longer than the limit. It has exponentials and products of
// short rows too, whose bits are the same on every processor. For other sums and products see
// gonum/floats.
package vec

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Slack bounds the relative rounding error of a norm of d numbers, twice over.
func Slack(d int) float64 { return float64(float64(d+8) * 0x1p-52) }

// Norm returns ‖v‖.
func Norm(v []float64) float64 { return math.Sqrt(floats.Dot(v, v)) }

// Clip scales g to norm at most limit,
//
//	g·min(1, limit/‖g‖),
//
// rounded so that the exact norm of the result is never above limit. A gradient that is not
// finite becomes 0, whose norm is also within the limit, and finite is false. A limit of
// +Inf clips nothing.
func Clip(g []float64, limit float64) (finite bool) {
	factor, finite := ClipFactor(g, limit)
	if factor != 1 {
		for j := range g {
			if factor == 0 {
				g[j] = 0 // also where it was NaN
			} else {
				g[j] *= factor
			}
		}
	}
	return finite
}

// ClipFactor returns what Clip multiplies by, 0 for a gradient that is not finite. One that
// is too long for its square to be a number it makes shorter first.
func ClipFactor(g []float64, limit float64) (factor float64, finite bool) {
	square := floats.Dot(g, g)
	if math.IsInf(square, 1) || square < 1e-290 { // out of the range of squares
		top := 0.0
		for _, v := range g {
			top = max(top, math.Abs(v))
		}
		if math.IsInf(top, 1) || math.IsNaN(top) {
			return 0, false
		}
		if top == 0 {
			return 1, true
		}
		s := 0.0
		for _, v := range g {
			s += float64((v / top) * (v / top))
		}
		if top*math.Sqrt(s)*(1+Slack(len(g))) <= limit {
			return 1, true
		}
		for j := range g {
			g[j] /= top
		}
		return shrinkTo(math.Sqrt(s)*(1+Slack(len(g))), limit), true
	}
	if math.IsNaN(square) {
		return 0, false
	}
	return clipTo(math.Sqrt(square), len(g), limit), true
}

func clipTo(length float64, d int, limit float64) float64 {
	length *= 1 + Slack(d) // at least the exact norm
	if length <= limit {
		return 1
	}
	return shrinkTo(length, limit)
}

func shrinkTo(length, limit float64) float64 {
	return limit / length * (1 - 0x1p-50) // and the two roundings of the product
}

// Quad is how many rows Products and AddProducts take at once, and Lanes what the number of their columns is a multiple
// of.
const Quad, Lanes = 4, 8

// eachProduct is Products. Products are rounded before they are added, to eight sums from 0, column j to sum j mod 8,
// and the sums as ((s0+s4)+(s2+s6)) + ((s1+s5)+(s3+s7)): a definition, so that every processor has the same bits.
func eachProduct(z *[Quad]float64, rows *[Quad][]float32, w []float64) {
	for i, row := range rows {
		var s [Lanes]float64
		for j := 0; j < len(w); j += Lanes {
			for l := range s {
				s[l] += float64(float64(row[j+l]) * w[j+l])
			}
		}
		z[i] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
	}
}

// addEach is AddProducts: a row after another.
func addEach(sum []float64, rows *[Quad][]float32, by *[Quad]float64) {
	for i, row := range rows {
		for j := range sum {
			sum[j] += float64(by[i] * float64(row[j]))
		}
	}
}

// eachExp is Exps.
func eachExp(x *[Quad]float64) {
	for q, v := range x {
		x[q] = Exp(v)
	}
}

// The constants of Exp: of FreeBSD's e_exp.c.
const (
	log2e = 1.44269504088896338700e+00
	ln2Hi = 6.93147180369123816490e-01
	ln2Lo = 1.90821492927058770002e-10
	p1    = 1.66666666666666657415e-01
	p2    = -2.77777777770155933842e-03
	p3    = 6.61375632143793436117e-05
	p4    = -1.65339022054652515390e-06
	p5    = 4.13813679705723846039e-08
)

// Exp returns e^x by the rational function of FreeBSD's e_exp.c, below one unit in the last place off. math.Exp has
// other last digits on other processors. Beyond 709 it is e^709: 1/(1+e^x) is 0 to 300 digits.
func Exp(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case x > 709:
		x = 709
	case x < -740:
		return 0
	}
	// One rounding an operation: float64() around a product keeps it from being fused with a sum.
	k := math.Trunc(float64(log2e*x) + math.Copysign(0.5, x))
	hi := x - float64(k*ln2Hi)
	lo := float64(k * ln2Lo)
	r := hi - lo
	t := r * r
	c := p4 + float64(t*p5)
	c = p3 + float64(t*c)
	c = p2 + float64(t*c)
	c = p1 + float64(t*c)
	c = r - float64(t*c)
	y := 1 - ((lo - float64(r*c)/(2-c)) - hi)
	return math.Ldexp(y, int(k))
}

// Exps replaces four numbers by Exp of them.
func Exps(x *[Quad]float64) {
	for _, v := range x {
		if !(v >= -700 && v <= 700) { // 2^k has another exponent there
			for q, v := range x {
				x[q] = Exp(v)
			}
			return
		}
	}
	exps(x)
}
