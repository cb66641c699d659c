package accountant

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// MaxFixedBatchOrder is the largest order of FixedBatchRDP.
const MaxFixedBatchOrder = 512

// FixedBatchRDP returns an upper bound on the Rényi divergence, between datasets that differ by
// ReplaceOne, of normal noise on a sum over a batch of fixed size that is drawn uniformly without
// replacement: at integer order α in [2, 512], for a noise multiplier z (standard deviation per
// unit of the sum's L2 sensitivity to one replaced record) and the rate γ in (0,1] of the batch,
//
//	ρ(α) = 1/(α-1)·ln(1 + γ²·C(α,2)·min{4(e^{e(2)}-1), 2e^{e(2)}} + Σ_{j=3}^α 2γ^j·C(α,j)·e^{(j-1)e(j)}),   e(j) = j/(2z²)
//
// and at most e(α), what it costs without sampling, rounded up; +Inf for z = 0. SubsampledGaussian
// is the event for Poisson samples, which cost another amount. Source: Wang, Balle and
// Kasiviswanathan, Subsampled Rényi Differential Privacy and Analytical Moments Accountant (2019),
// Theorem 9.
func FixedBatchRDP(noiseMultiplier, rate float64, alpha int) (float64, error) {
	if !(noiseMultiplier >= 0) {
		return 0, &check.Error{Name: "noise multiplier", Value: noiseMultiplier, Rule: "at least 0"}
	}
	if !(rate > 0 && rate <= 1) {
		return 0, &check.Error{Name: "sampling rate", Value: rate, Rule: "in (0,1]"}
	}
	if alpha < 2 || alpha > MaxFixedBatchOrder {
		return 0, &check.Error{Name: "order", Value: alpha,
			Rule: fmt.Sprintf("an integer between 2 and %d", MaxFixedBatchOrder)}
	}
	if noiseMultiplier == 0 {
		return math.Inf(1), nil
	}
	a, logQ := float64(alpha), math.Log(rate)
	e := func(j float64) float64 { return j / (2 * noiseMultiplier * noiseMultiplier) }
	choose := math.Log(a) + math.Log((a-1)/2) // ln C(α,2)
	logs := make([]float64, 0, alpha-1)
	logs = append(logs, 2*logQ+choose+min(math.Log(4)+num.LogExpm1(e(2)), math.Ln2+e(2)))
	top := logs[0]
	for j := 3.0; j <= a; j++ {
		choose += math.Log((a - j + 1) / j)
		l := math.Ln2 + j*logQ + choose + (j-1)*e(j)
		logs = append(logs, l)
		top = max(top, l)
	}
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(l - top)
	}
	return min(e(a), num.LogOnePlus(top+math.Log(sum))/(a-1)) * (1 + num.SumMargin), nil
}
