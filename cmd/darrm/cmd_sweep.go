package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/release"
)

// maxJobs bounds --jobs: each keeps a linear program in memory.
const maxJobs = 256

// sweepFlags are the flags of sweep.
type sweepFlags struct {
	grid
	objectiveFlags
	cacheFlags
	timeoutFlag
	oneDelta    float64
	data        string
	jobs        int
	skipInvalid bool
	format, out string
	plot        string
}

func newSweep(a *app) *cobra.Command {
	f := sweepFlags{grid: grid{
		k:            newList("", intList(check.Teachers)),
		m:            newList("", floatList(check.Allowance)),
		totalEps:     newList("", floatList(check.TotalEpsilon)),
		eps:          newList("0.1", epsilonList(func(x float64) error { return check.Epsilon("epsilon", x) })),
		teacherDelta: newList("1e-5", floatList(func(x float64) error { return check.Delta("teacher delta", x) })),
		affected: newList("all", affectedList(func(t int) error {
			if t < 1 {
				return &check.Error{Name: "affected", Value: t, Rule: `"all" or at least 1`}
			}
			return nil
		})),
	}}
	c := &cobra.Command{
		Use:   "sweep --K list --m list",
		Short: "Solve a grid of problems and print one row each",
		Long: `Solve every combination of the values of --K, --m (or --total-eps), --eps,
--teacher-delta and --affected, and print one row for each: the expected error of the
optimal noise function, the proved lower bound, and the errors of the baselines. Every
row is certified, as by solve, whose flags mean the same here.

A list has numbers and ranges first:last or first:last:step, separated by commas,
such as 1:3,5 or 0.1:0.5:0.1. Ranges are stepped exactly, in decimals. A range ends
at the last value that is not above its end. --affected may have "all" in its list, and
--eps "inf". The rows come in the order of the lists, the last of the flags above varying
fastest; a problem that is named twice has one row.

Combinations that are no valid problem, such as 5 affected of 3 teachers, are an
error before anything is solved, unless --skip-invalid leaves them out. If one
problem cannot be solved, nothing is printed.

Solved tables go to the cache one by one, so a sweep that was interrupted, or had no more
time, goes on where it was when it is started again. The output does not depend on what
was in the cache, nor on --jobs.
` + exitStatus,
		Example: `  darrm sweep --K 11 --m 1:11 --plot errors.svg
  darrm sweep --K 11,21,41 --m 1:5:0.5 --eps 0.1,0.5 --format csv --out sweep.csv
  darrm sweep --K 11 --m 3 --affected 1:11 --shape monotone --json
  darrm sweep --K 101 --total-eps 0.1:1:0.1 --eps inf --data disjoint --prior worst-case`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c, a) },
	}
	fl := c.Flags()
	fl.Var(f.k, "K", "numbers of teachers")
	fl.Var(f.m, "m", usageM)
	fl.Var(f.totalEps, "total-eps", usageTotalEpsilon)
	fl.Var(f.eps, "eps", usageEpsilon)
	fl.Var(f.teacherDelta, "teacher-delta", usageTeacherDelta)
	fl.Var(f.affected, "affected", usageAffected)
	fl.Lookup("affected").DefValue = "" // the usage says it
	fl.StringVar(&f.data, "data", "", usageData)
	fl.Float64Var(&f.oneDelta, "delta", 0, usageDelta)
	f.registerObjective(c)
	fl.IntVar(&f.jobs, "jobs", runtime.GOMAXPROCS(0), "how many problems to solve at once")
	fl.Lookup("jobs").DefValue = "0" // keeps the number of this machine's cores out of the help
	fl.Lookup("jobs").Usage += " (default the number of cores)"
	fl.BoolVar(&f.skipInvalid, "skip-invalid", false, "leave out combinations that are no valid problem")
	fl.StringVar(&f.format, "format", "table", `"table", "csv" or "json"`)
	fl.StringVarP(&f.out, "out", "o", "", "write the rows to this file instead of stdout")
	fl.StringVar(&f.plot, "plot", "", "draw the errors into this file ("+figure.Formats+"), against the flag with the most values;\none curve for each combination of the others, or with the baselines where there are none")
	f.registerTimeout(c, "give up after this time, such as 90s (default none)")
	f.registerCache(c)
	return c
}

