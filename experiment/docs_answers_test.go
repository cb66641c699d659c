package experiment_test

import (
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/darrm/darrm/internal/must"
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
