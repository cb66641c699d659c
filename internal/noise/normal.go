package noise

import "math"

// NormalMax returns, for each run of counts, the probability that a certain one of them is the
// largest once independent normal noise of deviation σ was added to each count. With n_u counts of
// u votes, one of v votes has
//
//	p(v) = ∫ φ(x)·Φ(x)^(n_v-1)·Π_{u≠v} Φ(x + (v-u)/σ)^n_u dx,
//
// an integral over one variable, however many counts there are. The trapezoidal rule of step h
// errs by about e^(-2π²/(C·h²)) of C counts, since the integrand is entire and grows in the
// imaginary direction y like e^(C·y²/2). h makes that 1e-14; beyond 9σ around the largest count
// there is less. Runs are in descending order of their counts, of which no sum is presumed.
//
// Cost: about 23·√C points, each an error function for each different count.
//
// Source of the rule: Trefethen and Weideman, The Exponentially Convergent Trapezoidal Rule (2014).
func NormalMax(runs []Run, sigma float64) []float64 {
	const reach = 9
	counts := 0
	for _, r := range runs {
		counts += r.Size
	}
	step := math.Sqrt(0.61 / float64(counts))
	below, won := make([]float64, len(runs)), make([]float64, len(runs))
	points := int(math.Ceil(reach / step))
	for i := -points; i <= points; i++ {
		x, all := float64(i)*step, 1.0
		for r, of := range runs { // in units of σ, above the largest count
			z := x + float64(runs[0].Count-of.Count)/sigma
			below[r] = math.Erfc(-z/math.Sqrt2) / 2 // above 1e-24, since z > -10
			all *= Power(below[r], of.Size)
		}
		for r, of := range runs {
			z := x + float64(runs[0].Count-of.Count)/sigma
			won[r] += step * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / below[r] * all
		}
	}
	return won
}
