package poissonbinom

import (
	"fmt"
	"math"
)

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
