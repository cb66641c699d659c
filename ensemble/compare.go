package ensemble

import (
	"fmt"

	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/votes"
)

// Score is how well answers drawn with a noise function would do on given votes,
// in expectation over the draws: exact, nothing is sampled. Scores are computed
// from the raw votes and are not private.
type Score struct {
	Agreement float64 // with the plain majority; a tie counts a half for either answer
	Accuracy  float64 // against the file's labels; only where Labels > 0
	Labels    int     // how many queries have a label
}

// Evaluate scores the noise function f on t's votes:
//
//	Pr[answer = truth | L] = (1 ± φ(L))/2
//
// averaged over the queries. f need not be private: γ ≡ 1 scores the plain
// majority. Evaluate panics unless f is for t's K teachers.
func Evaluate(f gamma.Func, t *votes.Table) Score {
	if f.K() != t.K {
		panic(fmt.Sprintf("ensemble: the votes have K = %d teachers, but the noise function is for %d", t.K, f.K()))
	}
	phi := f.Phi()
	var s Score
	agreement, accuracy := 0.0, 0.0
	for i := range t.Len() {
		q := t.Query(i)
		one := (1 + phi[q.Ones]) / 2
		switch bit, ok := q.Majority().Value(); {
		case !ok:
			agreement += 0.5
		case bit == 1:
			agreement += one
		default:
			agreement += 1 - one
		}
		if bit, ok := q.Label.Value(); ok {
			s.Labels++
			if bit == 1 {
				accuracy += one
			} else {
				accuracy += 1 - one
			}
		}
	}
	if t.Len() > 0 {
		s.Agreement = agreement / float64(t.Len())
	}
	if s.Labels > 0 {
		s.Accuracy = accuracy / float64(s.Labels)
	}
	return s
}
