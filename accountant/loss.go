package accountant

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/num"
)

// lossMass is a discrete privacy loss distribution: mass[i] at the loss (first+i)·step,
// and infinite at +∞. It dominates the mechanism that it was made from: its δ(ε) is
// nowhere below. The masses are rounded up, so they may sum to slightly more than 1.
type lossMass struct {
	first    int
	mass     []float64
	infinite float64
}

// add puts mass m of P at the loss x between two grid points, spread over them so that
// the mass of Q, e^-x·m, is kept too: with x = x_i + s,
//
//	b = m·(1-e^-s)/(1-e^-step) at x_{i+1},   m - b at x_i
//
// Undoing the spread is post-processing, so the spread pair is at most more revealing.
// b is rounded up: mass moved to a higher loss only raises δ. Doroshenko et al.,
// Connect the Dots: Tighter Discrete Approximations of Privacy Loss Distributions
// (2022).
func (l *lossMass) add(step, x, m float64) {
	i := math.Floor(x / step)
	b := min(m, m*(math.Expm1(i*step-x)/math.Expm1(-step))*(1+num.Margin))
	l.addAt(int(i), m-b)
	l.addAt(int(i)+1, b)
}

// addAt adds mass at a grid point; below the grid it is raised to its first point.
func (l *lossMass) addAt(i int, m float64) {
	if m <= 0 {
		return
	}
	// above the rounding of the few additions to a point
	l.mass[max(0, i-l.first)] += m * (1 + 4*0x1p-52)
}

// maxLossPoints bounds the grid of a single event.
const maxLossPoints = 1 << 22

func newLossMass(step, low, high float64) (lossMass, error) {
	first := math.Floor(low / step)
	n := math.Ceil(high/step) - first + 2
	if !(n <= maxLossPoints) || math.Abs(first) > 1<<50 {
		return lossMass{}, fmt.Errorf(
			"privacy losses from %g to %g in steps of %g are more than %d points: %w", low, high, step,
			maxLossPoints, ErrUnsupported)
	}
	return lossMass{first: int(first), mass: make([]float64, int(n))}, nil
}

// lossSource is one direction (which of the neighbours is P) of one event.
type lossSource interface {
	// span returns the losses outside of which there is no mass worth keeping, and the
	// standard deviation, roughly.
	span() (low, high, deviation float64)
	discretise(step float64) (lossMass, error)
}

// losses returns the event's two directions, or one where they are alike.
func (e SubsampledGaussian) losses() []lossSource {
	up, down := normalLoss{e.NoiseMultiplier, e.SamplingRate, false},
		normalLoss{e.NoiseMultiplier, e.SamplingRate, true}
	switch e.SamplingRate {
	case 0:
		return []lossSource{responseLoss{}}
	case 1:
		return []lossSource{up}
	}
	return []lossSource{up, down}
}

// responseLoss is the worst (ε, δ)-DP mechanism: loss +∞ with probability δ, else ε
// with probability e^ε/(1+e^ε) and -ε otherwise. Kairouz, Oh and Viswanath (2015),
// Section 3.
type responseLoss struct{ cost Cost }

func (l responseLoss) span() (low, high, deviation float64) {
	return -l.cost.Epsilon, l.cost.Epsilon, l.cost.Epsilon / math.Cosh(l.cost.Epsilon/2)
}

func (l responseLoss) discretise(step float64) (lossMass, error) {
	eps := l.cost.Epsilon
	out, err := newLossMass(step, -eps, eps)
	if err != nil {
		return out, err
	}
	if l.cost.Delta > 0 {
		out.infinite = math.Nextafter(l.cost.Delta, 1) // δ stands for its decimal, as ε does below
	}
	rest := (1 - l.cost.Delta) * (1 + num.Margin)
	if eps == 0 {
		out.addAt(0, rest)
		return out, nil
	}
	// ε stands for its decimal, within half a unit of the float64.
	out.add(step, math.Nextafter(eps, math.Inf(1)), rest/(1+math.Exp(-eps)))
	out.add(step, math.Nextafter(-eps, 0), rest/(1+math.Exp(eps)))
	return out, nil
}

// laplaceLoss is the Laplace mechanism with eps = 1/b: mass 1/2 at ε, mass e^-ε/2 at
// -ε, and between them density e^{(l-ε)/2}/4 under P, e^{-(l+ε)/2}/4 under Q.
type laplaceLoss struct{ eps float64 }

