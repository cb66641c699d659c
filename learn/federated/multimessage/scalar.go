package multimessage

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/poissonbinom"
)

// Scalar sums numbers x in [0, L]: a user rounds xg/L at random to a whole number, adds how many of b_n bits of
// probability 1/4 are 1, and sends so many ones of g + b_n bits, each as a message of its own.
type Scalar struct {
	Limit  float64 // L > 0
	Levels int     // g ≥ 1
	Noise  int     // b_n ≥ 0; the sum is private for LeastNoise or more
}

// Check says which parameter is not valid.
func (s Scalar) Check() error {
	return cmp.Or(check.Positive("limit", s.Limit), check.Whole("levels", s.Levels, 1, 1<<30), check.Whole("noise bits", s.Noise, 0, 1<<30))
}

// Bits returns how many one-bit messages a user sends.
func (s Scalar) Bits() int { return s.Levels + s.Noise }

// Encode returns how many of the user's messages are ones. The messages are AppendMessages'; the number itself must not be
// sent. It refuses an x outside [0, L].
func (s Scalar) Encode(x float64, coins Coins) (ones int, err error) {
	if err := s.Check(); err != nil {
		return 0, err
	}
	if !(x >= 0 && x <= s.Limit) {
		return 0, &check.Error{Name: "number to add", Value: x, Rule: fmt.Sprintf("in [0, %g]", s.Limit)}
	}
	level := x / s.Limit * float64(s.Levels)
	whole := math.Floor(level)
	ones = int(whole)
	if float64(coins.Uint64()>>11)*0x1p-53 < level-whole {
		ones++
	}
	for left := s.Noise; left > 0; left -= 64 {
		w := coins.Uint64()
		w &= coins.Uint64() // each bit is 1 with probability 1/4
		if left < 64 {
			w &= 1<<left - 1
		}
		ones += bits.OnesCount64(w)
	}
	return ones, nil
}

// AppendMessages appends the user's messages, a byte of 0 or 1 each. Shuffled with all others only their number counts.
func (s Scalar) AppendMessages(dst []byte, ones int) []byte {
	for i := range s.Bits() {
		if i < ones {
			dst = append(dst, 1)
		} else {
			dst = append(dst, 0)
		}
	}
	return dst
}

// Estimate returns the unbiased sum of n users' numbers: L/g·(ones - n·b_n/4).
func (s Scalar) Estimate(ones, users int) float64 {
	return s.Limit / float64(s.Levels) * (float64(ones) - float64(users)*float64(s.Noise)/4)
}

// LargestVariance returns the variance of the estimate for the worst numbers: (L/g)²·(n·b_n·3/16 + n/4).
func (s Scalar) LargestVariance(users int) float64 {
	step, n := s.Limit/float64(s.Levels), float64(users)
	return step * step * (n*float64(s.Noise)*3/16 + n/4)
}

// Delta returns δ(ε) of the sum of n honest users when one is replaced, rounded up: the larger of the two
// hockey-stick divergences between Bin(n·b_n, 1/4) and itself moved by g. Smaller moves and rounding at random cost no more, by the
// law's log-concavity and joint convexity.
func (s Scalar) Delta(users int, epsilon float64) (float64, error) {
	if err := cmp.Or(s.Check(), check.Whole("users", users, 1, 0), check.Epsilon("epsilon", epsilon), s.fits(users)); err != nil {
		return 0, err
	}
	law := poissonbinom.Binomial(users*s.Noise, 0.25)
	e := math.Exp(epsilon) * (1 - num.Margin)
	up, down := 0.0, 0.0
	at := func(i int) float64 {
		if i < 0 || i >= len(law) {
			return 0
		}
		return law[i]
	}
	for i := range len(law) + s.Levels {
		here, moved := at(i), at(i-s.Levels)
		up += max(0, moved-e*here)
		down += max(0, here-e*moved)
	}
	return min(1, max(up, down)*(1+num.SumMargin)), nil
}

// maxBits is the most noise bits of all users together: a law of more is not computed.
const maxBits = 1 << 26

func (s Scalar) fits(users int) error {
	if s.Noise > 0 && users > maxBits/s.Noise {
		return &check.Error{Name: "noise bits of all users", Value: fmt.Sprintf("%d × %d", users, s.Noise), Rule: fmt.Sprintf("at most %d", maxBits)}
	}
	return nil
}

// LeastNoise returns the smallest b_n for which the sum of n honest users, in g levels, is private at the target.
// It is an error where that is more than 2²⁶ bits in all.
func LeastNoise(users, levels int, target accountant.Cost) (int, error) {
	if err := check.Within("delta", target.Delta); err != nil {
		return 0, err
	}
	enough := func(b int) (bool, error) {
		delta, err := Scalar{1, levels, b}.Delta(users, target.Epsilon)
		return err == nil && delta <= target.Delta, err
	}
	// Normal noise of the same variance is close: gallop from there.
	low, high := 0, max(1, normalNoise(users, levels, target))
	for step := 1 + high/64; ; step *= 2 {
		ok, err := enough(high)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		low, high = high, high+step
	}
	for step := 1 + high/64; low == 0 && high-step > 0; step *= 2 {
		ok, err := enough(high - step)
		if err != nil {
			return 0, err
		}
		if !ok {
			low = high - step
			break
		}
		high -= step
	}
	for high-low > 1 {
		mid := (low + high) / 2
		ok, err := enough(mid)
		if err != nil {
			return 0, err
		}
		if ok {
			high = mid
		} else {
			low = mid
		}
	}
	return high, nil
}

// normalNoise is the answer for normal noise of variance 3·n·b/16: where the search begins.
func normalNoise(users, levels int, target accountant.Cost) int {
	sigma, err := accountant.GaussianNoise(target)
	if err != nil {
		return 1
	}
	b := sigma * float64(levels) * sigma * float64(levels) * 16 / (3 * float64(users))
	return int(min(b, float64(maxBits/users)))
}
