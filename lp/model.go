package lp

import (
	"fmt"
	"math"
	"sync"
)

// dropBelow is HiGHS's smallest small_matrix_value: it ignores coefficients at
// or below it (and by default, those up to 1e-9). See model.scale.
const dropBelow = 1e-12

// model holds the data of a program that both solvers share: the problem, its rows, and the
// scaling. Solvers see scaled rows and costs; the scales are powers of two, so that scaling loses
// nothing.
type model struct {
	mu      sync.Mutex
	closed  bool
	problem Problem
	costExp int // solvers minimise 2^-costExp C·x
	rows    []scaledRow
}

// scaledRow is 2^-exp times the row, with its largest |coefficient| in [1, 2).
type scaledRow struct {
	coef []float64 // values at or below dropBelow are 0 here
	rhs  float64   // made smaller for what was dropped
	exp  int
	orig Row
}

func newModel(p Problem) (*model, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	p = p.clone()
	return &model{problem: p, costExp: exponent(p.C)}, nil
}

// exponent returns e such that the largest |v| is in [2^e, 2^(e+1)), 0 for zeros.
func exponent(v []float64) int {
	largest := 0.0
	for _, a := range v {
		largest = max(largest, math.Abs(a))
	}
	if largest == 0 {
		return 0
	}
	_, e := math.Frexp(largest) // largest = f·2^e, f in [1/2, 1)
	return e - 1
}

// scaledCost returns 2^-costExp C.
func (m *model) scaledCost() []float64 {
	c := make([]float64, len(m.problem.C))
	for j, v := range m.problem.C {
		c[j] = math.Ldexp(v, -m.costExp)
	}
	return c
}

// scale returns the scaled form of rows, or an error that names the first one
// that cannot be used; nothing is added.
//
// Coefficients of a row that are at most 1e-12 times its largest one cannot be
// handed to HiGHS. Their part is instead bounded: the row
//
//	Σ_kept a_j x_j ≤ b - Σ_dropped max(a_j l_j, a_j u_j)
//
// implies the given one for all x within the bounds. So a scaled row is never
// looser than the given one: the private side. Where the bounds are infinite
// there is no such number, and the row is refused.
func (m *model) scale(rows []Row) ([]scaledRow, error) {
	n := len(m.problem.C)
	scaled := make([]scaledRow, len(rows))
	cells := make([]float64, 2*n*len(rows))
	for i, r := range rows {
		if err := r.validate(i, n); err != nil {
			return nil, err
		}
		orig, coef := cells[:n:n], cells[n:2*n:2*n]
		cells = cells[2*n:]
		copy(orig, r.Coef)
		s := scaledRow{coef: coef, exp: exponent(r.Coef), orig: Row{Coef: orig, RHS: r.RHS}}
		s.rhs = math.Ldexp(r.RHS, -s.exp)
		for j, a := range r.Coef {
			v := math.Ldexp(a, -s.exp)
			if math.Abs(v) > dropBelow {
				coef[j] = v
				continue
			}
			if a == 0 {
				continue
			}
			bound := m.problem.Upper[j]
			if a < 0 {
				bound = m.problem.Lower[j]
			}
			if math.IsInf(bound, 0) {
				return nil, fmt.Errorf(
					"lp: row %d: Coef[%d] = %g is at most %g times the largest coefficient, and column %d is "+
						"not bounded on that side", i, j, a, float64(dropBelow), j)
			}
			s.rhs -= math.Ldexp(a*bound, -s.exp)
		}
		// From 1e20 on HiGHS reads a right-hand side as none. That is the same
		// only where the bounds imply the row.
		if !(math.Abs(s.rhs) < infinite) && !(s.rhs > 0 && m.largest(coef) < infinite) {
			return nil, fmt.Errorf("lp: row %d: RHS = %g is %g times the largest coefficient or more", i,
				r.RHS, float64(infinite))
		}
		scaled[i] = s
	}
	return scaled, nil
}

// largest returns the maximum of coef·x over the bounds.
func (m *model) largest(coef []float64) float64 {
	sum := 0.0
	for j, a := range coef {
		switch {
		case a > 0:
			sum += a * m.problem.Upper[j]
		case a < 0:
			sum += a * m.problem.Lower[j]
		}
	}
	return sum
}

// deleteRows removes the rows with the given numbers, which have been checked.
func (m *model) deleteRows(indices []int) {
	kept, next := m.rows[:0], 0
	for i, r := range m.rows {
		if next < len(indices) && indices[next] == i {
			next++
			continue
		}
		kept = append(kept, r)
	}
	clear(m.rows[len(kept):]) // so that the garbage collector sees them go
	m.rows = kept
}

// numRows is Rows of both solvers.
func (m *model) numRows() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return 0
	}
	return len(m.rows)
}
