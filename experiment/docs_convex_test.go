package experiment_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/experiment"
)

func init() {
	goldenTables["convex-published"] = publishedTable
	goldenTables["convex-dimension"] = func(t *testing.T, m *markdown) {
		convexTable(t, m, "d", "value", "%.3f", "convex-dimension")
	}
	goldenTables["convex-phase-lp"] = func(t *testing.T, m *markdown) {
		convexTable(t, m, "n", "value", "%.4f", "convex-phase-lp")
	}
	goldenTables["convex-field"] = func(t *testing.T, m *markdown) {
		convexTable(t, m, "eps", "value", "%.4f", "convex-field")
	}
	goldenTables["convex-accuracy"] = func(t *testing.T, m *markdown) {
		convexTable(t, m, "eps", "accuracy", "%.3f", "convex-credit-real")
	}
	goldenTables["convex-credit"] = func(t *testing.T, m *markdown) {
		convexTable(t, m, "eps", "auc", "%.3f", "convex-credit", "convex-credit-real")
	}
}

// publishedTable has every figure that a claim of the convex experiments has a published one for.
func publishedTable(t *testing.T, m *markdown) {
	m.header("experiment", "at", "line", "score", "published", "ours")
	for _, d := range catalog.List() {
		if d.Kind != "convex" {
			continue
		}
		var p struct {
			Sweep  string
			At     []float64
			Claims []experiment.Statement
		}
		decodeParameters(t, d, &p)
		for _, c := range p.Claims {
			if c.Published == "" {
				continue
			}
			at, ok := c.At[p.Sweep]
			if !ok {
				at = p.At[0]
			}
			measure := c.Measure
			if measure == "" {
				measure = "value"
			}
			row := only(goldenRows(t, d.Name, "scores"), p.Sweep, fmt.Sprint(int(at)), "line", c.Line)[0]
			format := "%.4f"
			if strings.HasPrefix(c.Published, "0") && len(c.Published) < 6 || measure == "accuracy" {
				format = "%.3f"
			}
			m.row("`"+d.Name+"`", fmt.Sprintf("%s = %g", p.Sweep, at), c.Line,
				strings.Replace(measure, "value", "", 1), c.Published, shown(t, row[measure], format)+" ± "+
					shown(t, row[measure+"_sd"], "%.1g"))
		}
	}
}

// convexTable has a line for each line of the experiments and a column for each place of the
// sweep.
func convexTable(t *testing.T, m *markdown, sweep, measure, format string, names ...string) {
	title := map[string]string{"d": "d = ", "eps": "ε = ", "n": "n = "}[sweep]
	for i, name := range names {
		rows := goldenRows(t, name, "scores")
		var head, first []string
		if len(names) > 1 {
			head, first = []string{"experiment"}, []string{"`" + name + "`"}
		}
		head = append(head, "")
		for _, at := range column(rows, sweep) {
			head = append(head, title+at)
		}
		if i == 0 {
			m.header(head...)
		}
		for _, line := range column(rows, "line") {
			cells := append(slices.Clone(first), line)
			for _, row := range only(rows, "line", line) {
				cells = append(cells, shown(t, row[measure], format))
			}
			m.row(cells...)
		}
	}
}
