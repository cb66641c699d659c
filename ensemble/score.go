package ensemble

import (
	"fmt"

	"github.com/darrm/darrm/internal/check"
)

// Score is how well answers drawn by a mechanism would do on given votes, in expectation
// over the draws: nothing is sampled. Scores are computed from the raw votes and are not
// private.
type Score struct {
	Agreement float64 // with the plain majority; where n classes tie, each of them counts 1/n
	Accuracy  float64 // against the queries' true classes; only where Labels > 0
	Abstained float64 // share of queries without a class, which agree with nothing
	Labels    int     // how many queries have a true class
}

// Evaluate scores the mechanism on the votes. The error says that they are of other
// teachers or classes.
func (m *Mechanism) Evaluate(b *Ballots) (Score, error) {
	if err := m.checkBallots(b); err != nil {
		return Score{}, err
	}
	return b.score(m.rule.law), nil
}

func (m *Mechanism) checkBallots(b *Ballots) error {
	if b.K() != m.setting.K {
		return &check.Error{Name: "K of the votes", Value: b.K(), Rule: fmt.Sprintf("the mechanism's, %d", m.setting.K)}
	}
	if b.Classes() != m.setting.Classes {
		return &check.Error{Name: "classes of the votes", Value: b.Classes(), Rule: fmt.Sprintf("the mechanism's, %d", m.setting.Classes)}
	}
	return nil
}
