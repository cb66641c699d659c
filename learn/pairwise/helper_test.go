package pairwise

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/train"
)

func pair(t testing.TB, name string) loss.Pair {
	t.Helper()
	return must.Get(loss.ParsePair(name))(t)
}

func records(t testing.TB, rows [][]float64, y []float64) *data.Records {
	t.Helper()
	return must.Get(data.NewRecords(len(rows), len(rows[0]), slices.Concat(rows...), slices.Clone(y)))(
		t)
}

// setting is the logistic loss in the unit ball at (1, 1/256), with G = 2 and L = 1.
func setting(t testing.TB) Setting {
	return Setting{Base: Base{Loss: pair(t, "logistic"), Radius: 1,
		Target: accountant.Cost{Epsilon: 1, Delta: 1. / 256}}, Ball: .5}
}

func plan(t testing.TB, m Method, n, d int) train.Plan {
	t.Helper()
	return must.Get(m.Plan(n, d))(t)
}

// unit returns a uniform point of the unit sphere.
func unit(rng *rand.Rand, d int) []float64 {
	x := make([]float64, d)
	for j := range x {
		x[j] = rng.NormFloat64()
	}
	floats.Scale(1/floats.Norm(x, 2), x)
	return x
}

// gaussians are n records of two classes N(±e₁, I), of which share are positive, times scale and
// cut to norm 1.
func gaussians(t testing.TB, rng *rand.Rand, n, d int, shift, share, scale float64) *data.Records {
	t.Helper()
	x, y := make([]float64, 0, n*d), make([]float64, n)
	for i := range n {
		at := len(x)
		for range d {
			x = append(x, rng.NormFloat64())
		}
		if rng.Float64() < share {
			y[i] = 1
			x[at] += shift
		} else {
			x[at] -= shift
		}
		floats.Scale(scale, x[at:])
	}
	r, err := data.NewRecords(n, d, x, y)
	if err != nil {
		t.Fatal(err)
	}
	return r.Shortened(1)
}

// auc is of a linear score.
func auc(r *data.Records, w []float64) float64 {
	scores, positive := make([]float64, r.Len()), make([]bool, r.Len())
	for i := range scores {
		scores[i], positive[i] = floats.Dot(w, r.Row(i)), r.Response(i) == 1
	}
	return *model.AUC(scores, positive)
}

func meanStd(v []float64) (mean, std float64) {
	mean = floats.Sum(v) / float64(len(v))
	for _, x := range v {
		std += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(std / float64(len(v)-1))
}

// samplesOf are records with their samples.
type samplesOf struct{ *data.Records }

func seededCoins(seed uint64) train.Coins { return stream.Seeded(seed) }
