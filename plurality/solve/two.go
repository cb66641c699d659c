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
// package gamma/solve has a vertex of. A plurality class of unequal votes has
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
	g, err := solve.Optimal(ctx, majority, solve.Options{Counts: counts, BestOnCancel: o.BestOnCancel})
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
	t, err := plurality.NewWeightedTable(c, objective, weights, twoClassProof(s, weights, g.Proof))
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

// twoRow is p(from) - E·p(to) ≤ δ for a class of so many votes, and its multiplier.
type twoRow struct {
	from, to int
	y        float64
}

// twoClassProof turns multipliers of φ(l) - E·φ(l'), scaled by 1/(1+E), into those of
// p(l) - E·p(l'). They may be off by what rounding does: a proof may come from anyone.
func twoClassProof(s *plurality.System, w plurality.Weights,
	of gamma.Proof) (proof plurality.Proof) {
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
	var rows []twoRow
	for _, m := range of.Multipliers {
		ones := m.Multiset[constraints.Ones]
		r := twoRow{ones + m.Multiset[constraints.High], ones + m.Multiset[constraints.Low],
			2 * m.Value / (1 + s.Factor())}
		if r.from != r.to {
			rows = append(rows, r)
		}
	}
	rows = leaning(rows, p, s.Factor(), func(l int) float64 { return w.High[at(l)] })
	for _, r := range rows {
		switch d := r.to - r.from; {
		case r.y == 0:
		case p.Delta == 0:
			proof.Rows = append(proof.Rows, plurality.RowMultiplier{I: variable(r.from), J: variable(r.to),
				Value: r.y})
		default:
			proof.Pairs = append(proof.Pairs, plurality.PairMultiplier{
				From: at(r.from), Values: []float64{r.y, 0},
				Changes: []plurality.Change{{Votes: r.from, Delta: d, Classes: 1},
					{Votes: p.K - r.from, Delta: -d, Classes: 1}},
			})
		}
	}
	return proof
}

// leaning makes a proof about γ ≥ 0 one about every mechanism, which may also prefer the
// minority. That gains nothing: a row that holds γ(l) at 0 has its other end beyond the tie, and
// the row from l's mirror K-l to that end is nearer, so it is one too. Part of the multiplier goes
// there, as much as makes both answers to l worth the same.
func leaning(rows []twoRow, p plurality.Problem, e float64, weight func(l int) float64) []twoRow {
	r := make([]float64, p.K+1) // what a unit of p(l) is worth
	for l := p.K/2 + 1; l <= p.K; l++ {
		r[l] = weight(l)
	}
	for _, row := range rows {
		r[row.from] -= row.y
		r[row.to] += e * row.y
	}
	near := func(a, b int) bool { return a != b && max(a-b, b-a) <= p.Affected }
	for l := p.K/2 + 1; l <= p.K; l++ {
		lack := (r[p.K-l] - r[l]) / 2
		for i := 0; i < len(rows) && lack > 0; i++ {
			if row := rows[i]; row.from == l && near(p.K-l, row.to) {
				part := min(row.y, lack)
				rows[i].y -= part
				lack -= part
				rows = append(rows, twoRow{p.K - l, row.to, part})
			}
			if row := rows[i]; row.to == p.K-l && near(row.from, l) {
				part := min(row.y, lack/e)
				rows[i].y -= part
				lack -= part * e
				rows = append(rows, twoRow{row.from, l, part})
			}
		}
	}
	return rows
}
