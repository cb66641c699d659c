package ensemble

import (
	"errors"
	"math"
	"math/big"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// atVotes bounds what GNMax's answers to all queries of b cost together at these very
// votes, δ in (0,1) for all of them, by costAtVotes:
//
//	ρ = t²/σ²,   q ≤ Σ_{i≠i*} (Pr[Z > n_{i*}-n_i] + ½·Pr[Z = n_{i*}-n_i])
//
// Z being the difference of two draws of the discrete noise. It is computed from private
// votes, is not sanitised and can be charged to nothing; the queries must not be chosen by
// earlier answers. Noise with σ ≥ 2048 leaves so little agreement that the votes say nothing.
// Other mechanisms have no such bound: nil.
//
// Source: Papernot et al., Scalable Private Learning with PATE (2018), Theorem 6; the
// bound on q, there for normal noise, is that of the noise drawn here.
func (m *Mechanism) atVotes(b *Ballots, delta float64) (*DataDependent, error) {
	if m.gnmax == nil {
		return nil, nil
	}
	if err := m.checkBallots(b); err != nil {
		return nil, err
	}
	overtaking, err := m.gnmax.Overtaking(m.setting.K)
	var outside *check.Error
	if err != nil && !errors.As(err, &outside) {
		return nil, err
	}
	answers := make([]likelyAnswers, len(b.kinds))
	for i, kind := range b.kinds {
		answers[i] = likelyAnswers{logMiss(overtaking, kind.counts), kind.queries}
	}
	t := int64(m.setting.Affected)
	rho := new(big.Rat).Quo(big.NewRat(t*t, 1), m.gnmax.Variance())
	d, err := costAtVotes(num.FromRat(rho).DecimalUp(), answers, delta)
	return &d, err
}

// logMiss returns ln of a bound on the probability that the largest count is not the one
// released, rounded up and at most 0. Without overtaking it is 0.
func logMiss(overtaking []num.Interval, counts []int) float64 {
	if overtaking == nil {
		return 0
	}
	most, winner := largest(counts), true
	sum := num.FromInt(0)
	for _, n := range counts {
		if n == most && winner {
			winner = false // one of those that tie
			continue
		}
		sum = sum.Add(overtaking[most-n])
	}
	const smallest = -1 << 20 // 2 to this power; ln of what is below takes long to work out
	if sum.Hi().MantExp(nil) < smallest {
		return smallest * math.Ln2 * (1 - 1e-9)
	}
	q, _ := sum.Hi().Rat(nil)
	return min(0, num.Log(num.FromRat(q)).Upper())
}
