package accountant

import (
	"cmp"
	"fmt"
	"math"
	"math/big"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// GaussianDelta returns the smallest δ for which normal noise of sigma standard
// deviations per unit of L2 sensitivity is (epsilon, δ)-DP, rounded up:
//
//	δ = Φ(1/(2σ) - εσ) - e^ε·Φ(-1/(2σ) - εσ)
//
// It takes sigma between 1e-4 and 1e8 and epsilon in [0, 1e4]; the error names the
// parameter outside its range. Where εσ > 30000 it returns the smallest positive float64,
// which is larger than δ. Cost: about a quarter of a millisecond.
//
// Source: Balle and Wang, Improving the Gaussian Mechanism for Differential Privacy
// (2018), Theorem 8.
func GaussianDelta(sigma, epsilon float64) (float64, error) {
	if err := cmp.Or(noiseRange("noise multiplier", sigma), check.Epsilon("epsilon", epsilon),
		pureRange(epsilon)); err != nil {
		return 0, err
	}
	return gaussianDelta(num.Decimal(sigma), num.Decimal(epsilon)), nil
}

func gaussianDelta(sigma, epsilon *big.Rat) float64 {
	half := new(big.Rat).Inv(new(big.Rat).Add(sigma, sigma))
	shift := new(big.Rat).Mul(epsilon, sigma)
	low := new(big.Rat).Sub(shift, half)  // Φ(-low)
	high := new(big.Rat).Add(shift, half) // Φ(-high)
	if l, _ := low.Float64(); l > 30000 {
		return math.SmallestNonzeroFloat64 // Φ(-30000) < e^-4e8
	}
	lost := num.FromInt(0)
	if h, _ := high.Float64(); h < 40000 {
		lost = num.ExpReal(num.FromRat(epsilon)).Mul(num.NormalTail(num.FromRat(high)))
	} // else the term is left out, which only raises δ
	if l, _ := low.Float64(); l < -40000 {
		return 1
	}
	delta := num.NormalTail(num.FromRat(low)).Sub(lost)
	return min(1, max(0, delta.DecimalUp()))
}

// GaussianEpsilon returns the smallest ε ≤ 1e4 for which normal noise of sigma standard
// deviations per unit of L2 sensitivity is (ε, delta)-DP by the exact formula of
// GaussianDelta, rounded up; ErrUnsupported where ε is larger. It takes sigma between 1e-4
// and 1e8 and delta in (0,1).
func GaussianEpsilon(sigma, delta float64) (float64, error) {
	if err := cmp.Or(noiseRange("noise multiplier", sigma), check.Within("delta", delta)); err != nil {
		return 0, err
	}
	return gaussianEpsilon(sigma, delta)
}

// gaussianEpsilon is GaussianEpsilon for any noise.
func gaussianEpsilon(sigma, delta float64) (float64, error) {
	s := num.Decimal(sigma)
	fits := func(epsilon float64) bool { return gaussianDelta(s, num.Decimal(epsilon)) <= delta }
	if fits(0) {
		return 0, nil
	}
	if !fits(maxPure) {
		return 0, fmt.Errorf("epsilon is above %g: %w", maxPure, ErrUnsupported)
	}
	return bisectNear(gaussianEpsilonFloat(sigma, delta), 0, maxPure, fits), nil
}

// gaussianEpsilonFloat is gaussianEpsilon without any promise.
func gaussianEpsilonFloat(sigma, delta float64) float64 {
	return bisectDown(1e-300, maxPure, func(epsilon float64) bool {
		return gaussianDeltaFloat(sigma, epsilon) <= delta
	})
}

// GaussianShare returns about the ε, at delta, of one answer where that many answers with normal noise cost the
// target together. A search may begin there; it promises nothing. It takes the targets of GaussianNoise and
// delta in (0,1).
func GaussianShare(target Cost, answers int, delta float64) (float64, error) {
	if err := cmp.Or(checkTarget(target), check.Within("delta", delta)); err != nil {
		return 0, err
	}
	return gaussianEpsilonFloat(gaussianNoiseFloat(target)*math.Sqrt(float64(answers)), delta), nil
}

// GaussianNoise returns the smallest noise multiplier σ for which normal noise is (ε,
// δ)-DP by the exact formula of GaussianDelta, rounded up: the standard deviation
// needed per unit of L2 sensitivity. It takes ε in (0, 1e4] and δ in (0,1).
//
// Source: Balle and Wang (2018), Algorithm 1; here by bisection on the exact δ.
func GaussianNoise(target Cost) (float64, error) {
	if err := checkTarget(target); err != nil {
		return 0, err
	}
	epsilon := num.Decimal(target.Epsilon)
	fits := func(sigma float64) bool {
		return gaussianDelta(num.Decimal(sigma), epsilon) <= target.Delta
	}
	low, high := minNoise, MaxNoise
	if fits(low) {
		return low, nil
	}
	if !fits(high) {
		return 0, fmt.Errorf("%v needs a noise multiplier above %g: %w", target, high, ErrUnsupported)
	}
	// A search in float64 comes first; the intervals take a quarter of a millisecond each.
	return bisectNear(gaussianNoiseFloat(target), low, high, fits), nil
}

// gaussianNoiseFloat is GaussianNoise without any promise.
func gaussianNoiseFloat(target Cost) float64 {
	return bisectDown(minNoise, MaxNoise, func(sigma float64) bool {
		return gaussianDeltaFloat(sigma, target.Epsilon) <= target.Delta
	})
}

// gaussianDeltaFloat is gaussianDelta without any promise.
func gaussianDeltaFloat(sigma, epsilon float64) float64 {
	tail := func(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }
	low, high := epsilon*sigma-1/(2*sigma), epsilon*sigma+1/(2*sigma)
	lost := 0.0
	if q := tail(high); q > 0 {
		lost = math.Exp(epsilon + math.Log(q))
	}
	return tail(low) - lost
}

func checkTarget(target Cost) error {
	if err := target.check(""); err != nil {
		return err
	}
	if target.Epsilon == 0 {
		return check.Want("epsilon", target.Epsilon, "above 0")
	}
	if target.Delta == 0 {
		return check.Want("delta", target.Delta, "above 0: normal noise has no pure guarantee")
	}
	return pureRange(target.Epsilon)
}

// normalEdge is a point z at which the mass of the standard normal is cut: the mass on the side of z
// that is away from 0, and a bound on its error.
type normalEdge struct {
	z, tail, slack float64
}

// lowest and highest are the edges of all mass.
var lowest, highest = normalEdge{z: math.Inf(-1)}, normalEdge{z: math.Inf(1)}

// newNormalEdge returns the edge at z, where the true place is at most wobble from z. math.Erfc is good to a
// unit in the last place; four are allowed, and the argument's rounding moves the result by another z² units
// at most. A small move of z changes the tail by at most 2·(1+|z|)·wobble of itself, by Birnbaum's
// inequality. Of larger moves the one toward 0 changes the tail most.
func newNormalEdge(z, wobble float64) normalEdge {
	if math.IsInf(z, 0) {
		return normalEdge{z: z}
	}
	const ulp = 0x1p-52
	a := math.Abs(z)
	tail := math.Erfc(a/math.Sqrt2) / 2
	slack := tail*ulp*(8+2*z*z) + 4*math.SmallestNonzeroFloat64 // tail*ulp alone may underflow
	if moved := 2 * (1 + a) * wobble; moved < 1e-3 {
		slack += tail * moved
	} else {
		near := math.Erfc((a-wobble)/math.Sqrt2) / 2
		slack += near - tail + near*ulp*(8+2*(a-wobble)*(a-wobble))
	}
	return normalEdge{z, tail, slack}
}

// massUpTo returns the mass from e to f > e, rounded up for side = 1 and down for -1.
func (e normalEdge) massUpTo(f normalEdge, side float64) float64 {
	var m float64
	slack := e.slack + f.slack
	switch {
	case e.z >= 0:
		m = e.tail - f.tail
	case f.z <= 0:
		m = f.tail - e.tail
	default:
		m, slack = 1-e.tail-f.tail, slack+2*0x1p-52
	}
	return max(0, m+side*slack)
}

// lossEdge is where the outcomes of a normalLoss are cut, in standard deviations from the mean of
// the plain normal and from that of the moved one.
type lossEdge struct{ plain, moved normalEdge }

// edgeAt cuts where the loss is x. Where outcomes fall as the loss rises, their signs are changed, so that
// both rise.
func (l normalLoss) edgeAt(x float64) lossEdge {
	sign := 1.0
	if l.down {
		sign = -1
	}
	at, wobble := l.locate(sign * x)
	at *= sign
	return lossEdge{newNormalEdge(at/l.sigma, wobble/l.sigma),
		newNormalEdge((at-sign)/l.sigma, wobble/l.sigma)}
}

// mixtureUpTo returns the mass of the sampled mixture from e to f > e, rounded to the side.
func (l normalLoss) mixtureUpTo(e, f lossEdge, side float64) float64 {
	moved := e.moved.massUpTo(f.moved, side)
	if l.q == 1 {
		return moved
	}
	m := (1-l.q)*e.plain.massUpTo(f.plain, side) + l.q*moved
	return max(0, m+side*(4*0x1p-52*m+4*math.SmallestNonzeroFloat64)) // m may be subnormal
}
