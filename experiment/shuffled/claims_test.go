package shuffled

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/experiment/experimenttest"
	"github.com/darrm/darrm/internal/must"
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
