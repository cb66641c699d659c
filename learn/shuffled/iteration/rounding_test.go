package iteration

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// What noise there is is never overstated: exact rationals are not below it, by whatever the sums and roots
// lose.
func TestNoiseIsRoundedDown(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	product := func(x ...*big.Rat) *big.Rat {
		p := big.NewRat(1, 1)
		for _, y := range x {
			p.Mul(p, y)
		}
		return p
	}
	near := rat(1 + 1e-13)
	for range 1000 {
		// 1/√(2ρ): its square times 2ρ is at most 1.
		rho := math.Exp(10 * rng.NormFloat64())
		noise := rat(gaussianNoiseOf(rho))
		if square := product(noise, noise, big.NewRat(2, 1), rat(rho)); square.Cmp(big.NewRat(1, 1)) > 0 ||
			product(square, near).Cmp(big.NewRat(1, 1)) < 0 {
			t.Fatalf("ρ = %v has noise %v", rho, gaussianNoiseOf(rho))
		}
		// V = iσ² + (n - n_d)σ_pub².
		e := Steps{Records: 1 + rng.IntN(1e6), Noise: math.Exp(5 * rng.NormFloat64()),
			PublicNoise: math.Exp(5 * rng.NormFloat64())}
		e.Private = 1 + rng.IntN(e.Records)
		i := 1 + rng.IntN(e.Private)
		exact := product(big.NewRat(int64(i), 1), rat(e.Noise), rat(e.Noise))
		exact.Add(exact, product(big.NewRat(int64(e.Records-e.Private), 1), rat(e.PublicNoise), rat(e.PublicNoise)))
		if got := rat(e.tail(float64(i))); got.Cmp(exact) > 0 || product(got, near).Cmp(exact) < 0 {
			t.Fatalf("%+v: the %d-th from the end has V = %v", e, i, e.tail(float64(i)))
		}
	}
}
