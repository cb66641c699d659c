// Package composetest composes mechanisms in a way of its own, for tests of those that compose by
// formulas.
package composetest

import "math"

// Delta returns δ(target) of k copies of the worst (ε, δ) mechanism, by convolution, one copy at a
// time and in float64: its privacy loss L is +∞ with probability δ, else ε with probability
// 1/(1+e^-ε) and -ε otherwise, and δ(target) = E[(1-e^{target-L})₊].
func Delta(k int, epsilon, delta, target float64) float64 {
	p := (1 - delta) / (1 + math.Exp(-epsilon))
	q := (1 - delta) / (1 + math.Exp(epsilon))
	mass, infinite := []float64{1}, 0.0 // mass[j]: loss (2j-n)ε after n copies
	for range k {
		next := make([]float64, len(mass)+1)
		for j, m := range mass {
			next[j+1] += m * p
			next[j] += m * q
		}
		infinite += delta * (1 - infinite)
		mass = next
	}
	sum := infinite
	for j, m := range mass {
		if l := float64(2*j-k) * epsilon; l > target {
			sum += m * -math.Expm1(target-l)
		}
	}
	return sum
}
