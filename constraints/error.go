package constraints

import (
	"math"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/poissonbinom"
)

// unit is u, half the spacing of float64 just above 1.
const unit = 0x1p-53

// evaluationError bounds |computed - exact| of every scaled left-hand side
// w·Φ(p) - w'·Φ(p') that a sweep computes.
//
// # Proof
//
// Let C = AverageError(K), which bounds the error of any chain of at most K
// averaging operators on φ (package poissonbinom; φ is exact, |φ| ≤ 1, and the
// constants a, b, Δ, 1-Δ are correctly rounded). C < 2⁻⁴⁰ as K ≤ 2001.
//
// Weights. ŵ, ŵ' have relative error u, each product and the difference one
// rounding. With |Φ̂| ≤ 1+C and w + w' = 1 the scaled left-hand side is off by at
// most C + 3u(1+u)²(1+C) < C + 4u when Φ and Φ' are off by at most C. This is
// the whole error where Δ = 0, and of the monotone sweep.
//
// Splits. Where Δ > 0, Φ = Σ_x Σ_y β_i(x)·β_l(y)·U(n1+x-y), with β_i the law of
// Binomial(i,Δ) cut after x = d, and U a chain. A step of the recurrence of β
// multiplies the relative error by at most (1+u)³ (coefficient, product, sum of
// non-negative terms), so β̂ = β(1+ρ), |ρ| ≤ (1+u)^{3K}-1 ≤ C; what underflows is
// off by less than K·2⁻¹⁰⁷³ besides, far below the room left at the end. A sum of d+1
// products adds (d+1)u relative to Σ|terms| ≤ (1+C)² to first order. The inner sum
// is thus off by 2C + (d+1)u, the outer by 3C + 2(d+1)u, both up to second-order
// terms; the mass cut off is at most 2τ with τ ≥ P(Binomial(t,Δ) > d). The bound
//
//	4C + 4(d+2)u + 2τ
//
// has C + 2(d+2)u to spare for the weights (4u) and all second-order terms, which
// are below 20(C + (d+2)u)² < 2⁻³⁰(C + (d+2)u).
func evaluationError(p Problem) float64 {
	c := poissonbinom.AverageError(p.K)
	if p.TeacherDelta == 0 {
		return roundUp(c + 4*unit)
	}
	d, tau := truncation(p.Affected, p.TeacherDelta)
	return roundUp(float64(4*c) + float64(4*float64(d+2)*unit) + float64(2*tau))
}

// screenError bounds how far the computed bound of a screen may fall short of the
// exact one, beyond C + 4u. The bound adds at most K·Δ times a weighted difference
// of two entries of a chain (each off by C, the differences by 2C+2u), and (KΔ)²/2
// times a weighted second difference, or twice a first one in the bound of a whole family
// (off by 4C+6u, at most 4 in size): with the
// roundings of weights, products and sums, fewer than eight each, relative to
// terms of size at most 2 and 4.
func screenError(p Problem) float64 {
	c := poissonbinom.AverageError(p.K)
	x := float64(p.K) * p.TeacherDelta
	y := float64(2*c) + 24*unit
	return roundUp(float64(x*y) + float64(x*x*y) + 16*unit)
}

// nearbyError is screenError of the bound of a multiset by itself (nearby), whose part of second
// order is Δ² times a sum over at most N teachers of (N-1)/2·P or N·M. P and M are averages by a law
// (entries off by C relatively, sum at most 1+C, d+1 terms) of second differences (off by 4C+10u, at
// most 4 in size), so each is off by at most 8C + (4d+20)u. All teachers together: by at most
// (KΔ)²·(12C + (6d+40)u), d ≤ K and so 6du ≤ 2C: less than 7·(KΔ)²·y. What vertices leaves above its
// best split, (M+M')·(n0²+n1²)/8 of that, is off by less: n0²+n1² ≤ K². The best split itself is
// off by the error of evaluation, as is what the second level computes: see nearbyScreen.
func nearbyError(p Problem) float64 {
	c := poissonbinom.AverageError(p.K)
	x := float64(p.K) * p.TeacherDelta
	y := float64(2*c) + 24*unit
	return roundUp(float64(x*y) + float64(7*x*x*y) + 16*unit)
}

// nearbyScreen is what the bound of a multiset by itself must be below the threshold for its
// computed value to be below: the errors of evaluation of both besides, as of the screen.
func (s *System) nearbyScreen() float64 {
	return nearbyError(s.problem) + float64(2*s.evalError)
}

// roundUp returns a number that is at least the exact value of an expression of
// a few non-negative terms, of which x is the float64 evaluation.
func roundUp(x float64) float64 { return float64(x * (1 + 0x1p-48)) }

// truncated is the mass that a binomial law may lose by truncation. It enters
// the certified bound, so it is kept far below the rounding error.
const truncated = 0x1p-56

// truncation returns where to cut Binomial(n,Δ), and τ ≥ P(X > d). The union
// bound over which d+1 of the n variables are one gives
// P(X > d) ≤ C(n,d+1)·Δ^{d+1}. Without a cut (d = n), τ = 0.
func truncation(n int, delta float64) (d int, tau float64) {
	bound := 1.0
	for d = 0; d < n; d++ {
		bound *= float64(n-d) / float64(d+1) * delta
		if bound*(1+0x1p-30) <= truncated { // rounding: at most 3n·u relative
			return d, truncated
		}
	}
	return n, 0
}

// binomialLaws returns β_i(x) = P(Binomial(i,Δ) = x) for i ≤ n and x ≤ d.
func binomialLaws(n, d int, pr probability) [][]float64 {
	laws := make([][]float64, n+1)
	flat := make([]float64, (n+1)*(d+1))
	for i := range laws {
		laws[i] = flat[i*(d+1) : (i+1)*(d+1)]
		if i == 0 {
			laws[0][0] = 1
			continue
		}
		prev := laws[i-1]
		laws[i][0] = pr.q * prev[0]
		for x := 1; x <= d; x++ {
			laws[i][x] = float64(pr.q*prev[x]) + float64(pr.p*prev[x-1])
		}
	}
	return laws
}

// negInf is the maximum over nothing.
var negInf = math.Inf(-1)

// RowError bounds Σ_l |computed - exact| over the coefficients of a row from Row or
// Rows, and hence the error of each. The laws are relatively accurate, within C
// (poissonbinom.PMFError; what underflows is far below), and sum to 1; a
// coefficient weighs two differences of their entries with three roundings each. So
// the sum is off by at most (w+w')·C·(1+3u) + 3u·(w+w')·(1+C)² < C + 4u.
func (s *System) RowError() float64 {
	s = handle.Made(s)
	return roundUp(poissonbinom.AverageError(s.problem.K) + 4*unit)
}
