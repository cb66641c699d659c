package plurality

import (
	"errors"

	"github.com/darrm/darrm/internal/handle"
)

var (
	errUncertified = errors.New("the mechanism was not certified")
	errNoSystem    = errors.New("system must be given: use NewSystem")
)

// Law returns the probability of each class when these are the votes, then that of
// abstaining where it is an answer, to the nearest float64. It is not private.
func (c *Certified) Law(counts []int) ([]float64, error) {
	if c.Problem().K < 1 {
		return nil, errUncertified
	}
	return c.system.Law(c.masses, counts)
}

// Law is Certified.Law for the masses of s's variables.
func (s *Space) Law(masses []uint64, counts []int) ([]float64, error) {
	s = handle.Made(s)
	h, err := s.Index(counts)
	if err != nil {
		return nil, err
	}
	each := map[int]float64{}
	for i := s.start[h]; i < s.start[h+1]; i++ {
		each[int(s.votes[i])] = float64(masses[i]) / float64(One) / float64(s.classesOf[i])
	}
	law := make([]float64, 0, s.classes+1)
	for _, v := range counts {
		law = append(law, each[v])
	}
	if s.abstain {
		law = append(law, each[Abstained])
	}
	return law, nil
}
