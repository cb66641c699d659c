package geometry

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// ProjectPSD sets the d×d matrix m, row by row, to the nearest symmetric positive semidefinite
// matrix of Frobenius norm at most radius, which may be +Inf: the symmetric part without its
// negative eigenvalues, and shortened. (The projection to a cone and then to a ball around 0 is
// that to both.) It is non-expansive, as projections to convex sets are. Cost: O(d³).
//
// Source: Higham, Computing a Nearest Symmetric Positive Semidefinite Matrix (1988), Theorem 2.1.
func ProjectPSD(m []float64, d int, radius float64) error {
	values, vectors, err := eigen(m, d)
	if err != nil {
		return err
	}
	clear(m)
	norm := 0.0
	for k, v := range values {
		if v <= 0 {
			continue
		}
		norm = math.Hypot(norm, v)
		for i := range d {
			for j := range d {
				m[i*d+j] += v * vectors.At(i, k) * vectors.At(j, k)
			}
		}
	}
	if norm > radius {
		for i := range m {
			m[i] *= radius / norm
		}
	}
	return nil
}

// FactorPSD returns L, rank×d and row by row, of which LᵀL is the positive semidefinite matrix of
// that rank or less that is nearest to m. Cost: O(d³).
func FactorPSD(m []float64, d, rank int) ([]float64, error) {
	values, vectors, err := eigen(m, d)
	if err != nil {
		return nil, err
	}
	l := make([]float64, rank*d)
	for r := range min(rank, d) {
		k := d - 1 - r // eigenvalues ascend
		root := math.Sqrt(max(0, values[k]))
		for j := range d {
			l[r*d+j] = root * vectors.At(j, k)
		}
	}
	return l, nil
}

// eigen returns the eigenvalues of the symmetric part, ascending, and its eigenvectors.
func eigen(m []float64, d int) ([]float64, *mat.Dense, error) {
	s := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			s.SetSym(i, j, (m[i*d+j]+m[j*d+i])/2)
		}
	}
	var e mat.EigenSym
	if !e.Factorize(s, true) {
		return nil, nil, fmt.Errorf("the eigenvalues of a matrix of %d rows did not converge", d)
	}
	vectors := new(mat.Dense)
	e.VectorsTo(vectors)
	return e.Values(nil), vectors, nil
}
