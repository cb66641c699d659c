package noisymax

import (
	"math"

	"github.com/darrm/darrm/internal/num"
)

// run is so many classes of the same number of votes.
type run struct{ votes, classes int }

// moments are bounds of ∫F(x+f)df and ∫f·F(x+f)df over 0 ≤ f < 1 for whole x, of the distribution
// function F(x+f) = Π (F(x-n-1) + f·p(x-n)) of the largest of some counts n with noise. What has to be
// known of the other classes is linear in them (package comment).
type moments struct {
	from       int // the x of index 0
	low0, low1 []float64
	up0, up1   []float64
}

// Gauss's rule of four points and Lobatto's of five, on [0, 1]: both are exact up to degree 7. The
// integrands are polynomials with coefficients ≥ 0, of which every derivative is ≥ 0, so that the first
// is below and the second above, whatever their degree.
var gauss, lobatto = rules()

type abscissa struct{ f, weight float64 }

func rules() (gauss, lobatto []abscissa) {
	for _, x := range [...]abscissa{{0.8611363115940526, 0.34785484513745385}, {0.33998104358485626, 0.6521451548625461}} {
		gauss = append(gauss, abscissa{(1 - x.f) / 2, x.weight / 2}, abscissa{(1 + x.f) / 2, x.weight / 2})
	}
	const off = 0.6546536707079771 // √(3/7)
	lobatto = []abscissa{{0, 1. / 20}, {(1 - off) / 2, 49. / 180}, {0.5, 16. / 45}, {(1 + off) / 2, 49. / 180}, {1, 1. / 20}}
	return gauss, lobatto
}

// summed is more than the relative error of any sum or product here: of 10⁵ terms of at most 1,000
// factors, each of some roundings.
const summed = 1e-10

// momentsOf returns those of the runs for from ≤ x ≤ to.
func (l *law) momentsOf(runs []run, from, to int) *moments {
	n := to - from + 1
	all := make([]float64, 4*n)
	m := &moments{from, all[:n], all[n : 2*n], all[2*n : 3*n], all[3*n:]}
	for i := range n {
		x := from + i
		for _, g := range gauss {
			v := float64(g.weight * l.product(runs, x, g.f, false))
			m.low0[i] += v
			m.low1[i] += float64(v * g.f)
		}
		for _, g := range lobatto {
			v := float64(g.weight * l.product(runs, x, g.f, true))
			m.up0[i] += v
			m.up1[i] += float64(v * g.f)
		}
		m.low0[i], m.low1[i] = float64(m.low0[i]*(1-summed)), float64(m.low1[i]*(1-summed))
		m.up0[i], m.up1[i] = min(1, float64(m.up0[i]*(1+summed))), min(0.5, float64(m.up1[i]*(1+summed)))
	}
	return m
}

// product returns a bound of F(x+f), but for rounding.
func (l *law) product(runs []run, x int, f float64, up bool) float64 {
	v := 1.0
	for _, r := range runs {
		below, at := l.f(x-r.votes-1), l.p(x-r.votes)
		one := below.low + float64(f*at.low)
		if up {
			one = below.up + float64(f*at.up)
		}
		v = float64(v * num.Power(one, r.classes))
	}
	return v
}

// bounds are those of both moments at an x, and of their difference ∫(1-f)·F(x+f)df.
type bounds struct{ first, second, difference float64 }

// below returns lower bounds at x.
func (m *moments) below(x int) bounds {
	i := min(x-m.from, len(m.low0)-1)
	if i < 0 {
		return bounds{}
	}
	return bounds{m.low0[i], m.low1[i], max(0, m.low0[i]-m.up1[i])}
}

// above returns upper bounds at x.
func (m *moments) above(x int) bounds {
	i := max(x-m.from, 0)
	if i >= len(m.up0) {
		return bounds{1, 0.5, 0.5}
	}
	return bounds{m.up0[i], m.up1[i], m.up0[i] - m.low1[i]}
}

// span of laws: everything from low to up, seen from a count.
type others struct {
	low, up           *moments
	lowShift, upShift int // x of it is low's x + lowShift
}

// linear is Σ_x c0(x)·∫F(x+f)df + c1(x)·∫f·F(x+f)df.
type linear struct {
	from   int
	c0, c1 []float64
}

func newLinear(from, n int) linear {
	all := make([]float64, 2*n)
	return linear{from, all[:n], all[n:]}
}

func (c linear) times(x float64) linear {
	out := newLinear(c.from, len(c.c0))
	for i := range c.c0 {
		out.c0[i], out.c1[i] = float64(c.c0[i]*x), float64(c.c1[i]*x)
	}
	return out
}

// minus subtracts d, which begins where c does, from c.
func (c linear) minus(d linear) linear {
	for i := range c.c0 {
		c.c0[i], c.c1[i] = c.c0[i]-d.c0[i], c.c1[i]-d.c1[i]
	}
	return c
}

// most returns an upper bound of the largest value over all F of the span, rounded up by the size of
// its largest term.
func (o *others) most(c linear) float64 {
	sum, size := 0.0, 0.0
	for i := range c.c0 {
		v := o.largest(c.c0[i], c.c1[i], c.from+i)
		sum += v
		size += math.Abs(v)
	}
	return sum + float64(size*summed)
}

// largest returns the largest of ∫(c0 + c1·f)·F(x+f)df.
func (o *others) largest(c0, c1 float64, x int) float64 {
	end := c0 + c1
	up, low := c0 >= 0 && end >= 0, c0 <= 0 && end <= 0
	var b bounds
	switch {
	case up: // F is nowhere above its upper bound
		b = o.up.above(x + o.upShift)
	case low:
		b = o.low.below(x + o.lowShift)
	default:
		x, y := o.low.below(x+o.lowShift), o.up.above(x+o.upShift)
		return max(float64(c0*x.first), float64(c0*y.first)) + max(float64(c1*x.second), float64(c1*y.second))
	}
	if up == (c1 >= 0) || c1 == 0 { // two terms of one sign
		return float64(c0*b.first) + float64(c1*b.second)
	}
	return float64(c0*b.difference) + float64(end*b.second)
}
