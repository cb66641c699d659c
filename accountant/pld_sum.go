package accountant

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/num"
)

type lossPart struct {
	lossMass
	logs  []float64 // of the masses
	count int
}

func newLossPart(m lossMass, count int) lossPart {
	p := lossPart{m, make([]float64, len(m.mass)), count}
	for i, x := range m.mass {
		p.logs[i] = math.Log(x)
	}
	return p
}

// logMoment returns ln Σ mass·e^{θ·loss} over the finite losses, and the tilted mean
// and variance. It is within 1e-9 (2²² additions) and 8 units in the last place of the
// largest exponent.
func (p lossPart) logMoment(step, theta float64) (log, mean, variance float64) {
	top := math.Inf(-1)
	for i, m := range p.mass {
		if m > 0 {
			top = max(top, theta*step*float64(p.first+i)+p.logs[i])
		}
	}
	if math.IsInf(top, -1) {
		return top, 0, 0
	}
	var s0, s1, s2 float64
	for i, m := range p.mass {
		if m > 0 {
			x := step * float64(p.first+i)
			w := math.Exp(theta*x + p.logs[i] - top)
			s0 += w
			s1 += w * x
			s2 += w * x * x
		}
	}
	mean = s1 / s0
	return top + math.Log(s0), mean, max(0, s2/s0-mean*mean)
}

// lossSum is the composition in one direction at one step.
type lossSum struct {
	step  float64
	bits  int // the sum is held by 2^bits points
	parts []lossPart
}

func newLossSum(sources []lossSource, counts []int, step float64, bits int) (lossSum, error) {
	s := lossSum{step: step, bits: bits}
	reach := 0.0 // the largest index of a sum, which must be an int
	for i, source := range sources {
		m, err := source.discretise(step)
		if err != nil {
			return s, err
		}
		s.parts = append(s.parts, newLossPart(m, counts[i]))
		reach += float64(counts[i]) * (math.Abs(float64(m.first)) + float64(len(m.mass)))
	}
	if reach+float64(int(2)<<bits) > math.MaxInt/2 {
		return s, fmt.Errorf("privacy losses of %g steps of %g: %w", reach, step, ErrUnsupported)
	}
	return s, nil
}

// logMoment sums the parts'.
func (s lossSum) logMoment(theta float64) (log, mean, variance float64) {
	for _, p := range s.parts {
		l, m, v := p.logMoment(s.step, theta)
		log += float64(p.count) * l
		mean += float64(p.count) * m
		variance += float64(p.count) * v
	}
	return log, mean, variance
}

// logMomentUp is logMoment rounded up.
func (s lossSum) logMomentUp(theta float64) float64 {
	sum := 0.0
	for _, p := range s.parts {
		l, _, _ := p.logMoment(s.step, theta)
		largest := math.Abs(theta*s.step) * math.Max(math.Abs(float64(p.first)),
			math.Abs(float64(p.first+len(p.mass))))
		sum += float64(p.count) * (l + 1e-9 + 16*0x1p-53*(largest+800))
	}
	return sum
}

// infinite returns the probability that some loss is +∞, rounded up.
func (s lossSum) infinite() float64 {
	log := 0.0
	for _, p := range s.parts {
		log += float64(p.count) * math.Log1p(-min(1, p.lossMass.infinite))
	}
	if log == 0 {
		return 0
	}
	return -math.Expm1(log)*(1+1e-13) + float64(len(s.parts))*math.SmallestNonzeroFloat64
}

// largest returns the largest finite sum of losses, rounded up.
func (s lossSum) largest() float64 {
	sum := 0.0
	for _, p := range s.parts {
		top := len(p.mass) - 1
		for top > 0 && p.mass[top] == 0 {
			top--
		}
		sum += float64(p.count) * float64(p.first+top) * s.step
	}
	return sum + 1e-15*math.Abs(sum)*float64(len(s.parts)+1)
}

