package solve

import (
	"context"
	"math"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/plurality"
)

// twoClasses is the optimum of two classes: the majority of teachers that promise nothing, which
// package gamma/solve has a vertex of. Its multipliers are about every mechanism, since counts ask
// for shape any. A plurality class of unequal votes has
//
//	p(l) = (1+γ(l))/2,   so that   p(l) - E·p(l') ≤ δ   ⇔   φ(l) - E·φ(l') ≤ E-1+2δ
//
// It returns nil where that solver does not serve, otherwise also the probabilities that the
// table was made of. The error is ctx's.
func twoClasses(ctx context.Context, s *plurality.System, objective plurality.Objective,
	weights plurality.Weights, o Options) (*plurality.Table, []float64, error) {
	p := s.Problem()
	counts, err := voteCounts(s, objective, weights)
	if err != nil {
		return nil, nil, nil
	}
	majority := constraints.Problem{K: p.K, TotalEpsilon: p.Epsilon, Epsilon: math.Inf(1),
		Delta: p.Delta, Affected: p.Affected}
	g, err := solve.Optimal(ctx, majority, solve.Options{Counts: counts, Shape: gamma.Any, BestOnCancel: o.BestOnCancel})
	if err != nil {
		// another error, such as of a size, is nothing to the first-order method
		return nil, nil, ctx.Err()
	}
	x := make([]float64, s.Variables())
	for i := range x {
		l := s.Votes(i)
		switch gamma := g.Func().At(l); {
		case 2*l > p.K:
			x[i] = (1 + gamma) / 2
		case 2*l < p.K:
			x[i] = (1 - gamma) / 2
		default:
			x[i] = 0.5
		}
	}
	c, err := plurality.Round(context.WithoutCancel(ctx), s, x) // milliseconds
	if err != nil {
		return nil, nil, nil
	}
	t, err := plurality.NewWeightedTable(c, objective, weights, twoClassProof(s, g.Proof))
	if err != nil {
		return nil, nil, nil
	}
	t.Solver, t.Version = g.Solver, o.Version
	return t, x, nil
}

// voteCounts is the objective's law of the votes for one of two classes.
func voteCounts(s *plurality.System, o plurality.Objective,
	w plurality.Weights) ([]float64, error) {
	if o.Accuracy != 0 {
		return gamma.TwoSidedCounts(s.Problem().K, o.Accuracy) // as the private majority has them
	}
	counts := make([]float64, s.Problem().K+1)
	for _, c := range o.Counts {
		counts[c.Votes[0]] += c.Count
	}
	if o.Counts != nil {
		return counts, nil
	}
	for h, weight := range w.High {
		counts[s.Histogram(h)[0]] = weight
	}
	return counts, nil
}

// twoClassProof turns multipliers of φ(l) - E·φ(l'), scaled by 1/(1+E), into those of
// p(l) - E·p(l'). They may be off by what rounding does: a proof may come from anyone.
func twoClassProof(s *plurality.System, of gamma.Proof) (proof plurality.Proof) {
	p := s.Problem()
	at := func(l int) int {
		h, err := s.Index([]int{l, p.K - l})
		if err != nil {
			panic("plurality/solve: " + err.Error()) // l is in 0 … K
		}
		return h
	}
	variable := func(l int) int {
		first, end := s.Range(at(l))
		if 2*l < p.K {
			return end - 1
		}
		return first
	}
	for _, m := range of.Multipliers {
		ones := m.Multiset[constraints.Ones]
		from, to := ones+m.Multiset[constraints.High], ones+m.Multiset[constraints.Low]
		y := 2 * m.Value / (1 + s.Factor())
		switch d := to - from; {
		case d == 0:
		case p.Delta == 0:
			proof.Rows = append(proof.Rows, plurality.RowMultiplier{I: variable(from), J: variable(to),
				Value: y})
		default:
			proof.Pairs = append(proof.Pairs, plurality.PairMultiplier{
				From: at(from), Values: []float64{y, 0},
				Changes: []plurality.Change{{Votes: from, Delta: d, Classes: 1},
					{Votes: p.K - from, Delta: -d, Classes: 1}},
			})
		}
	}
	return proof
}
