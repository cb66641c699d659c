package convex

import (
	"math"
	"math/big"
	"testing"

	"github.com/darrm/darrm/internal/num"
)

// δ of the privacy loss μr + μ²/2 is nowhere below μ√(2π)·e^ε·Φ(-ε/μ-μ/2) in intervals, and near it where erfc
// can be had; beyond, by Mills' ratio, it is above by at most a part of 1/z².
func TestPlaneDeltaIsRoundedUp(t *testing.T) {
	real := func(x float64) num.Interval { return num.FromRat(new(big.Rat).SetFloat64(x)) }
	twoPi, _ := new(big.Rat).SetString("6.28318530717958647692528676655900576839433879875021")
	root := num.Sqrt(num.FromRat(twoPi))
	near, far := 0, 0
	for mu := 1e-3; mu < 8; mu *= 1.4 {
		for epsilon := mu * mu / 2 * 1.01; epsilon < 500 && epsilon/mu < 1e3; epsilon *= 1.37 {
			m, e := real(mu), real(epsilon)
			z := e.Quo(m).Add(m.Quo(num.FromInt(2)))
			exact := m.Mul(root).Mul(num.ExpReal(e)).Mul(num.NormalTail(z))
			got := planeDelta(epsilon, mu)
			if real(got).Cmp(exact) < 0 {
				t.Errorf("ε = %v, μ = %v: %v is below %v", epsilon, mu, got, exact.Nearest())
			}
			slack := 1e-10
			if x := z.Nearest(); x > 20*math.Sqrt2 {
				slack = 2 / (x * x)
				far++
			} else {
				near++
			}
			if want := exact.Nearest(); got > want*(1+slack)+2*math.SmallestNonzeroFloat64 {
				t.Errorf("ε = %v, μ = %v: %v is far above %v", epsilon, mu, got, want)
			}
		}
	}
	if near < 50 || far < 50 {
		t.Errorf("%d near, %d far", near, far)
	}
}
