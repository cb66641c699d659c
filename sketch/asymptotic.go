package sketch

import "math"

// asymptotic is the law of SRHT and Haar for large d and a linear T with ρ in (-1/(n-1), 1].
// With t = k/d,
// ψ(ρ) is the limit of (1/d) E Σ λ/T(λ), from the Stieltjes transform g of the spectrum of a sum of
// n free projections of rank t at z0 = -(1-ρ)/ρ. β = n/ψ and β' = -nψ'/ψ².
func asymptotic(n, k, d int, rho float64) (beta, slope float64) {
	m, t := float64(n), float64(k)/float64(d)
	if rho == 1 {
		if m*t <= 1 {
			return 1 / t, -(m - 1) / (1 - m*t)
		}
		return m, m - (m-1)/(m*t-1)
	}
	if math.Abs(rho)*(1+m*t) < 1e-5 { // the formulas below lose digits to cancellation here
		return m / (m*t - rho*m*(m-1)*t*t), m - 1
	}
	z := -(1 - rho) / rho
	a := z * (m - z)
	b := t*m*m - m - (m-2)*z
	c := m - 1
	root := math.Copysign(math.Sqrt(b*b-4*a*c), rho)
	g := (-b + root) / (2 * a)
	if rho > 0 && b > 0 {
		g = 2 * c / (-b - root)
	}
	psi := (1 + (1-rho)/rho*g) / rho
	dg := -((m-2*z)*g - (m - 2)) * g / (2*a*g + b)
	dpsi := -((g+z*dg)/(rho*rho) + psi) / rho
	return m / psi, -m * dpsi / (psi * psi)
}
