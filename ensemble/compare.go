package ensemble

import (
	"fmt"

	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/votes"
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

// Evaluate scores the noise function f on t's votes:
//
//	Pr[answer = truth | L] = (1 ± φ(L))/2
//
// averaged over the queries. f need not be private: γ ≡ 1 scores the plain
// majority. Evaluate panics unless f is for t's K teachers and t is valid.
func Evaluate(f gamma.Func, t *votes.Table) Score {
	if f.K() != t.K {
		panic(fmt.Sprintf("ensemble: the votes have K = %d teachers, but the noise function is for %d", t.K, f.K()))
	}
	b, err := BallotsOf(t)
	if err != nil {
		panic(fmt.Sprintf("ensemble: votes that cannot be: %v", err))
	}
	phi := f.Phi()
	return b.score(func(counts []int) []float64 {
		one := (1 + phi[counts[1]]) / 2
		return []float64{1 - one, one}
	})
}

// Evaluate scores the mechanism on the votes. The error says that they are of other
// teachers or classes.
func (a *Aggregator) Evaluate(b *Ballots) (Score, error) {
	if err := a.checkBallots(b); err != nil {
		return Score{}, err
	}
	return b.score(a.rule.law), nil
}

func (a *Aggregator) checkBallots(b *Ballots) error {
	if b.K() != a.setting.K {
		return &check.Error{Name: "K of the votes", Value: b.K(), Rule: fmt.Sprintf("the mechanism's, %d", a.setting.K)}
	}
	if b.Classes() != a.setting.Classes {
		return &check.Error{Name: "classes of the votes", Value: b.Classes(), Rule: fmt.Sprintf("the mechanism's, %d", a.setting.Classes)}
	}
	return nil
}