func (f *sweepFlags) run(c *cobra.Command, a *app) error {
	o, err := f.check(c, a)
	if err != nil {
		return err
	}
	counts, err := f.countsOf(c, a, o.Shape)
	if err != nil {
		return err
	}
	ctx, cancel := f.limit(c.Context())
	defer cancel()
	points, invalid, err := f.points(ctx)
	if err != nil {
		return f.late("list the problems", err)
	}
	if len(invalid) > 0 && !f.skipInvalid {
		return usageError{Err: fmt.Errorf("%w (invalid combinations: %d; --skip-invalid leaves them out)", invalid[0], len(invalid))}
	}
	if len(points) == 0 {
		return usageError{Err: fmt.Errorf("no combination is valid: %w", invalid[0])}
	}
	var picture sweepPlan
	if f.plot != "" {
		if picture, err = planSweepPicture(points); err != nil {
			return err
		}
	}
	store, err := f.store()
	if err != nil {
		return err
	}
	if err := cmp.Or(checkOut("out", f.out), checkOut("plot", f.plot)); err != nil {
		return err
	}
	p := newProgress(a)
	defer p.stop()
	s := &sweep{points: points, options: o, counts: counts, store: store, jobs: f.jobs, keepJSON: f.format == "json"}
	if counts != nil {
		if s.priorCounts = f.lawOfCounts(); s.priorCounts == countsBinomial {
			s.priorMean = f.priorMean
		}
	}
	count := p.count("problems")
	s.progress = func(done int) { count(done, len(points)) }
	start := time.Now()
	err = f.late("solve all", s.solve(ctx))
	p.stop()
	for _, r := range s.rejected {
		a.say("darrm: not used, and solved again: %v", r)
	}
	if err != nil {
		return err
	}
	if err := a.deliver(f.out, func(w io.Writer) error { return s.write(w, f.format) }); err != nil {
		return err
	}
	if f.plot != "" {
		drawn, err := s.picture(picture)
		if err != nil {
			return err
		}
		if err := a.deliverPlot(f.plot, drawn); err != nil {
			return err
		}
	}
	if len(invalid) > 0 {
		a.say("invalid combinations left out: %d, the first: %v", len(invalid), invalid[0])
	}
	a.say("%d solved and %d read from the cache (certified again) in %v", s.solved, s.cached, time.Since(start).Round(time.Millisecond))
	if s.unsaved > 0 {
		return outputError{Err: fmt.Errorf("the rows are complete, but %d tables are not in the cache: %w", s.unsaved, s.unsavedErr)}
	}
	return nil
}

// check looks at all flags that a grid does not have.
func (f *sweepFlags) check(c *cobra.Command, a *app) (solve.Options, error) {
	if err := require(c, "K", budget); err != nil {
		return solve.Options{}, err
	}
	if f.jobs < 1 || f.jobs > maxJobs {
		return solve.Options{}, &check.Error{Name: "jobs", Value: f.jobs, Rule: fmt.Sprintf("between 1 and %d", maxJobs)}
	}
	if !slices.Contains([]string{"table", "csv", "json"}, f.format) {
		return solve.Options{}, &check.Error{Name: "format", Value: fmt.Sprintf("%q", f.format), Rule: `"table", "csv" or "json"`}
	}
	if a.json {
		if c.Flags().Changed("format") && f.format != "json" {
			return solve.Options{}, usagef("--json and --format %s exclude each other", f.format)
		}
		f.format = "json"
	}
	if c.Flags().Changed("delta") {
		if err := check.Delta("delta", f.oneDelta); err != nil {
			return solve.Options{}, err
		}
		f.delta = &f.oneDelta
	}
	if c.Flags().Changed("data") {
		if c.Flags().Changed("affected") {
			return solve.Options{}, errAffectedAndData
		}
		affected, err := release.AffectedByData(f.data)
		if err != nil {
			return solve.Options{}, err
		}
		f.affected.values = []int{affected}
	}
	if err := f.checkTimeout(c); err != nil {
		return solve.Options{}, err
	}
	if err := checkPlot(f.plot); err != nil {
		return solve.Options{}, err
	}
	return f.objective(c)
}

// countsOf returns the vote counts of the objective for each K, nil where it has none. A
// file of counts is for one K.
func (f *sweepFlags) countsOf(c *cobra.Command, a *app, shape gamma.Shape) (map[int][]float64, error) {
	if agreement, err := f.agreement(); err != nil || !agreement {
		return nil, err
	}
	first := f.k.values[0]
	if i := slices.IndexFunc(f.k.values, func(k int) bool { return k != first }); i > 0 && f.countsFile() {
		return nil, usagef("a file of --prior-counts goes with one K, but --K has %d and %d", first, f.k.values[i])
	}
	out := map[int][]float64{}
	for _, k := range f.k.values {
		if out[k] != nil {
			continue
		}
		counts, err := f.counts(c, a, k)
		if err != nil {
			return nil, err
		}
		if err := (gamma.Objective{Counts: counts, Shape: shape}).Validate(k); err != nil {
			return nil, err
		}
		out[k] = counts
	}
	return out, nil
}

// checkOut finds an output file that cannot be before hours are spent on it.
func checkOut(flag, path string) error {
	if path == "" || path == "-" {
		return nil
	}
	if err := release.CheckNoLedger(path); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return outputError{Err: fmt.Errorf("--%s %s is a directory, not a file", flag, path)}
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return outputError{Err: fmt.Errorf("--%s %s: %w", flag, path, err)}
	}
	return nil
}

