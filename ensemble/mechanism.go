package ensemble

import (
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/randsrc"
)

// Mechanism is DaRRM: with probability γ(L) it answers the majority of the
// teachers, otherwise a fair coin. It is safe for concurrent use. Source:
// S. Jiang, Communication Efficient and Differentially Private Optimization (2024),
// Algorithm 1.
type Mechanism struct {
	certified *gamma.Certified
	secure    *randsrc.Secure
}

// New returns the mechanism of a certified noise function. It panics if c is nil or was
// not made by certifying (the zero value).
func New(c *gamma.Certified) *Mechanism {
	if c == nil || c.Problem().K < 1 {
		panic("ensemble: mechanism without a certified noise function")
	}
	return &Mechanism{certified: c, secure: randsrc.NewSecure()}
}

// K returns the number of teachers.
func (m *Mechanism) K() int { return m.certified.Problem().K }

// Certified returns the noise function and its proof.
func (m *Mechanism) Certified() *gamma.Certified { return m.certified }

// PerAnswer returns the (mε, δ) that one answer costs.
func (m *Mechanism) PerAnswer() accountant.Cost {
	eps, delta := m.certified.Problem().Total()
	return accountant.Cost{Epsilon: eps, Delta: delta}
}

// ProbabilityOfOne returns Pr[answer 1 | L = ones] as a numerator over 2⁵⁴, which
// is exact:
//
//	(2⁵³ + sign(L-K/2)·γ(L)·2⁵³) / 2⁵⁴
func (m *Mechanism) ProbabilityOfOne(ones int) (numerator uint64, err error) {
	if err := m.checkVotes(ones); err != nil {
		return 0, err
	}
	k := m.certified.Func().Numerator(ones)
	switch {
	case 2*ones > m.K():
		return gamma.One + k, nil
	case 2*ones < m.K():
		return gamma.One - k, nil
	}
	return gamma.One, nil
}

func (m *Mechanism) checkVotes(ones int) error {
	if ones < 0 || ones > m.K() {
		return fmt.Errorf("votes for 1 = %d, but it must be between 0 and K = %d", ones, m.K())
	}
	return nil
}

// Release answers one query: ones of the K teachers answered 1. Every call is a
// new private answer that costs PerAnswer. Its randomness is the operating
// system's; there is no way to pass another. On error there is no answer.
func (m *Mechanism) Release(ones int) (bool, error) { return m.answer(m.secure, ones) }

// answer draws the answer. Both draws are made whatever the votes are, so that
// the number of draws says nothing about them.
func (m *Mechanism) answer(src randsrc.Source, ones int) (bool, error) {
	if err := m.checkVotes(ones); err != nil {
		return false, err
	}
	truthful, err := randsrc.Bernoulli53(src, m.certified.Func().Numerator(ones))
	if err != nil {
		return false, err
	}
	coin, err := src.Bit()
	if err != nil {
		return false, err
	}
	if truthful && 2*ones != m.K() { // a tie has no majority to tell
		return 2*ones > m.K(), nil
	}
	return coin, nil
}

// Simulation repeats the mechanism from a seed. Whoever knows the seed knows the
// votes: nothing it returns is private. It is not safe for concurrent use.
type Simulation struct {
	mechanism *Mechanism
	src       *randsrc.Seeded
}

// Simulate returns the simulation with the given seed.
func (m *Mechanism) Simulate(seed uint64) *Simulation {
	return &Simulation{m, randsrc.NewSeeded(seed)}
}

// Draw returns one simulated answer. It is not private.
func (s *Simulation) Draw(ones int) (bool, error) { return s.mechanism.answer(s.src, ones) }
