package lp

import (
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
