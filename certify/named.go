package certify

import (
	"cmp"
	"context"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
)

// certifyNamed certifies the laws of all histograms of classes that are told apart. Of two classes they are a noise
// function by the labels' names; of more a table of one answer.
func (d *Draft) certifyNamed(ctx context.Context, s ensemble.Stated, r *Result) error {
	if d.Abstains {
		return &MechanismError{check.Want("abstain", "given", "left out where the classes are told apart: histograms are "+
			"not sorted, each is there by itself")}
	}
	k, classes := cmp.Or(s.K, d.votes()), len(d.Laws[0].Votes)
	p := answers.Problem{K: k, Classes: classes, Affected: value(s.Affected, k), Answers: 1, Epsilon: value(s.LabelEpsilon, 1),
		Delta: 0.5, Named: true} // for the rules of size alone
	if err := p.Validate(); err != nil {
		return err
	}
	// Before the space is listed: a small file must not ask for a large one.
	if n := plurality.NamedHistograms(k, classes); len(d.Laws) < n/2 {
		return &MechanismError{check.Wantf("number of histograms", len(d.Laws), "%d: all histograms of %d votes for %d classes "+
			"that are told apart", n, k, classes)}
	}
	space := plurality.NewNamedSpace(k, classes)
	masses, change, err := space.FromGiven(d.Laws)
	if err != nil {
		return &MechanismError{err}
	}
	if classes == 2 {
		f, err := byName(space, masses)
		if err != nil {
			return err
		}
		s.K = k
		return certifyNoise(ctx, s, f, change, r)
	}
	var c *answers.Certified
	if p.Delta = value(s.Delta, 0); s.LabelEpsilon != nil {
		c, err = answers.CertifyDelta(ctx, p, masses)
	} else if err = check.Delta("delta", p.Delta); err == nil {
		c, err = answers.CertifyEpsilon(ctx, p, masses)
	}
	if err != nil {
		return err
	}
	each := c.Certificate().Each
	r.Change = change
	r.Answers, err = answers.NewTable(ctx, c, answers.DefaultPrior(c.Problem()),
		answers.Law{Name: answers.OneLaw, Epsilon: each.Epsilon, Delta: each.Delta}, nil)
	if err == nil {
		r.Answers.Solver = solver
	}
	return err
}

// byName returns the noise function that draws as masses of two classes do: label 1 has (1+φ(l))/2, and twice a mass
// less 2⁵³ is a whole number of 54 bits that a float64 has exactly.
func byName(space *plurality.Space, masses []uint64) (gamma.Func, error) {
	k := space.Histograms() - 1
	values := make([]float64, k+1)
	for h := range space.Histograms() {
		votes := space.Histogram(h)
		first, _ := space.Range(h)
		phi := float64(2*int64(masses[first+1])-gamma.One) / float64(gamma.One)
		if l := votes[1]; 2*l < k {
			values[l] = -phi
		} else {
			values[l] = phi
		}
	}
	return gamma.NewByName(values)
}
