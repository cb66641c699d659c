package sketch

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"os"
	"testing"

	"github.com/darrm/darrm/internal/testing/raced"
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

// exact holds the figures for one ρ from an enumeration of all matrices.
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
	three8 = [][]float64{{1, 2, 0, -1, 0, 0, 1, 1}, {0, 1, 1, 3, 0, 0, 0, 0},
		{2, 0, 0, 1, 0, -2, 0, 0}}
)

// Acceptance A4: every matrix, the estimator of the code, exact fractions. 64² and 96² cases
// with all signs; three clients with signs up to a common flip, 32³ cases.
func TestA4EnumerateSRHT(t *testing.T) {
	raced.Elsewhere(t, "TestDeterministic")
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
		if !long() && v.rho == 0.75 { // every day one of three clients, whose 32³ cases take the time
			continue
		}
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
