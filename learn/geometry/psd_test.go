package geometry

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"
)

func drawMatrix(t *rapid.T, d int, label string) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(-2, 2), d*d, d*d).Draw(t, label)
}

// Two projections are no farther apart than what is projected, a projected matrix stays, is
// symmetric, within the ball and positive semidefinite by random quadratic forms.
func TestProjectPSD(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 6).Draw(t, "d")
		radius := rapid.Float64Range(0.1, 8).Draw(t, "radius")
		a, b := drawMatrix(t, d, "a"), drawMatrix(t, d, "b")
		apart := floats.Distance(a, b, 2)
		for _, m := range [][]float64{a, b} {
			if err := ProjectPSD(m, d, radius); err != nil {
				t.Fatal(err)
			}
		}
		if got := floats.Distance(a, b, 2); got > apart+1e-9 {
			t.Fatalf("%g apart, from %g", got, apart)
		}
		x := rapid.SliceOfN(rapid.Float64Range(-1, 1), d, d).Draw(t, "x")
		form := 0.0
		for i := range d {
			for j := range d {
				form += x[i] * x[j] * a[i*d+j]
				if math.Abs(a[i*d+j]-a[j*d+i]) > 1e-12 {
					t.Fatal("not symmetric")
				}
			}
		}
		if form < -1e-9 || floats.Norm(a, 2) > radius*(1+1e-12) {
			t.Fatalf("xᵀMx = %g, norm %g of %g", form, floats.Norm(a, 2), radius)
		}
		again := append([]float64{}, a...)
		if err := ProjectPSD(again, d, radius); err != nil || floats.Distance(again, a, 2) > 1e-9 {
			t.Fatalf("projected again it moves by %g (%v)", floats.Distance(again, a, 2), err)
		}
	})
}

// Of all positive semidefinite 2×2 matrices on a grid none is nearer.
func TestProjectPSDByBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMatrix(t, 2, "m")
		p := append([]float64{}, m...)
		const radius = 1.5
		if err := ProjectPSD(p, 2, radius); err != nil {
			t.Fatal(err)
		}
		best := floats.Distance(m, p, 2)
		for a := 0.0; a <= radius; a += 0.05 {
			for c := 0.0; c <= radius; c += 0.05 {
				for b := -radius; b <= radius; b += 0.05 {
					q := []float64{a, b, b, c}
					if a*c >= b*b && floats.Norm(q, 2) <= radius && floats.Distance(m, q, 2) < best-1e-12 {
						t.Fatalf("%v is nearer to %v than %v", q, m, p)
					}
				}
			}
		}
	})
}

// A factor of full rank gives the matrix, one of rank 1 its largest part.
func TestFactorPSD(t *testing.T) {
	m := []float64{2, 1, 0, 1, 2, 0, 0, 0, 0.5} // eigenvalues 3, 1 and 0.5
	for rank, left := range map[int]float64{1: math.Sqrt(1 + 0.25), 2: 0.5, 3: 0} {
		l, err := FactorPSD(m, 3, rank)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i := range 3 {
			for j := range 3 {
				v := m[i*3+j]
				for r := range rank {
					v -= l[r*3+i] * l[r*3+j]
				}
				sum += v * v
			}
		}
		if math.Abs(math.Sqrt(sum)-left) > 1e-12 {
			t.Errorf("rank %d: %g is left, not %g", rank, math.Sqrt(sum), left)
		}
	}
}
