package noise

import "github.com/darrm/darrm/internal/num"

// Overtaking returns, for each gap from 0 to largest, an interval around the probability
// that a count which is lower by gap comes out above a larger one once noise of law g is on
// both, a tie counting half:
//
//	Pr[Z > gap] + ½·Pr[Z = gap] = (Pr[Z ≥ gap] + Pr[Z ≥ gap+1])/2
//
// where Z is the difference of two independent draws. Summed over the other counts it
// bounds the probability that the largest count is not the one released: among n that tie it
// loses with probability (n-1)/n ≤ (n-1)/2. Cost and error as VotesDelta's.
func (g Gaussian) Overtaking(largest int) ([]num.Interval, error) {
	if err := g.exactRange(1); err != nil {
		return nil, err
	}
	d := g.difference(int64(largest) + 1)
	half := num.FromInt(1).Quo(num.FromInt(2))
	out := make([]num.Interval, largest+1)
	for gap := range out {
		out[gap] = d.tail(int64(gap)).Add(d.tail(int64(gap) + 1)).Mul(half)
	}
	return out, nil
}
