package choice

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/convex"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/train"
)

// cell is a number of records and an ε of a table, at a value of n·ε/d.
type cell struct {
	Ratio   float64 `json:"ratio"`
	Records int     `json:"records"`
	Epsilon float64 `json:"eps"`
}

// delta is δ of a cell: n^-1.1.
func (c cell) delta() float64 { return math.Pow(float64(c.Records), -1.1) }

// sample has the records that the methods of one trial learn from and are judged by.
type sample struct{ learn, test *data.Records }

// testShare of the records judges where a table has no part of its own for that.
const testShare = 0.25

// draw takes n records to learn from, and where the table has no own part, others to judge by.
func (r records) draw(n, mostTest int, seed uint64) (s sample, err error) {
	rng := rand.New(rand.NewPCG(seed, 5))
	order := rng.Perm(r.all.Len())
	s.test = r.test
	if s.test == nil {
		held := int(testShare * float64(len(order)))
		if s.test, err = r.all.Select(order[:min(held, mostTest)]); err != nil {
			return s, err
		}
		order = order[held:]
	} else if s.test.Len() > mostTest {
		if s.test, err = s.test.Select(rng.Perm(s.test.Len())[:mostTest]); err != nil {
			return s, err
		}
	}
	s.learn, err = r.all.Select(order[:min(n, len(order))])
	return s, err
}

// train runs a method on records that are no longer than radius, with a constant feature, and returns its score.
func (s sample) train(ctx context.Context, name string, o convex.Options, radius float64, classes int, seed uint64) (float64, error) {
	learn, test := s.learn.Shortened(radius).WithIntercept(), s.test.Shortened(radius).WithIntercept()
	m, err := convex.New(name, o)
	if err != nil {
		return 0, err
	}
	plan, err := m.Plan(learn.Len(), learn.Dim())
	if err != nil {
		return 0, err
	}
	a, err := plan.Train(learn)
	if err != nil {
		return 0, err
	}
	w, err := train.Simulate(a, seed).Run(ctx, nil)
	if err != nil {
		return 0, err
	}
	return score(w, test, classes)
}

// score is the AUC of two classes, the accuracy of several, and R² of numbers, 0 at least.
func score(w []float64, test *data.Records, classes int) (float64, error) {
	n, d := test.Len(), test.Dim()
	if classes > 2 {
		right := 0
		z := make([]float64, classes)
		for i := range n {
			for k := range z {
				z[k] = floats.Dot(w[k*d:(k+1)*d], test.Row(i))
			}
			if float64(floats.MaxIdx(z)) == test.Response(i) {
				right++
			}
		}
		return float64(right) / float64(n), nil
	}
	var y, z []float64
	for i := range n {
		y, z = append(y, test.Response(i)), append(z, floats.Dot(w, test.Row(i)))
	}
	if classes == 2 {
		positive := make([]bool, n)
		for i, v := range y {
			positive[i] = v == 1
		}
		if auc := model.AUC(z, positive); auc != nil {
			return *auc, nil
		}
		return 0.5, nil // a test of one class
	}
	mean, sum, rest := stat.Mean(y, nil), 0.0, 0.0
	for i := range y {
		sum += (y[i] - mean) * (y[i] - mean)
		e := y[i] - max(-1, min(1, z[i]))
		rest += e * e
	}
	return max(0, 1-rest/sum), nil
}

// target is the cost of a cell.
func (c cell) target() accountant.Cost { return accountant.Cost{Epsilon: c.Epsilon, Delta: c.delta()} }
