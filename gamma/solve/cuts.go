package solve

import (
	"context"
	"fmt"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/lp"
)

// violated is how much a scaled constraint must be broken to be worth a row. It
// is below what the solver's own tolerance leaves, which the certificate's
// shrinking repairs at the end.
const violated = 1e-12

// maxRounds stops a loop that no longer converges; solves take some dozen rounds.
const maxRounds = 1000

// cuttingPlanes solves by adding violated rows until there is no new one.
func (pr *program) cuttingPlanes(ctx context.Context) ([]float64, gamma.Proof, error) {
	perRound := max(8, 2*pr.system.Variables())
	// γ ≡ 1 is the optimum without rows.
	if _, err := pr.separate(ctx, ones(pr.n), perRound); err != nil {
		return nil, gamma.Proof{}, err
	}
	for range maxRounds {
		free, sol, err := pr.solve(ctx)
		if err != nil {
			return nil, gamma.Proof{}, err
		}
		if err := pr.prune(free, sol); err != nil {
			return nil, gamma.Proof{}, err
		}
		violation, err := pr.separate(ctx, free, perRound)
		if err != nil {
			return nil, gamma.Proof{}, err
		}
		pr.report(sol, violation)
		if violation == 0 {
			return free, pr.lastProof, nil
		}
	}
	return nil, gamma.Proof{}, fmt.Errorf("cutting planes did not end within %d rounds (K = %d)", maxRounds, pr.system.Problem().K)
}

// keepRounds is how long a row stays after it was last tight.
const keepRounds = 4

// prune deletes rows that have not been tight for keepRounds rounds, so that the
// program stays small. That is worth doing only once there are many.
func (pr *program) prune(free []float64, sol lp.Solution) error {
	for i := range pr.rows {
		if sol.Dual[pr.order+i] > 0 {
			pr.rows[i].tight = pr.round
		}
	}
	var old []int
	for i, r := range pr.rows {
		if r.tight+keepRounds < pr.round {
			old = append(old, i)
		}
	}
	if len(old) < 4*len(free) {
		return nil
	}
	indices := make([]int, len(old))
	for j, i := range old {
		indices[j] = pr.order + i
	}
	if err := pr.solver.DeleteRows(indices); err != nil {
		return err
	}
	kept := pr.rows[:0]
	next := 0
	for i, r := range pr.rows {
		if next < len(old) && old[next] == i {
			next++
			delete(pr.known, r.Multiset)
			continue
		}
		kept = append(kept, r)
	}
	pr.rows = kept
	return nil
}

// separate adds the worst violated rows that are not known yet and returns the
// largest violation among them, 0 if there is none. It tries the fast search first;
// only the exact one can say that there is none. A row that the program has already
// can be broken within the solver's tolerance only.
func (pr *program) separate(ctx context.Context, free []float64, perRound int) (float64, error) {
	phi := phi(pr.system.Problem().K, free)
	for _, search := range []func(context.Context, []float64, float64, int) ([]constraints.Violation, error){
		pr.system.SeparateFast, pr.system.Separate,
	} {
		found, err := search(ctx, phi, violated, 0)
		if err != nil {
			return 0, err
		}
		worst := 0.0
		var fresh []constraints.Multiset
		for _, v := range found {
			if pr.known[v.Multiset] {
				continue
			}
			if len(fresh) == perRound {
				break
			}
			fresh = append(fresh, v.Multiset)
			worst = max(worst, v.Value-pr.system.RHS())
		}
		if len(fresh) > 0 {
			return worst, pr.add(fresh)
		}
	}
	return 0, nil
}

// phi is sign(l-K/2)·γ(l).
func phi(k int, free []float64) []float64 {
	out := make([]float64, k+1)
	for l, g := range free {
		out[l], out[k-l] = -g, g
	}
	return out
}
