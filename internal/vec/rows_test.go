package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Four rows at a time on this processor have the bits of the definition, whatever stands beside the rows, and the sum
// beyond its columns stays as it is.
func TestRowsHaveTheDefinitionsBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	odd := []float64{math.Inf(1), math.NaN(), 1e300, -1e-310, math.Copysign(0, -1)}
	for n := Lanes; n <= 13*Lanes; n += Lanes {
		for trial := range 20 {
			w, sums := make([]float64, n), [2][]float64{make([]float64, n+1), make([]float64, n+1)}
			var rows [Quad][]float32
			var by [Quad]float64
			for i := range rows {
				wide := make([]float32, n+16)
				for j := range wide {
					wide[j] = float32(math.NaN())
				}
				rows[i], by[i] = wide[8:n+8], rng.NormFloat64()
				for j := range rows[i] {
					rows[i][j] = float32(rng.NormFloat64() * math.Exp(10*rng.NormFloat64()))
				}
			}
			for j := range w {
				w[j] = rng.NormFloat64()
				sums[0][j] = rng.NormFloat64()
			}
			if trial >= 15 {
				w[rng.IntN(n)], by[1] = odd[trial-15], odd[trial-15]
			}
			copy(sums[1], sums[0])
			var z [2][Quad]float64
			Products(&z[0], &rows, w)
			eachProduct(&z[1], &rows, w)
			AddProducts(sums[0][:n], &rows, &by)
			addEach(sums[1][:n], &rows, &by)
			for i := range z[0] {
				if !same(z[0][i], z[1][i]) {
					t.Fatalf("%d columns: %v, want %v", n, z[0], z[1])
				}
			}
			for j := range sums[0] {
				if !same(sums[0][j], sums[1][j]) {
					t.Fatalf("%d columns: %v, want %v", n, sums[0], sums[1])
				}
			}
			if sums[0][n] != 0 {
				t.Fatal("a place beyond the columns was written")
			}
		}
	}
}

// same reports whether numbers have the same bits; all that are none are one.
func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

// Four exponentials at a time are the one, and that is below one unit in the last place off.
func TestExponentials(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	x := []float64{0, math.Copysign(0, -1), 1e-320, -1e-300, 0.3465735902799726, -0.3465735902799727, 0.5, -0.5, 700, -700,
		700.0000000000001, 708.5, 709, 710, 1e300, -708.9, -739, -739.9, -740, -741, math.Inf(1), math.Inf(-1), math.NaN(), 1}
	for range 200_000 {
		x = append(x, (2*rng.Float64()-1)*math.Exp(8*rng.Float64()-1.5))
	}
	for i := 0; i+Quad <= len(x); i += Quad {
		got := [Quad]float64(x[i : i+Quad])
		Exps(&got)
		for q, v := range x[i : i+Quad] {
			if want := Exp(v); !same(got[q], want) {
				t.Fatalf("e^%v: %v among four, %v alone", v, got[q], want)
			}
			if want := math.Exp(min(v, 709)); v >= -740 && !(math.Abs(got[q]-want) <= 2*(math.Nextafter(want, 1e308)-want)) {
				t.Fatalf("e^%v: %v, want %v", v, got[q], want)
			}
		}
	}
	if !math.IsNaN(Exp(math.NaN())) || Exp(-741) != 0 {
		t.Error("what is no number has an exponential, or e^-741 is not 0")
	}
}
