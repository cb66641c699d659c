//go:build !cgo || !highs

package lp

func newBest(p Problem) (Solver, error) { return newSimplex(p) }

func newHiGHS(Problem) (Solver, error) { return nil, ErrNoHiGHS }

func backend() string { return "gonum simplex" }
