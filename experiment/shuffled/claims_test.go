package shuffled

import (
	"context"
	"encoding/json"
	"maps"
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

// goldenBounds returns the golden figures of the bounds, none where the training has none.
func goldenBounds(t testing.TB, p *trainingParameters, folder string) (out []bounded) {
	t.Helper()
	if len(p.Bounds) == 0 {
		return nil
	}
	for _, row := range goldenRows(t, folder, "bounds") {
		out = append(out, bounded{Method: shuffled.Scheme(row["method"]),
			Epsilon:   must.Get(strconv.ParseFloat(row["eps"], 64))(t),
			Corrected: must.Get(strconv.ParseFloat(row["corrected"], 64))(t)})
	}
	return out
}

// forms returns the full and the quick parameters of a definition, by the names of their golden folders.
func forms(t testing.TB, name string) map[string]*trainingParameters {
	t.Helper()
	var f struct{ Parameters, Quick map[string]json.RawMessage }
	if err := json.Unmarshal(must.Get(catalog.Source(name))(t), &f); err != nil {
		t.Fatal(err)
	}
	out := map[string]*trainingParameters{}
	for _, folder := range []string{name, name + "-quick"} {
		p := &trainingParameters{}
		if err := json.Unmarshal(must.Get(json.Marshal(f.Parameters))(t), p); err != nil {
			t.Fatal(err)
		}
		out[folder] = p
		maps.Copy(f.Parameters, f.Quick)
	}
	return out
}

// The claims of trainings of both sizes hold on their golden figures, and each fails when the
// numbers of some line are broken. Whatever step size is best is inside the grid that was tried, or
// where the source's grid or the cap of the step size ends.
func TestClaimsHoldOnGoldenFigures(t *testing.T) {
	raced.Sequential(t)
	for _, d := range catalog.List() {
		for folder, p := range forms(t, d.Name) {
			holdsOnGoldenFigures(t, d, folder, p)
		}
	}
}

func holdsOnGoldenFigures(t *testing.T, d experiment.Definition, folder string, p *trainingParameters) {
	set, err := datasets.Standin(p.Data, p.DataSeed)
	if err != nil {
		t.Fatal(err)
	}
	n, bounds := set.Private.Len(), goldenBounds(t, p, folder)
	judged := func(found map[training]trained) []experiment.Claim {
		r := d.NewRun(context.Background(), experiment.Options{})
		p.reportBounds(r, found, bounds)
		p.judge(r, n, found)
		return r.Result.Claims
	}
	found := goldenLines(t, folder)
	if want := p.trainings(); len(found) != len(want) {
		t.Errorf("%s: %d golden lines, want %d", folder, len(found), len(want))
		return
	}
	left := map[string]bool{}
	for _, c := range judged(found) {
		left[c.Text] = true
		if !c.Holds {
			t.Errorf("%s: claim fails: %s (%s)", folder, c.Text, c.Evidence)
		}
	}
	for line, x := range found {
		for _, factor := range []float64{1e12, 1e-12} {
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
		t.Errorf("%s: claim holds whatever is broken: %s", folder, text)
	}
	if strings.HasSuffix(folder, "-quick") {
		return
	}
	// Every method of the figure is judged at every ε.
	for _, eps := range p.Epsilons {
		for _, m := range p.Methods {
			if m != shuffled.ShuffleG && !slices.ContainsFunc(p.Claims, func(c ordering) bool {
				return c.Epsilon == eps && slices.Contains(slices.Concat(c.Better, c.Worse), m)
			}) {
				t.Errorf("%s: no claim judges %s at ε = %g", folder, m, eps)
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
