package federated

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/experimenttest"
)

// Acceptance tests 15 to 17 of the specification at full size, three starts each: the claims hold
// on the golden figures, which only the long test computes. Of test 15 continuous integration
// computes the quick form, 2064 records and 100 rounds. The figures are means, so each stands for
// one run. The first error of a run is not among them, and claims that it falls are judged where it
// is computed.
func TestClaimsHoldOnGoldenFigures(t *testing.T) {
	for _, name := range []string{"federated-california", "federated-belts"} {
		text, err := catalog.Source(name)
		if err != nil {
			t.Fatal(err)
		}
		p := decoded(t, string(text))
		p.Claims = slices.DeleteFunc(p.Claims, func(c claim) bool { return c.Falls > 0 })
		rows := experimenttest.Rows(t, filepath.Join("..", "testdata", "golden", name, "models.csv"))
		if len(rows) != len(p.Lines) {
			t.Fatalf("%s: %d rows", name, len(rows))
		}
		all := make([]found, len(rows))
		for i, row := range rows {
			number := func(column string) float64 {
				v, err := strconv.ParseFloat(row[column], 64)
				if err != nil && row[column] != "" {
					t.Fatal(err)
				}
				return v
			}
			if row["line"] != p.Lines[i].Name {
				t.Fatalf("%s: row %d is %v", name, i, row)
			}
			o := outcome{Step: number("step"), Done: 1,
				Trace: []measures{{Train: number("train"), Test: number("test"), Gradient: number("gradient")}},
				Kept:  measures{Train: number("kept")}}
			if number("failed") > 0 {
				o.Done = 0
			}
			all[i] = found{Runs: []outcome{o}, Epsilon: number("eps")}
		}
		r := experimenttest.Load(t, catalog, name).NewRun(context.Background(), experiment.Options{})
		p.judge(r, all)
		if len(r.Result.Claims) < 4 {
			t.Errorf("%s has %d claims", name, len(r.Result.Claims))
		}
		for _, c := range r.Result.Failed() {
			t.Errorf("%s: claim fails: %s (%s)", name, c.Text, c.Evidence)
		}
	}
}
