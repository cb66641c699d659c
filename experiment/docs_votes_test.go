package experiment_test

import (
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
)

func init() {
	single := []string{"gnmax", "permute-and-flip", "one answer"}
	goldenTables["many-answers"] = func(t *testing.T, m *markdown) {
		m.header("votes", "K", "C", "Q", "`gnmax`", "`permute-and-flip`", "optimum of one answer",
			"normal noise, by its label", "table for many answers", "no table is above")
		for _, row := range only(goldenRows(t, "many-answers", "agreement"), "eps", "3") {
			cells := []string{"`" + row["votes"] + "`", row["teachers"], row["classes"], row["queries"]}
			for _, name := range append(single, "normal", "best", "bound") {
				cells = append(cells, shown(t, row[name], "%.4f"))
			}
			m.row(cells...)
		}
	}
	goldenTables["many-answers-gain"] = func(t *testing.T, m *markdown) {
		all := goldenRows(t, "many-answers", "agreement")
		head := []string{"votes", "K", "C", "Q"}
		for _, eps := range column(all, "eps") {
			head = append(head, "ε = "+eps)
		}
		m.header(head...)
		for _, name := range column(all, "votes") {
			for _, q := range column(only(all, "votes", name), "queries") {
				rows := only(all, "votes", name, "queries", q)
				cells := []string{"`" + name + "`", rows[0]["teachers"], rows[0]["classes"], q}
				for _, row := range rows {
					others := math.Inf(-1)
					for _, mechanism := range single {
						if row[mechanism] != "" {
							others = max(others, must.Get(strconv.ParseFloat(row[mechanism], 64))(t))
						}
					}
					best := must.Get(strconv.ParseFloat(row["best"], 64))(t)
					cells = append(cells, fmt.Sprintf("%+.4f", best-others))
				}
				m.row(cells...)
			}
		}
	}
}

func init() {
	goldenTables["students"] = func(t *testing.T, m *markdown) {
		m.header("task", "Q", "table, its law as last layer", "table, labels as they are", "GNMax, its law as last layer",
			"GNMax, labels as they are", "labels of the table that agree", "of GNMax")
		for _, row := range goldenRows(t, "students", "accuracy") {
			cells := []string{row["task"], row["queries"]}
			for _, name := range []string{"table-layer", "table-plain", "gnmax-layer", "gnmax-plain",
				"agrees-many-answers", "agrees-gnmax"} {
				cells = append(cells, shown(t, row[name], "%.1f"))
			}
			m.row(cells...)
		}
	}
}

func init() {
	goldenTables["many-classes"] = func(t *testing.T, m *markdown) {
		m.header("votes", "K", "C", "ε", "permute-and-flip", "optimum, μ = 0.5", "optimum, uneven shares",
			"optimum, public counts", "no mechanism is above", "ε of permute-and-flip for uneven shares")
		eachOfVotes(t, func(cells []string, rows []map[string]string) {
			if rows[0]["refused"] != "" {
				return
			}
			best := only(rows, "mechanism", "optimal", "prior", "uneven shares")[0]
			cells = append(cells, agrees(t, only(rows, "mechanism", "permute-and-flip")),
				agrees(t, only(rows, "mechanism", "optimal", "prior", "μ = 0.5")),
				agrees(t, only(rows, "mechanism", "optimal", "prior", "uneven shares")),
				agrees(t, only(rows, "mechanism", "optimal", "prior", "public counts")),
				shown(t, only(rows, "mechanism", "ceiling")[0]["bound"], "%.3f"),
				shown(t, best["flip_eps"], "%.3g"))
			m.row(cells...)
		})
	}
	goldenTables["many-classes-right"] = func(t *testing.T, m *markdown) {
		m.header("votes", "K", "C", "ε", "plurality, not private", "optimum, uneven shares",
			"`permute-and-flip`", "`lnmax`", "`gnmax`")
		eachOfVotes(t, func(cells []string, rows []map[string]string) {
			for _, where := range [][]string{{"mechanism", "plurality"},
				{"mechanism", "optimal", "prior", "uneven shares"}, {"mechanism", "permute-and-flip"},
				{"mechanism", "lnmax"}, {"mechanism", "gnmax"}} {
				found := only(rows, where...)
				if len(found) == 0 {
					cells = append(cells, "too large")
					continue
				}
				cells = append(cells, shown(t, found[0]["right"], "%.3f")+" ["+
					shown(t, found[0]["right_low"], "%.3f")+", "+shown(t, found[0]["right_high"], "%.3f")+"]")
			}
			m.row(cells...)
		})
	}
}

// eachOfVotes visits the mechanisms of each set of votes and ε.
func eachOfVotes(t *testing.T, visit func(cells []string, rows []map[string]string)) {
	all := goldenRows(t, "many-classes", "scores")
	for _, name := range column(all, "votes") {
		for _, eps := range column(only(all, "votes", name), "eps") {
			rows := only(all, "votes", name, "eps", eps)
			visit([]string{"`" + name + "`", rows[0]["teachers"], rows[0]["classes"], eps}, rows)
		}
	}
}

// agrees returns the share of answers with the most votes, and the interval of its paired
// difference to permute-and-flip.
func agrees(t *testing.T, rows []map[string]string) string {
	switch {
	case len(rows) == 0:
		return ""
	case rows[0]["mechanism"] == "permute-and-flip":
		return shown(t, rows[0]["agrees"], "%.3f")
	}
	return shown(t, rows[0]["agrees"], "%.3f") + " [" + shown(t, rows[0]["agrees_over_low"], "%+.3f") +
		", " + shown(t, rows[0]["agrees_over_high"], "%+.3f") + "]"
}
