package experiment_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
)

func init() {
	goldenTables["auc-printed"] = aucPrintedTable
	goldenTables["auc-private"] = func(t *testing.T, m *markdown) {
		aucTable(t, m, "eps", "ε = ", "auc-private-diabetes-real", "auc-private-german-real",
			"auc-private-diabetes", "auc-private-german")
	}
	goldenTables["auc-standins"] = func(t *testing.T, m *markdown) {
		aucBesidePrinted(t, m, "auc-ijcnn1", "auc-usps", "auc-mnist")
	}
	goldenTables["auc-private-size"] = func(t *testing.T, m *markdown) {
		aucTable(t, m, "records", "n = ", "auc-private-size-real", "auc-private-size-german-real",
			"auc-private-size", "auc-private-size-german")
	}
	goldenTables["auc-passes"] = aucPassesTable
	goldenTables["auc-utility"] = func(t *testing.T, m *markdown) {
		aucGridTable(t, m, "auc-utility", "4096", "16384")
	}
	goldenTables["auc-dpegd"] = aucDifferencesTable
	goldenTables["auc-unproved"] = aucUnprovedTable
}

// privateTables are the experiments of Tables G.3 to G.5.
var privateTables = []string{"auc-private-diabetes-real", "auc-private-german-real",
	"auc-private-diabetes", "auc-private-german", "auc-private-size-real", "auc-private-size-german-real",
	"auc-private-size", "auc-private-size-german"}

// aucUnprovedTable has what is printed at the largest ε of a table, or with the most records, and
// what noise that has a proof leaves.
func aucUnprovedTable(t *testing.T, m *markdown) {
	lines := []string{"published: Algorithm 3", "Algorithm 3, Theorem 10's noise",
		"Algorithm 3, calibrated", "cyclic", "next to no noise"}
	m.header("experiment", "at", "printed", "Theorem 10's noise", "calibrated", "cyclic",
		"next to no noise")
	for _, name := range privateTables {
		var cells []string
		for _, line := range lines {
			rows := only(goldenRows(t, name, "scores"), "line", line)
			last := rows[len(rows)-1]
			if cells == nil {
				at := "ε = " + last["eps"]
				if strings.HasPrefix(name, "auc-private-size") {
					at = "n = " + last["records"]
				}
				cells = []string{"`" + name + "`", at}
			}
			cells = append(cells, plusMinus(t, last["auc"], last["auc_sd"]))
		}
		m.row(cells...)
	}
}

// What docs/pairwise.md says about that table: no noise that has a proof reaches what is
// printed.
func TestNoProvedNoiseReachesThePrintedScores(t *testing.T) {
	number := func(row map[string]string) float64 {
		return must.Get(strconv.ParseFloat(row["auc"], 64))(t)
	}
	compared := 0
	for _, name := range privateTables {
		rows := goldenRows(t, name, "scores")
		for _, printed := range only(rows, "method", "published") {
			for _, line := range []string{"Algorithm 3, Theorem 10's noise", "Algorithm 3, calibrated",
				"DPEGD, its own noise", "cyclic"} {
				ours := only(rows, "line", line, "eps", printed["eps"], "records", printed["records"])[0]
				compared++
				if number(ours) >= number(printed) {
					t.Errorf("%s, n = %s, ε = %s: %s has %s, printed for %s is %s", name, ours["records"],
						ours["eps"], line, ours["auc"], printed["line"], printed["auc"])
				}
			}
		}
	}
	if compared != (4*6+4*3)*2*4 {
		t.Errorf("%d scores compared", compared)
	}
}

// plusMinus is a mean with its standard deviation, where there is one.
func plusMinus(t *testing.T, mean, sd string) string {
	if sd == "" {
		return shown(t, mean, "%.3f")
	}
	return shown(t, mean, "%.3f") + " ± " + shown(t, sd, "%.3f")
}

// aucPrintedTable is Table G.2: ours, and in brackets what the source prints.
func aucPrintedTable(t *testing.T, m *markdown) {
	aucBesidePrinted(t, m, "auc-diabetes-real", "auc-german-real", "auc-letter-real", "auc-diabetes",
		"auc-german", "auc-letter")
}

