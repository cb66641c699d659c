package poissonbinom

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/num"
)

// binomialThreshold is the multiplicity from which GroupedPMF starts with the
// binomial law of the largest group. The recurrence costs about 60·N ns, N factors
// one at a time about 0.2·N² ns; BenchmarkGroupedStart measures both.
const binomialThreshold = 300

// GroupedPMF returns the probability mass function of the sum of all variables
// of all groups, of length n+1 with n = ΣN: PMF for few distinct probabilities,
// with complements given apart.
//
// The storage of dst is used if its capacity is at least n+1 and its contents are
// lost; nil allocates. Groups with P = 0 or P = 1 (and Q exactly 1 or 0) cost
// nothing. Cost otherwise O(n·N), N without the largest group if that
// is large. Accuracy as stated at PMFError.
//
// It panics if a group fails Group.Check; check values from outside first.
func GroupedPMF(groups []Group, dst []float64) []float64 {
	n, ones, largest := 0, 0, -1
	for i, g := range groups {
		if err := g.Check(); err != nil {
			panic(fmt.Sprintf("poissonbinom: group %d: %v", i, err))
		}
		n += g.N
		switch {
		case g.isOne():
			ones += g.N
		case g.isZero():
		case largest < 0 || g.N > groups[largest].N:
			largest = i
		}
	}
	if cap(dst) < n+1 {
		dst = make([]float64, n+1)
	}
	dst = dst[:n+1]
	clear(dst[:ones])
	w := newWindow(dst[ones:])
	if largest >= 0 && groups[largest].N >= binomialThreshold {
		g := groups[largest]
		binomialInto(w.a[:g.N+1], g.P, num.Twofold{Hi: g.Q})
		w.hi = g.N
		w.trim()
	} else {
		largest = -1
	}
	for i, g := range groups {
		if i == largest || g.isOne() || g.isZero() {
			continue
		}
		for range g.N {
			w.step(g.Q, g.P)
		}
	}
	return dst
}

func (g Group) isOne() bool  { return g.P == 1 && g.Q == 0 }
func (g Group) isZero() bool { return g.P == 0 && g.Q == 1 }

// Group is N independent Bernoulli variables with one probability.
//
// P is the probability of a one and Q = 1-P that of a zero. Q is given apart
// because it is often known more precisely than 1-P computes: with P so close to
// 1 that it rounds, say P = 1-1e-20, Q = 1e-20 keeps what P lost.
type Group struct {
	P, Q float64
	N    int
}

// Prob returns a Group of one variable with probability p and Q = 1-p rounded
// to nearest, so within 2⁻⁵⁴ of the exact 1-p, and exact for p ≥ 1/2. p is not
// checked here, see Group.Check.
func Prob(p float64) Group { return Group{P: p, Q: 1 - p, N: 1} }

// Times returns g with N = n.
func (g Group) Times(n int) Group {
	g.N = n
	return g
}

// complementSlack is the largest allowed distance of P+Q from 1: room for an error of a few
// roundings in each, no room for a mistaken value.
const complementSlack = 0x1p-50

// Check returns an error naming the field, its value and the rule if P or Q is
// NaN or outside [0,1], P+Q differs from 1 by more than 2⁻⁵⁰, or N is negative.
func (g Group) Check() error {
	if !(g.P >= 0 && g.P <= 1) {
		return fmt.Errorf("probability P = %g, must be in [0,1]", g.P)
	}
	if !(g.Q >= 0 && g.Q <= 1) {
		return fmt.Errorf("complement Q = %g, must be in [0,1]", g.Q)
	}
	if math.Abs(g.P+g.Q-1) > complementSlack {
		return fmt.Errorf("probability P = %g and complement Q = %g, must sum to 1", g.P, g.Q)
	}
	if g.N < 0 {
		return fmt.Errorf("multiplicity N = %d, must be at least 0", g.N)
	}
	return nil
}

// Append returns in dst the probability mass function of L + X, where pmf is
// that of L and X an independent Bernoulli variable with probability p of a one
// and q of a zero:
//
//	dst(l) = q·pmf(l) + p·pmf(l-1),   l = 0 … len(pmf)
//
// dst must have room for len(pmf)+1 elements and be pmf's own memory or share
// none with it; Append panics otherwise. Of an empty pmf it is empty. It is one
// step of the dynamic programme behind PMF, for callers that walk over many
// related laws and share prefixes.
func Append(dst, pmf []float64, q, p float64) []float64 {
	if len(pmf) == 0 {
		return dst[:0] // the law of no variable has no step
	}
	if cap(dst) < len(pmf)+1 {
		panic(fmt.Sprintf("poissonbinom: append into %d elements, need %d", cap(dst), len(pmf)+1))
	}
	dst = dst[:len(pmf)+1]
	copy(dst, pmf)
	multiplyStep(dst, q, p)
	return dst
}
