package lp

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// infinite is the least bound that HiGHS reads as no bound at all (kHighsInf is +Inf, but user
// bounds from 1e20 on are treated as infinite).
const infinite = 1e20

// Problem is the part of a linear program that stays the same while rows come
// and go:
//
//	minimise  C·x   subject to   A x ≤ b,   Lower ≤ x ≤ Upper
//
// The three slices have the same length n ≥ 1. C is finite. Bounds are below
// 1e20 in absolute value or infinite: Lower[j] may be -Inf, Upper[j] may be
// +Inf, and Lower[j] ≤ Upper[j].
type Problem struct {
	C, Lower, Upper []float64
}

// Row is the constraint Coef·x ≤ RHS. Coef is dense, of length n; all values
// are finite. A row of zeros is allowed (and, with RHS < 0, infeasible).
type Row struct {
	Coef []float64
	RHS  float64
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// validate returns an error that names the first value out of range.
func (p Problem) validate() error {
	n := len(p.C)
	if n == 0 {
		return fmt.Errorf("lp: problem has no columns: len(C) = 0, want at least 1")
	}
	if len(p.Lower) != n {
		return fmt.Errorf("lp: len(Lower) = %d, want len(C) = %d", len(p.Lower), n)
	}
	if len(p.Upper) != n {
		return fmt.Errorf("lp: len(Upper) = %d, want len(C) = %d", len(p.Upper), n)
	}
	for j := range n {
		c, lo, up := p.C[j], p.Lower[j], p.Upper[j]
		switch {
		case !finite(c):
			return fmt.Errorf("lp: C[%d] = %g, want a finite number", j, c)
		case math.IsNaN(lo) || lo >= infinite || (lo <= -infinite && !math.IsInf(lo, -1)):
			return fmt.Errorf("lp: Lower[%d] = %g, want -Inf or an absolute value below %g", j, lo,
				float64(infinite))
		case math.IsNaN(up) || up <= -infinite || (up >= infinite && !math.IsInf(up, 1)):
			return fmt.Errorf("lp: Upper[%d] = %g, want +Inf or an absolute value below %g", j, up,
				float64(infinite))
		case lo > up:
			return fmt.Errorf("lp: Lower[%d] = %g is above Upper[%d] = %g", j, lo, j, up)
		}
	}
	return nil
}

// clone returns a copy that shares nothing with p.
func (p Problem) clone() Problem {
	return Problem{C: slices.Clone(p.C), Lower: slices.Clone(p.Lower), Upper: slices.Clone(p.Upper)}
}

// validate returns an error that names the first value out of range; i is the
// row's place in the caller's slice, n the number of columns.
func (r Row) validate(i, n int) error {
	if len(r.Coef) != n {
		return fmt.Errorf("lp: row %d: len(Coef) = %d, want %d, the number of columns", i, len(r.Coef), n)
	}
	for j, a := range r.Coef {
		if !finite(a) {
			return fmt.Errorf("lp: row %d: Coef[%d] = %g, want a finite number", i, j, a)
		}
	}
	if !finite(r.RHS) {
		return fmt.Errorf("lp: row %d: RHS = %g, want a finite number", i, r.RHS)
	}
	return nil
}

// checkIndices returns an error unless indices are strictly increasing row
// numbers in [0, rows).
func checkIndices(indices []int, rows int) error {
	for k, i := range indices {
		if i < 0 || i >= rows {
			return fmt.Errorf("lp: indices[%d] = %d, want a row number in [0, %d)", k, i, rows)
		}
		if k > 0 && i <= indices[k-1] {
			return fmt.Errorf("lp: indices[%d] = %d after %d, want strictly increasing row numbers", k, i,
				indices[k-1])
		}
	}
	return nil
}

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
