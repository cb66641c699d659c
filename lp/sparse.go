package lp

import (
	"context"
	"fmt"
	"math"
)

// Sparse is a large program, solved once:
//
//	minimise  C·x   subject to   RowLower ≤ A x ≤ RowUpper,   Lower ≤ x ≤ Upper
//
// Row i of A has Value[Start[i]:Start[i+1]] in the columns Index[Start[i]:Start[i+1]], the
// last one to the end. Bounds may be infinite.
type Sparse struct {
	C, Lower, Upper    []float64
	RowLower, RowUpper []float64
	Start, Index       []int32
	Value              []float64
}

// Approximate is a solver's last point: perhaps optimal within its tolerance, perhaps not. Nothing
// about it is checked.
type Approximate struct {
	Status  Status    // what the solver says
	X       []float64 // of each column
	RowDual []float64 // derivative of the optimum by the row's bound
}

// Algorithm is one of HiGHS's ways to solve a Sparse.
type Algorithm string

const (
	InteriorPoint Algorithm = "ipm" // without crossover
	Simplex       Algorithm = "simplex"
	FirstOrder    Algorithm = "pdlp" // stops late after ctx ends, except at its deadline
)

// SolveSparse solves p with HiGHS and returns where that ended, also where ctx ended first
// or the solver gave up. Without HiGHS in the build it returns ErrNoHiGHS. The error is a
// *StatusError where there is no solution at all.
//
// tolerance is HiGHS's for feasibility and optimality, at least 1e-10. Its default, 1e-7,
// is visible in optima of probabilities.
func SolveSparse(ctx context.Context, p Sparse, a Algorithm,
	tolerance float64) (Approximate, error) {
	if err := p.validate(); err != nil {
		return Approximate{}, err
	}
	return solveSparse(ctx, p, a, tolerance)
}

func (p Sparse) validate() error {
	n, rows := len(p.C), len(p.RowLower)
	if n == 0 || len(p.Lower) != n || len(p.Upper) != n {
		return fmt.Errorf("lp: %d costs, %d lower and %d upper bounds, want one of each for each "+
			"column, and a column", n, len(p.Lower), len(p.Upper))
	}
	if len(p.RowUpper) != rows || len(p.Start) != rows || len(p.Index) != len(p.Value) {
		return fmt.Errorf("lp: %d, %d and %d lower bounds, upper bounds and starts of rows; %d indices "+
			"and %d values", rows, len(p.RowUpper), len(p.Start), len(p.Index), len(p.Value))
	}
	if len(p.Value) > math.MaxInt32 {
		return fmt.Errorf("lp: %d coefficients, HiGHS takes at most %d", len(p.Value), math.MaxInt32)
	}
	before := int32(0)
	for i, s := range p.Start {
		if s < before || int(s) > len(p.Value) {
			return fmt.Errorf("lp: row %d starts at %d, want a place in order among %d coefficients", i, s,
				len(p.Value))
		}
		before = s
	}
	for k, j := range p.Index {
		if j < 0 || int(j) >= n {
			return fmt.Errorf("lp: coefficient %d is in column %d, want one of %d", k, j, n)
		}
		if !finite(p.Value[k]) {
			return fmt.Errorf("lp: coefficient %d = %g, want a finite number", k, p.Value[k])
		}
	}
	for j, c := range p.C {
		if !finite(c) || math.IsNaN(p.Lower[j]) || math.IsNaN(p.Upper[j]) {
			return fmt.Errorf("lp: column %d has cost %g and bounds [%g, %g]", j, c, p.Lower[j], p.Upper[j])
		}
	}
	return nil
}
