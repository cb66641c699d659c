package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/testing/raced"
)

// upTo returns the numbers 1 to n.
func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i + 1
	}
	return list
}

// floats returns n numbers, equally far from each other.
func floats(n int, step float64) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = step * float64(i+1)
	}
	return list
}

func samePoints(t *testing.T, got []Point, want []constraints.Problem) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d points, want %d", len(got), len(want))
	}
	for i, p := range got {
		if p.Problem != want[i] {
			t.Errorf("point %d: %+v, want %+v", i, p.Problem, want[i])
		}
	}
}

// Points come in the order of the flags, the last varying fastest, and are the
// problems that constraints.NewProblem makes.
func TestGridPoints(t *testing.T) {
	g := Grid{K: []int{5, 3}, M: []float64{1, 2}, Epsilon: []float64{0.1, 0.5},
		TeacherDelta: []float64{0, 1e-5}, Affected: []int{2, All}}
	valid, invalid, err := g.Points(context.Background())
	if err != nil || len(invalid) > 0 {
		t.Fatal(err, invalid)
	}
	var want []constraints.Problem
	for _, k := range []int{5, 3} {
		for _, m := range []float64{1, 2} {
			for _, eps := range []float64{0.1, 0.5} {
				for _, teacherDelta := range []float64{0, 1e-5} {
					for _, affected := range []int{2, k} {
						p, err := constraints.NewProblem(k, m, eps, teacherDelta)
						if err != nil {
							t.Fatal(err)
						}
						p.Affected = affected
						want = append(want, p)
					}
				}
			}
		}
	}
	samePoints(t, valid, want)
	if s := valid[1].String(); s != "K = 5, m = 1, eps = 0.1, teacher-delta = 0, affected = all" {
		t.Errorf("point 1 is called %s", s)
	}
	delta := 0.01
	g.Delta = &delta
	valid, _, err = g.Points(context.Background())
	if err != nil || len(valid) != len(want) || slices.ContainsFunc(valid, func(p Point) bool {
		return p.Problem.Delta != delta
	}) {
		t.Errorf("with δ = %v: %v, %v", delta, valid, err)
	}
}

// Releases given by their total, and teachers that promise nothing, are the problems that
// constraints.NewTotalProblem makes; a default Δ is not for such teachers.
func TestGridTotals(t *testing.T) {
	for _, given := range []bool{false, true} {
		g := Grid{
			K: []int{5, 3}, TotalEpsilon: []float64{0.05, 0.25}, Epsilon: []float64{0.1, math.Inf(1)},
			TeacherDelta: []float64{0}, TeacherDeltaStated: true,
			Affected: []int{1, All},
		}
		if !given {
			g.TeacherDelta, g.TeacherDeltaStated = []float64{1e-5}, false
		}
		valid, invalid, err := g.Points(context.Background())
		if err != nil || len(invalid) > 0 {
			t.Fatal(err, invalid)
		}
		var want []constraints.Problem
		for _, k := range []int{5, 3} {
			for _, total := range []float64{0.05, 0.25} {
				for _, eps := range []float64{0.1, math.Inf(1)} {
					teacherDelta := 1e-5
					if given || math.IsInf(eps, 1) {
						teacherDelta = 0
					}
					for _, affected := range []int{1, k} {
						p, err := constraints.NewTotalProblem(k, k, total, eps, teacherDelta)
						if err != nil {
							t.Fatal(err)
						}
						p.Affected = affected
						p.Delta = p.DefaultDelta()
						want = append(want, p)
					}
				}
			}
		}
		samePoints(t, valid, want)
		if s := valid[2].String(); s !=
			"K = 5, label-eps = 0.05, eps = inf, teacher-delta = 0, affected = 1" {
			t.Errorf("point 2 is called %s", s)
		}
	}
}

