package accountant

import (
	"math"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// subsampledRDP bounds the Rényi divergence ρ of order α of the Gaussian on a Poisson sample.
func subsampledRDP(sigma, q, alpha float64) float64 {
	switch {
	case q == 0:
		return 0
	case q == 1:
		return gaussianRDP(sigma, alpha)
	}
	// Sampling never hurts, so the plain Gaussian is a bound too.
	bound := gaussianRDP(sigma, alpha)
	lower := math.Floor(alpha)
	if lower == alpha {
		return min(bound, subsampledLogMoment(sigma, q, int(alpha))/(alpha-1)*(1+num.SumMargin)+
			math.SmallestNonzeroFloat64)
	}
	// (α-1)·ρ(α) = ln E[e^{(α-1)L}] is convex in α and 0 at α = 1, so that between two integers it is
	// below the line through its values there.
	below := 0.0
	if lower >= 2 {
		below = subsampledLogMoment(sigma, q, int(lower))
	}
	above := subsampledLogMoment(sigma, q, int(lower)+1)
	part := alpha - lower
	logMoment := min((1-part)*below+part*above, subsampledQuadrature(sigma, q, alpha))
	return min(bound, logMoment/(alpha-1)*(1+num.SumMargin)+math.SmallestNonzeroFloat64)
}

// subsampledLogMoment returns ln A, rounded up, of
//
//	A = Σ_{k=0}^α C(α,k)·(1-q)^{α-k}·q^k·e^{(k²-k)/(2σ²)}
//
// for integer α ≥ 2: Mironov, Talwar and Zhang (2019), Section 3.3. The weights of the exponentials
// sum to 1, so A - 1 is the same sum of e^{(k²-k)/(2σ²)} - 1, which are 0 for k = 0 and 1 and positive
// for the others.
func subsampledLogMoment(sigma, q float64, alpha int) float64 {
	const ulp = 0x1p-52
	logs := make([]float64, 0, alpha-1)
	top := math.Inf(-1)
	a, inverse := float64(alpha), 1/(2*sigma*sigma)
	logQ, logRest := math.Log(q), math.Log1p(-q)
	choose, chooseError := math.Log(a), 2*ulp*math.Log(a) // ln C(α,1) and its rounding error
	for k := 2.0; k <= a; k++ {
		step := math.Log((a - k + 1) / k)
		choose += step
		chooseError += ulp * (math.Abs(choose) + 2*math.Abs(step) + 1)
		x := (k*k - k) * inverse
		l := choose + (a-k)*logRest + k*logQ + num.LogExpm1(x)
		// The summands of l may be large and cancel, so l is rounded up by what each of them loses;
		// 1000 is for LogExpm1.
		l += chooseError + 4*ulp*(math.Abs(choose)+(a-k)*math.Abs(logRest)+k*math.Abs(logQ)+
			math.Abs(x)+1000)
		logs = append(logs, l)
		top = max(top, l)
	}
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(l - top)
	}
	// A - 1 may be below the smallest float64; ln A is above 0 even then.
	return num.LogOnePlus(top+math.Log(sum)) + math.SmallestNonzeroFloat64
}

// subsampledQuadrature returns an upper bound on ln E[(1-q+q·e^w)^α], w = z/σ -
// 1/(2σ²), for real α > 1 and z standard normal, by the trapezoidal rule.
//
// The integrand is f(z) = φ(z)·(1-q+q·e^w)^α, φ the normal density. It is analytic for |Im z| < πσ,
// where 1-q+q·e^w first meets the negative axis; on |Im z| = s ≤ πσ/2 its size is at most
// e^{s²/2}·f(Re z). So with step h the rule is off by at most 2·e^{s²/2}/(e^{2πs/h} - 1) of the value
// (Trefethen and Weideman, The Exponentially Convergent Trapezoidal Rule, 2014, Theorem 5.1). Left of
// -40 and right of α/σ+40 ln f falls by more than 40 for each unit of z, so all terms that are cut
// off sum to less than the first and the last one divided by 1-e^{-40h}.
func subsampledQuadrature(sigma, q, alpha float64) float64 {
	s := min(4, math.Pi*sigma/2)
	const decay = 50 // with s²/2 ≤ 8 the rule is off by 2e^{8-50} < 1e-17
	h := 2 * math.Pi * s / decay
	low, high := -40.0, alpha/sigma+40
	n := math.Ceil((high - low) / h)
	if n > 1<<16 {
		return math.Inf(1) // the integer orders will do, in less time
	}
	const ulp = 0x1p-52
	logIntegrand := func(z float64) float64 {
		w := z/sigma - 1/(2*sigma*sigma)
		var base float64
		if w > 30 {
			base = w + math.Log(q) + math.Log1p((1-q)/q*math.Exp(-w))
		} else {
			base = math.Log1p(q * math.Expm1(w))
		}
		l := -z*z/2 + alpha*base
		// Rounding of the exponent, bounded from above.
		return l + 4*ulp*(z*z+alpha*(math.Abs(base)+math.Abs(z)/sigma+1/(sigma*sigma)+
			math.Abs(math.Log(q)))+1)
	}
	top := math.Inf(-1)
	logs := make([]float64, int(n)+1)
	for i := range logs {
		logs[i] = logIntegrand(low + float64(i)*h)
		top = max(top, logs[i])
	}
	sum := (math.Exp(logs[0]-top) + math.Exp(logs[len(logs)-1]-top)) / -math.Expm1(-40*h)
	for _, l := range logs {
		sum += math.Exp(l - top)
	}
	relative := 2*math.Exp(s*s/2)/math.Expm1(decay) + n*ulp + 1e-14
	return top + math.Log(sum*h/math.Sqrt(2*math.Pi)*(1+relative))
}

// MaxFixedBatchOrder is the largest order of FixedBatchRDP.
const MaxFixedBatchOrder = 512

// FixedBatchRDP returns an upper bound on the Rényi divergence, between datasets that differ by
// ReplaceOne, of normal noise on a sum over a batch of fixed size that is drawn uniformly without
// replacement: at integer order α in [2, 512], for a noise multiplier z (standard deviation per
// unit of the sum's L2 sensitivity to one replaced record) and the rate γ in (0,1] of the batch,
//
//	ρ(α) = 1/(α-1)·ln(1 + γ²·C(α,2)·min{4(e^{e(2)}-1), 2e^{e(2)}} + Σ_{j=3}^α 2γ^j·C(α,j)·e^{(j-1)e(j)}),   e(j) = j/(2z²)
//
// and at most e(α), the divergence without sampling, rounded up; +Inf for z = 0. SubsampledGaussian
// is the event for Poisson samples, whose divergence is another. Source: Wang, Balle and
// Kasiviswanathan, Subsampled Rényi Differential Privacy and Analytical Moments Accountant (2019),
// Theorem 9.
func FixedBatchRDP(noiseMultiplier, rate float64, alpha int) (float64, error) {
	if !(noiseMultiplier >= 0) {
		return 0, check.Want("noise multiplier", noiseMultiplier, "at least 0")
	}
	if !(rate > 0 && rate <= 1) {
		return 0, check.Want("sampling rate", rate, "in (0,1]")
	}
	if alpha < 2 || alpha > MaxFixedBatchOrder {
		return 0, check.Wantf("order", alpha, "an integer between 2 and %d", MaxFixedBatchOrder)
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
