package sweep

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/solve"
)

// classSweep returns the problems of a sweep, how it is run, and each problem's value.
func classSweep(t *testing.T, jobs int, store *cache.Store) (
	[]plurality.Problem, Options[*plurality.Table], []float64) {
	t.Helper()
	problems, invalid, err := ClassGrid{Classes: []int{2, 3}, K: []int{5, 8},
		TotalEpsilon: []float64{.3, 1}, Affected: []int{1, All}}.Problems()
	if err != nil || len(invalid) > 0 {
		t.Fatal(err, invalid)
	}
	values := make([]float64, len(problems))
	return problems, Options[*plurality.Table]{Jobs: jobs,
		Each: func(i int, table *plurality.Table) error { values[i] = table.Value; return nil },
	}, values
}

var classOptions = solve.Options{Gap: 1e-8}

func classObjective(p plurality.Problem) plurality.Objective {
	return plurality.DefaultObjective(p.Classes)
}

func runClasses(ctx context.Context, problems []plurality.Problem, store *cache.Store,
	o Options[*plurality.Table]) (Result, error) {
	return Run(ctx, problems, Classes(store, classOptions, classObjective), o)
}

// The problems come in the order of the flags, each once, and every row is its own problem's
// optimum, however many are solved at a time.
func TestClassSweep(t *testing.T) {
	problems, o, values := classSweep(t, 3, nil)
	if len(problems) != 16 || className(problems[1]) !=
		"classes = 2, K = 5, label-eps = 0.3, affected = 5" {
		t.Fatalf("%d problems, the second is %s", len(problems), className(problems[1]))
	}
	if r, err := runClasses(context.Background(), problems, nil, o); err != nil || r.Solved != 16 {
		t.Fatalf("%+v, %v", r, err)
	}
	for i, p := range problems {
		want, err := solve.Optimal(context.Background(), p, classObjective(p), classOptions)
		if err != nil {
			t.Fatal(err)
		}
		if values[i] != want.Value {
			t.Errorf("%s: %v, want %v", className(p), values[i], want.Value)
		}
	}
	again, o, same := classSweep(t, 1, nil)
	if _, err := runClasses(context.Background(), again, nil, o); err != nil ||
		!slices.Equal(values, same) {
		t.Errorf("one job: %v, %v, want %v", err, same, values)
	}
}

// A sweep that was interrupted goes on where it was.
func TestClassSweepResumes(t *testing.T) {
	store := openStore(t)
	ctx, cancel := context.WithCancel(context.Background())
	problems, o, _ := classSweep(t, 1, store)
	o.Progress = func(done int) {
		if done == 4 {
			cancel()
		}
	}
	r, err := runClasses(ctx, problems, store, o)
	if !errors.Is(err, context.Canceled) || r.Solved != 4 ||
		!strings.HasPrefix(err.Error(), "4 of 16 problems are in the cache") {
		t.Errorf("interrupted: %+v, %v", r, err)
	}
	problems, o, _ = classSweep(t, 2, store)
	if r, err := runClasses(context.Background(), problems, store, o); err != nil || r.Cached != 4 ||
		r.Solved != 12 {
		t.Errorf("again: %+v, %v", r, err)
	}
}

func TestClassSweepRefuses(t *testing.T) {
	g := ClassGrid{Classes: []int{3, 1}, K: []int{5}, TotalEpsilon: []float64{1, 1},
		Affected: []int{1, 6, 5, All}}
	valid, invalid, err := g.Problems()
	var parameter *check.Error
	if err != nil || len(valid) != 2 || len(invalid) != 10 || !errors.As(invalid[0], &parameter) ||
		invalid[0].Error() !=
			"classes = 3, K = 5, label-eps = 1, affected = 6: affected = 6, but it must be between 1 "+
				"and K = 5" {
		t.Errorf("%v, %v, %v", valid, invalid, err)
	}
	var size *SizeError
	g = ClassGrid{Classes: upTo(100), K: upTo(100), TotalEpsilon: floats(100, .1), Affected: []int{1}}
	if _, _, err := g.Problems(); !errors.As(err, &size) ||
		!strings.Contains(err.Error(), "(100 classes × 100 K × 100 label-eps × 1 affected)") {
		t.Errorf("1e6 points: %v", err)
	}
	problems, o, _ := classSweep(t, 0, nil)
	if _, err := runClasses(context.Background(), problems, nil, o); !errors.As(err, &parameter) {
		t.Errorf("no jobs: %v", err)
	}
	o.Jobs = 2
	boom := errors.New("boom")
	o.Each = func(i int, _ *plurality.Table) error {
		if i == 3 {
			return boom
		}
		return nil
	}
	if _, err := runClasses(context.Background(), problems, nil, o); !errors.Is(err, boom) ||
		!strings.HasPrefix(err.Error(), className(problems[3])) {
		t.Errorf("a row that cannot be made: %v", err)
	}
}
