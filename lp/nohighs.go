//go:build !cgo || !highs

package lp

import "context"

func newBest(p Problem) (Solver, error) { return newSimplex(p) }

func newHiGHS(Problem) (Solver, error) { return nil, ErrNoHiGHS }

func backend() string { return SimplexName }

func solveSparse(context.Context, Sparse, Algorithm, float64) (Approximate, error) {
	return Approximate{}, ErrNoHiGHS
}
