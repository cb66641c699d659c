package accountant

import (
	"math"
	"math/rand/v2"
	"testing"
)

// ρ of ZCDPFor converts to no more than the target: it is rounded down.
func TestZCDPForIsRoundedDown(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		target := Cost{Epsilon: math.Exp(6*rng.Float64() - 4), Delta: math.Exp(-1 - 30*rng.Float64())}
		rho, err := ZCDPFor(target)
		if err != nil {
			t.Fatal(err)
		}
		if epsilon, err := EpsilonFromZCDP(rho, target.Delta); err != nil || epsilon > target.Epsilon {
			t.Fatalf("%v: rho = %v costs %v, %v", target, rho, epsilon, err)
		}
	}
}

// The decimal of a float64 may lie half a unit below it. There δ is above 0, though the largest loss
// is that very float64.
func TestMixtureAtItsLargestLoss(t *testing.T) {
	const epsilon = 0.1 // its decimal is below its float64
	for _, loss := range []float64{epsilon, 0.7, 2} {
		o := &optimalMixture{losses: []float64{loss}, above: []float64{1}, excess: []float64{0}}
		if d := o.finite(loss); !(d > 0) {
			t.Errorf("delta at the largest loss %v is %g", loss, d)
		}
		if d := o.finite(loss * 2); d != 0 {
			t.Errorf("delta above the largest loss %v is %g", loss, d)
		}
	}
}
