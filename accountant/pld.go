package accountant

import (
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/check"
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
	maxLossParts    = 1000       // half a minute
	maxLossCount    = 10_000_000 // beyond, grid and FFT cost more than Rényi divergences do
)

// lossDirections returns, for each direction, the sources of the charges.
func lossDirections(charges []Charge) (directions [][]lossSource, counts []int, err error) {
	if len(charges) > maxLossParts {
		return nil, nil, check.Wantf("different events", len(charges),
			"at most %d for privacy loss distributions", maxLossParts)
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
			return nil, nil, check.Wantf("count", c.Count, "at most %d for privacy loss distributions",
				maxLossCount)
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

// lossBound returns the curve of one direction, tilted by goal, or by lossSum.halfOfLargestTilt if
// nil. A first, coarse grid finds the scale of the sum, and the final step is so wide that
// the window holds it.
func lossBound(sources []lossSource, counts []int, bits int, goal tiltGoal) (lossCurve, error) {
	widest := 0.0
	for _, s := range sources {
		low, high, _ := s.span()
		widest = max(widest, high-low)
	}
	coarse := powerOfTwo(max(widest, 1e-12) / (1 << 11))
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
		goal = sum.halfOfLargestTilt()
	}
	theta, saturated := sum.tiltFor(goal)
	_, _, variance := sum.logMoment(theta)
	width := 32 * math.Sqrt(variance+coarse*coarse)
	step := max(powerOfTwo(width/float64(int(1)<<bits)), powerOfTwo(widest/(maxLossPoints/16)),
		powerOfTwo(1e-13))
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
		if c.belowWindow(epsilon) {
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
		} else if e > 0 && c.belowWindow(e-2*c.step) {
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

// lossNote describes the bound of the privacy loss distribution, for people.
func lossNote(charges []Charge, bits int) string {
	note := fmt.Sprintf("on 2^%d points, rounded up", bits)
	if parts, err := guarantees(charges); err == nil && len(groupByEpsilon(parts)) > 1 &&
		!hasLosses(charges) {
		note += "; from above the optimal composition of different costs"
	}
	return note
}

// hasLosses reports whether some event has a loss distribution that is tighter than its (ε, δ).
func hasLosses(charges []Charge) bool {
	return slices.ContainsFunc(charges, func(c Charge) bool {
		switch c.Event.(type) {
		case Laplace, HockeyStick:
			return true
		}
		return false
	})
}
