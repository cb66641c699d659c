package shuffled

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/internal/testing/experimenttest"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/train"
)

// Every claim of the quick trainings fails where some number is broken. What a run found is
// read once: telling it all each time would take seconds.
func TestEveryClaimOfTrainingsCanFail(t *testing.T) {
	experimenttest.Numbers(t)
	for _, d := range catalog.List() {
		text, err := catalog.Source(d.Name)
		if err != nil {
			t.Fatal(err)
		}
		o := experiment.Options{Quick: true, Data: t.TempDir()}
		out := experimenttest.Run(t, d, t.TempDir(), o)
		p := &trainingParameters{}
		if err := json.Unmarshal(out.Record.Parameters, p); err != nil {
			t.Fatal(err)
		}
		lines := map[string]trained{}
		var bounds []bounded
		if _, err := d.Replay(context.Background(), out, o, func(step string, value any) {
			switch v := value.(type) {
			case *trained:
				lines[step] = *v
			case *[]bounded:
				bounds = *v
			}
		}); err != nil {
			t.Fatal(err)
		}
		lab, err := p.laboratory(d.NewRun(context.Background(), o))
		if err != nil {
			t.Fatal(err)
		}
		experimenttest.EveryClaimCanFail(t, catalog, text, out,
			func(d experiment.Definition, change func(string, any)) (experiment.Result, error) {
				r := d.NewRun(context.Background(), o)
				found, limits := map[training]trained{}, slices.Clone(bounds)
				for _, line := range p.trainings() {
					x := lines[line.String()]
					x.Cells, x.Best = slices.Clone(x.Cells), nil
					change(line.String(), &x)
					found[line] = x
				}
				change("bounds", &limits)
				p.reportBounds(r, found, limits)
				p.judge(r, lab.set.Private.Len(), found)
				return r.Result, nil
			})
	}
}

func goldenRows(t testing.TB, folder, file string) []map[string]string {
	t.Helper()
	return experimenttest.Rows(t, filepath.Join("..", "testdata", "golden", folder, file+".csv"))
}

// goldenLines returns the golden figures of a training by line, as far as claims use them.
func goldenLines(t testing.TB, d string) map[training]trained {
	t.Helper()
	number := func(s string) float64 {
		if s == "" {
			return 0
		}
		return must.Get(strconv.ParseFloat(s, 64))(t)
	}
	line := func(row map[string]string) training {
		return training{shuffled.Scheme(row["method"]), row["order"], number(row["p"]),
			number(row["eps"])}
	}
	found := map[training]trained{}
	for _, row := range goldenRows(t, d, "summary") {
		found[line(row)] = trained{
			Noise: number(row["sigma"]), Amplification: number(row["amplification"]),
			Epsilon:  number(row["eps_accounted"]),
			StepSize: number(row["step_size"]), Mean: number(row["excess"]), Std: number(row["std"]),
		}
	}
	for _, row := range goldenRows(t, d, "grid") {
		x := found[line(row)]
		x.Cells = append(x.Cells, train.Cell{StepSize: number(row["step_size"])})
		found[line(row)] = x
	}
	return found
}

// The claims of full-size trainings hold on their golden figures, which only the long test
// computes, and each fails when the numbers of some line are broken. Whatever step size is best is
// inside the grid that was tried, or where the source's grid or the cap of the step size ends.
func TestClaimsHoldOnGoldenFigures(t *testing.T) {
	raced.Sequential(t)
	for _, d := range catalog.List() {
		text, err := catalog.Source(d.Name)
		if err != nil {
			t.Fatal(err)
		}
		p := parameters(t, string(text))
		set, err := datasets.Standin(p.Data, p.DataSeed)
		if err != nil {
			t.Fatal(err)
		}
		n := set.Private.Len()
		judged := func(found map[training]trained) []experiment.Claim {
			r := d.NewRun(context.Background(), experiment.Options{})
			p.judge(r, n, found)
			return r.Result.Claims
		}
		found := goldenLines(t, d.Name)
		if want := p.trainings(); len(found) != len(want) {
			t.Errorf("%s: %d golden lines, want %d", d.Name, len(found), len(want))
			continue
		}
		left := map[string]bool{}
		for _, c := range judged(found) {
			left[c.Text] = true
			if !c.Holds {
				t.Errorf("%s: claim fails: %s (%s)", d.Name, c.Text, c.Evidence)
			}
		}
		for line, x := range found {
			for _, factor := range []float64{1e3, 1e-3} {
				y := x
				y.Mean, y.Epsilon, y.Noise = y.Mean*factor, y.Epsilon*factor, y.Noise*factor
				found[line] = y
				for _, c := range judged(found) {
					if !c.Holds {
						delete(left, c.Text)
					}
				}
			}
			found[line] = x
		}
		for text := range left {
			t.Errorf("%s: claim holds whatever is broken: %s", d.Name, text)
		}
		// Every method of the figure is judged at every ε.
		for _, eps := range p.Epsilons {
			for _, m := range p.Methods {
				if m != shuffled.ShuffleG && !slices.ContainsFunc(p.Claims, func(c ordering) bool {
					return c.Epsilon == eps && slices.Contains(slices.Concat(c.Better, c.Worse), m)
				}) {
					t.Errorf("%s: no claim judges %s at ε = %g", d.Name, m, eps)
				}
			}
		}
	}
}

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
