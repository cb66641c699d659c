package loss

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// A smoothness is an upper bound, so that no step counts as non-expansive that is not: it is
// never below the exact one.
func TestSmoothnessIsRoundedUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(48, 49))
	for _, c := range []struct {
		task   Loss
		factor *big.Rat
	}{{Logistic{}, big.NewRat(1, 4)}, {LeastSquares{}, big.NewRat(2, 1)}} {
		inexact := false
		for range 1000 {
			r := rng.Float64() * 10
			square := new(big.Rat).SetFloat64(r)
			square.Mul(square, square).Mul(square, c.factor)
			if got := c.task.Smoothness(r); new(big.Rat).SetFloat64(got).Cmp(square) < 0 {
				t.Fatalf("%s: smoothness %.17g at radius %.17g is too small", c.task.Name(), got, r)
			}
			f, _ := c.factor.Float64()
			inexact = inexact || new(big.Rat).SetFloat64(r*r*f).Cmp(square) < 0
		}
		if !inexact {
			t.Errorf("%s: no square is rounded down: this tests nothing", c.task.Name())
		}
	}
}
