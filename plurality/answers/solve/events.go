package solve

import (
	"context"
	"errors"
	"math"

	"github.com/darrm/darrm/lp"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
)

const (
	// eventVariables and eventWork are the largest sizes of a bound by events: variables, and pairs
	// times answers. A bound of these sizes takes a second.
	eventVariables, eventWork = 300, 1 << 17
	boundRounds               = 40
	// lines is the number of slopes with rows for events. Small slopes lie denser: for many answers
	// the smallest bind, for one answer the largest.
	lines = 24
)

// boundEvents returns multipliers for an upper bound on all tables: the duals of the linear program that
// maximises the agreement under the rows of answers.Event. Violated rows are added round by round. It
// returns nil where the program is too large. No promise rests on the multipliers: any of them give a bound.
func (v *solver) boundEvents(ctx context.Context) ([]answers.Event, error) {
	s := v.system.Space()
	p, n := v.system.Problem(), s.Variables()
	one, work := p.Named && p.Answers == 1 || p.Pure(), v.system.PairCount()*p.Answers
	if one { // all answers without δ are as one of them
		work = v.system.PairCount()
	}
	if n > eventVariables && !(one && n <= mostColumns) || work > eventWork {
		return nil, nil
	}
	var factors []float64
	for i := range lines {
		factors = append(factors, math.Exp(p.Epsilon*float64((i+1)*(i+1))/(lines*lines)))
	}
	if one { // the one line that binds: its δ is known exactly
		factors = []float64{math.Exp(p.Epsilon/float64(p.Answers)) * (1 + 0x1p-50)}
	}
	rights := p.EventDeltas(factors)
	g, err := v.fitting(ctx, 2)
	if err != nil {
		return nil, err
	}
	solver, err := g.newLP(0) // the simplices alone
	if err != nil {
		return nil, err
	}
	defer solver.Close()
	simplices := 2 * (len(g.first) - 1)
	var events []answers.Event
	for range boundRounds {
		got, err := solver.Solve(ctx)
		if err != nil {
			return nil, err
		}
		for i := range events {
			events[i].Value = got.Dual[simplices+i]
		}
		var rows []lp.Row
		for k := range g.pairs() {
			e, row, by := g.broken(k, got.X, factors, rights, 1e-9)
			if by > 0 {
				events, rows = append(events, e), append(rows, row)
			}
		}
		if len(rows) == 0 {
			break
		}
		if err := solver.AddRows(rows); err != nil {
			return nil, err
		}
	}
	var out []answers.Event
	for _, e := range events {
		if e.Value > 0 {
			out = append(out, e)
		}
	}
	return out, nil
}

// broken returns the most violated row of pair k, and by how much p breaks it: 0 where none is broken by more than least.
func (g *program) broken(k int, p, factors, rights []float64, least float64) (e answers.Event, row lp.Row, by float64) {
	for i, s := range factors {
		over := -rights[i]
		for _, c := range g.of(k) {
			over += float64(c.Classes) * max(0, p[c.I]-s*p[c.J])
		}
		if over > max(least, by) {
			by, e.Factor, row.RHS = over, s, rights[i]
		}
	}
	if by == 0 {
		return e, row, 0
	}
	if e.From = int(g.from[k]); g.space.Named() {
		e.To = int(g.to[k])
	} else {
		e.Changes = append([]plurality.Change(nil), g.changes[k]...)
	}
	row.Coef = make([]float64, len(p))
	for i, c := range g.of(k) {
		if p[c.I] > e.Factor*p[c.J] {
			e.Columns = append(e.Columns, i)
			row.Coef[c.I] += float64(c.Classes)
			row.Coef[c.J] -= float64(c.Classes) * e.Factor
		}
	}
	return e, row, by
}

// bounded returns t with the bound by events, where there is one.
func (v *solver) bounded(ctx context.Context, t *answers.Table) (*answers.Table, error) {
	p := v.system.Problem()
	if p.HasChains() {
		return t, nil
	}
	events, err := v.boundEvents(ctx)
	switch {
	case errors.Is(err, errNoProgram), errors.Is(err, lp.ErrTooLarge), ctx.Err() != nil:
		return t, ctx.Err()
	case err != nil:
		return nil, err
	}
	return answers.NewWeightedTable(t.Certified, t.Prior, v.weights, t.Law, t.Proof, events...)
}
