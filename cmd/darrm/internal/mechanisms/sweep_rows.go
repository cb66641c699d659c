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
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/sweep"
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

// sweepRow is the row of a sweep for one table. The tables themselves are too large to keep all
// of them.
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
		problem: t.Problem(), shape: t.Shape, prior: choose.PriorName(t.Objective),
		priorMean:     t.PriorMean,
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
	always := []string{"K", "m"}
	if s.rows[0].problem.M == 0 {
		always[1] = "label_eps"
	}
	return writeSweep(w, format, s.rows, s.columns(), func(r sweepRow) []byte { return r.json },
		always)
}

// writeSweep writes the rows of a sweep. The columns always are in the table even where their
// values are the same in all rows.
func writeSweep[R any](w *terminal.Page, format string, rows []R, columns []sweepColumn[R],
	jsonOf func(R) []byte, always []string) error {
	switch format {
	case "json":
		out := []json.RawMessage{}
		for _, r := range rows {
			out = append(out, jsonOf(r))
		}
		return cli.EncodeJSON(w, out)
	case "csv":
		return writeSweepCSV(w, rows, columns)
	}
	return writeSweepTable(w, rows, columns, always)
}

// sweepColumn is a column of the CSV and of the table.
type sweepColumn[R any] struct {
	name  string
	title string         // for the table; "" for titleOf the name
	cell  func(R) string // shortest exact form
	human func(R) string // for the table; nil for cell
	given bool           // a parameter, not a result
}

// titleOf returns the title of a column for people: symbols as elsewhere.
func titleOf(name string) string {
	if symbol, ok := map[string]string{"eps": "ε", "teacher_delta": "Δ", "delta": "δ",
		"label_eps": "ε of one label"}[name]; ok {
		return symbol
	}
	return strings.ReplaceAll(name, "_", " ")
}

// numberColumn makes the column of a result; human is its format in the table.
func numberColumn[R any](name string, value func(R) float64, human string) sweepColumn[R] {
	return sweepColumn[R]{
		name:  name,
		cell:  func(r R) string { return cli.Shortest(value(r)) },
		human: func(r R) string { return fmt.Sprintf(human, value(r)) },
	}
}

// givenColumn makes the column of a parameter.
func givenColumn[R any](name string, cell func(R) string) sweepColumn[R] {
	return sweepColumn[R]{name: name, cell: cell, given: true}
}

func (s *sweepRows) columns() []sweepColumn[sweepRow] {
	number, given := numberColumn[sweepRow], givenColumn[sweepRow]
	// m and the prior mean are 0 where another parameter was given in their place.
	ifGiven := func(x float64) string {
		if x == 0 {
			return ""
		}
		return cli.Shortest(x)
	}
	columns := []sweepColumn[sweepRow]{
		given("K", func(r sweepRow) string { return strconv.Itoa(r.problem.K) }),
		given("m", func(r sweepRow) string { return ifGiven(r.problem.M) }),
		given("eps", func(r sweepRow) string { return epsilonText(r.problem.Epsilon) }),
		given("teacher_delta", func(r sweepRow) string { return cli.Shortest(r.problem.TeacherDelta) }),
		given("delta", func(r sweepRow) string { return cli.Shortest(r.problem.Delta) }),
		given("affected", func(r sweepRow) string { return strconv.Itoa(r.problem.Affected) }),
		given("shape", func(r sweepRow) string { return string(r.shape) }),
		given("prior", func(r sweepRow) string { return r.prior }),
		given("prior_mean", func(r sweepRow) string { return ifGiven(cmp.Or(r.priorMean, s.priorMean)) }),
		given("label_eps", func(r sweepRow) string { return r.problem.TotalDecimal() }),
		{name: "constraints", cell: func(r sweepRow) string { return r.constraints.String() },
			human: func(r sweepRow) string { return num.Thousands(r.constraints) }},
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
		columns = append(columns, sweepColumn[sweepRow]{
			name: "baseline_" + strings.ReplaceAll(name, "-", "_"), title: kind.Name, cell: cell(cli.Shortest),
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
	return cli.Shortest(eps)
}

func writeSweepCSV[R any](w io.Writer, rows []R, columns []sweepColumn[R]) error {
	record := make([]string, len(columns))
	for i, c := range columns {
		record[i] = c.name
	}
	out := csv.NewWriter(w)
	if err := out.Write(record); err != nil {
		return err
	}
	for _, r := range rows {
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

// writeSweepTable writes the rows for people: parameters that are the same in all rows
// stand above the table, so that it fits a screen.
func writeSweepTable[R any](w *terminal.Page, results []R, columns []sweepColumn[R],
	always []string) error {
	var header, same []string
	var shown []sweepColumn[R]
	keys := 0 // columns of parameters, which come first
	for _, c := range columns {
		first, title := c.cell(results[0]), cmp.Or(c.title, titleOf(c.name))
		varies := slices.ContainsFunc(results, func(r R) bool { return c.cell(r) != first })
		if c.given && !varies && !slices.Contains(always, c.name) {
			if first != "" {
				same = append(same, fmt.Sprintf("%s = %s", title, first))
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
		header = append(header, title)
	}
	var rows [][]string
	for _, r := range results {
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
	return w.Table(terminal.TextTable{Header: header, Rows: rows, Keys: keys})
}

// planMajority plans the picture of a sweep of two classes.
func planMajority(points []sweep.Point) (sweepPlan[constraints.Problem], error) {
	problems := make([]constraints.Problem, len(points))
	for i, p := range points {
		problems[i] = p.Problem
	}
	return planSweepPicture(problems, sweepAxes)
}

// picture draws the errors of the rows.
func (s *sweepRows) picture(plan sweepPlan[constraints.Problem]) (figure.Sheet, error) {
	y := "expected error"
	if s.priorCounts != "" {
		y = "Pr[label ≠ majority]"
	}
	var problems []constraints.Problem
	for _, r := range s.rows {
		problems = append(problems, r.problem)
	}
	var titles []string
	kinds := gamma.BaselineKinds()
	for _, kind := range kinds {
		titles = append(titles, kind.Name)
	}
	own := ensemble.OptimalTeachers
	if !slices.ContainsFunc(problems, func(p constraints.Problem) bool { return !math.IsInf(p.Epsilon, 1) }) {
		own = ensemble.OptimalCounts // of teachers that promise nothing
	}
	return plan.picture("What the optimal noise function costs", y, own, problems, titles,
		func(row, result int) (float64, bool) {
			if result == ownResult {
				return s.rows[row].expectedError, true
			}
			e, ok := s.rows[row].baselines[kinds[result].Name]
			return e, ok
		})
}
