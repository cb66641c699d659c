package sketch

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"os"
	"testing"

	"github.com/darrm/darrm/sketch/stream"
)

// allSRHT lists every matrix of SRHT for k rows of d ≤ 8 columns, by streams whose first word
// has the signs wanted. Without flips, matrices that differ by the sign of D as a whole, and
// so give the same estimate, are listed once.
func allSRHT(k, d int, flips bool) []matrix {
	signs := map[uint64]stream.Stream{}
	for r := uint64(0); len(signs) < 1<<d; r++ {
		s := stream.New(r)
		w := s
		signs[w.Uint64()&(1<<d-1)] = s
	}
	var all []matrix
	for pattern := range uint64(1) << d {
		if !flips && pattern&1 == 1 {
			continue
		}
		for _, rows := range subsets(k, d) {
			all = append(all, &srht{signs[pattern], rows, 1 / math.Sqrt(float64(d))})
		}
	}
	return all
}

func allSelections(k, d int) []matrix {
	var all []matrix
	for _, rows := range subsets(k, d) {
		all = append(all, selection(rows))
	}
	return all
}

func subsets(k, d int) [][]int {
	var all [][]int
	for m := range 1 << d {
		if bits.OnesCount(uint(m)) == k {
			var rows []int
			for j := range d {
				if m>>j&1 == 1 {
					rows = append(rows, j)
				}
			}
			all = append(all, rows)
		}
	}
	return all
}

// exact is what an enumeration of all matrices gives for one ρ.
type exact struct {
	beta, mse float64
	bias      float64 // largest |E x̂_j - mean_j|
}

// enumerate encodes and decodes xs by the package's own code with every n-tuple of matrices.
func enumerate(t *testing.T, c Config, all []matrix, xs [][]float64) exact {
	t.Helper()
	n, d := len(xs), c.D
	c.N = n
	s := &system{codec: codec(t, c), config: c, g: make([]matrix, n), y: make([][]float64, n)}
	rho := c.T.of(n, 0)
	ys := make([][][]float64, n) // client, matrix
	scratch := make([]float64, c.padded())
	for i, x := range xs {
		for _, g := range all {
			y := make([]float64, c.K)
			g.times(y, x, scratch)
			ys[i] = append(ys[i], y)
		}
	}
	mean := make([]float64, d)
	for _, x := range xs {
		for j, v := range x {
			mean[j] += v / float64(n)
		}
	}
	sum := newSummer(1, n, c.K, c.padded())
	// Sums of z, ‖z‖² and of tr, for x̂ = (β/n) z: β follows from ⟨z⟩ alone.
	total, square, mu1, count := make([]float64, d), 0.0, 0.0, 0.0
	at := make([]int, n)
	for {
		for i, a := range at {
			s.g[i], s.y[i] = all[a], ys[i][a]
		}
		z, err := s.solve(t.Context(), sum, rho, s.lifted())
		if err != nil {
			t.Fatal(err)
		}
		for j, v := range z {
			total[j] += v
			square += v * v
		}
		if c.Ensemble == SRHT {
			m, err := s.moments(t.Context(), rho, false)
			if err != nil {
				t.Fatal(err)
			}
			mu1 += m.one
		}
		count++
		i := 0
		for ; i < n; i++ {
			if at[i]++; at[i] < len(all) {
				break
			}
			at[i] = 0
		}
		if i == n {
			break
		}
	}
	e := exact{beta: float64(n*d) * count / mu1}
	if c.Ensemble == RowSelect {
		l, err := s.codec.law(t.Context(), n, rho, false)
		if err != nil {
			t.Fatal(err)
		}
		e.beta = l.beta
	}
	scale := e.beta / float64(n)
	e.mse = scale * scale * square / count
	for j, v := range mean {
		x := scale * total[j] / count
		e.bias = max(e.bias, math.Abs(x-v))
		e.mse += v*v - 2*v*x
	}
	return e
}

func fraction(t testing.TB, s string) float64 {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("%q is no fraction", s)
	}
	f, _ := r.Float64()
	return f
}

func closeTo(t testing.TB, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s = %.12g, want %.12g within %g", what, got, want, tolerance)
	}
}

func long() bool { return os.Getenv("DARRM_LONG") == "1" }

var (
	pair4  = [][]float64{{1, 2, 0, -1}, {0, 1, 1, 3}}
	three4 = append(pair4[:2:2], []float64{2, 0, 0, 1})
	three8 = [][]float64{{1, 2, 0, -1, 0, 0, 1, 1}, {0, 1, 1, 3, 0, 0, 0, 0}, {2, 0, 0, 1, 0, -2, 0, 0}}
)

// Acceptance A4: every matrix, the estimator of the code, exact fractions. 64² and 96² cases
// with all signs; three clients with signs up to a common flip, 32³ cases.
func TestA4EnumerateSRHT(t *testing.T) {
	for _, v := range []struct {
		n, k      int
		rho       float64
		beta, mse string
	}{
		{2, 1, 0, "4", "51/4"},
		{2, 1, 0.5, "160/37", "227323/16428"},
		{2, 1, 1, "64/15", "46739/2700"},
		{2, 2, 0, "2", "17/4"},
		{2, 2, 0.5, "126/53", "56775/11236"},
		{3, 1, 0.5, "39424/8439", "14766623084/1922851467"},
		{3, 1, 0.75, "9685760/2038109", "108322576823980/12461664887643"},
	} {
		xs := three4[:v.n]
		c := Config{N: v.n, K: v.k, D: 4, Ensemble: SRHT, T: Transform{Rho: v.rho}}
		e := enumerate(t, c, allSRHT(v.k, 4, v.n == 2), xs)
		name := fmt.Sprintf("(%d,%d,4) ρ = %g: ", v.n, v.k, v.rho)
		closeTo(t, name+"β", e.beta, fraction(t, v.beta), 1e-11)
		closeTo(t, name+"MSE", e.mse, fraction(t, v.mse), 1e-10)
		if e.bias > 1e-11 {
			t.Errorf("%sbias %g", name, e.bias)
		}
	}
}

// Acceptance A4: β and n² MSE/Q at R = 0, at R = ρ(n-1) and at R = n-1, by enumeration with
// unit vectors that have these correlations.
func TestA4LinearTable(t *testing.T) {
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
		{3, 1, 4, 0.5, "39424/8439", [3]string{"708865037/213650163", "22546/8439", "432729127/213650163"}},
	}
	if long() {
		cases = append(cases, []struct {
			n, k, d int
			rho     float64
			beta    string
			errors  [3]string
		}{
			{3, 1, 4, 0.75, "9685760/2038109", [3]string{"3.8457151", "9180975/4076218", "1.7211974"}},
			{4, 1, 4, 2.0 / 3, "335104/64569", [3]string{"719682956003/187612009245", "141397/64569", "256424267276/187612009245"}},
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
			closeTo(t, name+"n² MSE/Q", e.mse*float64(v.n), fraction(t, v.errors[i]), 4e-8) // some are decimals of eight digits
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
			closeTo(t, fmt.Sprintf("(%d,%d,%d): Pr[rank %d]", v.n, v.k, v.d, rank), p, fraction(t, v.law[rank]), 1e-12)
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
	b, err := codec(t, c).Beta(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return b
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
