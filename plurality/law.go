package plurality

import "fmt"

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
