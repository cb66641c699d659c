package noise

import (
	"fmt"
	"math/bits"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc"
)

// ArgMax returns the index of the largest value. Where several are largest, each of them
// is returned with the same probability.
func ArgMax(src randsrc.Source, values []int64) (int, error) { return argMax(fair{src}, values) }

func argMax(c coins, values []int64) (int, error) {
	if len(values) == 0 {
		return 0, fmt.Errorf("no values to choose from")
	}
	best, ties := 0, uint64(0)
	for i, v := range values {
		switch {
		case v > values[best]:
			best, ties = i, 1
		case v == values[best]:
			ties++
		}
	}
	if ties == 1 {
		return best, nil
	}
	nth, err := c.uniform(ties)
	if err != nil {
		return 0, err
	}
	for i, v := range values {
		if v != values[best] {
			continue
		}
		if nth == 0 {
			return i, nil
		}
		nth--
	}
	panic("noise: fewer ties than were counted")
}

// PermuteAndFlip goes through the scores in random order and returns the first whose
// coin shows heads, the coin of score q having probability
//
//	e^{-(q_max - q)·num/den}
//
// which is 1 for the largest. It takes num below 2³², den between 1 and 2⁶³, and scores
// at most 2⁶³/num apart.
//
// Source: McKenna and Sheldon, Permute-and-Flip: A New Mechanism for Differentially
// Private Selection (2020), Algorithm 1.
func PermuteAndFlip(src randsrc.Source, scores []int, num, den uint64) (int, error) {
	if num >= 1<<32 || den < 1 || den > maxUniform {
		return 0, check.Want("rate", fmt.Sprintf("%d/%d", num, den),
			"a fraction with a numerator below 2^32 and a denominator between 1 and 2^63")
	}
	return permuteAndFlip(fair{src}, scores, num, den)
}

func permuteAndFlip(c coins, scores []int, num, den uint64) (int, error) {
	if len(scores) == 0 {
		return 0, fmt.Errorf("no scores to choose from")
	}
	largest := scores[0]
	order := make([]int, len(scores))
	for i, q := range scores {
		order[i] = i
		largest = max(largest, q)
	}
	for i := range order {
		// One step of a Fisher-Yates shuffle: each of those left is equally likely.
		j, err := c.uniform(uint64(len(order) - i))
		if err != nil {
			return 0, err
		}
		order[i], order[i+int(j)] = order[i+int(j)], order[i]
		gap := uint64(largest - scores[order[i]])
		over, rate := bits.Mul64(gap, num)
		if over != 0 || rate > maxUniform {
			return 0, check.Wantf("difference of scores", gap, "at most 2^63/%d", num)
		}
		heads, err := c.exp(rate, den)
		if err != nil {
			return 0, err
		}
		if heads {
			return order[i], nil
		}
	}
	panic("noise: the coin of the largest score showed tails")
}
