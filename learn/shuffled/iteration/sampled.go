package iteration

import (
	"cmp"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// SampledSteps is DP-SGD with one record drawn uniformly and independently in each step,
// for ReplaceOne: the baseline beside which shuffled methods are put. Its figures hold
// for no shuffled method.
type SampledSteps struct {
	Steps   int     // ≥ 0
	Records int     // n ≥ 1; the sampling rate is q = 1/n
	Clip    float64 // G > 0
	Noise   float64 // σ ≥ 0 per coordinate, on the gradient
}

// maxSampledOrder is the largest order that is tried.
const maxSampledOrder = 512

func (s SampledSteps) check() error {
	return cmp.Or(checkCount("steps", s.Steps, 0), checkCount("records", s.Records, 1), checkClip(s.Clip), checkNoise("noise", s.Noise))
}

// RDP returns an upper bound on the Rényi divergence of one step at integer order α in
// [2, 512], rounded up. With e(j) = 2jG²/σ²,
//
//	R(α) = 1/(α-1)·ln(1 + q²·C(α,2)·min{4(e^{e(2)}-1), 2e^{e(2)}} + Σ_{j=3}^α 2q^j·C(α,j)·e^{(j-1)e(j)})
//
// and at most e(α), what the step costs without sampling. Source: Wang, Balle and
// Kasiviswanathan, Subsampled Rényi Differential Privacy and Analytical Moments Accountant
// (2019), Theorem 9.
func (s SampledSteps) RDP(alpha int) (float64, error) {
	if err := s.check(); err != nil {
		return 0, err
	}
	if alpha < 2 || alpha > maxSampledOrder {
		return 0, &check.Error{Name: "order", Value: alpha, Rule: fmt.Sprintf("an integer between 2 and %d", maxSampledOrder)}
	}
	return s.divergence(alpha), nil
}

func (s SampledSteps) divergence(alpha int) float64 {
	if s.Noise == 0 {
		return math.Inf(1)
	}
	a, logQ := float64(alpha), -math.Log(float64(s.Records))
	e := func(j float64) float64 { return 2 * j * s.Clip * s.Clip / (s.Noise * s.Noise) }
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
	return min(e(a), num.LogOnePlus(top+math.Log(sum))/(a-1)) * (1 + num.SumMargin)
}

// Epsilon returns the smallest ε over the integer orders at δ in (0,1) and its order: 0
// without steps, +Inf without noise.
func (s SampledSteps) Epsilon(delta float64) (eps float64, alpha int, err error) {
	if err := s.check(); err != nil {
		return 0, 0, err
	}
	if err := check.Within("delta", delta); err != nil {
		return 0, 0, err
	}
	if s.Steps == 0 {
		return 0, 0, nil
	}
	eps = math.Inf(1)
	for a := 2; a <= maxSampledOrder; a++ {
		total := float64(s.Steps) * s.divergence(a) * (1 + num.Margin)
		if v := finite(accountant.ClassicalEpsilonFromRDP(float64(a), total, delta)); v < eps {
			eps, alpha = v, a
		}
		if total > 2*eps {
			break // larger orders diverge more; to miss one is only conservative
		}
	}
	return eps, alpha, nil
}

// Calibrate returns s with the smallest noise, rounded up, whose cost is at most the
// target's; none without steps.
func (s SampledSteps) Calibrate(target accountant.Cost) (SampledSteps, error) {
	s.Noise = 0
	if err := s.check(); err != nil {
		return SampledSteps{}, err
	}
	if err := checkTarget(target); err != nil {
		return SampledSteps{}, err
	}
	if s.Steps == 0 {
		return s, nil
	}
	fits := func(sigma float64) bool {
		c := s
		c.Noise = sigma
		eps, _, err := c.Epsilon(target.Delta)
		return err == nil && eps <= target.Epsilon
	}
	high := s.Clip
	for !fits(high) {
		if high *= 2; high > 1e15*s.Clip {
			// Even without any divergence the conversion costs ln(1/δ)/511.
			return SampledSteps{}, fmt.Errorf("no noise found for %v with orders up to %d: %w", target, maxSampledOrder, accountant.ErrUnsupported)
		}
	}
	low := high / 2
	for fits(low) && low > 1e-90 {
		low, high = low/2, low
	}
	for range 45 {
		if mid := math.Sqrt(low) * math.Sqrt(high); fits(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	s.Noise = high
	return s, nil
}