// tiltFor returns θ ≥ 0 with goal = 0, or the largest θ where it stays below: saturated. θ is
// rounded up to a part of 2⁻¹⁶ of a power of four. Any θ gives valid bounds.
func (s lossSum) tiltFor(goal tiltGoal) (theta float64, saturated bool) {
	limit := s.largestTilt()
	root := s.tiltRoot(goal, limit)
	if root == 0 {
		return 0, false
	}
	low, high := 0.0, 1.0
	for high < limit && high < root {
		low, high = high, 4*high
	}
	high = min(high, limit)
	for range 16 {
		if mid := (low + high) / 2; mid < root {
			low = mid
		} else {
			high = mid
		}
	}
	return high, high == limit
}

// tiltRoot returns θ in [0, limit] with goal = 0: 0 where it is not below, +Inf where it stays
// below. Each look takes an exponential for each point of the grid, so it goes by Newton's steps,
// within what is known.
func (s lossSum) tiltRoot(goal tiltGoal, limit float64) float64 {
	at := func(theta float64) (value, slope float64) {
		log, mean, variance := s.logMoment(theta)
		return goal(log, mean, variance, theta)
	}
	value, slope := at(0)
	if value >= 0 {
		return 0
	}
	next := -value / slope
	if slope == 0 { // the goal begins like a square
		_, _, variance := s.logMoment(0)
		next = math.Sqrt(-2 * value / variance)
	}
	low, high, known := 0.0, limit, false // whether the goal at high is known not to be below
	for range 100 {
		if !(low < next && next < high) {
			if next = (low + high) / 2; !known {
				next = min(max(1, 4*low), limit)
			}
		}
		theta := next
		if value, slope = at(theta); value < 0 {
			low = theta
			if theta == limit {
				return math.Inf(1)
			}
		} else {
			high, known = theta, true
		}
		next = theta - value/slope
		if math.Abs(next-theta) <= 1e-10*theta || known && high-low <= 1e-10*high {
			return next
		}
	}
	return high
}

// largestTilt returns the θ at which e^{θ·step} is e. Beyond it one point holds everything.
func (s lossSum) largestTilt() float64 { return 1 / s.step }

// halfOfLargestTilt is the goal of half of what the largest tilt has on Chernoff's scale. Where the
// largest loss alone is more likely than δ, no tilt gets to δ, and the largest one sees
// nothing but that loss.
func (s lossSum) halfOfLargestTilt() tiltGoal {
	limit := s.largestTilt()
	log, mean, _ := s.logMoment(limit)
	middle := (log - limit*mean) / 2
	return func(log, mean, variance, theta float64) (value, slope float64) {
		return middle - (log - theta*mean), theta * variance
	}
}

// tiltGoal is a function of K(θ), K'(θ), K”(θ) and θ, for all events together, that rises in θ, and
// its slope.
type tiltGoal func(log, mean, variance, theta float64) (value, slope float64)

// untilted leaves the sum where it is.
func untilted(_, _, _, _ float64) (value, slope float64) { return 0, 0 }

// towardEpsilon tilts the mean of the sum to epsilon.
func towardEpsilon(epsilon float64) tiltGoal {
	return func(_, mean, variance, _ float64) (value, slope float64) { return mean - epsilon, variance }
}

// towardDelta tilts it to where Chernoff's bound ln δ ≈ K(θ) - θK'(θ) is the target.
func towardDelta(delta float64) tiltGoal {
	target := math.Log(delta)
	return func(log, mean, variance, theta float64) (value, slope float64) {
		return target - (log - theta*mean), theta * variance
	}
}

// tail bounds the probability of a finite sum above x by Chernoff's inequality,
// e^{K(θ)-θx}, at a few θ.
func (s lossSum) tail(theta, x, variance float64) float64 {
	best := 0.0
	var tilts []float64
	for _, reach := range []float64{0, 3, 6, 10, 15, 20} {
		if variance > 0 {
			tilts = append(tilts, theta+reach/math.Sqrt(variance))
		}
	}
	if x > 0 && variance < x*x/1e6 {
		tilts = append(tilts, theta+8/x, theta+30/x, theta+100/x, theta+700/x) // for tiny masses far out
	}
	for _, t := range tilts {
		if t > 0 && best > -700 {
			best = min(best, s.logMomentUp(t)-t*x+1e-15*math.Abs(t*x))
		}
	}
	return math.Exp(best)*(1+num.Margin) + math.SmallestNonzeroFloat64
}
