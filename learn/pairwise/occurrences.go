package pairwise

import "math"

// occurrences returns the tails P(N > q), q = 0, 1, …, of the number N of times that one of n
// records is among draws uniform ones, rounded up, and never rising. The last is below least;
// later ones are too. n ≥ 2. Cost: O(draws/n + √(draws/n)) or so, whatever n is.
//
// The terms of Binomial(draws, 1/n) come from their ratios, in logarithms: each is off by a few
// units in the last place of the largest logarithm, times the number of steps, for which
// the margin is.
func occurrences(draws, n int, least float64) []float64 {
	total, odds := float64(draws), -math.Log(float64(n)-1) // ln(p/(1-p))
	// far from underflow; what is less is never promised
	least = max(least, 1e-200)
	logs := []float64{total * math.Log1p(-1/float64(n))}
	top, at := logs[0], 0
	for q := 1; q <= draws; q++ {
		l := logs[q-1] + math.Log((total-float64(q)+1)/float64(q)) + odds
		logs = append(logs, l)
		if l > top {
			top, at = l, q
		}
		if q > at && l < math.Log(least)-60 && l < logs[q-1]-0.01 {
			break // what follows falls at least as fast: the rest is below 100 of the last
		}
	}
	margin := 1 + float64(len(logs))*0x1p-48*(1+math.Abs(logs[0]))
	tails := make([]float64, len(logs))
	rest := 0.0
	if len(logs) <= draws {
		rest = 101 * math.Exp(logs[len(logs)-1])
	}
	for q := len(logs) - 1; q >= 0; q-- {
		tails[q] = min(1, rest*margin)
		rest += math.Exp(logs[q])
	}
	for q, v := range tails {
		if v < least {
			return tails[:q+1]
		}
	}
	return tails
}

// mostOccurrences returns the smallest q ≥ 1 with P(N > q) ≤ gamma. 0 would leave a phase without
// noise where gamma covers every draw of a record.
func mostOccurrences(draws, n int, gamma float64) float64 {
	for q, v := range occurrences(draws, n, gamma) {
		if q > 0 && v <= gamma {
			return float64(q)
		}
	}
	return float64(draws)
}

// chernoff returns a bound on both the number of draws after the first, and of those before the
// last, that are one record, each exceeded with probability at most gamma/2: with μ = steps/n and
// l = ln(2/γ), μ + (l + √(l²+8lμ))/2. The text has √(lμ) for √(2lμ) in its weaker form, which
// does not hold where μ > l.
func chernoff(steps, n int, gamma float64) float64 {
	mu, l := float64(steps)/float64(n), math.Log(2/gamma)
	return (mu + (l+math.Sqrt(l*l+8*l*mu))/2) * (1 + 0x1p-45)
}
