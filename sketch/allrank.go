package sketch

import "github.com/darrm/darrm/internal/check"

// Rank returns the rank of S in a round of all clients 0 to N-1: how many numbers of the nk that
// they send tell the server something new. It is exact, and only for SRHT. It takes O((nk)²d).
func Rank(c Config, round uint64) (int, error) {
	if err := c.check(); err != nil {
		return 0, err
	}
	if c.Ensemble != SRHT {
		return 0, check.Want("ensemble", c.Ensemble, SRHT.String())
	}
	s := &system{config: c}
	for client := range uint64(c.N) {
		s.g = append(s.g, c.matrix(round, client))
	}
	return s.rank(), nil
}
