package sketch

import (
	"fmt"
	"math"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
)

// Acceptance A4: β and n² MSE/Q at R = 0, at R = ρ(n-1) and at R = n-1, by enumeration with
// unit vectors that have these correlations.
func TestA4LinearTable(t *testing.T) {
	raced.Elsewhere(t, "TestDeterministic")
	cases := []struct {
		n, k, d int
		rho     float64
		beta    string
		errors  [3]string
	}{
		{2, 1, 2, 0.5, "12/5", [3]string{"27/25", "9/10", "18/25"}},
		{2, 1, 4, 0.5, "160/37", [3]string{"39103/12321", "209/74", "30494/12321"}},
		{2, 1, 4, 0.25, "3360/799", [3]string{"5828573/1915203", "9445/3196", "1717982/638401"}},
		{2, 2, 4, 0.5, "126/53", [3]string{"3173/2809", "93/106", "1756/2809"}},
	}
	if long() {
		cases = append(cases, []struct {
			n, k, d int
			rho     float64
			beta    string
			errors  [3]string
		}{
			{3, 1, 4, 0.5, "39424/8439", [3]string{"708865037/213650163", "22546/8439",
				"432729127/213650163"}},
			{3, 1, 4, 0.75, "9685760/2038109", [3]string{"3.8457151", "9180975/4076218", "1.7211974"}},
			{4, 1, 4, 2.0 / 3, "335104/64569", [3]string{"719682956003/187612009245", "141397/64569",
				"256424267276/187612009245"}},
		}...)
	}
	for _, v := range cases {
		c := Config{N: v.n, K: v.k, D: v.d, Ensemble: SRHT, T: Transform{Rho: v.rho}}
		all := allSRHT(v.k, v.d, false)
		for i, star := range []float64{0, v.rho, 1} {
			xs := equicorrelated(v.n, v.d, star)
			e := enumerate(t, c, all, xs)
			name := fmt.Sprintf("(%d,%d,%d) ρ = %.3g, ρ* = %.3g: ", v.n, v.k, v.d, v.rho, star)
			closeTo(t, name+"β", e.beta, fraction(t, v.beta), 1e-10)
			// some are decimals of eight digits
			closeTo(t, name+"n² MSE/Q", e.mse*float64(v.n), fraction(t, v.errors[i]), 4e-8)
		}
	}
}

// equicorrelated returns n unit vectors with inner products star: where d > n as
// √star e_0 + √(1-star) e_i, else by a Cholesky factor.
func equicorrelated(n, d int, star float64) [][]float64 {
	xs := make([][]float64, n)
	if d > n {
		for i := range xs {
			xs[i] = make([]float64, d)
			xs[i][0] = math.Sqrt(star)
			xs[i][i+1] = math.Sqrt(1 - star)
		}
		return xs
	}
	for i := range xs {
		xs[i] = make([]float64, d)
		for j := range i + 1 {
			v := star
			if i == j {
				v = 1
			}
			for l := range j {
				v -= xs[i][l] * xs[j][l]
			}
			if i == j {
				xs[i][j] = math.Sqrt(max(0, v))
			} else if xs[j][j] > 0 {
				xs[i][j] = v / xs[j][j]
			}
		}
	}
	return xs
}

// Acceptance A4: the law of the rank of S, and the error of Max for identical unit vectors,
// d/E[rank] - 1.
func TestA4RankLaw(t *testing.T) {
	for _, v := range []struct {
		n, k, d int
		law     map[int]string
		mean    string
	}{
		{2, 1, 2, map[int]string{1: "1/2", 2: "1/2"}, "3/2"},
		{2, 1, 4, map[int]string{1: "1/8", 2: "7/8"}, "15/8"},
		{3, 1, 4, map[int]string{1: "1/64", 2: "21/64", 3: "21/32"}, "169/64"},
		{4, 1, 4, map[int]string{1: "1/512", 2: "49/512", 3: "9/16", 4: "87/256"}, "1659/512"},
		{2, 2, 4, map[int]string{2: "1/12", 3: "1/2", 4: "5/12"}, "10/3"},
		{2, 1, 8, map[int]string{1: "1/128", 2: "127/128"}, "255/128"},
		{2, 2, 8, map[int]string{2: "1/448", 3: "13/224", 4: "421/448"}, "63/16"},
	} {
		if v.n == 4 && !long() {
			continue
		}
		c := Config{N: v.n, K: v.k, D: v.d, Ensemble: SRHT}
		all := allSRHT(v.k, v.d, false)
		// Client 0 may be any one matrix with its rows translated: by symmetry its signs can be
		// all +, which leaves the subsets of rows.
		first := all[:len(subsets(v.k, v.d))]
		s := &system{config: c, g: make([]matrix, v.n)}
		count := map[int]int{}
		total := 0
		var visit func(i int)
		visit = func(i int) {
			if i == v.n {
				count[s.rank()]++
				total++
				return
			}
			list := all
			if i == 0 {
				list = first
			}
			for _, g := range list {
				s.g[i] = g
				visit(i + 1)
			}
		}
		visit(0)
		mean := 0.0
		for rank, m := range count {
			p := float64(m) / float64(total)
			closeTo(t, fmt.Sprintf("(%d,%d,%d): Pr[rank %d]", v.n, v.k, v.d, rank), p,
				fraction(t, v.law[rank]), 1e-12)
			mean += float64(rank) * p
		}
		closeTo(t, fmt.Sprintf("(%d,%d,%d): E[rank]", v.n, v.k, v.d), mean, fraction(t, v.mean), 1e-12)
	}
}