func (l laplaceLoss) span() (low, high, deviation float64) {
	return -l.eps, l.eps, min(l.eps, 2)
}

func (l laplaceLoss) discretise(step float64) (lossMass, error) {
	above, below := l.eps*(1+num.Margin), l.eps*(1-num.Margin) // around 1/b
	out, err := newLossMass(step, -above, above)
	if err != nil {
		return out, err
	}
	out.add(step, above, 0.5)
	out.add(step, -below, 0.5*math.Exp(-below)*(1+num.Margin))
	for i := range len(out.mass) - 1 {
		x := float64(out.first+i) * step
		a, b := max(x, -above), min(x+step, above)
		if a >= b {
			continue
		}
		rise := math.Expm1((b-a)/2) / 2
		p := math.Exp((a-below)/2) * rise * (1 + num.Margin)
		q := math.Exp(-(b+above)/2) * rise * (1 - num.Margin)
		if a > x || b < x+step {
			q = 0 // a part of a step, with unsure ends: all of it to the upper point
		}
		out.spread(i, step, p, q)
	}
	return out, nil
}

// spread adds a part of the mechanism whose losses lie within the step above grid point
// i, with mass at most p under P and at least q under Q:
//
//	b = (p - e^{x_i}·q)/(1-e^-step) at x_{i+1},   p - b at x_i
//
// As for add: the parts' masses under P and Q are kept and only mixed, and rounding
// moves mass up.
func (l *lossMass) spread(i int, step, p, q float64) {
	x := float64(l.first+i) * step
	matched := 0.0
	if x < 700 {
		matched = math.Exp(x) * q * (1 - num.Margin)
	}
	b := min(p, max(0, p-matched)/-math.Expm1(-step)*(1+num.Margin))
	l.addAt(l.first+i+1, b)
	l.addAt(l.first+i, p-b)
}

// normalLoss is the Gaussian mechanism on a Poisson sample: N(0, σ²) against (1-q)·N(0,
// σ²) + q·N(1, σ²), q = 1 for no sampling. Down means that P is the plain normal (the
// record is added in Q), otherwise P is the mixture. At outcome x the mixture is e^L
// times as likely,
//
//	L(x) = ln(1-q+q·e^{(2x-1)/(2σ²)}),   x(L) = σ²·ln(1+(e^L-1)/q) + 1/2.
//
// Zhu, Dong and Wang, Optimal Accounting of Differential Privacy via Characteristic
// Function (2022).
type normalLoss struct {
	sigma, q float64
	down     bool
}

// reach is the number of standard deviations of the outcome that are kept upward in loss, and
// reachDown downward; Q(38) < 3e-316.
const reach, reachDown = 38, 10

func (l normalLoss) loss(x float64) float64 {
	w := (2*x - 1) / (2 * l.sigma * l.sigma)
	if l.q == 1 {
		return w
	}
	if w > 1 {
		a, b := math.Log1p(-l.q), math.Log(l.q)+w
		return max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b)))
	}
	return math.Log1p(l.q * math.Expm1(w))
}

func (l normalLoss) span() (low, high, deviation float64) {
	if l.down {
		low, high = -l.loss(reachDown*l.sigma), -l.loss(-reach*l.sigma)
	} else {
		low, high = l.loss(-reachDown*l.sigma), l.loss(1+reach*l.sigma)
	}
	// The χ² distance is the loss's variance where that is small.
	deviation = min(1/l.sigma, l.q*math.Sqrt(math.Expm1(min(50, 1/(l.sigma*l.sigma)))))
	return low, high, deviation
}

