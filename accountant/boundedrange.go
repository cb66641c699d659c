package accountant

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/num"
)

// BoundedRange is a mechanism whose privacy loss between two neighbours lies, whatever comes
// out, in an interval of length ε that may depend on the two. It is ε-DP, and less is lost
// than by the worst ε-DP mechanism: it is (ε²/8)-zCDP where that is (ε²/2)-zCDP. The
// exponential mechanism Pr[i] ∝ e^{-q_i/s} is one, with ε = (max_i δ_i - min_i δ_i)/s where
// δ_i is the change of score q_i: the log ratio of its laws is δ_i/s and one constant.
// Noisy maxima with Laplace or exponential noise are not; they are ApproxDP.
//
// Sources: Durfee and Rogers, Practical Differentially Private Top-k Selection with
// Pay-what-you-get Composition (2019), Definition 3.1; Dong, Durfee and Rogers, Optimal
// Differential Privacy Composition for Exponential Mechanisms (2020); Cesar and Rogers,
// Bounding, Concentrating, and Truncating (2021), Lemma 3.2.
type BoundedRange struct {
	Epsilon    float64 // the interval's length, ≥ 0
	Neighbours Relation
}

// Relation returns the neighbouring relation that the event's parameters are for.
func (e BoundedRange) Relation() Relation { return e.Neighbours }

func (e BoundedRange) String() string {
	return fmt.Sprintf("exponential mechanism of range %g", e.Epsilon)
}

// rangeRDP returns the divergence αε²/8, or that of the worst ε-DP mechanism where it is less.
func rangeRDP(eps, alpha float64) float64 {
	if eps == 0 {
		return 0
	}
	return min(alpha*eps*eps/8*(1+num.SumMargin)+math.SmallestNonzeroFloat64, responseRDP(eps, alpha))
}
