package model

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
)

// A model of accuracy 0.8 beside a base rate of 0.8 is no better than a constant, one of 1 is, and one
// of 0.5 is worse. The base rate is of the commonest class, whichever it is.
func TestConstant(t *testing.T) {
	const n = 200
	for _, c := range []struct {
		weight, intercept, accuracy float64
		constant                    bool
	}{{0, -1, 0.2, true}, {0, 1, 0.8, true}, {1, 0, 1, false}, {-1, 0, 0, true}} {
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = -1
			if i%5 != 0 {
				x[i], y[i] = 1, 1
			}
		}
		m := must.Get(New(Document{Task: "logistic", Link: LinkLogit, Intercept: true,
			Model: []float64{c.weight, c.intercept}}))(t)
		e := must.Get(m.Evaluate(must.Get(data.NewRecords(n, 1, x, y))(t)))(t)
		if *e.Accuracy != c.accuracy || *e.BaseRate != 0.8 || e.Constant != c.constant {
			t.Errorf("%+v: accuracy %v, base rate %v, constant %v", c, *e.Accuracy, *e.BaseRate, e.Constant)
		}
	}
}
