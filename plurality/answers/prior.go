package answers

import (
	"cmp"
	"context"
	"math/big"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plurality"
)

// Prior is the law of the votes under which a table is to agree with them most often: the label
// agrees if it is any of the classes with the most votes. It decides what is useful and never what
// is private, as long as it does not depend on private data.
type Prior struct {
	plurality.Objective
	// Present in (0,1] is how likely each teacher votes, by itself, where votes may be missing and
	// the Objective is not of Counts. Otherwise it is 0.
	Present float64
	// Shares and Costs of classes that are told apart (Problem.Named): nil stands for equal shares and for
	// agreement. Counts are then taken as they are stated, each for the classes in their order.
	Shares plurality.Shares
	Costs  plurality.Costs
	// Yes has the share of yes of each label, in the place of Shares, where Problem.Labels is above 0.
	Yes []float64
}

// DefaultPresent is the Present that is presumed where none is stated.
const DefaultPresent = 0.9

// DefaultPrior returns the prior that is presumed where none is stated.
func DefaultPrior(p Problem) Prior {
	prior := Prior{Objective: plurality.DefaultObjective(p.Classes)}
	if p.Missing {
		prior.Present = DefaultPresent
	}
	return prior
}

// Validate returns an error naming the first field that breaks its rule.
func (o Prior) Validate(p Problem) error {
	if err := o.Objective.Validate(plurality.Problem{Classes: p.Classes, Abstain: p.Abstain}); err !=
		nil {
		return err
	}
	switch {
	case !p.Named && (o.Shares != nil || o.Costs != nil):
		return check.Want("shares and costs", "given", "left out unless the classes are told apart")
	case p.Labels > 0 || o.Yes != nil:
		if err := o.validateYes(p); err != nil {
			return err
		}
	case o.Shares != nil && o.Counts != nil:
		return check.Want("shares", o.Shares, "left out where counts are the prior: they have shares of their own")
	}
	if err := cmp.Or(o.Shares.Validate(p.Classes), o.Costs.Validate(p.Classes)); err != nil {
		return err
	}
	switch {
	case p.Missing && o.Counts == nil:
		return check.UpTo("present", o.Present, 1)
	case o.Present != 0:
		return check.Want("present", o.Present,
			"0 where every teacher votes and where counts are the prior")
	}
	return nil
}

// Weights returns the law of the System's histograms. Where votes may be missing, each number n of
// votes has the law of the Objective for n teachers, and n is binomial. Of several labels there are the weights of
// each, one label after the other. The error names the count
// that breaks its rule, or is ctx.Err(). Cost: that of Objective.Weights for each n.
func (o Prior) Weights(ctx context.Context, s *System) (plurality.Weights, error) {
	switch s = handle.Made(s); {
	case s.problem.Labels > 0:
		return o.weightsOfLabels(ctx, s)
	case s.problem.Named && !s.problem.Missing:
		return o.SharedWeights(ctx, s.space, o.Shares)
	case o.Counts != nil:
		objective := o.Objective
		objective.Counts = make([]plurality.HistogramCount, len(o.Counts))
		for i, c := range o.Counts {
			votes, err := s.counts(c.Votes)
			if err != nil {
				return plurality.Weights{}, check.Namedf("prior count %d: %w", i, err)
			}
			objective.Counts[i] = plurality.HistogramCount{Votes: votes, Count: c.Count}
		}
		return objective.Weights(ctx, s.space)
	case !s.problem.Missing:
		return o.Objective.Weights(ctx, s.space)
	}
	n := s.space.Histograms()
	w := plurality.Weights{Low: make([]float64, n), High: make([]float64, n)}
	rest := 0.0
	for votes, share := range o.numbers(s.problem.K) {
		if share.Upper() < 0x1p-80 { // not worth the time
			rest = up(rest + share.Upper())
			continue
		}
		part := plurality.NewSpace(votes, s.problem.Classes, s.problem.Abstain, false)
		if s.problem.Named && votes > 0 { // no vote at all is one histogram, whose classes are alike
			part = plurality.NewNamedSpace(votes, s.problem.Classes)
		}
		of, err := o.SharedWeights(ctx, part, o.Shares)
		if err != nil {
			return plurality.Weights{}, err
		}
		for h := range part.Histograms() {
			at, err := s.Index(part.Histogram(h))
			if err != nil {
				panic("answers: " + err.Error()) // fewer votes than K
			}
			w.Low[at] = max(0, down(w.Low[at]+down(of.Low[h]*share.Lower())))
			w.High[at] = up(w.High[at] + up(of.High[h]*share.Upper()))
		}
	}
	for h := range w.High {
		w.High[h] = up(w.High[h] + rest)
	}
	return w, nil
}

// numbers returns the law of the number of teachers who vote, from 0 to k.
func (o Prior) numbers(k int) []num.Interval {
	votes := num.Decimal(o.Present)
	vote := num.Powers(num.FromRat(votes), k)
	none := num.Powers(num.FromRat(new(big.Rat).Sub(big.NewRat(1, 1), votes)), k)
	law := make([]num.Interval, k+1)
	for n := range law {
		ways := new(big.Rat).SetInt(new(big.Int).Binomial(int64(k), int64(n)))
		law[n] = num.FromRat(ways).Mul(vote[n]).Mul(none[k-n])
	}
	return law
}

// Equal reports whether o and p are the same prior.
func (o Prior) Equal(p Prior) bool {
	return o.Objective.Equal(p.Objective) && o.Present == p.Present && slices.Equal(o.Shares, p.Shares) &&
		slices.Equal(o.Yes, p.Yes) &&
		(o.Costs == nil) == (p.Costs == nil) &&
		slices.EqualFunc(o.Costs, p.Costs, func(a, b []float64) bool { return slices.Equal(a, b) })
}
