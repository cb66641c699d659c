package train

import (
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
)

// maxRows bounds the rows of a person: beyond it no model is worth training.
const maxRows = 1000

// GroupCost returns what a model of that cost for a row costs for a person with up to rows of them,
// rounded up: rows·ε and δ(1 + e^ε + … + e^((rows-1)ε)), the group privacy of (ε,δ)-DP (Dwork and
// Roth, The Algorithmic Foundations of Differential Privacy, Theorem 2.2, with its δ summed up).
// Between the records with and without the person are rows steps from neighbour to neighbour, and
// each step's δ is multiplied by e^ε at every later one.
func GroupCost(c accountant.Cost, rows int) accountant.Cost {
	if rows == 1 {
		return c
	}
	return accountant.Cost{Epsilon: float64(rows) * c.Epsilon * (1 + 0x1p-51),
		Delta: min(1, c.Delta*groupFactor(rows, c.Epsilon)*(1+0x1p-51))}
}

// groupFactor returns 1 + e^ε + … + e^((rows-1)ε), rounded up: each summand is off by some units in
// the last place, and by ε·rows times the rounding of its argument.
func groupFactor(rows int, epsilon float64) float64 {
	sum := 0.0
	for i := range rows {
		sum += math.Exp(float64(i) * epsilon)
	}
	return sum * (1 + float64(rows+8)*0x1p-50*(1+epsilon))
}

// ForGroup returns a cost for a row that is at most target for a person with up to rows of them,
// rounded down.
func ForGroup(target accountant.Cost, rows int) (accountant.Cost, error) {
	if err := check.Whole("rows per person", rows, 1, maxRows); err != nil {
		return accountant.Cost{}, err
	}
	if err := check.Target(target.Epsilon, target.Delta); err != nil || rows == 1 {
		return target, err
	}
	c := accountant.Cost{Epsilon: target.Epsilon / float64(rows) * (1 - 0x1p-49)}
	c.Delta = target.Delta / groupFactor(rows, c.Epsilon) * (1 - 0x1p-49)
	return c, nil
}
