package ensemble

import "github.com/darrm/darrm/internal/noise"

// normalLaw returns the probability that each count is the largest once independent normal
// noise of deviation σ was added to each: see noise.NormalMax. Votes may be missing.
func normalLaw(counts []int, sigma float64) []float64 {
	runs := noise.RunsOf(counts)
	return noise.Spread(counts, runs, noise.NormalMax(runs, sigma))
}
