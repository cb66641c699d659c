// Package geometry has what keeps a model small: regularisers ψ and sets, by their proximal
// maps and projections. Give a method's Config one of NoRegularizer, L1, L2 and Ball; a
// regulariser of another program implements Regularizer. Methods without a projection take a
// Set, by its linear minimisation: LpBall, and the polytopes of NewL1Ball and NewSimplex.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # Notation
//
//	W, D         Set, Set.Diameter
//	p, q         Set.Norm, Dual           features are measured in ‖·‖_q
//	V, J         Polytope.Vertex, Vertices
//	ψ            Regularizer
//	prox_{tψ}    Regularizer.Prox
//	μ_ψ          Regularizer.StrongConvexity
//	λ            L1.Lambda, L2.Lambda
//
// Source: Parikh and Boyd, Proximal Algorithms (2014), Sections 2.3 and 6.
package geometry

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/vec"
)

// Regularizer is ψ, a convex function of the model. It is safe for concurrent use.
type Regularizer interface {
	// Name names the regulariser and its parameters; it goes into a plan's digest.
	Name() string
	// Value returns ψ(x), which may be +Inf.
	Value(x []float64) float64
	// Prox replaces v by argmin_x t·ψ(x) + ½‖x-v‖².
	Prox(v []float64, t float64)
	// StrongConvexity returns μ_ψ ≥ 0.
	StrongConvexity() float64
	// Smooth reports whether ψ is twice differentiable everywhere.
	Smooth() bool
	// Convex reports whether ψ is convex, so that Prox is non-expansive.
	Convex() bool
}

// NoRegularizer is ψ = 0.
type NoRegularizer struct{}

// Name returns "none".
func (NoRegularizer) Name() string { return "none" }

// Value returns 0.
func (NoRegularizer) Value([]float64) float64 { return 0 }

// Prox changes nothing.
func (NoRegularizer) Prox([]float64, float64) {}

// StrongConvexity returns 0.
func (NoRegularizer) StrongConvexity() float64 { return 0 }

// Smooth returns true.
func (NoRegularizer) Smooth() bool { return true }

// Convex returns true.
func (NoRegularizer) Convex() bool { return true }

// Ball is ψ = 0 for ‖x‖ ≤ Radius and +Inf outside.
type Ball struct{ Radius float64 }

// Name returns "ball" and the radius.
func (b Ball) Name() string { return fmt.Sprintf("ball %v", b.Radius) }

// Value returns 0 within the ball, 1e-9 of the radius beyond it included, and +Inf outside.
func (b Ball) Value(x []float64) float64 {
	if vec.Norm(x) <= b.Radius*(1+1e-9) {
		return 0
	}
	return math.Inf(1)
}

// Prox projects on the ball.
func (b Ball) Prox(v []float64, _ float64) { vec.Clip(v, b.Radius) }

// StrongConvexity returns 0.
func (Ball) StrongConvexity() float64 { return 0 }

// Smooth returns false.
func (Ball) Smooth() bool { return false }

// Convex returns true.
func (Ball) Convex() bool { return true }

// L2 is ψ = (Lambda/2)‖x‖².
type L2 struct{ Lambda float64 }

// Name returns "l2" and λ.
func (r L2) Name() string { return fmt.Sprintf("l2 %v", r.Lambda) }

// Value returns (λ/2)‖x‖².
func (r L2) Value(x []float64) float64 { return r.Lambda / 2 * floats.Dot(x, x) }

// Prox divides by 1+tλ.
func (r L2) Prox(v []float64, t float64) { floats.Scale(1/(1+t*r.Lambda), v) }

// StrongConvexity returns λ.
func (r L2) StrongConvexity() float64 { return r.Lambda }

// Smooth returns true.
func (L2) Smooth() bool { return true }

// Convex returns λ ≥ 0.
func (r L2) Convex() bool { return r.Lambda >= 0 }

// L1 is ψ = Lambda·‖x‖₁.
type L1 struct{ Lambda float64 }

// Name returns "l1" and λ.
func (r L1) Name() string { return fmt.Sprintf("l1 %v", r.Lambda) }

// Value returns λ‖x‖₁.
func (r L1) Value(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += math.Abs(v)
	}
	return r.Lambda * s
}

// Prox thresholds softly: sign(v)·max(|v|-tλ, 0) in each coordinate.
func (r L1) Prox(v []float64, t float64) {
	for j, x := range v {
		v[j] = math.Copysign(max(math.Abs(x)-t*r.Lambda, 0), x)
	}
}

// StrongConvexity returns 0.
func (L1) StrongConvexity() float64 { return 0 }

// Smooth returns false.
func (L1) Smooth() bool { return false }

// Convex returns λ ≥ 0.
func (r L1) Convex() bool { return r.Lambda >= 0 }

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
	if d < 1 || len(m) != d*d {
		return nil, nil, check.Wantf("numbers of a matrix", len(m), "%d, of %d rows, at least 1", d*d, d)
	}
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
