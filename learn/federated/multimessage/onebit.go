// Package multimessage has sums of numbers that many one-bit messages through a shuffler carry: what baselines
// need that learn/federated/report does not give. The noise is that of everybody's random bits together.
//
// [OneBit] adds up bits, [Scalar] numbers in [0, L], [Vector] vectors of norm at most L, coordinate by coordinate. Their least
// noise is exact for the first two ([LeastLambda], [LeastNoise]); published settings ask for 10 to 20 times as much.
//
// # Notation
//
//	n       n, Users   users, all honest
//	λ       Lambda     of n users this many send a uniform bit on average
//	g       Levels     of a number
//	b_n     Noise      random bits of one user (of a coordinate), each 1 with probability 1/4
//	L       Limit      of a number or a vector's norm
//
// Sources: Cheu, Smith, Ullman, Zeber and Zhilyaev, Distributed Differential Privacy via Shuffling (2019); Cheu, Joseph, Mao
// and Peng, Shuffle Private Stochastic Convex Optimization (2022).
package multimessage

import (
	"cmp"
	"fmt"
	"math"
	"math/big"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/learn/federated/amplification"
)

// Coins are independent uniform 64-bit words, as *rand.ChaCha8 of math/rand/v2 gives them; for a private sum, of a
// secret key.
type Coins interface{ Uint64() uint64 }

// OneBit sums bits: each user sends the bit, or with probability λ/n a uniform one.
type OneBit struct {
	users int
	flip  uint64 // of 2⁶⁴
}

// NewOneBit returns the protocol of n users and λ in (0, n). The probability is rounded up to a multiple of 2⁻⁶³.
func NewOneBit(users int, lambda float64) (OneBit, error) {
	if err := cmp.Or(check.Whole("users", users, 1, math.MaxInt32), check.Open("lambda", lambda, 0, float64(users))); err != nil {
		return OneBit{}, err
	}
	p := new(big.Rat).Quo(num.Decimal(lambda), big.NewRat(2*int64(users), 1)) // λ/(2n) < 1/2
	scaled := new(big.Int).Lsh(p.Num(), 64)
	flip := new(big.Int).Quo(scaled, p.Denom())
	return OneBit{users, flip.Uint64() + 1}, nil
}

// Encode returns the user's message.
func (o OneBit) Encode(bit bool, coins Coins) bool { return bit != (coins.Uint64() < o.flip) }

// Estimate returns the unbiased sum of n bits of which `ones` messages are 1: (ones - np)/(1-2p), p the probability of a flip.
func (o OneBit) Estimate(ones int) float64 {
	p := float64(o.flip) * 0x1p-64
	return (float64(ones) - float64(o.users)*p) / (1 - 2*p)
}

// LeastLambda returns the smallest λ, to 1e-5 and rounded up, for which the sum is private. It is the one-dimensional one-bit report with
// e^ε₀ = (2n-λ)/λ, of which amplification has δ(ε). It is an error where no λ below n is enough.
func LeastLambda(users int, target accountant.Cost) (float64, error) {
	if err := cmp.Or(check.Whole("users", users, 2, math.MaxInt32), check.Epsilon("epsilon", target.Epsilon), check.Within("delta", target.Delta)); err != nil {
		return 0, err
	}
	n := float64(users)
	enough := func(lambda float64) (bool, error) {
		local := math.Log1p(2*(n-lambda)/lambda) * (1 + num.Margin) // rounded up
		delta, err := amplification.Round{Streams: 1, Reports: users, Epsilon: min(local, 32), OneBit: true}.Delta(target.Epsilon)
		return err == nil && delta <= target.Delta && local <= 32, err
	}
	low, high := 0.0, n*(1-1e-9)
	if ok, err := enough(high); !ok {
		return 0, cmp.Or(err, fmt.Errorf("no lambda below n = %d reaches %v", users, target))
	}
	for high-low > 1e-5*high {
		mid := (low + high) / 2
		if low == 0 && high > 1 {
			mid = high / 4 // the answer is far below n
		}
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

// PublishedLambda returns the published setting, (64/ε²)·ln(4/δ), valid for ε ≥ √((192/n)·ln(4/δ)).
func PublishedLambda(users int, target accountant.Cost) (float64, error) {
	if err := cmp.Or(check.Whole("users", users, 1, 0), check.Positive("epsilon", target.Epsilon), check.Within("delta", target.Delta)); err != nil {
		return 0, err
	}
	log := math.Log(4 / target.Delta)
	if least := math.Sqrt(192 / float64(users) * log); target.Epsilon < least {
		return 0, &check.Error{Name: "epsilon", Value: target.Epsilon, Rule: fmt.Sprintf("at least %.4g for %d users by the published theorem", least, users)}
	}
	return 64 / (target.Epsilon * target.Epsilon) * log, nil
}
