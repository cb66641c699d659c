package amplification

import (
	"math"

	"github.com/darrm/darrm/internal/num"
)

// Batches of one-bit reports.
//
// A silo draws B of its n records without replacement, γ = B/n. Draw the batch as B-1 of the
// records other than the neighbouring one, and one more: that record with probability γ, else some
// y uniform among the rest. Reveal the B-1 and what other silos drew, which costs no less. Then
//
//	P = γP_x + (1-γ)P_y,   Q = γP_x' + (1-γ)P_y
//
// by joint convexity for the worst y, where P_z is the law of the shuffled round with z in the last
// place.
//
// Theorem. For integer α ≥ 2, with T_j = max_y E_{P_y} |(P_x - P_x')/P_y|^j, y = x, x' included,
//
//	ε_RDP(α) ≤ ln(1 + Σ_{j=2}^α C(α,j)·γ^j·T_j) / (α-1)
//
// Proof. Expand E_Q(P/Q)^α in powers of (P-Q)/Q = γ(P_x-P_x')/Q; the linear term is E_Q(P-Q)/Q = 0.
// |u|^j/q^(j-1) is jointly convex for j ≥ 1, and Q is a mean of P_x' and P_y, so
// E|P_x-P_x'|^j/Q^(j-1) ≤ T_j.
//
// Theorem. For even j, one stream of one-bit reports has
//
//	T_j ≤ E_C E_S (2κ|S|/N)^j·(1-κS/N)^(1-j),
//
// and for odd j ≥ 3, T_j² ≤ T_{j-1}·T_{j+1}.
//
// Proof. The functional of (P_x - P_x', P_y) is jointly convex and homogeneous, so it does not grow
// under a channel: the blanket view is enough, and so are vectors of full norm. There, with D the
// mean of d_i = (s_i - s'_i)/2 in {-1, 0, 1} and Y the mean of y_i in {-1, 1}, it is
// E(2κD)^j(1+κY)^(1-j). As a power series in Y the coefficients of even powers are positive.
// Moments E D^a·Y^b with a even: expand the product over places. Places are independent and each
// pair (d_i, y_i) is as likely as its negative, so factors with an odd number of d_i and y_i have
// mean 0; then odd b contribute nothing. Every other factor is at most 1 in size, and is 1 where D
// = -Y. The odd j are Cauchy's and Schwarz's inequality with |u|^j/q^(j-1) =
// |u|^((j-1)/2)/q^((j-2)/2) · |u|^((j+1)/2)/q^(j/2).
//
// Theorem. Where one batch feeds two streams, whose permutations and seeds are independent, T_2 ≤
// 2T_2 + 4T_2² of one stream, and for even j ≥ 4 T_j ≤ 2^j·T_j·e^((j-1)·ε_RDP(j)), ε_RDP of one
// stream of all records (Exact).
//
// Proof. Given the batch the streams are independent: P_z is a product. Let r, r' be the densities
// of P_x, P_x' by P_y of a stream. Then r₁r₂ - r'₁r'₂ = (r₁-r'₁)r₂ + r'₁(r₂-r'₂), and by Minkowski
// the norm of order j under P_y is at most the sum of ‖r₁-r'₁‖·‖r₂‖ and ‖r'₁‖·‖r₂-r'₂‖, where
// ‖r-r'‖^j ≤ T_j and ‖r‖^j = e^((j-1)D_j(P_x‖P_y)). For j = 2 write r = 1+a, r' = 1+a', of which E
// a = E a' = 0, and α_i = E a_i², α'_i = E a'_i², β_i = E a_i·a'_i:
//
//	E(r₁r₂-r'₁r'₂)² = (1+α₁)(1+α₂) + (1+α'₁)(1+α'₂) - 2(1+β₁)(1+β₂) = t₁ + t₂ + α₁α₂ + α'₁α'₂ - 2β₁β₂
//
// with t_i = α_i + α'_i - 2β_i = E(r_i-r'_i)² ≤ T_2. Also α_i = E|P_x-P_y|²/P_y² and α'_i are at
// most T_2, being the same functional of x, y and y, and |β_i| ≤ √(α_i·α'_i). So the rest is at
// most 4T_2². ∎
//
// Costs of the streams of one batch do not add: each reveals whether a record was drawn.

// moment is T_j of one stream, j even.
type moment struct{ j float64 }

func (f moment) powers(b blanket) (c [4]float64, ok bool) {
	// (2κ)^j·y^j·Σ_{i even} C(j-2+i, i)·κ^i·y^i
	x := math.Pow(2*b.kappa, f.j)
	for i := 0.0; f.j+i <= 8; i += 2 {
		c[int(f.j+i)/2-1] = x
		x *= b.kappa * b.kappa * (f.j - 1 + i) * (f.j + i) / ((i + 1) * (i + 2))
	}
	return c, true
}

// growth takes |y|^j ≤ (j/(eθ))^j·e^(θ|y|), θ = √(jN).
func (f moment) growth(b blanket, n float64) (logFactor, lambda float64) {
	theta := math.Sqrt(f.j * n)
	return f.j * (math.Log(2*b.kappa) + math.Log(f.j/theta) - 1),
		theta + (f.j-1)*b.kappa*slope(b.kappa)
}

// least is the moment of a normal law.
func (f moment) least(b blanket, n float64) float64 {
	return f.j*math.Log(2*b.kappa) + f.j/2*(math.Log(f.j/n)-1)
}

func (f moment) logSum(s *slice, m int) float64 {
	for i := range m {
		a := (f.j - 1) * s.atanh[i]
		s.buffer[i] = s.logW[i] + f.j*s.log2T[i] + (1-f.j)*s.logR[i] + a - math.Ln2 +
			math.Log1p(math.Exp(-2*a))
	}
	return logSumExp(s.buffer[:m])
}

// maxTernary is the largest order.
const maxTernary = 256

// logMoments returns ln T_j for j up to the largest of the orders, [0] and [1] unused, rounded up.
func logMoments(b blanket, epsilon float64, top int, joint bool) []float64 {
	top += top % 2
	logs := make([]float64, top+1)
	var fs []functional
	for j := 2; j <= top; j += 2 {
		fs = append(fs, moment{float64(j)})
	}
	for i, l := range b.logMeans(fs) {
		logs[2*i+2] = l
	}
	if joint {
		var alphas []float64
		for j := 4; j <= top; j += 2 {
			alphas = append(alphas, float64(j))
		}
		logs[2] = math.Ln2 + logs[2] + math.Log1p(2*math.Exp(logs[2]))
		for i, rho := range exactRDP(b, epsilon, alphas) {
			j := alphas[i]
			logs[int(j)] += j*math.Ln2 + (j-1)*rho
		}
	}
	for j := 3; j < top; j += 2 {
		logs[j] = (logs[j-1] + logs[j+1]) / 2
	}
	for j := range logs {
		logs[j] += num.Margin * (1 + math.Abs(logs[j]))
	}
	return logs
}

// ternaryRDP sums the series at one order.
func ternaryRDP(logs []float64, gamma float64, alpha int) float64 {
	terms := make([]float64, 0, alpha)
	choose, a := math.Log(float64(alpha)), float64(alpha)
	for j := 2; j <= alpha; j++ {
		choose += math.Log((a - float64(j) + 1) / float64(j))
		terms = append(terms, choose+float64(j)*math.Log(gamma)+logs[j])
	}
	// Logarithms are off by a few units in the last place of the largest, some hundred at most.
	return (num.LogOnePlus(logSumExp(terms)+num.SumMargin) + num.Tiny) / (a - 1) * (1 + num.Margin)
}
