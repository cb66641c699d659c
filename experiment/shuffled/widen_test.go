package shuffled

import (
	"context"
	"strings"
	"testing"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/experimenttest"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/train"
)

// Starting from one step size and going on, each line ends at the best of the sources' whole
// grid. (Its mean excess has one minimum here; with several the search may end at another.)
func TestStepSizesGoOnAlongTheGrid(t *testing.T) {
	experimenttest.Numbers(t)
	p := *parameters(t, smallTraining)
	find := func(stepSizes []float64, widen bool) map[training]trained {
		q := p
		q.StepSizes, q.Widen = stepSizes, widen
		r := &experiment.Run{Context: context.Background(),
			Options: experiment.Options{Data: t.TempDir()}}
		lab, err := q.laboratory(r)
		if err != nil {
			t.Fatal(err)
		}
		out := map[training]trained{}
		for _, line := range []training{p.mainTraining(shuffled.Interleaved, 5),
			p.mainTraining(shuffled.DPShuffleG, 5), p.mainTraining(shuffled.PublicOnly, 0)} {
			if out[line], err = q.train(r, lab, line); err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	whole := find(nil, false)
	for _, start := range []float64{1e-2, 1e-6} { // above and below the best of most lines
		one, on := find([]float64{start}, false), find([]float64{start}, true)
		for line, want := range whole {
			got := on[line]
			if got.StepSize != want.StepSize || got.Mean != want.Mean {
				t.Errorf("%s from %g: ends at %g with %g, the whole grid has %g with %g", line, start,
					got.StepSize, got.Mean, want.StepSize, want.Mean)
			}
			if len(one[line].Cells) > len(got.Cells) || one[line].StepSize != start {
				t.Errorf("%s: without widen it goes on to %g", line, one[line].StepSize)
			}
			if e := got.gridEdge(); e != want.gridEdge() {
				t.Errorf("%s: edge %q, of the whole grid %q", line, e, want.gridEdge())
			}
		}
	}
}

// A claim names the end of the grid where the best step size of one of its figures is the last one
// tried, so that a better one may lie beyond.
func TestClaimsSayWhereAGridEnds(t *testing.T) {
	p := parameters(t, smallTraining)
	cells := []train.Cell{{StepSize: 1e-3}, {StepSize: 1e-4}, {StepSize: 1e-5}}
	evidence := func(stepSize float64) string {
		found := map[training]trained{}
		for _, line := range p.trainings() {
			found[line] = trained{Mean: 1, StepSize: 1e-4, Cells: cells, Noise: 1}
		}
		line := p.mainTraining(shuffled.Interleaved, 10)
		x := found[line]
		x.StepSize = stepSize
		found[line] = x
		r := experimenttest.Parse(t, catalog, smallTraining).NewRun(context.Background(),
			experiment.Options{})
		p.judge(r, 200, found)
		p.noteGrid(r, laboratory{}, found)
		return r.Result.Claims[0].Evidence + strings.Join(r.Result.Notes, "\n")
	}
	for stepSize, want := range map[float64]string{1e-3: "largest", 1e-5: "smallest"} {
		if got := evidence(stepSize); !strings.Contains(got, "Interleaved, at the "+want+
			" step size tried") || !strings.Contains(got,
			"is the "+want+" that was tried, so that a better one may lie beyond, for 1 of 21 lines: interleaved-RR-p0.5-eps10") {
			t.Errorf("best at %g: %s", stepSize, got)
		}
	}
	if got := evidence(1e-4); strings.Contains(got, "edge") || strings.Contains(got, "beyond") {
		t.Errorf("inside the grid: %s", got)
	}
}
