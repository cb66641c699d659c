package model

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/darrm/darrm/learn/data"
)

// Squared distances of coordinates are xᵀMx of the differences, and neighbours are by them.
func TestCoordinatesHaveTheDistance(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	m := read(t, `{"task":"logistic","link":"metric","columns":["a","b","c"],"response":"y","model":[4,1,0, 1,2,0, 0,0,0]}`)
	const n, d = 60, 3
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range y {
		y[i] = float64(rng.IntN(3)) // classes are any numbers
		for j := range d {
			x[i*d+j] = rng.NormFloat64()
		}
		x[i*d] += y[i]
		x[i*d+2] *= 10 // which M does not look at
	}
	r, err := data.NewRecords(n, d, x, y)
	if err != nil {
		t.Fatal(err)
	}
	z, err := m.Coordinates(r)
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for i := range n {
		best, of := math.Inf(1), 0
		for j := range n {
			form, apart := 0.0, 0.0
			for a := range d {
				for b := range d {
					form += (x[i*d+a] - x[j*d+a]) * m.Weights[a*d+b] * (x[i*d+b] - x[j*d+b])
				}
				apart += (z[i*d+a] - z[j*d+a]) * (z[i*d+a] - z[j*d+a])
			}
			if math.Abs(form-apart) > 1e-9*(1+form) {
				t.Fatalf("%d and %d: %g, in coordinates %g", i, j, form, apart)
			}
			if i != j && form < best {
				best, of = form, j
			}
		}
		if y[of] == y[i] {
			same++
		}
	}
	e, err := m.Evaluate(r)
	if err != nil || *e.Nearest != float64(same)/n || *e.NearestEuclid >= *e.Nearest || e.AUC != nil ||
		e.RMSE != nil || e.Loss != nil {
		t.Errorf("%+v (%v), by brute force %g", e, err, float64(same)/n)
	}
	if _, err := (&Model{Link: LinkRank, Weights: []float64{1, 2, 3}}).Coordinates(r); err == nil {
		t.Error("coordinates of a ranking")
	}
	if one, _ := r.Select([]int{0}); one != nil {
		if _, err := m.Evaluate(one); err == nil {
			t.Error("a neighbour of one record")
		}
	}
}

func TestMetricFilesThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		`{"task":"logistic","link":"metric","model":[1,2,3]}`:                     "number of weights = 3",
		`{"task":"logistic","link":"metric","columns":["a"],"model":[1,0,0,1]}`:   "names 1 columns",
		`{"task":"logistic","link":"metric","intercept":true,"model":[1,0,0,1]}`:  "no intercept",
		`{"task":"logistic","link":"metric","columns":["a","b"],"model":[1,2,3]}`: "number of weights = 3",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
