package shuffled

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/check"
)

// tunedStepSize returns the source's step size for the run without noise, its constants
// dropped:
//
//	min{ 1/(n√(L·L*·(1+ln K))), ‖x_1-x*‖^{2/3}/(n·L^{1/3}·σ_any^{2/3}·(K(1+ln K))^{1/3}) }
func tunedStepSize(n, epochs int, distance, variance, avgSmoothness,
	maxSmoothness float64) float64 {
	k, l := float64(epochs), 1+math.Log(float64(epochs))
	first := 1 / (float64(n) * math.Sqrt(avgSmoothness*maxSmoothness*l))
	if variance == 0 {
		return first
	}
	return min(first, math.Cbrt(distance*distance)/(float64(n)*math.Cbrt(avgSmoothness*variance*k*l)))
}

// Rates are the leading terms of the excess risk at the best K, logarithms and constants
// dropped. Printed follows from the source's noise term and is too optimistic, for
// Interleaved even below what any private method can reach; Corrected follows from the
// corrected one. Both leave out the term of C_n.
type Rates struct {
	Printed    float64 `json:"printed"`
	Corrected  float64 `json:"corrected"`
	BestEpochs float64 `json:"best_epochs"` // the K that the printed rate is for
}

// rate returns the rates of DPShuffleG, PrivPub, PubPriv and Interleaved with p in [1/K, 1]
// (1 for DPShuffleG), and of DPSGD, the known optimum √d/(nε):
//
//	              printed                                corrected             best K
//	dp-shuffle-g  (1/n)^{2/3}·(√d/ε)^{4/3}               √(d/n)/ε              nε²/d
//	priv-pub      (p/n)^{2/3}·(√d/ε)^{4/3}               √(pd/n)/ε             nε²/(dp)
//	interleaved   (1/(n((1-p)n+1)))^{2/3}·(√d/ε)^{4/3}   √d/(ε√(n((1-p)n+1)))  nε²((1-p)n+1)/d
func rate(m Scheme, n, d int, epsilon, p float64) (Rates, error) {
	if n < 1 || d < 1 {
		return Rates{}, check.Want("n and d", fmt.Sprintf("%d and %d", n, d), "at least 1")
	}
	if err := check.Positive("epsilon", epsilon); err != nil {
		return Rates{}, err
	}
	if !(p > 0 && p <= 1) {
		return Rates{}, check.Want("fraction", p, "in (0,1]")
	}
	nn, root := float64(n), math.Sqrt(float64(d))/epsilon
	var inverse float64 // the factor of 1/n that the method changes, over n
	switch m {
	case DPShuffleG:
		inverse = 1 / nn
	case PrivPub, PubPriv:
		inverse = p / nn
	case Interleaved:
		inverse = 1 / (nn * ((1-p)*nn + 1))
	case DPSGD:
		return Rates{Printed: root / nn, Corrected: root / nn}, nil
	default:
		return Rates{}, check.Want("method", string(m), "one with a rate")
	}
	return Rates{
		Printed:    math.Pow(inverse, 2.0/3) * math.Pow(root, 4.0/3),
		Corrected:  math.Sqrt(inverse) * root,
		BestEpochs: 1 / (inverse * root * root),
	}, nil
}
