package sketch

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/darrm/darrm/sketch/stream"
)

// Acceptance A2: the rows of each G_i are orthonormal, and K by XOR is G Gᵀ multiplied out.
func TestA2Orthonormal(t *testing.T) {
	for _, d := range []int{16, 1024} {
		for _, k := range []int{1, 5, 102} {
			if k > d {
				continue
			}
			n := max(1, min(3, d/k))
			c := Config{N: n, K: k, D: d, Ensemble: SRHT, Root: 42}
			s := c.sample(0)
			byXOR, err := s.gramXOR(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			multiplied, err := s.gramDense(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for i := range n * k {
				for j := i; j < n*k; j++ {
					if diff := math.Abs(byXOR.At(i, j) - multiplied.At(i, j)); diff > 1e-12 {
						t.Fatalf("d = %d, k = %d: K[%d][%d] differ by %g", d, k, i, j, diff)
					}
					if want := map[bool]float64{true: 1}[i == j]; i/k == j/k &&
						math.Abs(multiplied.At(i, j)-want) > 1e-12 {
						t.Fatalf("d = %d, k = %d: G Gᵀ[%d][%d] = %g", d, k, i, j, multiplied.At(i, j))
					}
				}
			}
		}
	}
}

// messages are n clients' numbers of standard normal vectors.
func messages(t testing.TB, c *Codec, round uint64,
	seed uint64) (y map[uint64][]float64, xs [][]float64) {
	t.Helper()
	r := stream.New(seed)
	y = map[uint64][]float64{}
	for i := range c.config.N {
		x := make([]float64, c.config.D)
		for j := range x {
			x[j] = r.Normal()
		}
		v, err := c.EncodeValues(round, uint64(i), x)
		if err != nil {
			t.Fatal(err)
		}
		y[uint64(i)], xs = v, append(xs, x)
	}
	return y, xs
}

func (c *Codec) system(round uint64, y map[uint64][]float64) *system {
	s := &system{codec: c, config: c.config}
	for _, i := range slices.Sorted(maps.Keys(y)) {
		s.g = append(s.g, c.config.matrix(round, i))
		s.y = append(s.y, y[i])
	}
	return s
}

// Acceptance A3: conjugate gradients, Cholesky and eigenvalues agree to 1e-8; so do K and S.
func TestA3PathsAgree(t *testing.T) {
	for _, v := range [][3]int{{4, 12, 64}, {10, 10, 128}, {3, 30, 64}, {1, 9, 16}} {
		for _, rho := range []float64{0.1, 0.5, 0.9} {
			c := codec(t, Config{N: v[0], K: v[1], D: v[2], Ensemble: SRHT, T: Transform{Rho: rho}, Root: 5})
			y, _ := messages(t, c, 0, 9)
			s := c.system(0, y)
			sum := newSummer(1, v[0], v[1], v[2])
			steps, err := s.conjugateGradients(t.Context(), sum, rho, s.lifted())
			if err != nil {
				t.Fatal(err)
			}
			cholesky, err := s.solveGram(t.Context(), sum, linear{rho: rho}, s.lifted())
			if err != nil {
				t.Fatal(err)
			}
			eigen, err := s.solveGram(t.Context(), sum,
				linear{custom: func(l float64) float64 { return 1 - rho + rho*l }}, s.lifted())
			if err != nil {
				t.Fatal(err)
			}
			a, err := s.outer(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			byS, err := apply(a, linear{rho: rho}, v[0], s.lifted())
			if err != nil {
				t.Fatal(err)
			}
			near(t, fmt.Sprint(v, rho, " Cholesky"), cholesky, steps, 1e-8)
			near(t, fmt.Sprint(v, rho, " eigenvalues"), eigen, steps, 1e-8)
			near(t, fmt.Sprint(v, rho, " S"), byS, steps, 1e-8)
		}
	}
}

// ρ = 1 with K singular: (2,4,8) has rank < 8 in most draws. The definition, by the eigenvalues of
// S, decides.
func TestMaxUsesThePseudoInverse(t *testing.T) {
	singular := 0
	for round := range uint64(20) {
		c := codec(t, Config{N: 2, K: 4, D: 8, Ensemble: SRHT, T: Transform{Rho: 1}, Root: 1})
		y, _ := messages(t, c, round, round)
		s := c.system(round, y)
		if s.rank() < 8 {
			singular++
		}
		got, err := s.solve(t.Context(), newSummer(1, 2, 4, 8), linear{rho: 1}, s.lifted())
		if err != nil {
			t.Fatal(err)
		}
		a, err := s.outer(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want, err := apply(a, linear{custom: func(l float64) float64 { return l }}, 2, s.lifted())
		if err != nil {
			t.Fatal(err)
		}
		near(t, "decode", got, want, 1e-8)
	}
	if singular < 5 {
		t.Errorf("only %d of 20 rounds are singular", singular)
	}
}

// Acceptance A7, Lemma 2.4.1: with row selection the general decoder is Rand-k-Spatial's.
func TestA7RowSelectionInTheGeneralDecoder(t *testing.T) {
	for _, rho := range []float64{0, 0.5, 1} {
		for _, v := range [][3]int{{5, 4, 20}, {5, 9, 20}, {1, 3, 7}} { // K, S, one client
			c := codec(t, Config{N: v[0], K: v[1], D: v[2], Ensemble: RowSelect, T: Transform{Rho: rho},
				Root: 3})
			if v[0] == 1 && rho != 0 {
				continue
			}
			y, _ := messages(t, c, 0, 4)
			s := c.system(0, y)
			want, err := s.diagonal(linear{rho: rho}, s.lifted())
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.solveGram(t.Context(), newSummer(1, v[0], v[1], v[2]), linear{rho: rho},
				s.lifted())
			if err != nil {
				t.Fatal(err)
			}
			near(t, fmt.Sprint(v, rho), got, want, 1e-10)
		}
	}
}

// Decoding is linear in the messages.
func TestDecodeIsLinear(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := rapid.SampledFrom([]Ensemble{RowSelect, SRHT, Gaussian, GaussianRowNorm, CountSketch,
			Haar}).Draw(
			rt, "ensemble")
		d := rapid.IntRange(1, 40).Draw(rt, "d")
		cfg := Config{N: rapid.IntRange(1, 6).Draw(rt, "n"), K: rapid.IntRange(1, d).Draw(rt, "k"), D: d,
			Ensemble: e,
			T:        Transform{Rho: rapid.Float64Range(0, 0.95).Draw(rt, "rho")},
			Root:     rapid.Uint64().Draw(rt, "root"), Beta: BetaMode{BetaMonteCarlo, 2}}
		c := codec(t, cfg)
		a, _ := messages(t, c, 0, 1)
		b, _ := messages(t, c, 0, 2)
		mix := map[uint64][]float64{}
		for i := range a {
			for j := range a[i] {
				mix[i] = append(mix[i], 2*a[i][j]-3*b[i][j])
			}
		}
		var x [3][]float64
		for i, y := range []map[uint64][]float64{a, b, mix} {
			var err error
			if x[i], err = c.decodeValues(t.Context(), 0, y); err != nil {
				rt.Fatal(err)
			}
		}
		for j := range x[0] {
			x[0][j] = 2*x[0][j] - 3*x[1][j]
		}
		near(t, "mean", x[2], x[0], 1e-7)
	})
}

// The three dense ensembles against the definition: β/n · f(S) Σ Gᵀ y by eigenvalues of S.
func TestAblationsAgainstTheDefinition(t *testing.T) {
	for _, e := range []Ensemble{Gaussian, GaussianRowNorm, CountSketch, SRHT, Haar} {
		for _, rho := range []float64{0.5, 1} {
			for _, k := range []int{4, 14} {
				c := codec(t, Config{N: 3, K: k, D: 32, Ensemble: e, T: Transform{Rho: rho}, Root: 9,
					Beta: BetaMode{BetaMonteCarlo, 10}})
				y, _ := messages(t, c, 0, 2)
				got, err := c.decodeValues(t.Context(), 0, y)
				if err != nil {
					t.Fatal(err)
				}
				s := c.system(0, y)
				a, err := s.outer(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var eig mat.EigenSym
				eig.Factorize(a, true)
				var v mat.Dense
				eig.VectorsTo(&v)
				want := make([]float64, 32)
				b := s.lifted()
				for i, l := range eig.Values(nil) {
					if l < 1e-9 {
						continue
					}
					col := mat.Col(nil, i, &v)
					f := betaOf2(t, c.config) / 3 * dot(col, b) / (1 - rho + rho*l)
					for j := range want {
						want[j] += f * col[j]
					}
				}
				near(t, fmt.Sprint(e, rho, k), got, want, 1e-7)
			}
		}
	}
}
