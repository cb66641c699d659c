package sketch

import "math"

// law describes an estimator's errors for every correlation: with ρ* = R/(n-1),
//
//	MSE = (Q/n²) (none + ρ* (full - none)).
type law struct {
	beta float64
	none float64 // at R = 0
	full float64 // at R = n-1
}

// fromSlope is the law of a linear T of orthonormal rows: β(ρ) is concave, and the error is
// its tangent at ρ, β + (ρ*-ρ) β' - 1 - R.
func fromSlope(n int, rho, beta, slope float64) law {
	return law{beta, beta - rho*slope - 1, beta + (1-rho)*slope - float64(n)}
}

// closed is the law of row selection, of T = 1, and of ρ = 1 at full rank.
func (c Config) closed(t linear) (law, error) {
	n, k, d := float64(c.N), float64(c.K), float64(c.padded())
	switch {
	case c.Ensemble == RowSelect:
		return c.binomial(t)
	case t.rho == 0:
		e := d/k - 1
		switch c.Ensemble {
		case Gaussian:
			e = (d + 1) / k
		case GaussianRowNorm, CountSketch:
			e = (d - 1) / k
		}
		return law{1 / c.meanSquare(), e, e}, nil
	case n*k <= d:
		// The expected sum of 1/λ has d - nk in its denominator for large d. With one less it is
		// within 3 % in simulations where the two differ.
		free := d - n*k - 1
		none := math.Inf(1)
		if free > 0 {
			none = d/k*(d-k)/free - 1
		}
		return law{d / k, none, d/k - n}, nil
	}
	return fromSlope(c.N, 1, n, n-(n-1)/(n*k/d-1)), nil
}

// binomial is the law of Rand-k-Spatial, exact for every T: with p = k/d and B_m ~ Bin(m, p),
//
//	β = 1/(p E 1/T(1+B_{n-1})),  α = β² p E T(1+B_{n-1})⁻²,  γ = β² p² E T(2+B_{n-2})⁻²,
//	MSE = (Q/n²) (α - 1 + (γ-1) R).
func (c Config) binomial(t linear) (law, error) {
	n, p := c.N, float64(c.K)/float64(c.D)
	mean := func(m, from int, power float64) (float64, error) {
		sum := 0.0
		// what lies outside has a probability below 10⁻⁸⁰
		centre, width := float64(m)*p, 40*math.Sqrt(float64(m)*p*(1-p))+40
		for b := max(0, int(centre-width)); b <= min(m, int(centre+width)+1); b++ {
			weight := binomialWeight(m, b, p)
			if weight == 0 {
				continue
			}
			v, err := t.at(float64(from + b))
			if err != nil {
				return 0, err
			}
			sum += weight * math.Pow(v, -power)
		}
		return sum, nil
	}
	first, err := mean(n-1, 1, 1)
	if err != nil {
		return law{}, err
	}
	beta := 1 / (p * first)
	second, err := mean(n-1, 1, 2)
	if err != nil {
		return law{}, err
	}
	alpha := beta * beta * p * second
	l := law{beta, alpha - 1, alpha - 1}
	if n > 1 {
		cross, err := mean(n-2, 2, 2)
		if err != nil {
			return law{}, err
		}
		l.full = alpha + float64(n-1)*beta*beta*p*p*cross - float64(n)
	}
	return l, nil
}

// binomialWeight is Pr[Bin(m, p) = b], by logarithms, so that large m do not overflow.
func binomialWeight(m, b int, p float64) float64 {
	if p == 1 {
		if b == m {
			return 1
		}
		return 0
	}
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	return math.Exp(lg(m) - lg(b) - lg(m-b) + float64(b)*math.Log(p) + float64(m-b)*math.Log1p(-p))
}
