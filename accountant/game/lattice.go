package game

import (
	"math"
	"math/big"

	"github.com/darrm/darrm/internal/num"
)

// minScale is the least scale that a lattice is made for, that of MaxAnswers answers which cost
// about 1: finer ones would have too many points.
const minScale = 1e-3

// lattice is the points x_k = e^{kh}, |k| ≤ reach, and 0. Each is known as an interval.
type lattice struct {
	step    float64 // h, of which the float64 is exact
	reach   int
	low, up []float64 // bounds of x_k, at k + reach
	gap     []float64 // lower bounds of x_{k+1} - x_k
	gapUp   []float64 // upper bounds
	rest    []float64 // upper bounds of 1 - x_{-k}, k ≥ 0
}

// reachOf returns the number of points on either side that cover ratios from 1/ratio to ratio,
// where memory allows it.
func reachOf(ratio, step float64) int {
	log := num.Log(num.FromRat(new(big.Rat).SetFloat64(ratio))).Upper() // the same on every processor
	return int(min(math.Ceil(log/step)+1, maxReach))
}

// maxReach bounds the points of a lattice on either side of 1. Smaller ratios are shared by 0 and
// the last point, larger ones are put at the last point: both are dearer.
const maxReach = 20_000

func newLattice(step float64, reach int) *lattice {
	l := &lattice{step: step, reach: reach}
	n := 2*reach + 1
	l.low, l.up = make([]float64, n), make([]float64, n)
	l.gap, l.gapUp = make([]float64, n), make([]float64, n)
	l.rest = make([]float64, reach+1)
	h := num.FromRat(new(big.Rat).SetFloat64(step))
	one := num.FromInt(1)
	factor, x := num.ExpReal(h), num.FromInt(1)
	widen := factor.Sub(one)
	set := func(i int, x num.Interval) {
		gap := x.Mul(widen)
		l.low[i], l.up[i] = x.Lower(), x.Upper()
		l.gap[i], l.gapUp[i] = gap.Lower(), gap.Upper()
	}
	for k := range reach + 1 {
		inverse := one.Quo(x)
		set(reach+k, x)
		set(reach-k, inverse)
		l.rest[k] = one.Sub(inverse).Upper()
		x = x.Mul(factor)
	}
	return l
}

// split returns the largest k with x_k ≤ z, and weights of x_k and x_{k+1} that are not below those
// that have sum 1 and mean z: (x_{k+1} - z)/(x_{k+1} - x_k) and the rest. z > 0. A z that lies
// between x_k and the float64s around it is moved down, which is dearer. Below the lattice, k is
// -reach-1 and stands for 0; above it, all is at the last point.
func (l *lattice) split(z float64) (k int, lower, upper float64) {
	last := len(l.up) - 1
	if z >= l.up[last] {
		return l.reach, 1, 0
	}
	if z < l.up[0] {
		z = min(z, l.low[0])
		return -l.reach - 1, min(1, (l.up[0]-z)/l.up[0]*dearer), min(1, z/l.low[0]*dearer)
	}
	i := int(math.Log(z)/l.step) + l.reach // a guess
	i = max(0, min(i, last-1))
	for l.up[i] > z {
		i--
	}
	for l.up[i+1] <= z {
		i++
	}
	z = min(z, l.low[i+1])
	// Both weights fall with x_k and x_{k+1}, or rise, together.
	lower = (l.up[i+1] - z) / (l.up[i+1] - l.up[i]) * dearer
	upper = (z - l.low[i]) / (l.low[i+1] - l.low[i]) * dearer
	return i - l.reach, min(1, lower), min(1, upper)
}
