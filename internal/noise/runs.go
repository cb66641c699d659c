package noise

import "slices"

// Run is a count that so many classes have.
type Run struct{ Count, Size int }

// RunsOf returns the different counts, descending. Classes of one run are alike to any noise.
func RunsOf(counts []int) (runs []Run) {
	sorted := slices.Clone(counts)
	slices.Sort(sorted)
	for _, n := range slices.Backward(sorted) {
		if len(runs) == 0 || runs[len(runs)-1].Count != n {
			runs = append(runs, Run{n, 0})
		}
		runs[len(runs)-1].Size++
	}
	return runs
}

// Spread returns for each of the counts the value of its run.
func Spread(counts []int, runs []Run, values []float64) []float64 {
	out := make([]float64, len(counts))
	for c, n := range counts {
		out[c] = values[slices.IndexFunc(runs, func(r Run) bool { return r.Count == n })]
	}
	return out
}

// Power returns x^n, n ≥ 0, by squaring.
func Power(x float64, n int) float64 {
	y := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			y *= x
		}
		x *= x
	}
	return y
}
