package lp_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/lp"
)

func TestSimplex(t *testing.T) { Run(t, lp.NewSimplex) }

func TestSimplexTooLarge(t *testing.T) {
	p, _ := Random(1, 600, 0)
	if _, err := lp.NewSimplex(p); !errors.Is(err, lp.ErrTooLarge) {
		t.Errorf("600 columns: error %v, want ErrTooLarge", err)
	}
	p, rows := Random(1, 64, 1)
	s, err := lp.NewSimplex(p)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	many := make([]lp.Row, 1<<16+1)
	for i := range many {
		many[i] = rows[0]
	}
	if err := s.AddRows(many); !errors.Is(err, lp.ErrTooLarge) ||
		!strings.Contains(err.Error(), "HiGHS") {
		t.Errorf("65537 rows: error %v, want ErrTooLarge with advice", err)
	}
	if s.Rows() != 0 {
		t.Errorf("Rows() = %d after a refused AddRows", s.Rows())
	}
}

func TestSimplexFreeColumn(t *testing.T) {
	if _, err := lp.NewSimplex(free()); err == nil || !strings.Contains(err.Error(), "column 1") {
		t.Errorf("error %v, want one that names column 1", err)
	}
}

func TestStatusString(t *testing.T) {
	seen := map[string]lp.Status{}
	for s := lp.Unknown; s <= lp.Numerical; s++ {
		text := s.String()
		if text == "" || strings.HasPrefix(text, "Status(") {
			t.Errorf("Status(%d) has no name", int(s))
		}
		if other, ok := seen[text]; ok {
			t.Errorf("%d and %d are both %q", int(other), int(s), text)
		}
		seen[text] = s
	}
	for _, s := range []lp.Status{-1, lp.Numerical + 1} {
		if want := fmt.Sprintf("Status(%d)", int(s)); s.String() != want {
			t.Errorf("%q, want %q", s, want)
		}
	}
	if (lp.Solution{}).Status != lp.Unknown {
		t.Error("the zero Solution claims a status")
	}
}

func BenchmarkSolve(b *testing.B) {
	for _, backend := range []struct {
		name string
		new  Constructor
	}{{"HiGHS", lp.NewHiGHS}, {"Simplex", lp.NewSimplex}} {
		p, rows := Random(7, 50, 400)
		const first = 350 // rows before the warm start
		b.Run(backend.name+"/cold/400x50", func(b *testing.B) {
			iterations := 0
			for b.Loop() {
				s := start(b, backend.new, p, rows)
				iterations += timed(b, s).Iterations
				s.Close()
			}
			b.ReportMetric(float64(iterations)/float64(b.N), "iterations/op")
		})
		b.Run(backend.name+"/warm/350+50x50", func(b *testing.B) {
			iterations := 0
			for b.Loop() {
				b.StopTimer()
				s := start(b, backend.new, p, rows[:first])
				timed(b, s)
				b.StartTimer()
				if err := s.AddRows(rows[first:]); err != nil {
					b.Fatal(err)
				}
				iterations += timed(b, s).Iterations
				b.StopTimer()
				s.Close()
				b.StartTimer()
			}
			b.ReportMetric(float64(iterations)/float64(b.N), "iterations/op")
		})
		q, all, _ := Majority(11, 3, 0.1, 1e-5, 0.75)
		b.Run(fmt.Sprintf("%s/majority/%dx%d", backend.name, len(all), len(q.C)), func(b *testing.B) {
			for b.Loop() {
				s := start(b, backend.new, q, all)
				timed(b, s)
				s.Close()
			}
		})
	}
}

func start(b *testing.B, newSolver Constructor, p lp.Problem, rows []lp.Row) lp.Solver {
	b.Helper()
	s, err := newSolver(p)
	if errors.Is(err, lp.ErrNoHiGHS) {
		b.Skip("no HiGHS in this build")
	}
	if err != nil {
		b.Fatal(err)
	}
	if err := s.AddRows(rows); err != nil {
		b.Fatal(err)
	}
	return s
}

func timed(b *testing.B, s lp.Solver) lp.Solution {
	b.Helper()
	return must.Get(s.Solve(context.Background()))(b)
}

// free has one column without any bound.
func free() lp.Problem {
	inf := math.Inf(1)
	return lp.Problem{C: []float64{1, 1}, Lower: []float64{0, -inf}, Upper: []float64{1, inf}}
}
