package train

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
)

// gaussians returns n labelled records of dimension d around (0, 1, …, d-1).
func gaussians(t *testing.T, n, d int) *data.Records {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 99))
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range n {
		for j := range d {
			x[i*d+j] = float64(j) + rng.NormFloat64()
		}
		y[i] = float64(rng.IntN(2))
	}
	return must.Get(data.NewRecords(n, d, x, y))(t)
}

// The optimum meets its conditions, and two ways of finding it agree.
func TestOptimum(t *testing.T) {
	private := gaussians(t, 60, 4)
	few := gaussians(t, 3, 5)
	for _, v := range []struct {
		task loss.Loss
		reg  geometry.Regularizer
		r    *data.Records
	}{
		{loss.MeanEstimation{}, geometry.Ball{Radius: 1}, private},
		{loss.MeanEstimation{}, geometry.L1{Lambda: 0.5}, private},
		{loss.LeastSquares{}, geometry.L2{Lambda: 0.1}, private},
		{loss.LeastSquares{}, geometry.L2{Lambda: 0.1}, few},
		{loss.LeastSquares{}, geometry.L1{Lambda: 0.1}, private},
		{loss.Logistic{}, geometry.L1{Lambda: 0.1}, private},
		{loss.Logistic{}, geometry.L2{Lambda: 0.1}, private},
	} {
		o, err := Problem{v.task, v.reg, v.r}.Optimum()
		if err != nil {
			t.Fatal(err)
		}
		// x* is a fixed point of proximal gradient steps.
		x, g, scratch := slices.Clone(o.X), make([]float64, v.r.Dim()), make([]float64, v.r.Dim())
		Problem{v.task, v.reg, v.r}.gradient(g, x, scratch)
		step := 1 / v.task.Smoothness(v.r.MaxNorm())
		floats.AddScaled(x, -step, g)
		v.reg.Prox(x, step)
		if d := floats.Distance(x, o.X, 2); d > 1e-9*(1+vec.Norm(o.X)) {
			t.Errorf("%s, %s: a step moves x* by %g", v.task.Name(), v.reg.Name(), d)
		}
		if got := (Problem{v.task, v.reg, v.r}).Objective(o.X); got != o.Value {
			t.Errorf("value %g, want %g", o.Value, got)
		}
	}
	// The two ways of solving ridge regression agree.
	a, err := solveRidge(few, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Problem{loss.LeastSquares{}, geometry.L2{Lambda: 0.1}, few}.fista()
	if err != nil {
		t.Fatal(err)
	}
	if floats.Distance(a, b, 2) > 1e-7 {
		t.Errorf("%v and %v", a, b)
	}
}
