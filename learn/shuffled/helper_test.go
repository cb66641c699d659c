package shuffled

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// long reports whether tests that take minutes shall run: DARRM_LONG=1.
func long() bool { return os.Getenv("DARRM_LONG") == "1" }

func records(t testing.TB, rows [][]float64, y []float64) *data.Records {
	t.Helper()
	var x []float64
	for _, r := range rows {
		x = append(x, r...)
	}
	return must.Get(data.NewRecords(len(rows), len(rows[0]), x, y))(t)
}

// scalars returns records of dimension 1.
func scalars(t testing.TB, v ...float64) *data.Records {
	t.Helper()
	return must.Get(data.NewRecords(len(v), 1, v, nil))(t)
}

// gaussians returns n records around mean, with labels if wanted.
func gaussians(t testing.TB, seed uint64, n, d int, mean func(j int) float64, std float64,
	labels bool) *data.Records {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 99))
	x := make([]float64, n*d)
	var y []float64
	for i := range n {
		for j := range d {
			x[i*d+j] = mean(j) + std*rng.NormFloat64()
		}
		if labels {
			y = append(y, float64(rng.IntN(2)))
		}
	}
	return must.Get(data.NewRecords(n, d, x, y))(t)
}

// config is a valid configuration of mean estimation.
func config(m Scheme) Config {
	return Config{
		Task: loss.MeanEstimation{}, Method: m, Fraction: 0.5, Epochs: 4, Order: iteration.Reshuffled,
		StepSize: 0.01, Clip: 10, Target: accountant.Cost{Epsilon: 5, Delta: 1e-6}, Radius: 100,
		Mode: iteration.Paper, SharedRecords: true, // those of tests are small whole numbers
	}
}

func plan(t testing.TB, c Config, private, public *data.Records) *Plan {
	t.Helper()
	return must.Get(NewPlan(t.Context(), c, private, public))(t)
}

func scheduled(t testing.TB, c Config, s Schedule, private, public *data.Records) *Plan {
	t.Helper()
	return must.Get(Scheduled(c, s, private, public))(t)
}

// isPermutation reports whether perm holds each of 0, …, n-1 once.
func isPermutation(perm []int) bool {
	sorted := slices.Clone(perm)
	slices.Sort(sorted)
	for i, v := range sorted {
		if v != i {
			return false
		}
	}
	return true
}

func simulate(t testing.TB, p *Plan, seed uint64) []float64 {
	t.Helper()
	return must.Get(train.Simulate(p.Algorithm(), seed).Run(context.Background(), nil))(t)
}

// releaseGrid returns the grid step: a released model's coordinates are multiples of it.
func releaseGrid(p *Plan) float64 {
	_, e := math.Frexp(p.Algorithm().NoiseScale)
	return math.Ldexp(1, e-21)
}

// keyOf reads the key of a release from its checkpoint: see the format in package train.
func keyOf(r *train.Release) key {
	b := r.Checkpoint()
	after := bytes.IndexByte(b, '\n') + 1 + 1 + 32 // the kind and the digest
	return key(b[after : after+32])
}

// counted counts the proximal maps.
type counted struct {
	geometry.Regularizer
	times *int
}

func (c counted) Prox(v []float64, t float64) {
	*c.times++
	c.Regularizer.Prox(v, t)
}
