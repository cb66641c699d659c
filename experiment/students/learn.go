package students

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
)

// training is how one teacher learns: so many steps of gradient descent with momentum on the mean
// logistic loss and lambda/2·|w|², over all its records.
type training struct {
	Steps    int     `json:"steps"`
	StepSize float64 `json:"step_size"`
	Momentum float64 `json:"momentum"`
	Lambda   float64 `json:"lambda"`
}

// fit returns the weights of a logistic regression, for class 1.
func (t training) fit(d records) []float64 {
	w := make([]float64, len(d.x[0]))
	v, g := make([]float64, len(w)), make([]float64, len(w))
	for range t.Steps {
		clear(g)
		for i, x := range d.x {
			floats.AddScaled(g, logistic(floats.Dot(w, x))-float64(d.y[i]), x)
		}
		for j := range w {
			v[j] = t.Momentum*v[j] + g[j]/float64(len(d.y)) + t.Lambda*w[j]
			w[j] -= t.StepSize * v[j]
		}
	}
	return w
}

func logistic(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// ones returns how many of the teachers vote for class 1, for each record.
func ones(teachers [][]float64, d records) []int {
	out := make([]int, len(d.y))
	for i, x := range d.x {
		for _, w := range teachers {
			if floats.Dot(w, x) > 0 {
				out[i]++
			}
		}
	}
	return out
}

// student returns the weights of class 1 that minimise, from 0,
//
//	-Σ_i ln P(y_i | x_i) + (l2/2)·|w|²,   s = 1/(1+e^{-w·x})
//
// where P(1|x) is 1/(1+e^{-scale·(2s-1)}), which is softmax(scale·(1-s, s)), or s where scale is 0:
// labels are taken as they are. The constant, the last weight, has no penalty. The first len(labels)
// records are those that have one.
func student(d records, labels []int, scale, l2 float64) ([]float64, error) {
	last := len(d.x[0]) - 1
	// both returns the loss, and adds its derivative to grad unless that is nil.
	both := func(grad, w []float64) (loss float64) {
		for i, y := range labels {
			s := logistic(floats.Dot(w, d.x[i]))
			sign := 2*float64(y) - 1
			z, dz := math.Log(s/(1-s)), 1.0
			if scale > 0 {
				z, dz = scale*(2*s-1), 2*scale*s*(1-s)
			}
			loss += math.Log1p(math.Exp(-sign * z))
			if grad != nil {
				floats.AddScaled(grad, -sign*logistic(-sign*z)*dz, d.x[i])
			}
		}
		for j := range last {
			loss += l2 / 2 * w[j] * w[j]
			if grad != nil {
				grad[j] += l2 * w[j]
			}
		}
		return loss
	}
	found, err := optimize.Minimize(optimize.Problem{
		Func: func(w []float64) float64 { return both(nil, w) },
		Grad: func(grad, w []float64) { clear(grad); both(grad, w) },
	}, make([]float64, last+1), &optimize.Settings{GradientThreshold: 1e-4, MajorIterations: 500},
		&optimize.LBFGS{})
	if err != nil && found == nil {
		return nil, fmt.Errorf("a student: %w", err)
	}
	return found.X, nil
}

// accuracy returns how often the model is right, in percent.
func accuracy(w []float64, d records) float64 {
	right := 0
	for i, x := range d.x {
		if (floats.Dot(w, x) > 0) == (d.y[i] == 1) {
			right++
		}
	}
	return 100 * float64(right) / float64(len(d.y))
}
