package plurality

import (
	"fmt"

	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/internal/randsrc"
)

// Draw answers one query: counts[c] of the teachers voted for class c. One uniform 53-bit
// integer against the masses chooses a group of classes with the same votes, and then each
// of them is equally likely, so that every probability is exactly what was certified. It
// returns a class or Abstained. On error there is no answer.
func (c *Certified) Draw(src randsrc.Source, counts []int) (class int, err error) {
	s, h, err := c.find(counts)
	if err != nil {
		return Abstained, err
	}
	u, err := noise.Uniform(src, One)
	if err != nil {
		return Abstained, err
	}
	i := int(s.start[h])
	for ; u >= c.masses[i]; i++ { // the masses sum to One > u
		u -= c.masses[i]
	}
	// Drawn of one class, or of abstaining, too, so that the number of draws says nothing
	// about the votes.
	nth, err := noise.Uniform(src, max(2, uint64(s.classesOf[i])))
	if err != nil || s.votes[i] == Abstained {
		return Abstained, err
	}
	nth %= uint64(s.classesOf[i])
	for class, v := range counts {
		if v != int(s.votes[i]) {
			continue
		}
		if nth == 0 {
			return class, nil
		}
		nth--
	}
	panic(fmt.Sprintf("plurality: fewer than %d classes have %d votes", s.classesOf[i], s.votes[i]))
}

// Law returns the probability of each class when these are the votes, then that of
// abstaining where it is an answer, to the nearest float64. It is not private.
func (c *Certified) Law(counts []int) ([]float64, error) {
	s, h, err := c.find(counts)
	if err != nil {
		return nil, err
	}
	each := map[int]float64{}
	for i := s.start[h]; i < s.start[h+1]; i++ {
		each[int(s.votes[i])] = float64(c.masses[i]) / float64(One) / float64(s.classesOf[i])
	}
	law := make([]float64, 0, s.problem.outputs())
	for _, v := range counts {
		law = append(law, each[v])
	}
	if s.abstain {
		law = append(law, each[Abstained])
	}
	return law, nil
}

func (c *Certified) find(counts []int) (*System, int, error) {
	if c.Problem().K < 1 {
		return nil, 0, fmt.Errorf("the mechanism was not certified")
	}
	h, err := c.system.Index(counts)
	return c.system, h, err
}
