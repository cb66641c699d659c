package noisymax

import (
	"context"
	"errors"
	"math"
	"strconv"
)

// Noise is noise that keeps a Problem's promise.
type Noise struct {
	Sigma float64 // its parameter σ, of at most five digits
	Delta float64 // the price at ε, rounded up: at most δ
	Step  float64 // of the game that priced it
}

// ErrNoNoise is the error where no noise up to MaxSigma keeps the promise.
var ErrNoNoise = errors.New("no noise within the search range keeps the promise: epsilon and delta are too " +
	"small for so many answers")

const (
	// Lattice steps. Prices take milliseconds for two classes, and a second for more classes and up to
	// some hundred answers. longStep costs 8 % of δ, .3 % of σ.
	twoStep, manyStep, longStep = 1. / 20, 1. / 10, 1. / 5
	many                        = 300
	// tolerance bounds how far ln δ may be below that of the promise.
	tolerance = 0.02
	// premium is about the ratio of σ for more classes to the guess of less.
	premium, longPremium = 1.004, 1.008
	prices               = 40
)

// Sigma returns about the least noise that keeps the promise. The error is Validate's, ErrNoNoise, or
// ctx.Err(). Cost: that of two or three prices.
func Sigma(ctx context.Context, p Problem) (Noise, error) {
	if err := p.Validate(); err != nil {
		return Noise{}, err
	}
	two := p
	two.Classes = 2
	// For two classes, the price is about that of a normal loss of variance 8t²/(πσ²) an answer.
	mu := gaussian(p.Epsilon, p.Delta)
	guess := float64(p.Affected) * math.Sqrt(4/math.Pi*float64(p.Answers)) / mu
	best, slope, err := search(ctx, two, guess, -math.Pow(p.Epsilon/mu, 2), twoStep, tolerance/8)
	if err != nil || p.Classes == 2 {
		return best, err
	}
	guess, err = p.less(best.Sigma)
	if err != nil {
		return best, err
	}
	if p.Answers <= many {
		best, _, err = search(ctx, p, guess*premium, slope, manyStep, tolerance)
	} else {
		best, _, err = search(ctx, p, guess*longPremium, slope, longStep, 4*tolerance)
	}
	return best, err
}

// less guesses the noise of more classes from that of two.
func (p Problem) less(two float64) (float64, error) {
	sigma := two
	for range 3 {
		l, reach, err := p.law(sigma)
		if err != nil {
			return 0, err
		}
		if !p.fewFor(l) {
			break
		}
		c := newCounts(l, p, reach)
		dearest := scaleOf(c.cell(p.dearest()).All[:2])
		wins := func(k int) span { return l.wins(l.reach+1, l.reach+1-k) }
		duel := line{law: l, win: wins, lose: func(k int) span { return wins(-k) }, shift: 2}
		sigma *= (dearest / scaleOf(duel.bounds(1, 1))) * two / sigma
	}
	return sigma, nil
}

// search returns the noise whose price is within the tolerance, and the slope of ln δ over ln σ.
func search(ctx context.Context, p Problem, sigma, slope, step, tolerance float64) (Noise, float64, error) {
	slope = min(slope, -2)
	target := math.Log(p.Delta)
	low, high := point{0, math.Inf(1)}, point{math.Inf(1), math.Inf(-1)} // by ln σ
	low.x = math.Log(MinSigma) - 1
	high.x = math.Log(MaxSigma) + 1
	var best Noise
	last := point{x: math.NaN()}
	for range prices {
		sigma = fiveDigits(max(MinSigma, sigma))
		if sigma > MaxSigma {
			break
		}
		delta, err := Price(ctx, p, sigma, step)
		if err != nil {
			return Noise{}, 0, err
		}
		at := point{math.Log(sigma), math.Log(max(delta, 0x1p-1000))}
		if delta <= p.delta() {
			if best.Sigma == 0 || sigma < best.Sigma {
				best, high = Noise{sigma, delta, step}, at
			}
		} else if at.x > low.x {
			low = at
		}
		if best.Sigma != 0 && (target-high.price <= tolerance || high.x-low.x < 3e-5 || best.Sigma == MinSigma) {
			break
		}
		if !math.IsNaN(last.x) && at.x != last.x {
			if s := (at.price - last.price) / (at.x - last.x); s < -1 && !math.IsInf(s, 0) {
				slope = s
			}
		}
		if best.Sigma != 0 && at.x == last.x {
			break // no other value of five digits is left
		}
		last = at
		x := at.x + (target-tolerance/2-at.price)/slope
		if !(x > low.x+1e-6 && x < high.x-1e-6) {
			x = (low.x + high.x) / 2
		}
		sigma = math.Exp(x)
	}
	if best.Sigma == 0 {
		return best, slope, ErrNoNoise
	}
	return best, slope, nil
}

// point is a noise with its price: ln σ and ln δ.
type point struct{ x, price float64 }

// gaussian returns μ such that a normal loss of variance μ² is (ε, δ)-DP:
//
//	δ = Φ(μ/2 - ε/μ) - e^ε·Φ(-μ/2 - ε/μ)
//
// The search begins there, and no promise rests on it.
func gaussian(epsilon, delta float64) float64 {
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	low, high := 1e-6, 100.0
	for range 60 {
		mu := math.Sqrt(low * high)
		if phi(mu/2-epsilon/mu)-math.Exp(epsilon)*phi(-mu/2-epsilon/mu) > delta {
			high = mu
		} else {
			low = mu
		}
	}
	return low
}

// fiveDigits rounds x > 0 up to five significant digits, which are sampled fastest.
func fiveDigits(x float64) float64 {
	for y := x; ; y *= 1 + 5e-5 { // half a digit of the smallest, or less
		if r, err := strconv.ParseFloat(strconv.FormatFloat(y, 'e', 4, 64), 64); err != nil || r >= x {
			return r
		}
	}
}
