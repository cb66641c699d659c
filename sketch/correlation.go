package sketch

import (
	"github.com/darrm/darrm/internal/check"
)

// checkStar checks ρ* of n clients' vectors. One vector has no correlation, and any is allowed.
func checkStar(n int, star float64) error {
	low := -1.0
	if n > 1 {
		low = -1 / float64(n-1)
	}
	const slack = 1e-9 // of rounding in Correlation
	if !(star >= low-slack && star <= 1+slack) {
		return check.Wantf("rho", star, "between -1/(n-1) = %.3g and 1", low)
	}
	return nil
}

// Correlation returns the two statistics that the mean squared error depends on:
// Q = Σ ‖x_i‖² and R = (‖Σ x_i‖² - Q)/Q, which lies in [-1, n-1]. R is n-1 for identical
// vectors, 0 for orthogonal ones, and 0 by definition if Q is 0 or there is one vector. All
// vectors must have the same length. It takes O(nd).
func Correlation(xs [][]float64) (r, q float64) {
	if len(xs) == 0 {
		return 0, 0
	}
	sum := make([]float64, len(xs[0]))
	for _, x := range xs {
		for j, v := range x {
			sum[j] += v
			q += v * v
		}
	}
	if q == 0 || len(xs) == 1 {
		return 0, q
	}
	return (dot(sum, sum) - q) / q, q
}

func dot(a, b []float64) float64 {
	s := 0.0
	for j, v := range a {
		s += v * b[j]
	}
	return s
}
