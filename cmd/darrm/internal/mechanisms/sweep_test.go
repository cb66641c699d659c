package mechanisms

import (
	"bytes"
	"context"
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/sweep"
)

// testSweep solves a grid and returns its sweep and rows.
func testSweep(t testing.TB, k []int, m []float64, affected []int, jobs int,
	store *cache.Store) (*sweepOf[sweep.Point, *gamma.Table], []sweepRow, sweep.Result) {
	t.Helper()
	points, invalid, err := sweep.Grid{K: k, M: m, Epsilon: []float64{0.1},
		TeacherDelta: []float64{1e-5}, Affected: affected}.Points(context.Background())
	if err != nil || len(invalid) > 0 {
		t.Fatal(err, invalid)
	}
	s := noiseSweep(points, gamma.Objective{})
	rows, result, err := s.solve(context.Background(), sweep.Noise(store, nil), jobs, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, rows, result
}

func openStore(t testing.TB) *cache.Store {
	t.Helper()
	return must.Get(cache.Open(t.TempDir()))(t)
}

func mustWrite(t testing.TB, rows []sweepRow, format string, always []string, width int) string {
	t.Helper()
	var b bytes.Buffer
	if err := writeSweep(&terminal.Page{Writer: &b, Width: width}, format, rows, always); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The output is the same however many jobs there are, and whether the tables were
// solved or read from the cache; and its figures are those of one solve each.
func TestSweepOutputIsTheSame(t *testing.T) {
	store := openStore(t)
	teachers := []int{1, 2, 3, 4, 5, 6, 7}
	var want map[string]string
	var points []sweep.Point
	for _, tt := range []struct {
		jobs   int
		store  *cache.Store
		cached bool
	}{{1, nil, false}, {4, nil, false}, {3, store, false}, {1, store, true}, {4, store, true},
		{100, nil, false}} {
		s, rows, r := testSweep(t, teachers, []float64{0.5, 1, 2.5}, []int{1, sweep.All}, tt.jobs,
			tt.store)
		points = s.points
		if n := len(points); (r.Cached == n) != tt.cached || r.Solved+r.Cached != n {
			t.Errorf("%+v: %d solved, %d from the cache of %d", tt, r.Solved, r.Cached, n)
		}
		got := map[string]string{}
		for _, format := range []string{"table", "csv", "json"} {
			got[format] = mustWrite(t, rows, format, s.always, terminal.Standard)
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
	if len(records) != 1+len(points) {
		t.Fatalf("%d records of %d points", len(records), len(points))
	}
	for i, p := range points {
		table, err := solve.Optimal(context.Background(), p.Problem, solve.Options{})
		if err != nil {
			t.Fatal(err)
		}
		row := map[string]string{}
		for j, name := range records[0] {
			row[name] = records[1+i][j]
		}
		for name, want := range map[string]string{
			"expected_error":               num.Shortest(table.ExpectedError),
			"lower_bound":                  num.Shortest(table.LowerBound),
			"gap":                          num.Shortest(table.Gap),
			"baseline_randomised_response": num.Shortest(table.BaselineError(table.Baselines[0])),
			"delta":                        num.Shortest(p.Problem.Delta),
			"constraints":                  table.Certificate().Constraints.String(),
		} {
			if row[name] != want {
				t.Errorf("%v: %s = %s, want %s", p, name, row[name], want)
			}
		}
		if (row["baseline_subsampling"] == "") != (p.Problem.M < 1) {
			t.Errorf("%v: subsampling %q", p, row["baseline_subsampling"])
		}
	}
}

// Every baseline of a table has its column, and no column is without one.
func TestSweepBaselineNames(t *testing.T) {
	s, rows, _ := testSweep(t, []int{3}, []float64{1}, []int{sweep.All}, 1, nil)
	var names []string
	for _, b := range must.Get(gamma.Baselines(context.Background(), s.points[0].Problem))(t) {
		names = append(names, b.Key())
	}
	var columns []string
	for _, c := range rows[0].columns {
		if name, ok := strings.CutPrefix(c.name, baselineColumn); ok {
			columns = append(columns, name)
		}
	}
	if !slices.Equal(names, columns) {
		t.Errorf("columns %q, baselines %q", columns, names)
	}
}

// The name of a prior is the value of --prior that asks for it.
func TestPriorNames(t *testing.T) {
	for _, name := range []string{choose.Uniform, choose.Clear, choose.Custom, choose.Counts,
		choose.WorstCase} {
		var f problem.Flags
		c := &cobra.Command{}
		f.RegisterObjective(c, choose.Source)
		args := []string{"--prior", name}
		switch name {
		case choose.Custom:
			args = append(args, "--prior-mean", "0.6")
		case choose.Counts:
			args = append(args, "--prior-counts", "file")
		}
		if err := c.ParseFlags(args); err != nil {
			t.Fatal(err)
		}
		o, err := f.Noise.Options()
		if err != nil {
			t.Fatal(err)
		}
		if name == choose.Counts {
			o.Counts = []float64{1, 2}
		}
		if got := choose.PriorName(gamma.Objective{PriorMean: o.PriorMean, Counts: o.Counts,
			WorstCase: o.WorstCase, Shape: o.Shape}); got != name {
			t.Errorf("%s is called %s", name, got)
		}
	}
}

// Parameters that vary are columns of the table, the others stand above it.
func TestSweepTableColumns(t *testing.T) {
	k, rows, _ := testSweep(t, []int{3, 5}, []float64{1}, []int{sweep.All}, 1, nil)
	above, below, ok := strings.Cut(mustWrite(t, rows, "table", k.always, 200), "\n\n")
	above = strings.Join(strings.Fields(above), " ") // it is broken
	if !ok || above != "In all rows: ε = 0.1, Δ = 1e-5, δ = 1e-5, shape = free, "+
		"prior = uniform, prior mean = 0.75, ε of one label = 0.1" {
		t.Errorf("above the table: %s", above)
	}
	// Headers are wrapped: line by line, the words of the columns that have so many.
	header := strings.Fields(below[:strings.Index(below, "─")])
	if want := strings.Fields(
		"K m affected constraints expected lower bound gap randomised- randomised- subsampling double- " +
			"error response response- subsampling " + "tight"); !slices.Equal(header, want) {
		t.Errorf("columns %q, want %q", header, want)
	}
}
