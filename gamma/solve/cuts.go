package solve

import (
	"context"
	"fmt"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
)

// violated is how much a scaled constraint must be broken to be worth a row. It
// is below what the solver's own tolerance leaves, which the certificate's
// shrinking repairs at the end.
const violated = 1e-12

// maxRounds stops a loop that no longer converges; solves take some dozen rounds.
const maxRounds = 1000

// cuttingPlanes solves by adding violated rows until there is no new one.
func (pr *program) cuttingPlanes(ctx context.Context) ([]float64, []gamma.Multiplier, error) {
	perRound := max(8, 2*pr.system.Variables())
	known := map[constraints.Multiset]bool{}
	// γ ≡ 1 is the optimum without rows.
	free := make([]float64, pr.system.Variables())
	for l := range free {
		free[l] = 1
	}
	if _, err := pr.separate(ctx, free, perRound, known); err != nil {
		return nil, nil, err
	}
	for range maxRounds {
		free, sol, err := pr.solve(ctx)
		if err != nil {
			return nil, nil, err
		}
		violation, err := pr.separate(ctx, free, perRound, known)
		if err != nil {
			return nil, nil, err
		}
		pr.report(sol, violation)
		if violation == 0 {
			return free, pr.proof(sol), nil
		}
	}
	return nil, nil, fmt.Errorf("cutting planes did not end within %d rounds (K = %d)", maxRounds, pr.system.Problem().K)
}

// separate adds the worst violated rows that are not known yet and returns the
// largest violation among them, 0 if there is none. A row that the program has
// already can be broken within the solver's tolerance only.
func (pr *program) separate(ctx context.Context, free []float64, perRound int, known map[constraints.Multiset]bool) (float64, error) {
	found, err := pr.system.Separate(ctx, phi(pr.system.Problem().K, free), violated, 0)
	if err != nil {
		return 0, err
	}
	worst := 0.0
	var fresh []constraints.Multiset
	for _, v := range found {
		if known[v.Multiset] {
			continue
		}
		if len(fresh) == perRound {
			break
		}
		known[v.Multiset] = true
		fresh = append(fresh, v.Multiset)
		worst = max(worst, v.Value-pr.system.RHS())
	}
	if len(fresh) == 0 {
		return 0, nil
	}
	return worst, pr.add(fresh)
}

// phi is sign(l-K/2)·γ(l).
func phi(k int, free []float64) []float64 {
	out := make([]float64, k+1)
	for l, g := range free {
		out[l], out[k-l] = -g, g
	}
	return out
}
