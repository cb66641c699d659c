package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/lp"
)

func testSweep(t testing.TB, k, m, affected string, jobs int, store *cache.Store) *sweep {
	t.Helper()
	points, invalid, err := testGrid(t, k, m, "0.1", "1e-5", affected).points(context.Background())
	if err != nil || len(invalid) > 0 {
		t.Fatal(err, invalid)
	}
	return &sweep{points: points, store: store, jobs: jobs, keepJSON: true, progress: func(int) {}}
}

func openStore(t testing.TB) *cache.Store {
	t.Helper()
	store, err := cache.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func (s *sweep) mustWrite(t testing.TB, format string) string {
	t.Helper()
	var b bytes.Buffer
	if err := s.write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The output is the same however many jobs there are, and whether the tables were
// solved or read from the cache; and its figures are those of one solve each.
func TestSweepOutputIsTheSame(t *testing.T) {
	store := openStore(t)
	var want map[string]string
	for _, tt := range []struct {
		jobs   int
		store  *cache.Store
		cached bool
	}{{1, nil, false}, {4, nil, false}, {3, store, false}, {1, store, true}, {4, store, true}, {100, nil, false}} {
		s := testSweep(t, "1:7", "0.5,1,2.5", "1,all", tt.jobs, tt.store)
		if err := s.solve(context.Background()); err != nil {
			t.Fatal(err)
		}
		if n := len(s.points); (s.cached == n) != tt.cached || s.solved+s.cached != n {
			t.Errorf("%+v: %d solved, %d from the cache of %d", tt, s.solved, s.cached, n)
		}
		got := map[string]string{}
		for _, format := range []string{"table", "csv", "json"} {
			got[format] = s.mustWrite(t, format)
			if want != nil && got[format] != want[format] {
				t.Errorf("%+v: another %s:\n%s\nwant\n%s", tt, format, got[format], want[format])
			}
		}
		want = got
	}
	records, err := csv.NewReader(strings.NewReader(want["csv"])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	s := testSweep(t, "1:7", "0.5,1,2.5", "1,all", 1, nil)
	if len(records) != 1+len(s.points) {
		t.Fatalf("%d records of %d points", len(records), len(s.points))
	}
	for i, p := range s.points {
		table, err := solve.Optimal(context.Background(), p.problem, solve.Options{})
		if err != nil {
			t.Fatal(err)
		}
		row := map[string]string{}
		for j, name := range records[0] {
			row[name] = records[1+i][j]
		}
		for name, want := range map[string]string{
			"expected_error": shortest(table.ExpectedError), "lower_bound": shortest(table.LowerBound), "gap": shortest(table.Gap),
			"baseline_randomized_response": shortest(table.BaselineError(table.Baselines[0])),
			"delta":                        shortest(p.problem.Delta), "constraints": table.Certificate().Constraints.String(),
		} {
			if row[name] != want {
				t.Errorf("%v: %s = %s, want %s", p, name, row[name], want)
			}
		}
		if (row["baseline_subsampling"] == "") != (p.m < 1) {
			t.Errorf("%v: subsampling %q", p, row["baseline_subsampling"])
		}
	}
}

// Every baseline of a table has its column, and no column is without one.
func TestSweepBaselineNames(t *testing.T) {
	p, err := constraints.NewProblem(3, 1, 0.1, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	baselines, err := gamma.Baselines(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, b := range baselines {
		names = append(names, b.Name)
	}
	var columns []string
	for _, c := range (&sweep{}).columns() {
		if name, ok := strings.CutPrefix(c.name, "baseline_"); ok {
			columns = append(columns, name)
		}
	}
	if !slices.Equal(names, columns) {
		t.Errorf("columns %q, baselines %q", columns, names)
	}
}

// The name of a prior is the value of --prior that asks for it.
func TestPriorNames(t *testing.T) {
	for _, name := range []string{priorUniform, priorClear, priorCustom, priorOfCounts, priorWorstCase} {
		var f objectiveFlags
		c := &cobra.Command{}
		f.registerObjective(c)
		args := []string{"--prior", name}
		switch name {
		case priorCustom:
			args = append(args, "--prior-mean", "0.6")
		case priorOfCounts:
			args = append(args, "--prior-counts", "file")
		}
		if err := c.ParseFlags(args); err != nil {
			t.Fatal(err)
		}
		o, err := f.objective(c)
		if err != nil {
			t.Fatal(err)
		}
		if name == priorOfCounts {
			o.Counts = []float64{1, 2}
		}
		if got := priorName(gamma.Objective{PriorMean: o.PriorMean, Counts: o.Counts, WorstCase: o.WorstCase, Shape: o.Shape}); got != name {
			t.Errorf("%s is called %s", name, got)
		}
	}
}

// A row's JSON is that of the table without some of its fields.
func TestSweepSummary(t *testing.T) {
	p, err := constraints.NewProblem(5, 2, 0.1, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	table, err := solve.Optimal(context.Background(), p, solve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var whole, row map[string]json.RawMessage
	b, err := table.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	short, err := summary(table)
	if err != nil {
		t.Fatal(err)
	}
	for b, v := range map[string]*map[string]json.RawMessage{string(b): &whole, string(short): &row} {
		if err := json.Unmarshal([]byte(b), v); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"k", "m", "epsilon", "teacher_delta", "delta", "affected", "shape", "prior_mean", "expected_error", "baselines", "certificate"} {
		if len(row[name]) == 0 || !bytes.Equal(row[name], whole[name]) {
			t.Errorf("%s: %s, want %s", name, row[name], whole[name])
		}
	}
	for _, name := range []string{"gamma", "proof", "solver", "version"} {
		if _, ok := row[name]; ok || whole[name] == nil {
			t.Errorf("%s: in the row %v, in the table %s", name, ok, whole[name])
		}
	}
}

// A sweep that is interrupted says what it has, and the next one goes on from there.
func TestSweepResumes(t *testing.T) {
	store := openStore(t)
	ctx, cancel := context.WithCancel(context.Background())
	s := testSweep(t, "3:11:2", "1:2", "all", 1, store)
	s.progress = func(done int) {
		if done == 4 {
			cancel()
		}
	}
	err := s.solve(ctx)
	if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "4 of 10 problems are in the cache, where the same command goes on: ") {
		t.Errorf("interrupted: %v", err)
	}
	if exitCode(ctx, err) != exitInterrupted {
		t.Errorf("exit code %d", exitCode(ctx, err))
	}
	entries, err := store.List()
	if err != nil || len(entries) != 4 {
		t.Errorf("%d entries in the cache, %v, want 4", len(entries), err)
	}
	again := testSweep(t, "3:11:2", "1:2", "all", 2, store)
	if err := again.solve(context.Background()); err != nil || again.cached != 4 || again.solved != 6 {
		t.Errorf("again: %v, %d from the cache, %d solved", err, again.cached, again.solved)
	}
	fresh := testSweep(t, "3:11:2", "1:2", "all", 2, nil)
	if err := fresh.solve(context.Background()); err != nil {
		t.Fatal(err)
	}
	if a, b := again.mustWrite(t, "csv"), fresh.mustWrite(t, "csv"); a != b {
		t.Errorf("resumed:\n%s\nwant\n%s", a, b)
	}
	// Without a cache there is nothing to go on from.
	ctx, cancel = context.WithCancel(context.Background())
	cancel()
	if err := testSweep(t, "3", "1:2", "all", 2, nil).solve(ctx); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "0 of 2 problems were solved and, without a cache, are lost") {
		t.Errorf("without a cache: %v", err)
	}
}

// One problem that cannot be solved fails the sweep by its kind and by its name; the
// tables before it stay.
func TestSweepFails(t *testing.T) {
	for _, jobs := range []int{1, 4} {
		store := openStore(t)
		s := testSweep(t, "3:9:2", "1:2", "all", jobs, store)
		s.options.NewSolver = func(p lp.Problem) (lp.Solver, error) {
			if len(p.C) == 4 { // K = 7
				return nil, lp.ErrTooLarge
			}
			return lp.New(p)
		}
		err := s.solve(context.Background())
		if !errors.Is(err, lp.ErrTooLarge) || exitCode(context.Background(), err) != exitSolver {
			t.Fatalf("%d jobs: %v", jobs, err)
		}
		if !strings.HasPrefix(err.Error(), "K = 7, m = ") {
			t.Errorf("%d jobs: the problem is not named: %v", jobs, err)
		}
		entries, listErr := store.List()
		if listErr != nil || len(entries) != s.solved || jobs == 1 && s.solved != 4 {
			t.Errorf("%d jobs: %d solved, %d in the cache, %v", jobs, s.solved, len(entries), listErr)
		}
	}
}

// A cache that takes no more tables costs a resumed sweep, not this one.
func TestSweepUnsaved(t *testing.T) {
	store := openStore(t)
	s := testSweep(t, "3:5", "1", "all", 1, store)
	s.progress = func(done int) {
		if done == 1 {
			if err := os.RemoveAll(store.Dir()); err != nil {
				t.Error(err)
			}
			if err := os.WriteFile(store.Dir(), nil, 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	if err := s.solve(context.Background()); err != nil || s.solved != 3 || s.unsaved != 2 || s.unsavedErr == nil {
		t.Errorf("%v: %d solved, %d unsaved: %v", err, s.solved, s.unsaved, s.unsavedErr)
	}
	if kept := s.kept(); !strings.HasPrefix(kept, "1 of 3 problems are in the cache") {
		t.Errorf("kept: %s", kept)
	}
	if n := strings.Count(s.mustWrite(t, "csv"), "\n"); n != 4 {
		t.Errorf("%d lines", n)
	}
}

// Parameters that vary are columns of the table, the others stand above it.
func TestSweepTableColumns(t *testing.T) {
	s := testSweep(t, "3,5", "1", "all", 1, nil)
	if err := s.solve(context.Background()); err != nil {
		t.Fatal(err)
	}
	table := s.mustWrite(t, "table")
	above, below, ok := strings.Cut(table, "\n\n")
	if !ok || above != "In all rows: eps = 0.1, teacher_delta = 1e-05, delta = 1e-05, shape = free, prior = uniform, prior_mean = 0.75, total_eps = 0.1" {
		t.Errorf("above the table: %s", above)
	}
	// Headers are wrapped: line by line, the words of the columns that have so many.
	header := strings.Fields(below[:strings.Index(below, "─")])
	if want := strings.Fields("K m affected constraints expected lower bound gap randomized randomized subsampling double " +
		"error response response subsampling " + "tight"); !slices.Equal(header, want) {
		t.Errorf("columns %q, want %q", header, want)
	}
}

// BenchmarkSweep compares numbers of jobs; the sweeps inside a solve use all cores
// whatever it is.
func BenchmarkSweep(b *testing.B) {
	for _, k := range []string{"11", "41", "101"} {
		for _, jobs := range []int{1, 2, 4} {
			b.Run("K="+k+"/jobs="+shortest(float64(jobs)), func(b *testing.B) {
				for b.Loop() {
					s := testSweep(b, k, "1:8", "all", jobs, nil)
					if err := s.solve(context.Background()); err != nil {
						b.Fatal(err)
					}
					if err := s.write(io.Discard, "csv"); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
