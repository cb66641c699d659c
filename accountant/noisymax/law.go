package noisymax

import (
	"math/big"

	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/internal/num"
)

// span is a number ≥ 0 between two float64s.
type span struct{ low, up float64 }

func of(x num.Interval) span { return span{max(0, x.Lower()), max(0, x.Upper())} }

// Each operation below is one rounding, which a factor of two units moves outward.
const more, less = 1 + 0x1p-52, 1 - 0x1p-52

// tiny is above what underflows.
const tiny = 0x1p-1000

func (x span) add(y span) span {
	low, up := x.low+y.low, x.up+y.up
	return span{float64(low * less), float64(up * more)}
}
func (x span) mul(y span) span {
	return span{float64(float64(x.low*y.low) * less), float64(float64(x.up*y.up)*more) + tiny}
}
func (x span) half() span { return span{float64(x.low / 2), float64(x.up / 2)} }

// over returns bounds of x/y, 0 where nothing is known of it.
func (x span) over(y span) span {
	r := span{up: infinite}
	if y.up > 0 {
		r.low = max(0, x.low/y.up*less)
	}
	if y.low > 0 {
		r.up = x.up / y.low * more
	}
	return r
}

const infinite = 1e300 // above any ratio that matters

// law is the law of one noise as float64s rounded outward.
type law struct {
	reach int
	mass  []span // Pr[Y = k] at k + reach
	below []span // Pr[Y ≤ k] at k + reach
	every int    // wins is known of every so many counts at once
	sums  map[int][]span

	// The largest Pr[Y = k], and the largest sizes of its first and second differences, rounded up.
	largest [3]float64
}

// newLaw returns the law within reach. every ≥ 1 trades memory for time.
func newLaw(variance *big.Rat, reach, every int) (*law, error) {
	g, err := noise.NewGaussian(variance)
	if err != nil {
		return nil, err
	}
	exact := g.Law(reach + 1)
	l := &law{reach: reach, every: every, sums: map[int][]span{}}
	l.mass, l.below = make([]span, 2*reach+1), make([]span, 2*reach+1)
	for k := -reach; k <= reach; k++ {
		l.mass[k+reach] = of(exact.Mass(k))
		l.below[k+reach] = of(exact.Tail(-k)) // Pr[Y ≤ k] = Pr[Y ≥ -k]
	}
	for k := -reach; k <= reach; k++ {
		x, y, z := l.p(k-1), l.p(k), l.p(k+1)
		l.largest[0] = max(l.largest[0], y.up)
		l.largest[1] = max(l.largest[1], z.up-y.low, y.up-z.low)
		l.largest[2] = max(l.largest[2], x.up+z.up-2*y.low, 2*y.up-x.low-z.low)
	}
	for i := range l.largest {
		l.largest[i] += 0x1p-50 // of numbers of at most 1
	}
	return l, nil
}

// p returns Pr[Y = k].
func (l *law) p(k int) span {
	if k < -l.reach || k > l.reach {
		return span{0, l.mass[0].up}
	}
	return l.mass[k+l.reach]
}

// f returns Pr[Y ≤ k].
func (l *law) f(k int) span {
	switch {
	case k < -l.reach:
		return span{0, l.below[0].up}
	case k > l.reach:
		return span{l.below[2*l.reach].low, 1}
	}
	return l.below[k+l.reach]
}

// term returns Pr[Y = y]·(Pr[Y' < y+d] + Pr[Y' = y+d]/2).
func (l *law) term(y, d int) span {
	return l.p(y).mul(l.f(y + d - 1).add(l.f(y + d)).half())
}

// wins returns Pr[Y ≥ -a, and Y + a wins against Y' + b], of equal ones each half of the times: the
// probability of the class that is a votes above the integer part of all others but one, which is b
// votes above it. a = l.reach is as good as no others.
func (l *law) wins(a, b int) span {
	d := a - b
	sums, known := l.sums[d]
	if !known {
		sums = l.diagonal(d)
		l.sums[d] = sums
	}
	from := max(-l.reach, -a) // the least y
	if from > l.reach {
		return span{0, l.f(-l.reach - 1).up}
	}
	i := (from + l.reach + l.every - 1) / l.every
	s := sums[i]
	for y := i*l.every - l.reach - 1; y >= from; y-- {
		s = s.add(l.term(y, d))
	}
	if -a < -l.reach { // what is beyond the reach
		s.up = min(1, (s.up+l.f(-l.reach-1).up)*more)
	}
	return s
}

// diagonal returns Σ_{y ≥ k} term(y, d) at k = -reach + i·every.
func (l *law) diagonal(d int) []span {
	points := 2*l.reach + 1
	sums := make([]span, (points+l.every-1)/l.every+1)
	s := span{0, l.f(-l.reach - 1).up} // beyond the reach
	for i := len(sums) - 1; i >= 0; i-- {
		for y := min(l.reach, (i+1)*l.every-l.reach-1); y >= i*l.every-l.reach; y-- {
			s = s.add(l.term(y, d))
		}
		sums[i] = s
	}
	return sums
}
