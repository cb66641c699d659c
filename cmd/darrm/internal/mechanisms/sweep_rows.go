package mechanisms

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/sweep"
)

// noiseSweep is the sweep of problems of two classes, whose objective is agreement, a cost or the source's.
func noiseSweep(points []sweep.Point, objective gamma.Objective) *sweepOf[sweep.Point, *gamma.Table] {
	y, own, budget := "expected error", ensemble.OptimalTeachers, "m"
	switch {
	case objective.Costs != [2]float64{}:
		y = "expected cost of an answer"
	case objective.Counts != nil:
		y = "Pr[label ≠ majority]"
	}
	if !slices.ContainsFunc(points, func(p sweep.Point) bool { return !math.IsInf(p.Problem.Epsilon, 1) }) {
		own = ensemble.OptimalCounts // of teachers that promise nothing
	}
	if points[0].Problem.M == 0 {
		budget = "label_eps"
	}
	axis := func(name, title string, of func(sweep.Point) float64) sweepAxis {
		return axisOf(points, name, title, of)
	}
	k := &sweepOf[sweep.Point, *gamma.Table]{
		points: points, always: []string{"K", budget}, drawn: "expected_error",
		title: "What the optimal noise function costs", y: y, own: own,
		axes: []sweepAxis{
			axis("m", "m, allowance", func(p sweep.Point) float64 { return p.Problem.M }),
			axis("label-eps", "ε of one answer", func(p sweep.Point) float64 { return p.Problem.TotalEpsilon }),
			axis("K", "K, teachers", func(p sweep.Point) float64 { return float64(p.Problem.K) }),
			axis("eps", "ε of each teacher", func(p sweep.Point) float64 { return p.Problem.Epsilon }),
			axis("teacher-delta", "Δ of each teacher", func(p sweep.Point) float64 { return p.Problem.TeacherDelta }),
			axis("affected", "teachers that one record reaches",
				func(p sweep.Point) float64 { return float64(p.Problem.Affected) }),
		},
	}
	k.row = func(t *gamma.Table) (r sweepRow) {
		p := t.Problem()
		r.given("K", strconv.Itoa(p.K))
		// m and the prior mean are 0 where another parameter was given in their place.
		r.given("m", unlessZero(p.M))
		r.given("eps", epsilonText(p.Epsilon))
		r.given("teacher_delta", num.Shortest(p.TeacherDelta))
		r.given("delta", num.Shortest(p.Delta))
		r.given("affected", strconv.Itoa(p.Affected))
		r.given("shape", string(t.Shape))
		r.given("prior", choose.PriorName(t.Objective))
		r.given("prior_mean", unlessZero(cmp.Or(t.PriorMean, k.priorMean)))
		r.given("label_eps", p.TotalDecimal())
		r.count("constraints", t.Certificate().Constraints.String())
		r.number("expected_error", t.ExpectedError, "%.9f")
		r.number("lower_bound", t.LowerBound, "%.9f")
		r.number("gap", t.Gap, "%.1e")
		// Each baseline has a column whether or not it is available: a column that comes and
		// goes would break its readers.
		for _, kind := range gamma.BaselineKinds() {
			text, e := "", 0.0
			for _, b := range t.Baselines {
				if b.Name == kind.Name {
					e = t.BaselineError(b)
					text = num.Shortest(e)
				}
			}
			r.baseline(kind.Name, text, e, "%.9f")
		}
		r.given("prior_counts", k.priorCounts)
		r.given("shares", k.shares)
		r.given("cost", k.cost)
		return r
	}
	return k
}

// sweepRow is the row of a sweep for one table, with the columns that all rows have. The tables themselves
// are too large to keep all of them.
type sweepRow struct {
	columns []sweepColumn
	cells   []sweepCell
	json    json.RawMessage // nil unless asked for
}

// sweepColumn is a column of the CSV and of the table.
type sweepColumn struct {
	name, title string
	human       func(sweepCell) string // for the table
	given       bool                   // a parameter, not a result
}

type sweepCell struct {
	text  string // shortest exact form, "" for none
	value float64
}

