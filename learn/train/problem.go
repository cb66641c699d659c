package train

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"gonum.org/v1/gonum/mat"
)

// Problem is the minimisation of
//
//	G(x; D) = (1/n)Σ f(x; d_i) + ψ(x),
//
// what a simulation is measured by. Values of G on private records are secrets themselves.
type Problem struct {
	Loss        loss.Loss
	Regularizer geometry.Regularizer
	Records     *data.Records
}

// Objective returns G(x; D).
// It is +Inf of a problem without a loss, records or a regulariser.
func (p Problem) Objective(x []float64) float64 {
	if p.check() != nil {
		return math.Inf(1)
	}
	s := 0.0
	for i := range p.Records.Len() {
		s += p.Loss.Loss(x, p.Records.Row(i), p.Records.Response(i))
	}
	return s/float64(p.Records.Len()) + p.Regularizer.Value(x)
}

func (p Problem) check() error {
	if p.Loss == nil || p.Regularizer == nil || p.Records.Len() == 0 {
		return errors.New("loss, regulariser and records must be given")
	}
	return nil
}

// Optimum is x* = argmin G(x; D) and G(x*; D), a secret of the data.
type Optimum struct {
	X     []float64
	Value float64
}

// Optimum returns the optimum of the problem: by closed form for mean estimation, where x*
// is the proximal map of ψ at the mean, by a linear system for ridge regression with L2, and
// otherwise by an accelerated proximal gradient method (FISTA) until a step changes x by at
// most 1e-11·(1+‖x‖).
func (p Problem) Optimum() (Optimum, error) {
	if err := p.check(); err != nil {
		return Optimum{}, err
	}
	var x []float64
	var err error
	_, squares := p.Loss.(loss.LeastSquares)
	l2, squared := p.Regularizer.(geometry.L2)
	if _, ok := p.Loss.(loss.MeanEstimation); ok {
		x = p.Records.Mean()
		p.Regularizer.Prox(x, 1)
	} else if squares && squared && l2.Lambda > 0 {
		x, err = solveRidge(p.Records, l2.Lambda)
	} else {
		x, err = p.fista()
	}
	if err != nil {
		return Optimum{}, err
	}
	return Optimum{x, p.Objective(x)}, nil
}

// solveRidge solves (2/n·AᵀA + λI)x = 2/n·Aᵀy, or for d > n the smaller
// x = Aᵀ(AAᵀ + nλ/2·I)⁻¹y.
func solveRidge(r *data.Records, lambda float64) ([]float64, error) {
	a := mat.NewDense(r.Len(), r.Dim(), nil)
	y := make([]float64, r.Len())
	for i := range y {
		a.SetRow(i, r.Row(i))
		y[i] = r.Response(i)
	}
	shift := float64(r.Len()) * lambda / 2
	var gram mat.SymDense
	if r.Dim() > r.Len() {
		gram.SymOuterK(1, a)
	} else {
		gram.SymOuterK(1, a.T())
	}
	size := gram.SymmetricDim()
	for i := range size {
		gram.SetSym(i, i, gram.At(i, i)+shift)
	}
	var chol mat.Cholesky
	if !chol.Factorize(&gram) {
		return nil, errors.New("ridge regression: the system is not positive definite")
	}
	x := mat.NewVecDense(r.Dim(), nil)
	if r.Dim() > r.Len() {
		u := mat.NewVecDense(r.Len(), nil)
		if err := chol.SolveVecTo(u, mat.NewVecDense(r.Len(), y)); err != nil {
			return nil, fmt.Errorf("ridge regression: %w", err)
		}
		x.MulVec(a.T(), u)
	} else {
		b := mat.NewVecDense(r.Dim(), nil)
		b.MulVec(a.T(), mat.NewVecDense(r.Len(), y))
		if err := chol.SolveVecTo(x, b); err != nil {
			return nil, fmt.Errorf("ridge regression: %w", err)
		}
	}
	return slices.Clone(x.RawVector().Data), nil
}

// gradient sets g to the gradient of the mean loss, with scratch of the same size.
func (p Problem) gradient(g, x, scratch []float64) {
	clear(g)
	r := p.Records
	for i := range r.Len() {
		p.Loss.Gradient(scratch, x, r.Row(i), r.Response(i))
		floats.AddScaled(g, 1/float64(r.Len()), scratch)
	}
}

// fista is the method of Beck and Teboulle, A Fast Iterative Shrinkage-Thresholding
// Algorithm (2009), restarted whenever momentum points uphill (O'Donoghue and Candès,
// 2015).
func (p Problem) fista() ([]float64, error) {
	r := p.Records
	smooth := 0.0
	for i := range r.Len() {
		smooth += p.Loss.Smoothness(vec.Norm(r.Row(i))) / float64(r.Len())
	}
	if !(smooth > 0) || math.IsInf(smooth, 1) {
		return nil, fmt.Errorf("optimum: the mean smoothness is %g", smooth)
	}
	t := 1 / smooth
	x, prev, y := make([]float64, r.Dim()), make([]float64, r.Dim()), make([]float64, r.Dim())
	g, scratch := make([]float64, r.Dim()), make([]float64, r.Dim())
	momentum := 1.0
	for range 200_000 {
		p.gradient(g, y, scratch)
		copy(prev, x)
		for j := range x {
			x[j] = y[j] - t*g[j]
		}
		p.Regularizer.Prox(x, t)
		moved, size, uphill := 0.0, 0.0, 0.0
		for j := range x {
			moved += (x[j] - y[j]) * (x[j] - y[j])
			size += x[j] * x[j]
			uphill += (y[j] - x[j]) * (x[j] - prev[j])
		}
		if math.IsNaN(moved) {
			return nil, ErrDiverged
		}
		if math.Sqrt(moved) <= 1e-11*(1+math.Sqrt(size)) {
			return x, nil
		}
		next := (1 + math.Sqrt(1+4*momentum*momentum)) / 2
		weight := (momentum - 1) / next
		if uphill > 0 {
			next, weight = 1, 0
		}
		momentum = next
		for j := range y {
			y[j] = x[j] + weight*(x[j]-prev[j])
		}
	}
	return nil, errors.New("optimum: not found within 200000 steps")
}