// aucBesidePrinted has a column for each experiment, and in brackets what the source prints.
func aucBesidePrinted(t *testing.T, m *markdown, names ...string) {
	head := []string{""}
	for _, name := range names {
		head = append(head, "`"+name+"`")
	}
	m.header(head...)
	for _, line := range column(goldenRows(t, names[0], "scores"), "line") {
		cells := []string{line}
		for _, name := range names {
			row := only(goldenRows(t, name, "scores"), "line", line)[0]
			cell := plusMinus(t, row["auc"], row["auc_sd"])
			if row["printed"] != "" {
				cell += " [" + plusMinus(t, row["printed"], row["printed_sd"]) + "]"
			}
			cells = append(cells, cell)
		}
		m.row(cells...)
	}
}

// aucTable has a line for each line of the experiments, and a column for each place.
func aucTable(t *testing.T, m *markdown, at, title string, names ...string) {
	for i, name := range names {
		rows := goldenRows(t, name, "scores")
		if i == 0 {
			head := []string{"experiment", ""}
			for _, v := range column(rows, at) {
				head = append(head, title+v)
			}
			m.header(head...)
		}
		for _, line := range column(rows, "line") {
			cells := []string{"`" + name + "`", line}
			for _, row := range only(rows, "line", line) {
				cells = append(cells, plusMinus(t, row["auc"], row["auc_sd"]))
			}
			m.row(cells...)
		}
	}
}

func aucPassesTable(t *testing.T, m *markdown) {
	rows := goldenRows(t, "auc-passes", "scores")
	head := []string{"loss", ""}
	for _, v := range column(rows, "passes") {
		head = append(head, "passes = "+v)
	}
	m.header(head...)
	for _, line := range column(rows, "line") {
		for _, c := range [][3]string{{"auc", "AUC", "%.3f"}, {"risk", "mean pair loss", "%.4f"}} {
			cells := []string{line, c[1]}
			for _, row := range only(rows, "line", line) {
				cells = append(cells, shown(t, row[c[0]], c[2]))
			}
			m.row(cells...)
		}
	}
}

// aucGridTable has means with 95 % confidence intervals.
func aucGridTable(t *testing.T, m *markdown, name string, sizes ...string) {
	rows := goldenRows(t, name, "scores")
	head := []string{"n", ""}
	for _, v := range column(rows, "eps") {
		head = append(head, "ε = "+v)
	}
	m.header(head...)
	for _, n := range sizes {
		for _, line := range column(rows, "line") {
			cells := []string{n, line}
			for _, row := range only(rows, "line", line, "records", n) {
				cells = append(cells, fmt.Sprintf("%s [%s, %s]", shown(t, row["auc"], "%.3f"),
					shown(t, row["auc_low"], "%.3f"), shown(t, row["auc_high"], "%.3f")))
			}
			m.row(cells...)
		}
	}
}

// aucDifferencesTable has what the default is above DPEGD's, with 95 % confidence intervals.
func aucDifferencesTable(t *testing.T, m *markdown) {
	rows, scores := goldenRows(t, "auc-dpegd", "differences"), goldenRows(t, "auc-dpegd", "scores")
	m.header("n", "ε", "cyclic", "minus DPEGD with its own noise",
		"minus DPEGD with the noise proved here")
	for _, n := range column(rows, "records") {
		for _, eps := range column(rows, "eps") {
			cells := []string{n, eps, shown(t, only(scores, "records", n, "eps", eps, "line",
				"cyclic")[0]["auc"], "%.4f")}
			for _, other := range column(rows, "other") {
				row := only(rows, "records", n, "eps", eps, "other", other)[0]
				cells = append(cells, fmt.Sprintf("%s [%s, %s]", shown(t, row["difference"], "%+.4f"),
					shown(t, row["low"], "%+.4f"), shown(t, row["high"], "%+.4f")))
			}
			m.row(cells...)
		}
	}
}