func (r *sweepRow) add(c sweepColumn, text string, value float64) {
	r.columns, r.cells = append(r.columns, c), append(r.cells, sweepCell{text, value})
}

// given adds a parameter.
func (r *sweepRow) given(name, text string) {
	r.add(sweepColumn{name, titleOf(name), func(c sweepCell) string { return c.text }, true}, text, 0)
}

// number adds a result; format is that of the table.
func (r *sweepRow) number(name string, value float64, format string) {
	r.add(sweepColumn{name, titleOf(name), func(c sweepCell) string { return fmt.Sprintf(format, c.value) }, false},
		num.Shortest(value), value)
}

// count adds a whole number.
func (r *sweepRow) count(name, text string) {
	r.add(sweepColumn{name, titleOf(name), func(c sweepCell) string {
		n, _ := new(big.Int).SetString(c.text, 10)
		return num.Thousands(n)
	}, false}, text, 0)
}

const baselineColumn = "baseline_"

// baseline adds the result of a baseline, "" where it has none.
func (r *sweepRow) baseline(name, text string, value float64, format string) {
	r.add(sweepColumn{baselineColumn + strings.ReplaceAll(name, "-", "_"), name, func(c sweepCell) string {
		if c.text == "" {
			return ""
		}
		return fmt.Sprintf(format, c.value)
	}, false}, text, value)
}

// titleOf returns the title of a column for people: symbols as elsewhere.
func titleOf(name string) string {
	if symbol, ok := map[string]string{"eps": "ε", "teacher_delta": "Δ", "delta": "δ",
		"label_eps": "ε of one label"}[name]; ok {
		return symbol
	}
	return strings.ReplaceAll(name, "_", " ")
}

// unlessZero writes a number, "" for one that was not given.
func unlessZero(x float64) string {
	if x == 0 {
		return ""
	}
	return num.Shortest(x)
}

// epsilonText writes an ε as its flag takes it.
func epsilonText(eps float64) string {
	if math.IsInf(eps, 1) {
		return "inf"
	}
	return num.Shortest(eps)
}

// writeSweep writes the rows of a sweep. The columns always are in the table even where their
// values are the same in all rows.
func writeSweep(w *terminal.Page, format string, rows []sweepRow, always []string) error {
	switch format {
	case "json":
		out := []json.RawMessage{}
		for _, r := range rows {
			out = append(out, r.json)
		}
		return cli.EncodeJSON(w, out)
	case "csv":
		return writeSweepCSV(w, rows)
	}
	return writeSweepTable(w, rows, always)
}

func writeSweepCSV(w io.Writer, rows []sweepRow) error {
	columns := rows[0].columns
	record := make([]string, len(columns))
	for i, c := range columns {
		record[i] = c.name
	}
	out := csv.NewWriter(w)
	if err := out.Write(record); err != nil {
		return err
	}
	for _, r := range rows {
		for i, c := range r.cells {
			record[i] = c.text
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// writeSweepTable writes the rows for people: parameters that are the same in all rows
// stand above the table, so that it fits a screen.
func writeSweepTable(w *terminal.Page, results []sweepRow, always []string) error {
	var header, same []string
	rows := make([][]string, len(results))
	keys := 0 // columns of parameters, which come first
	for i, c := range results[0].columns {
		first := results[0].cells[i].text
		varies := slices.ContainsFunc(results, func(r sweepRow) bool { return r.cells[i].text != first })
		if c.given && !varies && !slices.Contains(always, c.name) {
			if first != "" {
				same = append(same, fmt.Sprintf("%s = %s", c.title, first))
			}
			continue
		}
		if c.given {
			keys++
		}
		header = append(header, c.title)
		for j, r := range results {
			rows[j] = append(rows[j], c.human(r.cells[i]))
		}
	}
	if len(same) > 0 {
		w.Text("  ", fmt.Sprintf("In all rows: %s", strings.Join(same, ", ")))
		w.Printf("\n")
	}
	return w.Table(terminal.TextTable{Header: header, Rows: rows, Keys: keys})
}
