package experimenttest

import (
	"encoding/csv"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/testing/must"
)

// Golden fills places and lines with what the rows of a golden table have of them in the columns: means,
// which stand for one repeat each.
func Golden(t testing.TB, f *experiment.Found, rows []map[string]string, columns ...string) {
	t.Helper()
	if len(rows) != len(f.Places)*len(f.Lines) {
		t.Fatalf("%d rows for %d places and %d lines", len(rows), len(f.Places), len(f.Lines))
	}
	for i, row := range rows {
		at, line := i/len(f.Lines), i%len(f.Lines)
		if !rowOf(t, row, f.Places[at], f.Lines[line].Name) {
			t.Fatalf("row %d is %v", i+1, row)
		}
		for _, name := range columns {
			if row[name] != "" {
				f.Add(at, line, name, must.Get(strconv.ParseFloat(row[name], 64))(t))
			}
		}
	}
}

// rowOf reports whether a row is of the line at the place.
func rowOf(t testing.TB, row map[string]string, at experiment.Place, line string) bool {
	for name, v := range at.At {
		if must.Get(strconv.ParseFloat(row[name], 64))(t) != v {
			return false
		}
	}
	return row["line"] == line
}

// GoldenDifferences judges the claims about paired differences on the rows of a golden table, which
// have intervals and no repeats: two repeats stand for them that have the same interval.
func GoldenDifferences(t testing.TB, r *experiment.Run, f *experiment.Found,
	claims []experiment.Statement, measure string, rows []map[string]string) {
	t.Helper()
	for _, c := range claims {
		for i, at := range f.Places {
			if c.Of == "" || !c.About(at) {
				continue
			}
			k := slices.IndexFunc(rows, func(row map[string]string) bool {
				return row["other"] == c.Of && rowOf(t, row, at, c.Line)
			})
			if k < 0 || c.Measure != "" {
				t.Fatalf("no difference of %s to %s of measure %q", c.Line, c.Of, c.Measure)
			}
			mean, high := must.Get(strconv.ParseFloat(rows[k]["difference"], 64))(t),
				must.Get(strconv.ParseFloat(rows[k]["high"], 64))(t)
			half := (high - mean) / 12.706204736174698 // of Student's t with one degree of freedom
			two := &experiment.Found{Places: f.Places[i : i+1], Lines: f.Lines}
			two.Add(0, f.Line(c.Line), measure, mean-half, mean+half)
			two.Add(0, f.Line(c.Of), measure, 0, 0)
			r.State(two, []experiment.Statement{c}, nil)
		}
	}
}

// Hold wants all claims of a run to hold, four or more.
func Hold(t testing.TB, r *experiment.Run) {
	t.Helper()
	if len(r.Result.Claims) < 4 {
		t.Errorf("%s has %d claims", r.Result.Name, len(r.Result.Claims))
	}
	for _, c := range r.Result.Failed() {
		t.Errorf("%s: claim fails: %s (%s)", r.Result.Name, c.Text, c.Evidence)
	}
}

// Rows returns the lines of a CSV file by the names of its columns.
func Rows(t testing.TB, path string) []map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // only read from
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, cell := range line {
			row[lines[0][i]] = cell
		}
		out = append(out, row)
	}
	return out
}
