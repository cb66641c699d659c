package randomiser

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mathext"
)

// A codebook is n pairs ±v_i of directions drawn uniformly from the sphere of R^d. Of their 2n
// inner products with a unit vector the m largest, m ≤ n, are the m largest |⟨v_i,u⟩|, so by the
// law of order statistics the mean of Σ g(|⟨v_i,u⟩|) over the m favoured is
//
//	n·∫ g(s)·f(s)·Pr[Bin(n-1, 1-F(s)) ≤ m-1] ds
//
// with f, F the law of |⟨v,u⟩|. With s = sin θ, f(s)ds = cos^{d-2}θ dθ/W, smooth for d ≥ 2.

// codebookNodes integrates to about 1e-13: the integrand is smooth and its range cut to where it is
// not 0.
const codebookNodes = 400

// favoured returns the mean of Σ s and of Σ s² over the m favoured of n pairs.
func favoured(d, n, m int) (sum, squares float64) {
	if d == 1 {
		return float64(m), float64(m)
	}
	// |⟨v,u⟩| is above √(80/d) with probability below e^-40, for n ≤ 128 of them as well.
	top := math.Pi / 2
	if s := math.Sqrt(80 / float64(d)); s < 1 {
		top = math.Asin(s)
	}
	half := float64(d-1) / 2
	lb1, _ := math.Lgamma(half)
	lb2, _ := math.Lgamma(half + 0.5)
	weight := 2 / math.Sqrt(math.Pi) * math.Exp(lb2-lb1) // 1/∫cos^{d-2}, over [0, π/2]
	few := func(s float64) float64 {                     // Pr[Bin(n-1, 1-F(s)) ≤ m-1]
		if m == n {
			return 1
		}
		f := mathext.RegIncBeta(0.5, half, min(1, s*s))
		return mathext.RegIncBeta(float64(n-m), float64(m), f)
	}
	at := func(power float64) float64 {
		return float64(n) * weight * quad.Fixed(func(theta float64) float64 {
			s := math.Sin(theta)
			return math.Pow(s, power) * math.Pow(math.Cos(theta), float64(d-2)) * few(s)
		}, 0, top, codebookNodes, quad.Legendre{}, 0)
	}
	return at(1), at(2)
}
