package lp_test

import (
	"math"

	"github.com/darrm/darrm/lp"
)

// Majority returns the linear program of an optimal private majority of K
// voters, with every row: the kind of program that package lp is for. Its rows are
// degenerate (many bind at the optimum) and their coefficients span many powers
// of ten. It is written down here once more, by plain enumeration, so as to share
// nothing with the packages under test.
//
// Columns are γ(0), …, γ(⌈K/2⌉-1); the program is that of Lemma 3.4.4 in Jiang,
// "Communication Efficient and Differentially Private Optimization" (2024), for
// voters that are (eps, del)-DP, a release that is (m·eps, 1-(1-del)^m)-DP, and
// independent votes with mean mu. It returns the constant too that makes the
// objective the expected error. Cost: C(K+7,7)·K², or C(K+3,3)·K² where del = 0.
func Majority(K int, m, eps, del, mu float64) (p lp.Problem, rows []lp.Row, constant float64) {
	e := math.Exp(m * eps)
	side := e - 1 + 2*(-math.Expm1(m*math.Log1p(-del)))
	a, b := (math.Exp(eps)+del)/(math.Exp(eps)+1), (1-del)/(math.Exp(eps)+1)
	corners := [][2]float64{{0, 0}, {1, 1}, {a, b}, {b, a}}
	if del > 0 {
		corners = append(corners, [2]float64{0, del}, [2]float64{del, 0}, [2]float64{1 - del, 1},
			[2]float64{1, 1 - del})
	}
	n := (K + 1) / 2

	// fold writes Σ_l pmf(l) φ(l), φ antisymmetric, as coefficients of γ(0..n-1).
	fold := func(coef, pmf []float64, factor float64) {
		for l := range n {
			coef[l] += factor * (pmf[K-l] - pmf[l])
		}
	}
	add := func(pmf []float64, q float64) []float64 {
		next := make([]float64, len(pmf)+1)
		for l, v := range pmf {
			next[l] += v * (1 - q)
			next[l+1] += v * q
		}
		return next
	}
	var choose func(corner, left int, pmf, other []float64)
	choose = func(corner, left int, pmf, other []float64) {
		if left == 0 {
			coef := make([]float64, n)
			fold(coef, pmf, 1)
			fold(coef, other, -e)
			rows = append(rows, lp.Row{Coef: coef, RHS: side})
			return
		}
		if corner == len(corners) {
			return
		}
		for k := 0; ; k++ {
			choose(corner+1, left-k, pmf, other)
			if k == left {
				return
			}
			pmf, other = add(pmf, corners[corner][0]), add(other, corners[corner][1])
		}
	}
	choose(0, K, []float64{1}, []float64{1})

	votes := []float64{1}
	for range K {
		votes = add(votes, mu)
	}
	c := make([]float64, n)
	fold(c, votes, -0.5)
	for _, v := range c {
		constant -= v
	}
	return Box(c...), rows, constant
}