// locate returns the x at which L(x) = loss, and a bound on its rounding error.
func (l normalLoss) locate(loss float64) (x, wobble float64) {
	const ulp = 0x1p-52
	square := l.sigma * l.sigma
	if l.q == 1 {
		x = square*loss + 0.5
		return x, 4 * ulp * (math.Abs(x) + 0.5)
	}
	rise := math.Expm1(loss)
	if rise > 1e8*l.q {
		// ln(1+r) = ln r + ln(1+1/r) with r = (e^L-1)/q, which may be beyond float64.
		log, logQ := loss, math.Log(l.q)
		if loss < 600 {
			log = math.Log(rise)
		}
		v := square * (log - logQ + math.Log1p(l.q/rise))
		return v + 0.5, 8 * ulp * (math.Abs(v) + square*(math.Abs(log)+math.Abs(logQ)+1) + 1)
	}
	ratio := rise / l.q
	if ratio <= -1 {
		if l.down && ratio >= -1-8*ulp {
			// The exact ratio may be above -1 by as much. Outcomes that are cut off too early count with
			// larger losses.
			return square*math.Log(8*ulp) + 0.5, 0
		}
		return math.Inf(-1), 0
	}
	v := square * math.Log1p(ratio)
	// ratio is off by a few units, which 1+ratio near 0 magnifies.
	return v + 0.5, 8*ulp*(math.Abs(v)+1) + 8*ulp*square*math.Abs(ratio)/(1+ratio)
}

func (l normalLoss) discretise(step float64) (lossMass, error) {
	low, high, _ := l.span()
	out, err := newLossMass(step, low, high)
	if err != nil {
		return out, err
	}
	p, q := l.mixtureUpTo, func(e, f lossEdge, side float64) float64 {
		return e.plain.massUpTo(f.plain, side)
	}
	if l.down {
		p, q = q, p
	}
	a := l.edgeAt(float64(out.first) * step)
	// All below the grid is raised to it.
	out.addAt(out.first, p(lossEdge{lowest, lowest}, a, +1))
	for i := range len(out.mass) - 1 {
		b := l.edgeAt(float64(out.first+i+1) * step)
		if mass := p(a, b, +1); mass > 0 {
			out.spread(i, step, mass, q(a, b, -1))
		}
		a = b
	}
	out.infinite = p(a, lossEdge{highest, highest}, +1)
	return out, nil
}

// atomLoss is a privacy loss of few values. Masses and losses are rounded up, so that the masses
// may sum to slightly more than 1.
type atomLoss struct {
	atoms    []atom // ascending
	infinite float64
}

// atom is mass of P at a loss.
type atom struct{ loss, mass float64 }

func (l atomLoss) span() (low, high, deviation float64) {
	if len(l.atoms) == 0 {
		return 0, 0, 0
	}
	mean, square := 0.0, 0.0
	for _, a := range l.atoms {
		mean += a.mass * a.loss
		square += a.mass * a.loss * a.loss
	}
	return l.atoms[0].loss, l.atoms[len(l.atoms)-1].loss, math.Sqrt(max(0, square-mean*mean))
}

func (l atomLoss) discretise(step float64) (lossMass, error) {
	low, high, _ := l.span()
	out, err := newLossMass(step, low, high)
	if err != nil {
		return out, err
	}
	for _, a := range l.atoms {
		out.add(step, a.loss, a.mass)
	}
	out.infinite = l.infinite
	return out, nil
}

// rdp returns ln(Σ mass·e^{(α-1)·loss})/(α-1), rounded up, for a loss that is finite. The sum less
// 1 is taken with expm1, as mixtureLoss.rdp does. Its terms have both signs, so what rounding may
// do to them, and by how much the masses may exceed 1, is added.
func (l atomLoss) rdp(alpha float64) float64 {
	if len(l.atoms) == 0 {
		return 0
	}
	top := (alpha - 1) * l.atoms[len(l.atoms)-1].loss * (1 + num.Margin)
	if math.IsInf(top, 1) {
		return l.atoms[len(l.atoms)-1].loss // which no divergence exceeds
	}
	log := 0.0
	if top < 600 {
		sum, size := 0.0, 0.0
		for _, a := range l.atoms {
			y := (alpha - 1) * a.loss
			x := a.mass * math.Expm1(y)
			sum += x
			size += math.Abs(x) * (1 + math.Abs(y))
		}
		log = math.Log1p(max(0, sum+1e-12*size+float64(len(l.atoms))*0x1p-51))
	} else { // e^top may not fit
		sum := 0.0
		for _, a := range l.atoms {
			sum += a.mass * math.Exp((alpha-1)*a.loss-top)
		}
		log = top + math.Log(sum) + 1e-12*(1+top)
	}
	return (log*(1+num.SumMargin)+num.Tiny)/(alpha-1)*(1+num.Margin) + num.Tiny
}
