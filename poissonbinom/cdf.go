package poissonbinom

// CDF returns the distribution function of L = ΣX_i, of length len(p)+1.
//
//	CDF(p)[l] = Pr[L ≤ l],   l = 0 … len(p)
//
// Summed from l = 0 upwards, so the lower tail is accurate in relative terms:
// relative error below about 4n·2⁻⁵³ with n = len(p), plus n²·2⁻¹⁰²⁰ absolute. Values are
// non-decreasing and at most 1; the last may differ from 1 by rounding. Errors as PMF.
func CDF(p []float64) ([]float64, error) {
	pmf, err := PMF(p)
	if err != nil {
		return nil, err
	}
	return CumulateLower(pmf), nil
}

// Tail returns the upper tail of L = ΣX_i, of length len(p)+1.
//
//	Tail(p)[l] = Pr[L ≥ l],   l = 0 … len(p)
//
// Note the ≥: Tail(p)[l+1] = 1 - CDF(p)[l]. Summed from l = len(p) downwards,
// the small end, so the upper tail is accurate in relative terms, which
// 1 - CDF is not; error bounds as CDF, errors as PMF.
func Tail(p []float64) ([]float64, error) {
	pmf, err := PMF(p)
	if err != nil {
		return nil, err
	}
	return CumulateUpper(pmf), nil
}

// CumulateLower replaces each pmf[l] by the sum of pmf[0..l], at most 1, in place, and
// returns pmf.
func CumulateLower(pmf []float64) []float64 {
	sum := 0.0
	for l, x := range pmf {
		sum += x
		pmf[l] = min(sum, 1)
	}
	return pmf
}

// CumulateUpper replaces each pmf[l] by the sum of pmf[l..], at most 1, in place,
// summed from the last element, and returns pmf.
func CumulateUpper(pmf []float64) []float64 {
	sum := 0.0
	for l := len(pmf) - 1; l >= 0; l-- {
		sum += pmf[l]
		pmf[l] = min(sum, 1)
	}
	return pmf
}
