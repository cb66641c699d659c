package solve

import (
	"context"
	"math"
	"math/big"
	"slices"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/lp"
)

// A weight below rareBelow of the largest one is rare: near the solver's tolerance, where
// γ(l) is worth nothing to it and stays anywhere. Teachers of whom three in four agree are
// almost never unanimous, but on real queries they often are.
const rareBelow = 1e-6

// leastRare is the smallest weight in the second program, relative to its largest: a floor
// for what the solver sees, which also decides where the objective is 0. Relative to the
// largest weight of all it is 1e-10, below the tolerance of the first program.
const leastRare = 1e-4

// lowered is by how much γ may fall in the second program where its weight is not rare,
// relative to its value: room for the rounding of a point that lies on its constraints.
const lowered = 1e-12

// The second program may have so many rounds and complete searches: most have some dozen and two, and
// one that has more is not worth it, least of all for many teachers.
const (
	rareRounds       = 40
	rareSearches     = 4
	rareRoundsMany   = 16
	rareSearchesMany = 2
)

// mostBesideABaseline is the most teachers for whom a second program is solved where the first one
// ended at a baseline and Δ > 0: beside a constant a complete search of a function that is none takes
// seconds for 151 teachers, and half a minute for 301.
const mostBesideABaseline = 128

// worthIt is the gain by the scaled weights from which the second program's answer is taken.
const worthIt = 1e-7

// rareWeights returns the rare weights, scaled so that the solver sees them, and 0 for the
// others: a second criterion for functions that are equally good for the objective. It
// returns nil where no weight is rare.
func rareWeights(weights []float64) []float64 {
	largest, rarest, found := slices.Max(weights), 0.0, false
	for _, w := range weights {
		if w < rareBelow*largest {
			rarest, found = max(rarest, w), true
		}
	}
	if !found {
		return nil
	}
	out := make([]float64, len(weights))
	for l, w := range weights {
		switch {
		case w >= rareBelow*largest:
		case rarest > 0:
			out[l] = max(w/rarest, leastRare)
		default:
			out[l] = 1
		}
	}
	return out
}

// missing is by how much γ falls short of 1, by the weights.
func missing(weights, free []float64) float64 {
	sum := 0.0
	for l, w := range weights {
		sum += w * (1 - free[l])
	}
	return sum
}

// refined solves a second program for the counts whose weight the first one did not see: γ of
// the others may not fall, and the objective is the weights of the rare ones, scaled up. It
// returns nil where there is nothing to gain and where the solver fails or ctx ends: free is
// optimal already, within the tolerance.
func (pr *program) refined(ctx context.Context, free []float64) []float64 {
	if pr.o.WorstCase {
		return nil // it has no weights
	}
	if !pr.fitsCache() {
		return nil // its programs took minutes for 1,001 teachers, and the loop did not end
	}
	p := pr.system.Problem()
	if pr.arrived != nil && p.TeacherDelta > 0 && p.K > mostBesideABaseline {
		return nil
	}
	weights, err := pr.o.objective().Weights(pr.system.Problem().K)
	if err != nil {
		return nil
	}
	rare := rareWeights(weights)
	if rare == nil || missing(rare, free) < worthIt {
		return nil
	}
	least := make([]float64, pr.n)
	for l, w := range rare {
		if least[l] = pr.o.Shape.Least(); w == 0 {
			least[l] = max(least[l], free[l]-math.Abs(free[l])*lowered)
		}
	}
	o := pr.o
	if o.Progress != nil {
		reached := pr.lastError
		o.Progress = func(p Progress) {
			p.Error = reached // the stated objective's
			pr.o.Progress(p)
		}
	}
	next, err := newWeighted(pr.system, o, pr.baselines, rare, least)
	if err != nil {
		return nil
	}
	defer next.close()
	if next.outset == nil && pr.many() { // no baseline is as good
		next.outset, next.inner = free, free
	}
	next.far.share = pr.far.share
	next.round, next.rounds, next.searches = pr.round, rareRounds, rareSearches
	next.work = pr.work // what is left of it
	next.private = pr.private
	if pr.many() {
		next.rounds, next.searches = rareRoundsMany, rareSearchesMany
	}
	if err := next.add(pr.tight(free)); err != nil {
		return nil
	}
	finer, _, err := next.cuttingPlanes(ctx)
	if err != nil || missing(rare, free)-missing(rare, finer) < worthIt {
		return nil
	}
	return finer
}

// certifiedFiner is certified for finer, or for free where there is no finer or the proof and
// the errors do not show that it is as good. Both errors are those of the stated objective.
func (pr *program) certifiedFiner(ctx context.Context, free, finer []float64,
	proof gamma.Proof) (*gamma.Table, error) {
	if finer == nil {
		return pr.certified(ctx, free, proof)
	}
	second, err := pr.certified(ctx, finer, proof)
	if err != nil {
		return nil, err
	}
	within := pr.near * second.ErrorOfCoin()
	if second.Gap <= within {
		return second, nil
	}
	first, err := pr.certified(ctx, free, proof)
	if err != nil {
		return nil, err
	}
	if second.ExpectedError <= first.ExpectedError+within {
		return second, nil
	}
	return first, nil
}

// tight returns the rows that γ nearly breaks.
func (pr *program) tight(free []float64) (out []row) {
	for _, r := range pr.rows {
		if r.coef == nil { // all rows at once: see exhaustive
			r.coef = pr.o.Shape.Row(pr.system, r.Multiset, r.zero, nil)
		}
		if pr.slack(r, free) <= tightBelow {
			out = append(out, r)
		}
	}
	return out
}

// exhaustiveCells bounds rows × variables of an exhaustive solve. A cell costs
// about 40 bytes (the solver keeps rows and columns), so this is about 1.2 GiB.
const exhaustiveCells = 30_000_000

// batch is the number of rows that are handed to the solver at once.
const batch = 4096

// exhaustive solves with every row of the constraint set.
func (pr *program) exhaustive(ctx context.Context) ([]float64, gamma.Proof, error) {
	limit := int64(exhaustiveCells / pr.system.Variables())
	if count := pr.system.Problem().Count(); count.Cmp(big.NewInt(limit)) > 0 {
		return nil, gamma.Proof{}, &TooManyRowsError{Rows: count, Limit: limit}
	}
	var rows []lp.Row
	var multisets []constraints.Multiset
	flush := func() error {
		if err := pr.solver.AddRows(rows); err != nil {
			return err
		}
		for _, m := range multisets {
			pr.rows = append(pr.rows, row{place: place{Multiset: m}})
		}
		rows, multisets = rows[:0], multisets[:0]
		return ctx.Err()
	}
	for m, r := range pr.system.Rows() {
		rows = append(rows, pr.row(r))
		multisets = append(multisets, m)
		if len(rows) == batch {
			if err := flush(); err != nil {
				return nil, gamma.Proof{}, err
			}
		}
	}
	if err := flush(); err != nil {
		return nil, gamma.Proof{}, err
	}
	free, _, err := pr.solve(ctx)
	if err != nil {
		return nil, gamma.Proof{}, err
	}
	pr.report(0)
	return free, pr.lastProof, nil
}
