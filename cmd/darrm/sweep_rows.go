package main

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

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
)

// sweepRows are the rows that a sweep prints, in the order of its points.
type sweepRows struct {
	rows     []sweepRow
	keepJSON bool
	// priorCounts is the value of --prior-counts, "" where the objective is not agreement, and
	// priorMean is the mean of the binomial counts.
	priorCounts string
	priorMean   float64
}

func newSweepRows(n int, keepJSON bool) *sweepRows {
	return &sweepRows{rows: make([]sweepRow, n), keepJSON: keepJSON}
}

// sweepRow is what a sweep says about a table, which itself is too large to keep
// for every point.
type sweepRow struct {
	problem       constraints.Problem
	shape         gamma.Shape
	prior         string // a value of --prior
	priorMean     float64
	constraints   *big.Int
	expectedError float64
	lowerBound    float64
	gap           float64
	baselines     map[string]float64
	json          []byte // nil unless asked for
}

// set makes the i-th row. Several goroutines may set rows of their own.
func (s *sweepRows) set(i int, t *gamma.Table) (err error) {
	r := sweepRow{
		problem: t.Problem(), shape: t.Shape, prior: priorName(t.Objective), priorMean: t.PriorMean,
		constraints:   t.Certificate().Constraints,
		expectedError: t.ExpectedError, lowerBound: t.LowerBound, gap: t.Gap,
		baselines: map[string]float64{},
	}
	for _, b := range t.Baselines {
		r.baselines[b.Name] = t.BaselineError(b)
	}
	if s.keepJSON {
		r.json, err = t.Summary()
	}
	s.rows[i] = r
	return err
}

// write writes all rows.
func (s *sweepRows) write(w *terminal.Page, format string) error {
	switch format {
	case "json":
		out := []json.RawMessage{}
		for _, r := range s.rows {
			out = append(out, r.json)
		}
		return encodeJSON(w, out)
	case "csv":
		return s.writeCSV(w)
	}
	return s.writeTable(w)
}

// sweepColumn is a column of the CSV and of the table.
type sweepColumn struct {
	name  string
	cell  func(sweepRow) string // shortest exact form
	human func(sweepRow) string // for the table; nil for cell
	given bool                  // a parameter, not a result
}

func (s *sweepRows) columns() []sweepColumn {
	number := func(name string, value func(sweepRow) float64, human string) sweepColumn {
		return sweepColumn{
			name:  name,
			cell:  func(r sweepRow) string { return shortest(value(r)) },
			human: func(r sweepRow) string { return fmt.Sprintf(human, value(r)) },
		}
	}
	given := func(name string, cell func(sweepRow) string) sweepColumn {
		return sweepColumn{name: name, cell: cell, given: true}
	}
	// m and the prior mean are 0 where something else was given instead.
	ifGiven := func(x float64) string {
		if x == 0 {
			return ""
		}
		return shortest(x)
	}
	columns := []sweepColumn{
		given("K", func(r sweepRow) string { return strconv.Itoa(r.problem.K) }),
		given("m", func(r sweepRow) string { return ifGiven(r.problem.M) }),
		given("eps", func(r sweepRow) string { return epsilonText(r.problem.Epsilon) }),
		given("teacher_delta", func(r sweepRow) string { return shortest(r.problem.TeacherDelta) }),
		given("delta", func(r sweepRow) string { return shortest(r.problem.Delta) }),
		given("affected", func(r sweepRow) string { return strconv.Itoa(r.problem.Affected) }),
		given("shape", func(r sweepRow) string { return string(r.shape) }),
		given("prior", func(r sweepRow) string { return r.prior }),
		given("prior_mean", func(r sweepRow) string { return ifGiven(cmp.Or(r.priorMean, s.priorMean)) }),
		given("total_eps", func(r sweepRow) string { return r.problem.TotalDecimal() }),
		{name: "constraints", cell: func(r sweepRow) string { return r.constraints.String() }, human: func(r sweepRow) string { return num.Thousands(r.constraints) }},
		number("expected_error", func(r sweepRow) float64 { return r.expectedError }, "%.9f"),
		number("lower_bound", func(r sweepRow) float64 { return r.lowerBound }, "%.9f"),
		number("gap", func(r sweepRow) float64 { return r.gap }, "%.1e"),
	}
	// Each baseline has a column whether or not it is available: a column that comes and
	// goes would break its readers.
	for _, kind := range gamma.BaselineKinds() {
		name := kind.Name
		cell := func(format func(float64) string) func(sweepRow) string {
			return func(r sweepRow) string {
				if e, ok := r.baselines[name]; ok {
					return format(e)
				}
				return ""
			}
		}
		columns = append(columns, sweepColumn{
			name: "baseline_" + name, cell: cell(shortest),
			human: cell(func(e float64) string { return fmt.Sprintf("%.9f", e) }),
		})
	}
	return append(columns, given("prior_counts", func(sweepRow) string { return s.priorCounts }))
}

// epsilonText writes an ε as its flag takes it.
func epsilonText(eps float64) string {
	if math.IsInf(eps, 1) {
		return "inf"
	}
	return shortest(eps)
}

// shortest is the shortest decimal that stands for x.
func shortest(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func (s *sweepRows) writeCSV(w io.Writer) error {
	columns := s.columns()
	record := make([]string, len(columns))
	for i, c := range columns {
		record[i] = c.name
	}
	out := csv.NewWriter(w)
	if err := out.Write(record); err != nil {
		return err
	}
	for _, r := range s.rows {
		for i, c := range columns {
			record[i] = c.cell(r)
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// writeTable writes the rows for people: parameters that are the same in all rows
// stand above the table, so that it fits a screen.
func (s *sweepRows) writeTable(w *terminal.Page) error {
	var header, same []string
	var shown []sweepColumn
	keys := 0 // columns of parameters, which come first
	always := []string{"K", "m"}
	if s.rows[0].problem.M == 0 {
		always[1] = "total_eps"
	}
	for _, c := range s.columns() {
		first := c.cell(s.rows[0])
		varies := slices.ContainsFunc(s.rows, func(r sweepRow) bool { return c.cell(r) != first })
		if c.given && !varies && !slices.Contains(always, c.name) {
			if first != "" {
				same = append(same, fmt.Sprintf("%s = %s", c.name, first))
			}
			continue
		}
		if c.human == nil {
			c.human = c.cell
		}
		shown = append(shown, c)
		if c.given {
			keys++
		}
		header = append(header, strings.ReplaceAll(strings.TrimPrefix(c.name, "baseline_"), "_", " "))
	}
	var rows [][]string
	for _, r := range s.rows {
		var row []string
		for _, c := range shown {
			row = append(row, c.human(r))
		}
		rows = append(rows, row)
	}
	if len(same) > 0 {
		w.Text("  ", fmt.Sprintf("In all rows: %s", strings.Join(same, ", ")))
		w.Printf("\n")
	}
	return w.Table(terminal.Table{Header: header, Rows: rows, Keys: keys})
}
