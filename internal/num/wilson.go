package num

import "math"

// Wilson returns the 95 % score interval (Wilson, 1927) for a share of n > 0 trials, which need not
// be a whole number:
//
//	(x + z²/2n ± z·√(x(1-x)/n + z²/4n²)) / (1 + z²/n),  z = 1.95996…
func Wilson(share, n float64) (low, high float64) {
	const z = 1.959963984540054
	middle := share + z*z/(2*n)
	half := z * math.Sqrt(max(0, share*(1-share))/n+z*z/(4*n*n))
	scale := 1 + z*z/n
	return max(0, (middle-half)/scale), min(1, (middle+half)/scale)
}
