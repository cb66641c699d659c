package lp_test

import (
	"math"
	"math/rand/v2"

	"github.com/darrm/darrm/lp"
)

// Box returns the problem with cost c and bounds [0, 1].
func Box(c ...float64) lp.Problem {
	p := lp.Problem{C: c, Lower: make([]float64, len(c)), Upper: make([]float64, len(c))}
	for j := range c {
		p.Upper[j] = 1
	}
	return p
}

// Random returns a dense program with normal coefficients, costs below 0, bounds
// [0, 1] and rows that hold at the origin with room to spare: feasible, bounded,
// and with many rows binding at the optimum.
func Random(seed uint64, columns, rows int) (lp.Problem, []lp.Row) {
	random := rand.New(rand.NewPCG(seed, uint64(columns)))
	c := make([]float64, columns)
	for j := range c {
		c[j] = -0.1 - random.Float64()
	}
	all := make([]lp.Row, rows)
	for i := range all {
		coef := make([]float64, columns)
		for j := range coef {
			coef[j] = random.NormFloat64()
		}
		all[i] = lp.Row{Coef: coef, RHS: (0.2 + random.Float64()) * math.Sqrt(float64(columns)) / 4}
	}
	return Box(c...), all
}
