package experiment_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/majority"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/testing/experimenttest"
)

// counting counts what is solved.
func counting(n *int) func(context.Context, constraints.Problem,
	solve.Options) (*gamma.Table, error) {
	return func(ctx context.Context, p constraints.Problem, o solve.Options) (*gamma.Table, error) {
		*n++
		return solve.Optimal(ctx, p, o)
	}
}

func TestRunResumes(t *testing.T) {
	dir := t.TempDir()
	solved := 0
	catalog := catalogWith(counting(&solved))
	d := experimenttest.Load(t, catalog, "figure-b.5")
	o := experiment.Options{Quick: true, Version: "1"}
	first := experimenttest.Run(t, d, dir, o)
	if solved != 3 || first.Reused || len(first.Record.Steps) != 3 {
		t.Fatalf("first run: %d solved, %+v", solved, first.Record.Steps)
	}
	if again := experimenttest.Run(t, d, dir, o); !again.Reused || solved != 3 {
		t.Errorf("second run: %d solved, reused %t", solved, again.Reused)
	}
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(first.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	errorsCSV, results, svg := read("errors.csv"), read(experiment.ResultFile), read("gamma.svg")
	same := func(what string) {
		t.Helper()
		if read("errors.csv") != errorsCSV || read(experiment.ResultFile) != results ||
			read("gamma.svg") != svg {
			t.Errorf("%s: the files have changed", what)
		}
	}

	// An output that was changed by hand is made again, from the steps.
	if err := os.WriteFile(filepath.Join(first.Dir, "errors.csv"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	if again := experimenttest.Run(t, d, dir, o); again.Reused || solved != 3 ||
		!again.Record.Steps[0].Reused {
		t.Errorf("after a changed output: %d solved, %+v", solved, again.Record)
	}
	same("after a changed output")

	// A step that was damaged is done again, the others are not.
	steps, err := cache.Open(filepath.Join(first.Dir, experiment.StepsFolder))
	if err != nil {
		t.Fatal(err)
	}
	step := steps.Path("promise-2")
	b, err := os.ReadFile(step)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(step, bytes.Replace(b, []byte(`"error":0.0`), []byte(`"error":0.1`), 1),
		0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(first.Dir, experiment.RecordFile)); err != nil {
		t.Fatal(err)
	}
	if experimenttest.Run(t, d, dir, o); solved != 4 {
		t.Errorf("after a damaged step %d were solved in all, want 4", solved)
	}
	same("after a damaged step")

	// One changed parameter, or another version: only what it concerns.
	changed := experimenttest.Parse(t, catalog, strings.Replace(string(source(t, "figure-b.5")),
		`"quick": {"allowances": [1, 3, 7]`, `"quick": {"allowances": [1, 3, 9]`, 1))
	if experimenttest.Run(t, changed, dir, o); solved != 5 {
		t.Errorf("after a changed parameter %d were solved in all, want 5", solved)
	}
	o.Version = "2"
	if experimenttest.Run(t, changed, dir, o); solved != 8 {
		t.Errorf("after a new version %d were solved in all, want 8", solved)
	}
}

// A run that is interrupted leaves its steps and no record, and goes on from there.
func TestRunInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	solved := 0
	count := counting(&solved)
	load := func(s majority.Solver) experiment.Definition {
		return experimenttest.Load(t, catalogWith(s), "figure-b.5")
	}
	o := experiment.Options{Quick: true}
	interrupted := load(func(c context.Context, p constraints.Problem, so solve.Options) (*gamma.Table,
		error) {
		if solved == 1 {
			cancel()
		}
		return count(c, p, so)
	})
	if _, err := interrupted.Run(ctx, dir, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	folder := filepath.Join(dir, "figure-b.5-quick")
	if _, err := os.Stat(filepath.Join(folder, experiment.RecordFile)); !os.IsNotExist(err) {
		t.Errorf("a record of half a run: %v", err)
	}
	solved = 0
	if out := experimenttest.Run(t, load(count), dir, o); solved != 2 || !out.Record.Steps[0].Reused {
		t.Errorf("%d solved after the interruption, want 2", solved)
	}
}

func TestProgress(t *testing.T) {
	var seen []experiment.Progress
	experimenttest.Run(t, experimenttest.Load(t, catalog, "figure-b.5"), t.TempDir(),
		experiment.Options{Quick: true, Progress: func(p experiment.Progress) { seen = append(seen, p) }})
	if len(seen) != 4 {
		t.Fatalf("%d reports: %v", len(seen), seen)
	}
	for i, p := range seen {
		if p.Done != i || p.Of != 3 || p.Experiment != "figure-b.5" || (p.Step == "") != (i == 3) {
			t.Errorf("report %d: %+v", i, p)
		}
	}
}

func TestMissingData(t *testing.T) {
	_, err := experimenttest.Load(t, catalog, "mnist").Run(context.Background(), t.TempDir(),
		experiment.Options{Data: t.TempDir()})
	if !errors.Is(err, experiment.ErrNoData) || !errors.Is(err, os.ErrNotExist) ||
		!strings.Contains(err.Error(), "fetch-mnist") {
		t.Errorf("missing data: %v", err)
	}
	if _, err := (experiment.Definition{}).Run(context.Background(), t.TempDir(),
		experiment.Options{}); err == nil {
		t.Error("an empty definition runs")
	}
}

// A record that names files outside its folder, or a file that has changed, is refused.
func TestReadRecordRefuses(t *testing.T) {
	out := experimenttest.Run(t, experimenttest.Load(t, catalog, "figure-b.8"), t.TempDir(),
		experiment.Options{})
	path := filepath.Join(out.Dir, experiment.RecordFile)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for old, new := range map[string]string{
		`"sigma.csv"`:         `"../sigma.csv"`,
		`"results.json"`:      `"result.json"`,
		`"format_version": 1`: `"format_version": 7`,
		`"seed"`:              `"sead"`,
	} {
		if err := os.WriteFile(path, bytes.Replace(good, []byte(old), []byte(new), 1), 0o666); err !=
			nil {
			t.Fatal(err)
		}
		if _, _, err := experiment.ReadRecord(context.Background(), out.Dir); err == nil {
			t.Errorf("with %s for %s the record is accepted", new, old)
		}
	}
}
