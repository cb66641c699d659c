package lp_test

import (
	"math"

	"github.com/darrm/darrm/lp"
)

// Vertices solves a linear program with finite bounds by trying every vertex: each
// choice of n among the rows and bounds, made equations. It returns the
// optimum, or false if no vertex is feasible, that is, if nothing is.
// Cost: C(rows+2n, n)·n³, so n ≤ 4 and few rows.
func Vertices(p lp.Problem, rows []lp.Row) (optimum float64, feasible bool) {
	const tol = 1e-9
	n := len(p.C)
	all := append([]lp.Row(nil), rows...)
	for j := range n {
		up, lo := make([]float64, n), make([]float64, n)
		up[j], lo[j] = 1, -1
		all = append(all, lp.Row{Coef: up, RHS: p.Upper[j]}, lp.Row{Coef: lo, RHS: -p.Lower[j]})
	}
	optimum = math.Inf(1)
	chosen := make([]int, n)
	var try func(depth, from int)
	try = func(depth, from int) {
		if depth < n {
			for i := from; i < len(all); i++ {
				chosen[depth] = i
				try(depth+1, i+1)
			}
			return
		}
		x, ok := intersection(all, chosen)
		if !ok {
			return
		}
		for _, r := range all {
			if product(r.Coef, x) > r.RHS+tol {
				return
			}
		}
		feasible = true
		optimum = min(optimum, product(p.C, x))
	}
	try(0, 0)
	return optimum, feasible
}

// intersection solves the chosen rows as equations by Gaussian elimination with
// partial pivoting; false if they are dependent.
func intersection(rows []lp.Row, chosen []int) ([]float64, bool) {
	n := len(chosen)
	a := make([][]float64, n)
	for k, i := range chosen {
		a[k] = append(append([]float64(nil), rows[i].Coef...), rows[i].RHS)
	}
	for k := range n {
		pivot := k
		for i := k + 1; i < n; i++ {
			if math.Abs(a[i][k]) > math.Abs(a[pivot][k]) {
				pivot = i
			}
		}
		if math.Abs(a[pivot][k]) < 1e-10 {
			return nil, false
		}
		a[k], a[pivot] = a[pivot], a[k]
		for i := range n {
			if i == k {
				continue
			}
			f := a[i][k] / a[k][k]
			for j := k; j <= n; j++ {
				a[i][j] -= f * a[k][j]
			}
		}
	}
	x := make([]float64, n)
	for k := range n {
		x[k] = a[k][n] / a[k][k]
	}
	return x, true
}

func product(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}
