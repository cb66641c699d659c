package rates

import (
	"cmp"
	"math"

	"github.com/darrm/darrm/internal/check"
)

// ManyMessages returns the size of the published protocol that sums vectors by one-bit messages
// through a shuffler, for n users: the levels g of a coordinate and its noise bits b_n,
//
//	g = ⌈max{2√n, d, 4}⌉,  b_n = 24·10⁴·g²·ln²(4(d²+1)/δ)/(ε²n)
//
// A user sends d·(2g+b_n) bits. The constant in b_n is as published. It could not be confirmed, and
// nothing else here depends on it.
//
// Source: Cheu, Joseph, Mao and Peng, Shuffle Private Stochastic Convex Optimization (2022).
func ManyMessages(users, dim int, epsilon, delta float64) (levels, bits float64, err error) {
	if err := cmp.Or(
		check.Whole("users", users, 1, 0), check.Whole("dimension", dim, 1, 0),
		check.Positive("epsilon", epsilon), check.Within("delta", delta),
	); err != nil {
		return 0, 0, err
	}
	n, d := float64(users), float64(dim)
	levels = math.Ceil(max(2*math.Sqrt(n), d, 4))
	log := math.Log(4 * (d*d + 1) / delta)
	return levels, math.Ceil(24e4 * levels * levels * log * log / (epsilon * epsilon * n)), nil
}