// sweep solves points and keeps a row of each.
type sweep struct {
	points   []point
	options  solve.Options
	counts   map[int][]float64 // of the objective, for each K; nil where it has none
	store    *cache.Store      // nil for none
	jobs     int
	keepJSON bool
	// priorCounts is the value of --prior-counts, "" where the objective is not agreement, and
	// priorMean is the mean of the binomial counts.
	priorCounts string
	priorMean   float64
	progress    func(done int) // called from every job

	rows           []sweepRow // in the order of points; only those that are done are set
	solved, cached int
	rejected       []error // cache entries that were not used
	unsaved        int     // solved, but the cache did not take them
	unsavedErr     error   // the first reason
}

// solve solves all points, jobs at a time. The error is the first one that a point had,
// with its name, or that of ctx.
//
// Every job has a solver of its own. The constraint sweeps inside a solve use all
// cores by themselves; jobs fill the cores while solves do what cannot be split.
func (s *sweep) solve(ctx context.Context) error {
	s.rows = make([]sweepRow, len(s.points))
	all, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		next, done atomic.Int64
		mu         sync.Mutex // of what follows, and of s but for rows
		failed     error
		wg         sync.WaitGroup
	)
	o := s.options
	o.Progress = func(solve.Progress) { s.progress(int(done.Load())) }
	work := func(i int) {
		o := o
		o.Counts = s.counts[s.points[i].problem.K]
		r, err := solve.Cached(all, s.store, s.points[i].problem, o)
		var wrong error
		if r.Table != nil { // an error with a table is the cache's
			s.rows[i], wrong = newSweepRow(r.Table, s.keepJSON)
		}
		mu.Lock()
		defer mu.Unlock()
		if r.Rejected != nil {
			s.rejected = append(s.rejected, r.Rejected)
		}
		switch {
		case all.Err() != nil && (r.Table == nil || s.store != nil && r.Path == ""):
			return // because another failed, or all were interrupted; a table of the last moment is not in the cache
		case r.Table == nil || wrong != nil:
			failed = fmt.Errorf("%v: %w", s.points[i], cmp.Or(wrong, err))
			cancel()
			return
		case r.Cached:
			s.cached++
		default:
			s.solved++
		}
		if err != nil {
			if s.unsaved == 0 {
				s.unsavedErr = err
			}
			s.unsaved++
		}
		s.progress(int(done.Add(1)))
	}
	for range min(s.jobs, len(s.points)) {
		wg.Go(func() {
			for all.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(s.points) {
					return
				}
				work(i)
			}
		})
	}
	wg.Wait()
	switch {
	case s.solved+s.cached == len(s.points):
		return nil
	case failed != nil:
		return fmt.Errorf("%w (%s)", failed, s.kept())
	}
	return fmt.Errorf("%s: %w", s.kept(), ctx.Err())
}

// kept says what is left of a sweep that did not end.
func (s *sweep) kept() string {
	done := s.solved + s.cached
	if s.store == nil {
		return fmt.Sprintf("%d of %d problems were solved and, without a cache, are lost", done, len(s.points))
	}
	return fmt.Sprintf("%d of %d problems are in the cache, where the same command goes on", done-s.unsaved, len(s.points))
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

func newSweepRow(t *gamma.Table, keepJSON bool) (sweepRow, error) {
	r := sweepRow{
		problem: t.Problem(), shape: t.Shape, prior: priorName(t.Objective), priorMean: t.PriorMean,
		constraints:   t.Certificate().Constraints,
		expectedError: t.ExpectedError, lowerBound: t.LowerBound, gap: t.Gap,
		baselines: map[string]float64{},
	}
	for _, b := range t.Baselines {
		r.baselines[b.Name] = t.BaselineError(b)
	}
	if !keepJSON {
		return r, nil
	}
	var err error
	r.json, err = summary(t)
	return r, err
}

// notSummary are the fields of a table's JSON that a sweep leaves out: the function
// with its proof, and who wrote it.
var notSummary = []string{"format_version", "gamma", "proof", "proof_weights", "solver", "version"}

// summary returns the JSON of a table without notSummary, all other fields in their
// order, so that they mean the same wherever they are read.
func summary(t *gamma.Table) ([]byte, error) {
	whole, err := t.MarshalJSON()
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(whole))
	if _, err := d.Token(); err != nil { // the opening brace
		return nil, err
	}
	out := []byte{'{'}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		if slices.Contains(notSummary, name.(string)) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, "%q:%s", name, value)
	}
	return append(out, '}'), nil
}

// write writes all rows.
func (s *sweep) write(w io.Writer, format string) error {
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

func (s *sweep) columns() []sweepColumn {
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

// shortest is the shortest decimal that stands for x.
func shortest(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func (s *sweep) writeCSV(w io.Writer) error {
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
func (s *sweep) writeTable(w io.Writer) error {
	var header, same []string
	var shown []sweepColumn
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
		if _, err := fmt.Fprintf(w, "In all rows: %s\n\n", strings.Join(same, ", ")); err != nil {
			return err
		}
	}
	return renderRows(w, header, rows, nil)
}
