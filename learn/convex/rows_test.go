package convex

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/vec"
)

// A record that a pass reads is no longer than the one that was given, in no feature, and near it; its norm is bounded.
func TestRowsGetNoLonger(t *testing.T) {
	rng := rand.New(rand.NewPCG(91, 92))
	for _, radius := range []float64{1e-30, 0.3, 1, 2, 1e50} {
		rows := make([][]float64, 500)
		for i := range rows {
			rows[i] = unit(rng, 11)
			floats.Scale(radius*(1-1e-12), rows[i])
			rows[i][rng.IntN(11)] *= math.Exp(-200 * rng.Float64())
		}
		r := records(t, rows, make([]float64, len(rows)))
		s := newShort(r, len(rows), 11, radius)
		for i, row := range rows {
			square := 0.0
			for j, v := range row {
				got := float64(s.row(i)[j]) * s.unit
				if math.Abs(got) > math.Abs(v) || math.Abs(got-v) > math.Abs(v)*0x1p-23+s.unit*0x1p-126 {
					t.Fatalf("radius %v: %v is read as %v", radius, v, got)
				}
				square += got / radius * (got / radius)
			}
			if norm := s.norm(i); norm < math.Sqrt(square)*radius || norm > math.Sqrt(square)*radius*(1+1e-12) {
				t.Fatalf("radius %v: the norm %v is bounded by %v", radius, math.Sqrt(square)*radius, norm)
			}
			if floats.Max(wide(s.row(i)[11:])) != 0 {
				t.Fatal("a row is not filled up with zeros")
			}
		}
		if last := wide(s.row(len(rows))); floats.Max(last) != 0 || floats.Min(last) != 0 || len(last)%vec.Lanes != 0 {
			t.Fatal("the last row is not of zeros")
		}
	}
}

func wide(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// Runs share the records that were rounded, and nothing that a pass writes to: those of a grid may be at once.
func TestRunsWriteToTheirOwn(t *testing.T) {
	rng := rand.New(rand.NewPCG(93, 94))
	s := setting()
	r := records(t, [][]float64{unit(rng, 3), unit(rng, 3)}, []float64{0, 1})
	p := sampled(t, DPSGD{Setting: s, Rate: 1}, 2, 3)
	shared := newGradients(&p.task, p.limit, r, r.Len())
	a, b := shared.own(), shared.own()
	into := make([]float64, 3)
	for k, g := range []*gradients{a, b} {
		if err := g.sum(t.Context(), into, unit(rng, 3), nil); err != nil {
			t.Fatal(err)
		}
		if &g.x[0] != &shared.x[0] || &g.y[0] != &shared.y[0] {
			t.Errorf("run %d has records of its own", k)
		}
	}
	if &a.w[0] == &b.w[0] || &a.w[0] == &shared.w[0] || &a.parts[0][0] == &b.parts[0][0] || shared.parts != nil {
		t.Error("two runs write to one place")
	}
}
