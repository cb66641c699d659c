package experiment_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/testing/experimenttest"
	"github.com/darrm/darrm/sketch"
)

func init() {
	goldenTables["thresholds"] = thresholdsTable
	goldenTables["bits"] = bitsTable
	goldenTables["figure-2.2"] = func(t *testing.T, m *markdown) { errorsTable(t, m, "figure-2.2") }
	goldenTables["figure-2.3"] = func(t *testing.T, m *markdown) {
		errorsTable(t, m, "figure-2.3", "figure-a.1")
	}
	goldenTables["figure-a.2"] = rankTable
	goldenTables["tasks"] = tasksTable
}

// thresholdsTable has the tasks' settings.
func thresholdsTable(t *testing.T, m *markdown) {
	m.header("n, k, d", "better than Rand-k from ρ* =", "than Rand-k-Spatial(Avg) from ρ* =",
		"error by Rand-k's at ρ* = 0", "½", "1")
	for _, s := range [][3]int{{10, 5, 1024}, {10, 25, 1024}, {10, 102, 1024}, {50, 5, 1024},
		{50, 20, 1024}, {10, 50, 512}, {50, 10, 512}} {
		a, err := sketch.Advise(context.Background(), s[0], s[1], s[2], math.NaN())
		if err != nil {
			t.Fatal(err)
		}
		row := func(e sketch.Estimator) sketch.AdviceRow {
			return a.Rows[slices.IndexFunc(a.Rows,
				func(r sketch.AdviceRow) bool { return r.Estimator == e })]
		}
		k, p := row(sketch.RandK), row(sketch.RandProjAvg)
		m.row(fmt.Sprintf("%d, %d, %d", s[0], s[1], s[2]), fmt.Sprintf("%.3f", a.Threshold),
			fmt.Sprintf("%.3f", a.OverSpatial),
			fmt.Sprintf("%.2f", p.None/k.None), fmt.Sprintf("%.2f", p.Half/k.Half),
			fmt.Sprintf("%.2f", p.Full/k.Full))
	}
}

// bitsTable writes the table of errors by method. The smallest are in bold type.
func bitsTable(t *testing.T, m *markdown) {
	rows := goldenRows(t, "mean-bits", "bits")
	methods := []experiment.Method{"rand-k", "rand-proj-spatial-avg", "rand-proj-spatial-opt", "eden",
		"rank-1"}
	head := []string{"vectors", "n", "ρ*", "bits per coordinate"}
	for _, method := range methods {
		head = append(head, catalog.Title(method))
	}
	m.header(head...)
	for _, vectors := range column(rows, "vectors") {
		for _, n := range column(rows, "n") {
			for _, rho := range column(only(rows, "vectors", vectors, "n", n), "rho") {
				for _, bits := range column(rows, "bits_per_coordinate") {
					cells := []string{vectors, n, shownNumber(t, rho, "%.3g"), bits}
					for _, method := range methods {
						found := only(rows, "vectors", vectors, "n", n, "rho", rho, "bits_per_coordinate", bits,
							"method", string(method))
						if len(found) == 0 {
							cells = append(cells, "-")
							continue
						}
						cell := shownNumber(t, found[0]["error"], "%.3g")
						if found[0]["wins"] != "" {
							cell = "**" + cell + "**"
						}
						if method != "rank-1" {
							cell += fmt.Sprintf(" (%s × %s)", found[0]["sent"], found[0]["bits"])
						}
						cells = append(cells, cell)
					}
					m.row(cells...)
				}
			}
		}
	}
}

// shownNumber is shown for numbers of which the small ones are not 0.
func shownNumber(t *testing.T, cell, format string) string {
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(format, v)
}

// errorsTable has a column for each estimator of the experiments.
func errorsTable(t *testing.T, m *markdown, experiments ...string) {
	for i, name := range experiments {
		rows := goldenRows(t, name, "errors")
		estimators := column(rows, "estimator")
		if i == 0 {
			head := []string{"experiment", "n", "k", "ρ*"}
			for _, e := range estimators {
				head = append(head, catalog.Title(experiment.Method(e)))
			}
			m.header(head...)
		}
		for _, n := range column(rows, "n") {
			for _, k := range column(only(rows, "n", n), "k") {
				for _, rho := range column(only(rows, "n", n, "k", k), "rho") {
					cells := []string{"`" + name + "`", n, k, rho}
					for _, e := range estimators {
						row := only(rows, "n", n, "k", k, "rho", rho, "estimator", e)[0]
						cells = append(cells, fmt.Sprintf("%s ± %s [%s]", shown(t, row["error"], "%.4g"),
							shown(t, row["standard_error"], "%.1g"), row["derived"]))
					}
					m.row(cells...)
				}
			}
		}
	}
}

func rankTable(t *testing.T, m *markdown) {
	m.header("d", "n", "k", "draws", "mean rank", "below nk")
	for _, row := range goldenRows(t, "figure-a.2", "rank") {
		v, err := strconv.ParseFloat(row["deficient"], 64)
		if err != nil {
			t.Fatal(err)
		}
		m.row(row["d"], row["n"], row["k"], row["trials"], row["mean"], fmt.Sprintf("%.3g %%", 100*v))
	}
}

func tasksTable(t *testing.T, m *markdown) {
	methods := []experiment.Method{"rand-k", "rand-k-spatial-avg", "wangni", "induced",
		"rand-proj-spatial-avg"}
	head := []string{"experiment", "task", "data", "n, k", "points", "ρ*"}
	for _, method := range methods {
		head = append(head, catalog.Title(method))
	}
	m.header(head...)
	for _, name := range []string{"figure-2.4", "figure-2.4-real", "figure-a.3", "figure-a.4",
		"figure-a.5", "figure-a.6", "figure-a.7", "figure-a.8"} {
		rows := goldenRows(t, name, "summary")
		var p struct{ Points int }
		decodeParameters(t, experimenttest.Load(t, catalog, name), &p)
		for _, task := range column(rows, "task") {
			for _, split := range column(only(rows, "task", task), "split") {
				these := only(rows, "task", task, "split", split)
				for _, n := range column(these, "n") {
					for _, k := range column(only(these, "n", n), "k") {
						here := only(these, "n", n, "k", k)
						proj := only(here, "estimator", "rand-proj-spatial-avg")[0]
						cells := []string{"`" + name + "`", task, split, n + ", " + k, fmt.Sprint(p.Points),
							shown(t, proj["rho"], "%.2f")}
						for _, method := range methods {
							row := only(here, "estimator", string(method))[0]
							cells = append(cells, fmt.Sprintf("%s (%s)", shown(t, row["error"], "%.3g"),
								shown(t, row["loss"], "%.3g")))
						}
						m.row(cells...)
					}
				}
			}
		}
	}
}
