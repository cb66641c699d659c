package noise

import "math"

// Suggest returns a σ near the smallest at which δ(ε) of t moved votes is at most delta,
// without any promise: it is what VotesDelta (for ratio = 0) or CheckedDelta (for first
// noise of ratio·σ) should be asked about. It is NaN where no σ within the exact range
// will do. Cost: some ten milliseconds.
func Suggest(t int, epsilon, delta, ratio float64) float64 {
	fits := func(variance float64) bool {
		return roughDelta(float64(t), variance, ratio*ratio*variance, epsilon) <= delta
	}
	low, high := 1e-4, float64(maxExactVariance)/max(1, ratio*ratio)*(1-1e-6)
	if fits(low) {
		return math.Sqrt(low)
	}
	if !fits(high) {
		return math.NaN()
	}
	for high/low > 1+1e-12 {
		if mid := math.Sqrt(low * high); fits(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return math.Sqrt(high)
}

// roughDelta is VotesDelta, or CheckedDelta where first > 0, in float64.
func roughDelta(shift, variance, first, epsilon float64) float64 {
	weight := func(k float64) float64 { return math.Exp(-k * k / (4 * variance)) }
	n := int(56*math.Sqrt(variance)) + 3 // e^-784 is no float64
	var t [2]float64
	for k := n; k > 0; k-- {
		t[k%2] += 2 * weight(float64(k))
	}
	t[0]++
	norm := t[0]*t[0] + t[1]*t[1]
	above := make([]float64, n+2) // Pr[Z ≥ k]
	for k := n; k >= 0; k-- {
		above[k] = above[k+1] + weight(float64(k))*t[k%2]/norm
	}
	tail := func(m float64) float64 {
		switch {
		case m > float64(n):
			return 0
		case m > 0:
			return above[int(m)]
		case 1-m > float64(n):
			return 1
		}
		return 1 - above[int(1-m)]
	}
	if first == 0 {
		m := math.Floor(epsilon*variance/shift) - shift + 1
		return tail(m) - math.Exp(epsilon)*tail(m+2*shift)
	}
	law := newTable(math.Sqrt(1500*first), func(k float64) float64 {
		return math.Exp(-k * k / (2 * first))
	})
	sum, lost := 0.0, 0.0
	for x := -law.reach; x <= law.reach; x++ {
		m := math.Floor((epsilon/shift-(shift-2*float64(x))/(2*first))*variance) - shift + 1
		_, p, _ := law.at(x)
		_, q, _ := law.at(x - int(shift))
		sum += p * tail(m)
		lost += q * tail(m+2*shift)
	}
	return sum - math.Exp(epsilon)*lost
}
