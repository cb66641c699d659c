package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/accountant"
)

// worth is the least gain of useful labels over a guess, as a share of the guess's disagreement.
const worth = 0.05

// UselessError reports that even the best possible mechanism is hardly better than a guess. Then
// none was searched for.
type UselessError struct {
	PerLabel    accountant.Cost // twice the ε that was to be had
	Most, Guess float64         // how often any mechanism, and a guess, agree
}

func (e *UselessError) Error() string {
	return fmt.Sprintf("with labels of (%.4g, %.3g) no mechanism agrees in more than %.2f %%, and a "+
		"guess does in %.2f %%", e.PerLabel.Epsilon, e.PerLabel.Delta, 100*e.Most, 100*e.Guess)
}

// useless reports whether labels that agree so often are hardly better than a guess.
func (l *Law) useless(agreement float64) bool {
	guess := l.Guess()
	return agreement-guess < worth*(1-guess)
}

// most returns how often labels can agree that see the vote counts alone and are (ε, δ)-private
// where one record changes t votes, whatever the mechanism. The law treats all classes alike, so
// the best mechanism may do so too. To move v-u votes from a class with v to one with u exchanges
// the two, in k = ⌈(v-u)/t⌉ steps, so that
//
//	p(v) ≤ e^{kε}·p(u) + δ_k,   δ_k = δ·(e^{kε}-1)/(e^ε-1)
//
// and of n classes with the most votes v all together have at most
//
//	n·(1 + Σ_u e^{-kε}·δ_k)/(n + Σ_u e^{-kε}),   u over the other classes
//
// It is worked out in float64, since no promise rests on it. Cost: O(C) a histogram.
func (l *Law) most(t int, label accountant.Cost) float64 {
	mean := 0.0
	for _, c := range l.cells {
		v := slices.Max(c.counts)
		n, lost, others := 0.0, 0.0, 0.0
		for _, u := range c.counts {
			if u == v {
				n++
				continue
			}
			k := float64((v - u + t - 1) / t)
			others += math.Exp(-k * label.Epsilon)
			lost -= label.Delta * math.Expm1(-k*label.Epsilon) / math.Expm1(label.Epsilon) // e^{-kε}·δ_k
		}
		mean += c.weight / l.total * min(1, n*(1+lost)/(n+others))
	}
	return mean
}