// Acceptance A5: Rand-k-Spatial, all fractions, by enumeration and by the exact formula.
func TestA5EnumerateRandKSpatial(t *testing.T) {
	same := func(n, d int) [][]float64 {
		xs := make([][]float64, n)
		for i := range xs {
			xs[i] = make([]float64, d)
			xs[i][0] = 1
		}
		return xs
	}
	for _, v := range []struct {
		k    int
		xs   [][]float64
		rho  string
		mse  string
		beta string
	}{
		{1, pair4, "0", "51/4", "4"},
		{1, pair4, "1/2", "6489/484", "48/11"},
		{1, pair4, "1", "2769/196", "32/7"},
		{1, pair4, "-2/17", "1575/124", "120/31"},
		{2, pair4, "0", "17/4", "2"},
		{2, pair4, "1/2", "477/100", "12/5"},
		{1, three4, "1/2", "147404/19683", "128/27"},
		{1, three4, "3/4", "4689868/604803", "2240/449"},
		{1, three4, "3/22", "115052/15819", ""},
		{2, three8, "0", "28/3", "4"},
		{2, three8, "1/2", "189194/19683", ""},
		{2, three8, "3/4", "6030154/604803", ""},
		{2, three8, "1", "14174/1369", ""},
		{1, same(2, 2), "1", "1/3", ""},
		{1, same(2, 4), "1", "9/7", ""},
		{1, same(3, 4), "1", "27/37", ""},
		{1, same(4, 4), "1", "81/175", ""},
		{2, same(2, 4), "1", "1/3", ""},
		{1, same(2, 8), "1", "49/15", ""},
		{2, same(2, 8), "1", "9/7", ""},
		{1, same(3, 8), "1", "343/169", ""},
		{1, same(2, 2), "0", "1/2", ""},
		{1, same(3, 8), "0", "7/3", ""},
	} {
		n, d := len(v.xs), len(v.xs[0])
		c := Config{N: n, K: v.k, D: d, Ensemble: RowSelect, T: Transform{Rho: fraction(t, v.rho)}}
		e := enumerate(t, c, allSelections(v.k, d), v.xs)
		name := fmt.Sprintf("(%d,%d,%d) ρ = %s: ", n, v.k, d, v.rho)
		closeTo(t, name+"MSE", e.mse, fraction(t, v.mse), 1e-11)
		if v.beta != "" {
			closeTo(t, name+"β", e.beta, fraction(t, v.beta), 1e-12)
		}
		if e.bias > 1e-12 {
			t.Errorf("%sbias %g", name, e.bias)
		}
		r, q := Correlation(v.xs)
		closeTo(t, name+"predicted MSE", mse(t, c, r, q), e.mse, 1e-10)
		if rho := RhoOpt(n, r); rho > 0 && rho < 1 { // formula (**) with β' by a difference
			slope := (betaOf(t, c, c.T.Rho) - betaOf(t, c, c.T.Rho-1e-6)) / 1e-6
			tangent := q / float64(n*n) * (e.beta + (rho-c.T.Rho)*slope - 1 - r)
			closeTo(t, name+"(**)", tangent, e.mse, 1e-5)
		}
	}
}

func betaOf(t testing.TB, c Config, rho float64) float64 {
	c.T = Transform{Rho: rho}
	return must.Get(codec(t, c).Beta(t.Context()))(t)
}

// Acceptance A8: padding. One client, T = 1, all signs and rows of d' columns.
func TestA8Padding(t *testing.T) {
	for _, v := range []struct {
		x    []float64
		k    int
		want string
	}{
		{[]float64{1, 2, 0}, 1, "10"},
		{[]float64{1, 2, 0}, 2, "10/3"},
		{[]float64{1, 2, 0, -1, 3}, 1, "60"},
		{[]float64{1, 2, 0, -1, 3}, 2, "180/7"},
		{[]float64{1, 2, 0, -1, 3, 1}, 3, "400/21"},
	} {
		c := Config{N: 1, K: v.k, D: len(v.x), Ensemble: SRHT}
		s := &system{codec: codec(t, c), config: c}
		sum, count, scratch := 0.0, 0.0, make([]float64, c.padded())
		for _, g := range allSRHT(v.k, c.padded(), true) {
			y := make([]float64, v.k)
			g.times(y, v.x, scratch)
			s.g, s.y = []matrix{g}, [][]float64{y}
			x, err := s.mean(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for j := range x {
				sum += (x[j] - v.x[j]) * (x[j] - v.x[j])
			}
			count++
		}
		closeTo(t, fmt.Sprintf("MSE of %v, k = %d", v.x, v.k), sum/count, fraction(t, v.want), 1e-12)
		closeTo(t, "predicted", mse(t, c, 0, dot(v.x, v.x)), fraction(t, v.want), 1e-12)
	}
}
