package constraints

import (
	"math/big"
	"testing"
)

// A counterexample of docs/errata.md. Before permutations are used, each of K teachers is at
// one of c corners: c^K constraints, not the K^c that Section 3.6 prints. Counted by the
// multisets of corners, each as often as it has orders.
func TestErratumNumberOfConstraints(t *testing.T) {
	var orders func(k, corners int) *big.Int // Σ over multisets of k!/(n₁!·n₂!·…)
	orders = func(k, corners int) *big.Int {
		if corners == 1 {
			return big.NewInt(1)
		}
		sum := new(big.Int)
		for n := range k + 1 {
			term := new(big.Int).Binomial(int64(k), int64(n))
			sum.Add(sum, term.Mul(term, orders(k-n, corners-1)))
		}
		return sum
	}
	for _, corners := range []int64{4, 8} {
		for _, k := range []int64{3, 11} {
			got := orders(int(k), int(corners))
			right := new(big.Int).Exp(big.NewInt(corners), big.NewInt(k), nil)
			printed := new(big.Int).Exp(big.NewInt(k), big.NewInt(corners), nil)
			if got.Cmp(right) != 0 || got.Cmp(printed) == 0 {
				t.Errorf("K = %d, %d corners: %v constraints, printed %v", k, corners, got, printed)
			}
		}
	}
}
