package experiment

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
)

// counting counts what is solved.
func counting(n *int) func(context.Context, constraints.Problem, solve.Options) (*gamma.Table, error) {
	return func(ctx context.Context, p constraints.Problem, o solve.Options) (*gamma.Table, error) {
		*n++
		return solve.Optimal(ctx, p, o)
	}
}

func TestRunResumes(t *testing.T) {
	dir := t.TempDir()
	d := load(t, "figure-b.5")
	solved := 0
	o := Options{Quick: true, Solve: counting(&solved), Version: "1"}
	first := mustRun(t, d, dir, o)
	if solved != 3 || first.Reused || len(first.Record.Steps) != 3 {
		t.Fatalf("first run: %d solved, %+v", solved, first.Record.Steps)
	}
	if again := mustRun(t, d, dir, o); !again.Reused || solved != 3 {
		t.Errorf("second run: %d solved, reused %t", solved, again.Reused)
	}
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(first.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	errorsCSV, results, svg := read("errors.csv"), read(resultFile), read("gamma.svg")
	same := func(what string) {
		t.Helper()
		if read("errors.csv") != errorsCSV || read(resultFile) != results || read("gamma.svg") != svg {
			t.Errorf("%s: the files have changed", what)
		}
	}

	// An output that was changed by hand is made again, from the steps.
	if err := os.WriteFile(filepath.Join(first.Dir, "errors.csv"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	if again := mustRun(t, d, dir, o); again.Reused || solved != 3 || !again.Record.Steps[0].Reused {
		t.Errorf("after a changed output: %d solved, %+v", solved, again.Record)
	}
	same("after a changed output")

	// A step that was damaged is done again, the others are not.
	step := filepath.Join(first.Dir, stepsFolder, "promise-2.json")
	b, err := os.ReadFile(step)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(step, bytes.Replace(b, []byte(`"error": 0.0`), []byte(`"error": 0.1`), 1), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(first.Dir, RecordFile)); err != nil {
		t.Fatal(err)
	}
	if mustRun(t, d, dir, o); solved != 4 {
		t.Errorf("after a damaged step %d were solved in all, want 4", solved)
	}
	same("after a damaged step")

	// One changed parameter, or another version: only what it concerns.
	text, err := Source("figure-b.5")
	if err != nil {
		t.Fatal(err)
	}
	changed, err := Parse(bytes.Replace(text, []byte(`"quick": {"allowances": [1, 3, 7]`), []byte(`"quick": {"allowances": [1, 3, 9]`), 1))
	if err != nil {
		t.Fatal(err)
	}
	if mustRun(t, changed, dir, o); solved != 5 {
		t.Errorf("after a changed parameter %d were solved in all, want 5", solved)
	}
	o.Version = "2"
	if mustRun(t, changed, dir, o); solved != 8 {
		t.Errorf("after a new version %d were solved in all, want 8", solved)
	}
}

// A run that is interrupted leaves its steps and no record, and goes on from there.
func TestRunInterrupted(t *testing.T) {
	dir := t.TempDir()
	d := load(t, "figure-b.5")
	ctx, cancel := context.WithCancel(context.Background())
	solved := 0
	count := counting(&solved)
	o := Options{Quick: true, Solve: func(c context.Context, p constraints.Problem, so solve.Options) (*gamma.Table, error) {
		if solved == 1 {
			cancel()
		}
		return count(c, p, so)
	}}
	if _, err := Run(ctx, d, dir, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	folder := filepath.Join(dir, "figure-b.5-quick")
	if _, err := os.Stat(filepath.Join(folder, RecordFile)); !os.IsNotExist(err) {
		t.Errorf("a record of half a run: %v", err)
	}
	solved = 0
	o.Solve = count
	if out := mustRun(t, d, dir, o); solved != 2 || !out.Record.Steps[0].Reused {
		t.Errorf("%d solved after the interruption, want 2", solved)
	}
}

func TestProgress(t *testing.T) {
	var seen []Progress
	mustRun(t, load(t, "figure-b.5"), t.TempDir(), Options{Quick: true, Progress: func(p Progress) { seen = append(seen, p) }})
	if len(seen) != 4 {
		t.Fatalf("%d reports: %v", len(seen), seen)
	}
	for i, p := range seen {
		if p.Done != i || p.Of != 3 || p.Experiment != "figure-b.5" || (p.Step == "") != (i == 3) {
			t.Errorf("report %d: %+v", i, p)
		}
	}
}

// The progress of every kind ends at its number of steps.
func TestStepsAreAsMany(t *testing.T) {
	numbers(t)
	for _, d := range []Definition{load(t, "accounting"), load(t, "figure-b.7"), load(t, "figure-b.8")} {
		out := mustRun(t, d, t.TempDir(), Options{Quick: true})
		p := d.full
		if d.quick != nil {
			p = d.quick
		}
		if len(out.Record.Steps) != p.steps() {
			t.Errorf("%s took %d steps, announced %d", d.Name, len(out.Record.Steps), p.steps())
		}
	}
}

func TestMissingData(t *testing.T) {
	_, err := Run(context.Background(), load(t, "mnist"), t.TempDir(), Options{Data: t.TempDir()})
	if !errors.Is(err, ErrNoData) || !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "fetch-mnist") {
		t.Errorf("missing data: %v", err)
	}
	if _, err := Run(context.Background(), Definition{}, t.TempDir(), Options{}); err == nil {
		t.Error("an empty definition runs")
	}
}

// Seeds matter where something is drawn, and the same seed gives the same bytes.
func TestSeeds(t *testing.T) {
	numbers(t)
	csv := func(seed uint64) string {
		out := mustRun(t, parse(t, smallTraining), t.TempDir(), Options{Data: t.TempDir(), Seed: seed})
		b, err := os.ReadFile(filepath.Join(out.Dir, "summary.csv"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	a, b, c := csv(1), csv(1), csv(2)
	if a != b {
		t.Error("the same seed gives different numbers")
	}
	if a == c {
		t.Error("different seeds give the same numbers")
	}
}

// A record that names files outside its folder, or a file that has changed, is refused.
func TestReadRecordRefuses(t *testing.T) {
	out := mustRun(t, load(t, "figure-b.8"), t.TempDir(), Options{})
	path := filepath.Join(out.Dir, RecordFile)
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
		if err := os.WriteFile(path, bytes.Replace(good, []byte(old), []byte(new), 1), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, _, err := ReadRecord(context.Background(), out.Dir); err == nil {
			t.Errorf("with %s for %s the record is accepted", new, old)
		}
	}
}
