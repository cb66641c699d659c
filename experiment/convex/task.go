package convex

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/convex"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/model"
)

// task is a learning problem: its records, its loss and the score of a model.
type task struct {
	name    string
	measure string // what Value is, for people
	loss    loss.Loss
	// radius is the public bound on ‖x‖_q in d dimensions.
	radius func(q float64, d int) float64
	// draw returns one repeat's records and the truth. It is nil where a data set gives the records.
	draw func(rng *rand.Rand, d int) (truth []float64, record func(x []float64) float64)
	// value scores a model that is kept in set; less is better.
	value func(t *task, fresh *data.Records, w, truth []float64, set geometry.Set) float64
}

var tasks = []task{
	// Robust regression: x uniform on the unit sphere, Laplace noise of scale 0.1.
	{name: "robust-regression", measure: "excess risk", loss: loss.GLM[loss.Absolute]{}, value: excess,
		radius: func(float64, int) float64 { return 1 }, // ‖x‖_q ≤ ‖x‖₂ for q ≥ 2
		draw: func(rng *rand.Rand, d int) ([]float64, func([]float64) float64) {
			truth := make([]float64, d)
			onSphere(rng, truth)
			floats.Scale(0.8, truth)
			return truth, func(x []float64) float64 {
				onSphere(rng, x)
				return floats.Dot(x, truth) + 0.1*(rng.ExpFloat64()-rng.ExpFloat64())
			}
		}},
	// Sparse classification: x uniform in the cube, three features matter.
	{name: "sparse-classification", measure: "risk", loss: loss.GLM[loss.Hinge]{}, radius: inCube,
		value: risk,
		draw: func(rng *rand.Rand, d int) ([]float64, func([]float64) float64) {
			return nil, func(x []float64) float64 {
				uniform(rng, x)
				return label(rng, 4*(2*x[0]-1.5*x[1]+x[2]))
			}
		}},
	// Logistic regression with three features that matter and a truth that is known.
	{name: "sparse-logistic", measure: "excess risk", loss: loss.Logistic{}, radius: inCube,
		value: excess,
		draw: func(rng *rand.Rand, d int) ([]float64, func([]float64) float64) {
			truth := make([]float64, d)
			copy(truth, []float64{2, -1.5, 1})
			return truth, func(x []float64) float64 {
				for j := range x {
					x[j] = float64(2*rng.IntN(2) - 1)
				}
				return label(rng, floats.Dot(x, truth))
			}
		}},
	// The squared error of a sigmoid, which is smooth and not convex.
	{name: "squared-sigmoid", measure: "gap", loss: loss.GLM[loss.SquaredSigmoid]{}, radius: inCube,
		value: gap,
		draw: func(rng *rand.Rand, d int) ([]float64, func([]float64) float64) {
			return nil, func(x []float64) float64 {
				uniform(rng, x)
				return label(rng, 6*(x[0]-0.7*x[1]))
			}
		}},
	// Phase retrieval, which is weakly convex and not smooth: x uniform in the unit disc.
	{name: "phase-retrieval", measure: "distance to the proximal point",
		loss: loss.GLM[loss.PhaseRetrieval]{}, value: nearness,
		radius: func(float64, int) float64 { return 1 },
		draw: func(rng *rand.Rand, d int) ([]float64, func([]float64) float64) {
			return nil, func(x []float64) float64 {
				onSphere(rng, x)
				floats.Scale(math.Pow(rng.Float64(), 1/float64(d)), x)
				z := x[0] + 0.5*x[1]
				return z*z + 0.05*rng.NormFloat64()
			}
		}},
	// Which clients default. Features are in the cube, and few are near its corners: longer records
	// than 4 are shortened.
	{name: "credit", measure: "mean loss", loss: loss.Logistic{}, value: risk,
		radius: func(q float64, d int) float64 { return min(4, inCube(q, d)) }},
}

// inCube bounds ‖x‖_q of the x in [-1,1]^d, with what rounding may add.
func inCube(q float64, d int) float64 {
	if math.IsInf(q, 1) {
		return 1
	}
	return math.Pow(float64(d), 1/q) * (1 + 1e-12)
}

func onSphere(rng *rand.Rand, x []float64) {
	for j := range x {
		x[j] = rng.NormFloat64()
	}
	floats.Scale(1/vec.Norm(x), x)
}

func uniform(rng *rand.Rand, x []float64) {
	for j := range x {
		x[j] = 2*rng.Float64() - 1
	}
}

func label(rng *rand.Rand, z float64) float64 {
	if rng.Float64() < model.Probability(z) {
		return 1
	}
	return 0
}

// records draws n records.
func records(record func([]float64) float64, n, d int) (*data.Records, error) {
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range y {
		y[i] = record(x[i*d : (i+1)*d])
	}
	return data.NewRecords(n, d, x, y)
}

// risk is the mean loss F(w).
func risk(t *task, fresh *data.Records, w, _ []float64, _ geometry.Set) float64 {
	sum := 0.0
	for i := range fresh.Len() {
		sum += t.loss.Loss(w, fresh.Row(i), fresh.Response(i))
	}
	return sum / float64(fresh.Len())
}

// excess is F(w) - F(truth), on the same records: most of their chance cancels.
func excess(t *task, fresh *data.Records, w, truth []float64, set geometry.Set) float64 {
	return risk(t, fresh, w, nil, set) - risk(t, fresh, truth, nil, set)
}

func gap(t *task, fresh *data.Records, w, _ []float64, set geometry.Set) float64 {
	return convex.Gap(t.loss, fresh, w, set)
}

// nearness is ‖prox(w) - w‖_p at β = 2ρ/(p-1), ρ = 2, in the ball of set.
func nearness(t *task, fresh *data.Records, w, _ []float64, set geometry.Set) float64 {
	return convex.NearStationarity(t.loss, fresh, w, 4/(set.Norm()-1), set.(geometry.LpBall), 1000)
}
