package convex

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

func records(t testing.TB, rows [][]float64, y []float64) *data.Records {
	t.Helper()
	var x []float64
	for _, r := range rows {
		x = append(x, r...)
	}
	return must.Get(data.NewRecords(len(rows), len(rows[0]), x, slices.Clone(y)))(t)
}

// setting is the absolute loss on the unit ball at (1, 1e-6).
func setting() Setting {
	return Setting{Loss: loss.GLM[loss.Absolute]{}, Radius: 1,
		Target: accountant.Cost{Epsilon: 1, Delta: 1e-6}}
}

func phased(t testing.TB, c PhasedSGD, n, d int) *phasedPlan {
	t.Helper()
	p, err := c.plan(n, d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fixed draws the same vector each time.
type fixed []float64

func (fixed) Restart(string, int) {}
func (f fixed) Fill(z []float64)  { copy(z, f) }

// rounds does all rounds of a run and returns the state's first vector after each.
func rounds(t testing.TB, r train.Run, k int) [][]float64 {
	t.Helper()
	var states [][]float64
	for i := range k {
		if err := r.Round(context.Background(), i); err != nil {
			t.Fatal(err)
		}
		states = append(states, append([]float64(nil), r.State()[0].Values...))
	}
	return states
}

// unit returns a uniform point of the unit sphere.
func unit(rng *rand.Rand, d int) []float64 {
	x := make([]float64, d)
	square := 0.0
	for j := range x {
		x[j] = rng.NormFloat64()
		square += x[j] * x[j]
	}
	for j := range x {
		x[j] /= math.Sqrt(square)
	}
	return x
}

// counted counts how often each record is read, by round.
type counted struct {
	samples
	round int
	reads map[int]map[int]int // record → round → reads
}

func (c *counted) Row(i int) []float64 {
	if c.reads[i] == nil {
		c.reads[i] = map[int]int{}
	}
	c.reads[i][c.round]++
	return c.samples.Row(i)
}
