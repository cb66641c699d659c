package amplification

import (
	"math"
	"testing"
)

// histograms returns the law of how often each of k symbols is sent, as a map from counts, for
// users who hold the symbols and answer by randomised response of k values: the truth with odds
// e^ε₀ against each other symbol. It is a codebook with a cap of one.
func histograms(held []int, k int, epsilon float64) map[[4]int]float64 {
	law := map[[4]int]float64{{}: 1}
	total := math.Exp(epsilon) + float64(k-1)
	for _, truth := range held {
		next := map[[4]int]float64{}
		for h, p := range law {
			for s := range k {
				q := 1 / total
				if s == truth {
					q = math.Exp(epsilon) / total
				}
				to := h
				to[s]++
				next[to] += p * q
			}
		}
		law = next
	}
	return law
}

// Reports that are not one bit are priced by the clones of any ε₀-private report. The truth of
// randomised response with three and four values, by enumeration of what all others hold, is never
// above that.
func TestAnyReportIsBounded(t *testing.T) {
	for _, v := range []struct{ n, k int }{{1, 3}, {2, 3}, {3, 4}, {5, 3}, {6, 4}} {
		for _, eps := range []float64{0.3, 1, 3} {
			r := Round{Streams: 1, Reports: v.n, Epsilon: eps}
			bounds := map[float64]float64{}
			for _, alpha := range []float64{1.5, 2, 8, 32} {
				bounds[alpha] = rdp(t, r, alpha)
			}
			var rec func(others []int, from int)
			rec = func(others []int, from int) {
				if len(others) < v.n-1 {
					for s := from; s < v.k; s++ {
						rec(append(others[:len(others):len(others)], s), s)
					}
					return
				}
				p := histograms(append(others[:len(others):len(others)], 0), v.k, eps)
				for x := 1; x < v.k; x++ {
					q := histograms(append(others[:len(others):len(others)], x), v.k, eps)
					for alpha, bound := range bounds {
						forth, back := 0.0, 0.0
						for h, a := range p {
							forth += math.Pow(a, alpha) * math.Pow(q[h], 1-alpha)
							back += math.Pow(q[h], alpha) * math.Pow(a, 1-alpha)
						}
						if truth := math.Log(max(forth, back)) / (alpha - 1); truth > bound*(1+1e-12) {
							t.Errorf("%+v, eps %g, alpha %g, others %v: %g above the bound %g", v, eps, alpha, others,
								truth, bound)
						}
					}
				}
			}
			rec(nil, 0)
		}
	}
}