// The remembered default δ is that of each problem.
func TestRememberedDelta(t *testing.T) {
	remembered := rememberedDelta()
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 4).Draw(t, "K")
		p := constraints.Problem{
			K: k, Epsilon: rapid.SampledFrom([]float64{0, 0.1, 0.2, math.Inf(1)}).Draw(t, "ε"),
			Affected:     rapid.IntRange(1, k).Draw(t, "affected"),
			TeacherDelta: rapid.SampledFrom([]float64{0, 1e-5, 1e-2}).Draw(t, "Δ"), Delta: 0.5,
		}
		if amount := rapid.SampledFrom([]float64{0.05, 0.3, 1, 2.5, 4}).Draw(t,
			"m or total"); rapid.Bool().Draw(t, "total") {
			p.TotalEpsilon = amount
		} else {
			p.M = amount
		}
		if p.Validate() != nil {
			return
		}
		if got, want := remembered(p), p.DefaultDelta(); got != want {
			t.Fatalf("%+v: δ = %v, want %v", p, got, want)
		}
	})
}

// A problem named twice, by a value or by all = K, is there once, at its first
// place.
func TestGridPointsAreDistinct(t *testing.T) {
	valid, invalid, err := Grid{
		K: []int{3, 5, 3}, M: []float64{1, 1, 2}, Epsilon: []float64{0.1}, TeacherDelta: []float64{0},
		Affected: []int{3, All},
	}.Points(context.Background())
	if err != nil || len(invalid) > 0 {
		t.Fatal(err, invalid)
	}
	var got []string
	for _, p := range valid {
		got = append(got, fmt.Sprint(p.Problem.K, p.Problem.M, p.Problem.Affected))
	}
	if want := []string{"3 1 3", "3 2 3", "5 1 3", "5 1 5", "5 2 3", "5 2 5"}; !slices.Equal(got,
		want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestGridInvalidPoints(t *testing.T) {
	valid, invalid, err := Grid{
		K: []int{3, 5}, M: []float64{1, 8000}, Epsilon: []float64{0.1}, TeacherDelta: []float64{1e-5},
		Affected: []int{4},
	}.Points(context.Background())
	if err != nil || len(valid) != 1 || valid[0].Problem.K != 5 || len(invalid) != 3 {
		t.Fatalf("%v, %v, %v", valid, invalid, err)
	}
	for i, want := range []string{
		"K = 3, m = 1, eps = 0.1, teacher-delta = 1e-05, affected = 4: affected = 4, but it must be " +
			"between 1 and K = 3",
		"K = 3, m = 8000, eps = 0.1, teacher-delta = 1e-05, affected = 4: affected = 4, but",
		"K = 5, m = 8000, eps = 0.1, teacher-delta = 1e-05, affected = 4: m·epsilon = 800, but it must " +
			"be at most 700",
	} {
		var parameter *constraints.ParameterError
		if !strings.Contains(invalid[i].Error(), want) || !errors.As(invalid[i], &parameter) {
			t.Errorf("%v, want %q", invalid[i], want)
		}
	}
}

func TestGridCap(t *testing.T) {
	raced.Sequential(t)
	g := Grid{K: upTo(1000), M: floats(101, 1), Epsilon: []float64{0.1}, TeacherDelta: []float64{0},
		Affected: []int{All}}
	var size *SizeError
	if _, _, err := g.Points(context.Background()); !errors.As(err, &size) ||
		!strings.Contains(err.Error(),
			"more than 100000 points (1000 K × 101 m × 1 eps × 1 teacher-delta × 1 affected)") {
		t.Errorf("101,000 points: %v", err)
	}
	// Factors whose product does not fit 64 bits are a cap like any other.
	long := floats(100000, 1)
	if _, _, err := (Grid{K: upTo(100000), M: long, Epsilon: long, TeacherDelta: long,
		Affected: upTo(100000)}).Points(context.Background()); !errors.As(err, &size) {
		t.Errorf("1e25 points: %v", err)
	}
	valid, _, err := (Grid{K: upTo(1000), M: floats(100, 1), Epsilon: []float64{0.1},
		TeacherDelta: []float64{0}, Affected: []int{All}}).Points(context.Background())
	if err != nil || len(valid) != MaxPoints {
		t.Errorf("%d points, %v, want %d", len(valid), err, MaxPoints)
	}
}

// Working out the defaults of a large grid ends with its context.
func TestGridStops(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	<-ctx.Done()
	_, _, err := (Grid{K: []int{3}, M: floats(90_000, 0.001), Epsilon: []float64{0.1},
		TeacherDelta: []float64{1e-5}, Affected: []int{All}}).Points(ctx)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("90,000 points: %v", err)
	}
}
