package accountant

import (
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// The accountant of privacy loss distributions. Each event's loss is put on a grid from
// above (loss.go). The sum of the losses is their convolution, taken by FFT after
// tilting: the masses are multiplied by e^{θ·loss}, with θ such that the tilted sum
// centres on the ε of interest, which makes the rounding error of the FFT, proved and
// added, small against δ itself and not only against 1. θ+1 is the order of the
// matching Rényi bound.
//
//	θ     tilt       K_c(θ)  ln E[e^{θL}] of one event, its logMoment
//	k_c   count      step    the grid's width, a power of two, so that grid losses are exact

const (
	gridBits       = 18     // 2^18 points hold the sum
	fineGridBits   = 20     // where many events add up what the grid costs each
	manyEvents     = 10_000 // as many
	coarseGridBits = 16     // where many different events take a transform each
	manyParts      = 32     // as many
	// Each point of a Profile takes hundreds of parts. More points make the figure smaller by
	// less than 1e-3 of it.
	profileGridBits = 14
	maxLossParts    = 1000      // half a minute
	maxLossCount    = 1_000_000 // where the error of the FFT stays below 1e-6 of the result
)

type lossPart struct {
	lossMass
	count int
}

// logMoment returns ln Σ mass·e^{θ·loss} over the finite losses, and the tilted mean
// and variance. It is within 1e-9 (2²² additions) and 8 units in the last place of the
// largest exponent.
func (p lossPart) logMoment(step, theta float64) (log, mean, variance float64) {
	top := math.Inf(-1)
	for i, m := range p.mass {
		if m > 0 {
			top = max(top, theta*step*float64(p.first+i)+math.Log(m))
		}
	}
	if math.IsInf(top, -1) {
		return top, 0, 0
	}
	var s0, s1, s2 float64
	for i, m := range p.mass {
		if m > 0 {
			x := step * float64(p.first+i)
			w := math.Exp(theta*x + math.Log(m) - top)
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
		s.parts = append(s.parts, lossPart{m, counts[i]})
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
		largest := math.Abs(theta*s.step) * math.Max(math.Abs(float64(p.first)), math.Abs(float64(p.first+len(p.mass))))
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

// tiltFor returns θ ≥ 0 with goal(K(θ), K'(θ), θ) = 0, goal rising in θ, by bisection, or
// the largest θ where it stays below: saturated. Any θ gives valid bounds.
func (s lossSum) tiltFor(goal tiltGoal) (theta float64, saturated bool) {
	at := func(theta float64) float64 {
		log, mean, _ := s.logMoment(theta)
		return goal(log, mean, theta)
	}
	if at(0) >= 0 {
		return 0, false
	}
	low, high := 0.0, 1.0
	limit := s.largestTilt()
	for high < limit && at(high) < 0 {
		low, high = high, 4*high
	}
	high = min(high, limit)
	for range 16 {
		if mid := (low + high) / 2; at(mid) < 0 {
			low = mid
		} else {
			high = mid
		}
	}
	return high, high == limit
}

// largestTilt is where e^{θ·step} is e, beyond which one point holds everything.
func (s lossSum) largestTilt() float64 { return 1 / s.step }

// halfway is the goal of half of what the largest tilt has on Chernoff's scale. Where the
// largest loss alone is more likely than δ, no tilt gets to δ, and the largest one sees
// nothing but that loss.
func (s lossSum) halfway() tiltGoal {
	limit := s.largestTilt()
	log, mean, _ := s.logMoment(limit)
	middle := (log - limit*mean) / 2
	return func(log, mean, theta float64) float64 { return middle - (log - theta*mean) }
}

// tiltGoal is a function of K(θ), K'(θ) and θ, for all events together.
type tiltGoal func(log, mean, theta float64) float64

// towardEpsilon tilts the mean of the sum to epsilon.
func towardEpsilon(epsilon float64) tiltGoal {
	return func(_, mean, _ float64) float64 { return mean - epsilon }
}

// towardDelta tilts it to where Chernoff's bound ln δ ≈ K(θ) - θK'(θ) is the target.
func towardDelta(delta float64) tiltGoal {
	return func(log, mean, theta float64) float64 { return math.Log(delta) - (log - theta*mean) }
}

// lossCurve bounds δ(ε) at the grid points of a window.
type lossCurve struct {
	step     float64
	first    int       // grid index of delta[0]
	delta    []float64 // non-increasing bounds, without constant
	constant float64   // infinite losses, and those above the window
	largest  float64   // no finite loss is above it
	infinite float64   // infinite losses alone

	saturated bool // the tilt is the largest, short of its goal
}

// curve convolves under the tilt theta.
func (s lossSum) curve(theta float64) lossCurve {
	n, levels := 1<<s.bits, float64(s.bits)
	_, mean, variance := s.logMoment(theta)
	first := int(math.Round(mean/s.step)) - n/2
	roots := fftRoots(n)
	// product becomes Π ŵ_c^{k_c}; missed[k] = Σ_c k_c·ln(1+e/|ŵ_c|) bounds what the
	// errors e of the ŵ_c may do to it, and size is ln Π (|ŵ_c|+e)^{k_c}.
	product := make([]complex128, n)
	missed, size := make([]float64, n), make([]float64, n)
	for i := range product {
		product[i] = 1
	}
	logScale, exponents, multiplications := 0.0, 0.0, 1.0
	for _, p := range s.parts {
		log, _, _ := p.logMoment(s.step, theta)
		logScale += float64(p.count) * log
		exponents += float64(p.count) * (math.Abs(log) + 1) * 0x1p-52
		multiplications += float64(p.count) + 1
		w := make([]complex128, n)
		total := 0.0
		for i, m := range p.mass {
			if m == 0 {
				continue
			}
			x := theta * s.step * float64(p.first+i)
			e := x + math.Log(m) - log
			// Rounded up: the exponent's error is below two units of each part.
			v := math.Exp(e) * (1 + 4*0x1p-52*(math.Abs(x)+math.Abs(math.Log(m))+math.Abs(log)+2))
			at := (p.first + i) & (n - 1)
			w[at] += complex(v, 0) // circular: mass that wraps is added, never lost
			total += v
		}
		fft(w, roots, false)
		// The hundredth also covers masses that underflow under the tilt.
		e := levels * fftError * total * 1.01
		for i := range product[:n/2+1] {
			a := math.Sqrt(real(w[i])*real(w[i]) + imag(w[i])*imag(w[i])) // 0 only where e is all
			missed[i] += float64(p.count) * math.Log1p(e/a)
			size[i] += float64(p.count) * math.Log(a+e)
			product[i] *= power(w[i], p.count)
		}
	}
	sumSize, sumError := 0.0, 0.0
	for i := range product[:n/2+1] {
		b := math.Exp(size[i]) * 1.01
		// Π(|ŵ|+e)^k - Π|ŵ|^k, and the rounding of the powers: each multiplication
		// √5·u, and underflow.
		off := b*-math.Expm1(-missed[i]) + b*math.Expm1(multiplications*3*0x1p-53) + 1e-290
		if i > 0 && i < n/2 {
			// The masses are real, so the other half are the conjugates.
			product[n-i] = complex(real(product[i]), -imag(product[i]))
			b, off = 2*b, 2*off
		}
		sumSize += b
		sumError += off
	}
	fft(product, roots, true)
	each := (sumError*1.01 + levels*fftError*1.01*(sumSize+sumError)) / float64(n)
	c := lossCurve{step: s.step, first: first, delta: make([]float64, n), largest: s.largest(), infinite: s.infinite()}
	// δ_j = e^-step·δ_{j+1} + (1-e^-step)·A_{j+1}, A the masses above: all positive.
	down, rest := math.Exp(-s.step), -math.Expm1(-s.step)
	above, d := 0.0, 0.0
	for j := n - 1; j >= 0; j-- {
		c.delta[j] = min(1, d)
		index := first + j
		density := max(0, real(product[index&(n-1)])/float64(n)) + each
		x := theta * s.step * float64(index)
		term := math.Exp(logScale-x) * density * (1 + 8*0x1p-52*(math.Abs(x)+math.Abs(logScale)+2) + exponents)
		if float64(index)*s.step > c.largest {
			term = 0 // no sum of losses is there
		}
		above = (above + term) * (1 + 0x1p-52)
		d = (down*d + rest*above) * (1 + 4*0x1p-52)
	}
	c.constant = c.infinite
	if c.largest > 0 {
		c.constant += float64(n) * math.SmallestNonzeroFloat64 // terms that underflow
	}
	if end := float64(first+n) * s.step; end <= c.largest {
		c.constant += s.tail(theta, end, variance)
	}
	return c
}

// power returns z^k by squaring.
func power(z complex128, k int) complex128 {
	r := complex(1, 0)
	for ; k > 0; k >>= 1 {
		if k&1 == 1 {
			r *= z
		}
		z *= z
	}
	return r
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

// at returns the bound at any epsilon ≥ 0: between grid points δ is linear in e^ε;
// below the window it is what it would be without any ε, above it the constant.
func (c lossCurve) at(epsilon float64) float64 {
	if epsilon > 0 {
		epsilon = math.Nextafter(epsilon, 0) // its decimal may be half a unit below
	}
	j := math.Floor(epsilon/c.step) - float64(c.first)
	switch {
	case epsilon >= c.largest:
		return min(1, c.infinite)
	case j < 0:
		return 1
	case j >= float64(len(c.delta)-1):
		return min(1, c.constant)
	}
	i := int(j)
	x := float64(c.first+i) * c.step
	s := epsilon - x
	weight := min(1, math.Exp(s)*math.Expm1(c.step-s)/math.Expm1(c.step)*(1+num.Margin))
	low, high := c.delta[i+1], c.delta[i]
	return min(1, (low+weight*max(0, high-low)+c.constant)*(1+num.Margin))
}

// lossDirections returns, for each direction, the sources of the charges.
func lossDirections(charges []Charge) (directions [][]lossSource, counts []int, err error) {
	if len(charges) > maxLossParts {
		return nil, nil, &check.Error{Name: "different events", Value: len(charges), Rule: fmt.Sprintf("at most %d for privacy loss distributions", maxLossParts)}
	}
	directions = make([][]lossSource, 1)
	for _, c := range charges {
		f, err := factsOf(c.Event)
		if err == nil && f.losses == nil {
			err = unsupported("privacy loss distribution", c.Event)
		}
		if err != nil {
			return nil, nil, err
		}
		sources := f.losses
		if c.Count > maxLossCount {
			return nil, nil, &check.Error{Name: "count", Value: c.Count, Rule: fmt.Sprintf("at most %d for privacy loss distributions", maxLossCount)}
		}
		if len(sources) > len(directions) {
			directions = append(directions, append([]lossSource(nil), directions[0]...))
		}
		for d := range directions {
			directions[d] = append(directions[d], sources[min(d, len(sources)-1)])
		}
		counts = append(counts, c.Count)
	}
	return directions, counts, nil
}

// bitsFor returns the size of the grid that the counts call for.
func bitsFor(charges []Charge) int {
	events, profiles := 0, 0
	for _, c := range charges {
		events += c.Count
		if _, ok := c.Event.(Profile); ok {
			profiles++
		}
	}
	switch {
	case profiles == len(charges):
		return profileGridBits
	case profiles > 0, len(charges) > manyParts:
		return coarseGridBits
	case events > manyEvents:
		return fineGridBits
	}
	return gridBits
}

// lossBound returns the curve of one direction, tilted by goal, or by lossSum.halfway if
// nil. A first, coarse grid finds the scale of the sum, and the final step is so wide that
// the window holds it.
func lossBound(sources []lossSource, counts []int, bits int, goal tiltGoal) (lossCurve, error) {
	widest := 0.0
	for _, s := range sources {
		low, high, _ := s.span()
		widest = max(widest, high-low)
	}
	coarse := powerOfTwo(max(widest, 1e-12) / (1 << 14))
	// Narrow bulk within a wide span would be invisible on that grid.
	for _, s := range sources {
		if _, _, d := s.span(); d > 0 && widest/(d/8) < maxLossPoints/64 {
			coarse = min(coarse, powerOfTwo(d/8))
		}
	}
	coarse = max(coarse, powerOfTwo(1e-12))
	sum, err := newLossSum(sources, counts, coarse, bits)
	if err != nil {
		return lossCurve{}, err
	}
	if goal == nil {
		goal = sum.halfway()
	}
	theta, saturated := sum.tiltFor(goal)
	_, _, variance := sum.logMoment(theta)
	width := 32 * math.Sqrt(variance+coarse*coarse)
	step := max(powerOfTwo(width/float64(int(1)<<bits)), powerOfTwo(widest/(maxLossPoints/16)), powerOfTwo(1e-13))
	var c lossCurve
	for range 7 {
		if sum, err = newLossSum(sources, counts, step, bits); err != nil {
			return lossCurve{}, err
		}
		c = sum.curve(theta)
		c.saturated = saturated
		// Losses above the window count in full; if that shows, widen it.
		if extra := c.constant - c.infinite; extra <= 1e-6*c.delta[len(c.delta)/2] {
			break
		}
		step *= 2
	}
	return c, nil
}

// powerOfTwo returns the smallest power of two that is at least x > 0.
func powerOfTwo(x float64) float64 {
	frac, exp := math.Frexp(x)
	if frac == 0.5 {
		exp--
	}
	return math.Ldexp(1, exp)
}

// untilted leaves the sum where it is.
func untilted(_, _, _ float64) float64 { return 0 }

// lossDelta bounds δ at epsilon for the charges, over both directions, with a grid of
// 2^bits points. Fewer points give a looser bound.
func lossDelta(charges []Charge, epsilon float64, bits int) (float64, error) {
	directions, counts, err := lossDirections(charges)
	if err != nil {
		return 0, err
	}
	worst := 0.0
	for _, sources := range directions {
		c, err := lossBound(sources, counts, bits, towardEpsilon(epsilon))
		if err != nil {
			return 0, err
		}
		d := c.at(epsilon)
		if c.below(epsilon) {
			plain, err := lossBound(sources, counts, bits, untilted)
			if err != nil {
				return 0, err
			}
			d = min(d, plain.at(epsilon))
		}
		worst = max(worst, d)
	}
	return worst, nil
}

// lossEpsilon bounds ε at delta likewise.
func lossEpsilon(charges []Charge, delta float64, bits int) (float64, error) {
	directions, counts, err := lossDirections(charges)
	if err != nil {
		return 0, err
	}
	worst := 0.0
	for _, sources := range directions {
		c, err := lossBound(sources, counts, bits, towardDelta(delta))
		if err != nil {
			return 0, err
		}
		e, err := c.epsilon(delta)
		if err != nil {
			return 0, err
		}
		// Another tilt may see more: one that stays short of the largest loss, or none.
		var others []tiltGoal
		if e > 0 && c.saturated {
			others = append(others, nil, untilted)
		} else if e > 0 && c.below(e-2*c.step) {
			others = append(others, untilted)
		}
		for _, goal := range others {
			other, err := lossBound(sources, counts, bits, goal)
			if err != nil {
				return 0, err
			}
			if x, err := other.epsilon(delta); err == nil {
				e = min(e, x)
			}
		}
		worst = max(worst, e)
	}
	return worst, nil
}

// below says whether ε is under the window, where the curve knows nothing. The tilt may
// have moved it too far up where a tiny mass has a huge loss.
func (c lossCurve) below(epsilon float64) bool { return epsilon < float64(c.first)*c.step }

// epsilon returns the smallest ε at which the curve is at most delta.
func (c lossCurve) epsilon(delta float64) (float64, error) {
	if c.at(0) <= delta {
		return 0, nil
	}
	top := float64(c.first+len(c.delta)-1) * c.step
	if top <= 0 || c.at(top) > delta {
		top = c.largest
	}
	if c.at(top) > delta {
		return 0, fmt.Errorf("delta = %g, of which infinite losses alone take %g: %w", delta, min(1, c.infinite), ErrDeltaTooSmall)
	}
	return bisectDown(0, top, func(e float64) bool { return c.at(e) <= delta }), nil
}

// lossNote says what the privacy loss distribution's bound is, for people.
func lossNote(charges []Charge, bits int) string {
	note := fmt.Sprintf("on 2^%d points, rounded up", bits)
	if parts, err := guarantees(charges); err == nil && len(groupByEpsilon(parts)) > 1 && !hasLaplace(charges) {
		note += "; from above the optimal composition of different costs"
	}
	return note
}

// hasLaplace says whether some loss distribution says more than the event's (ε, δ).
func hasLaplace(charges []Charge) bool {
	return slices.ContainsFunc(charges, func(c Charge) bool { _, ok := c.Event.(Laplace); return ok })
}
