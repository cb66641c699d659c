package solve

import (
	"context"
	"testing"
	"time"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/plurality"
)

// Checkpoints are certified tables, each nearer to the optimum than the last, and the solve goes
// on as without them.
func TestCheckpoints(t *testing.T) {
	raced.Sequential(t)
	ctx := context.Background()
	p, o := plurality.Problem{K: 30, Classes: 4, Epsilon: .2, Affected: 1},
		plurality.Objective{Accuracy: .5}
	const goal = 1e-6
	ends := map[bool]incumbent{}
	var tables []*plurality.Table
	for _, taken := range []bool{false, true} {
		s, err := plurality.NewSystem(p)
		if err != nil {
			t.Fatal(err)
		}
		w, err := o.Weights(context.Background(), s.Space)
		if err != nil {
			t.Fatal(err)
		}
		pr := mustProgram(t, s, o, w)
		best := &incumbent{x: s.PermuteAndFlip(), upper: 1}
		best.value = pr.value(best.x)
		f := &firstOrder{program: pr, best: best, workers: 1}
		if taken {
			f.points = &checkpoints{gap: 1}
			f.points.take = func() {
				table, err := certified(ctx, s, o, w, best, pr, goal)
				if err != nil {
					t.Fatal(err)
				}
				tables = append(tables, table)
			}
		}
		if err := f.run(ctx, goal); err != nil {
			t.Fatal(err)
		}
		ends[taken] = *best
	}
	if ends[true].value != ends[false].value || ends[true].upper != ends[false].upper {
		t.Errorf("with checkpoints [%v, %v], without [%v, %v]", ends[true].value, ends[true].upper,
			ends[false].value, ends[false].upper)
	}
	if len(tables) < 2 {
		t.Fatalf("%d checkpoints", len(tables))
	}
	for i, table := range tables {
		if i > 0 && table.Gap > checkpointGain*tables[i-1].Gap+1e-9 {
			t.Errorf("checkpoint %d has gap %v after %v", i, table.Gap, tables[i-1].Gap)
		}
	}
}

// They are few: only where the gap fell, and after nine times what the last one took.
func TestCheckpointsAreFew(t *testing.T) {
	taken := 0
	c := &checkpoints{gap: 1, take: func() { taken++; time.Sleep(20 * time.Millisecond) }}
	c.offer(.9)
	if taken != 0 {
		t.Error("taken for a gap that hardly fell")
	}
	c.offer(.5)
	if wait := time.Until(c.next); taken != 1 || wait < 100*time.Millisecond {
		t.Errorf("%d taken, the next in %v", taken, wait)
	}
	c.offer(.1)
	if taken != 1 {
		t.Error("taken too early")
	}
	var none *checkpoints
	none.offer(0)
	p := mustProgram(t, mustSystem(t,
		plurality.Problem{K: 9, Classes: 3, Epsilon: 1, Affected: 1}),
		plurality.Objective{Accuracy: .6}, plurality.Weights{Low: make([]float64, 12),
			High: make([]float64, 12)})
	if newCheckpoints(p, Options{Checkpoint: func(*plurality.Table) {}}, nil) != nil {
		t.Error("a small problem has checkpoints")
	}
}

func mustSystem(t *testing.T, p plurality.Problem) *plurality.System {
	t.Helper()
	return must.Get(plurality.NewSystem(p))(t)
}

func mustProgram(t *testing.T, s *plurality.System, o plurality.Objective,
	w plurality.Weights) *program {
	t.Helper()
	return newProgram(s, must.Get(newRows(t.Context(), s, Options{}))(t), o, w)
}
