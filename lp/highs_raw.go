//go:build cgo && highs

package lp

// #cgo CFLAGS: -I/usr/include/highs -I/usr/local/include/highs -I/opt/homebrew/include/highs
// #cgo linux LDFLAGS: -lhighs -lstdc++ -lm -lpthread
// #cgo darwin LDFLAGS: -L/opt/homebrew/lib -L/usr/local/lib -lhighs -lc++ -lm
// #cgo !linux,!darwin LDFLAGS: -lhighs -lstdc++ -lm
// #include <stdlib.h>
// #include "highs_c.h"
import "C"

import (
	"errors"
	"fmt"
	"math"
	"unsafe"
)

// rawModel is one HiGHS instance, with nothing added: its methods are the C
// functions with Go types. Names and shapes follow RawModel of
// github.com/lanl/highs, so that this file could be exchanged for that module
// with little work. A rawModel serves one goroutine at a time, but for
// Interrupt. Free it with Close.
type rawModel struct {
	c             *C.darrm_highs
	columns, rows int
}

// rawSolution is a basic solution as HiGHS has it. RowDual is the derivative of
// the objective by the row's bound: not positive for Coef·x ≤ RHS when minimising.
type rawSolution struct {
	ColumnPrimal, RowDual []float64
}

func highsVersion() string { return C.GoString(C.darrm_highs_version()) }

// newRawModel returns an empty model.
func newRawModel() (*rawModel, error) {
	if C.darrm_highs_matches_header() == 0 {
		return nil, fmt.Errorf("lp: linked with HiGHS %s but compiled for the headers of another version",
			highsVersion())
	}
	c := C.darrm_highs_create()
	if c == nil {
		return nil, errors.New(
			"lp: HiGHS could not be set up (out of memory, or built with 64-bit indices)")
	}
	return &rawModel{c: c}, nil
}

// Close frees the model; it must not be used any more.
func (m *rawModel) Close() {
	C.darrm_highs_destroy(m.c)
	m.c = nil
}

// failed turns the C functions' int into an error.
func failed(code C.int, format string, args ...any) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("lp: HiGHS: warning or error on "+format, args...)
}

// Set sets an option of HiGHS, which reads numbers and booleans from their text.
func (m *rawModel) Set(option string, v any) error {
	name, value := C.CString(option), C.CString(fmt.Sprint(v))
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(value))
	return failed(C.darrm_highs_set(m.c, name, value), "setting %s to %v", option, v)
}

// AddColumns adds columns without coefficients; the slices have equal length.
func (m *rawModel) AddColumns(cost, lower, upper []float64) error {
	n := len(cost)
	if n == 0 {
		return nil
	}
	if n > math.MaxInt32 {
		return fmt.Errorf("lp: %d columns, HiGHS takes at most %d", n, math.MaxInt32)
	}
	if err := failed(C.darrm_highs_add_columns(m.c, C.int32_t(n), doubles(cost), doubles(lower),
		doubles(upper)), "adding %d columns", n); err != nil {
		return err
	}
	m.columns += n
	return nil
}

// AddCompSparseRows adds the rows lower ≤ A x ≤ upper, with A by rows: row i has
// value[start[i]:start[i+1]] in the columns index[start[i]:start[i+1]], and the
// last one ends with value.
func (m *rawModel) AddCompSparseRows(lower []float64, start, index []int32, value,
	upper []float64) error {
	n := len(lower)
	if n == 0 {
		return nil
	}
	if n > math.MaxInt32-m.rows || len(value) > math.MaxInt32 {
		return fmt.Errorf("lp: %d rows with %d coefficients, HiGHS takes at most %d", n, len(value),
			math.MaxInt32)
	}
	code := C.darrm_highs_add_rows(m.c, C.int32_t(n), doubles(lower), doubles(upper),
		C.int32_t(len(value)), int32s(start), int32s(index), doubles(value))
	if err := failed(code, "adding %d rows", n); err != nil {
		return err
	}
	m.rows += n
	return nil
}

// DeleteRows deletes the rows of a strictly increasing set.
func (m *rawModel) DeleteRows(set []int32) error {
	if len(set) == 0 {
		return nil
	}
	if err := failed(C.darrm_highs_delete_rows(m.c, C.int32_t(len(set)), int32s(set)),
		"deleting %d rows", len(set)); err != nil {
		return err
	}
	m.rows -= len(set)
	return nil
}

// ClearSolver forgets basis and solution, not the model.
func (m *rawModel) ClearSolver() error {
	return failed(C.darrm_highs_clear_solver(m.c), "clearing the solver")
}

// Interrupt makes a running or the next Solve stop, until it is called with
// false. It may be called from any goroutine.
func (m *rawModel) Interrupt(on bool) {
	v := C.int(0)
	if on {
		v = 1
	}
	C.darrm_highs_interrupt(m.c, v)
}

var rawStatus = map[C.int]Status{
	C.DARRM_OPTIMAL:         Optimal,
	C.DARRM_INFEASIBLE:      Infeasible,
	C.DARRM_UNBOUNDED:       Unbounded,
	C.DARRM_TIME_LIMIT:      TimeLimit,
	C.DARRM_ITERATION_LIMIT: IterationLimit,
	C.DARRM_INTERRUPTED:     Interrupted,
}

// Solve runs the solver. The error is not nil unless the status is Optimal and
// HiGHS gave no warning.
func (m *rawModel) Solve() (sol rawSolution, iterations int, err error) {
	var status, raw C.int
	var count C.int64_t
	code := C.darrm_highs_run(m.c, &status, &raw, &count)
	iterations = int(count)
	// Interrupts and limits come with a warning of their own; so the status goes first.
	if s := rawStatus[status]; s != Optimal {
		return rawSolution{}, iterations, statusErrorf(s, "HiGHS model status %d", int(raw))
	}
	if code != 0 {
		return rawSolution{}, iterations, statusErrorf(Numerical,
			"HiGHS gave a warning with its solution")
	}
	if sol, err = m.solution(); err != nil {
		return rawSolution{}, iterations, &StatusError{Status: Numerical, Err: err}
	}
	return sol, iterations, nil
}

// solution reads what the last run left.
func (m *rawModel) solution() (rawSolution, error) {
	sol := rawSolution{ColumnPrimal: make([]float64, m.columns), RowDual: make([]float64, m.rows)}
	columnDual, rowValue := make([]float64, m.columns), make([]float64, m.rows)
	err := failed(C.darrm_highs_get_solution(m.c, doubles(sol.ColumnPrimal), doubles(columnDual),
		doubles(rowValue), doubles(sol.RowDual)), "reading the solution")
	return sol, err
}

// SolveAnyhow runs the solver and returns the solution that it holds at the end, however it ended.
// It fails if there is none.
func (m *rawModel) SolveAnyhow() (rawSolution, Status, error) {
	var status, raw C.int
	var count C.int64_t
	C.darrm_highs_run(m.c, &status, &raw, &count)
	if C.darrm_highs_has_solution(m.c) != 0 {
		return rawSolution{}, rawStatus[status], statusErrorf(rawStatus[status],
			"HiGHS model status %d, and no solution", int(raw))
	}
	sol, err := m.solution()
	return sol, rawStatus[status], err
}

// doubles and int32s return nil for an empty slice, which C does not read.
func doubles(v []float64) *C.double { return (*C.double)(unsafe.SliceData(v)) }
func int32s(v []int32) *C.int32_t   { return (*C.int32_t)(unsafe.SliceData(v)) }
