package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/votes"
)

// aggregateFlags are the flags of aggregate beyond the problem's.
type aggregateFlags struct {
	problemFlags
	table, out, header, layout string
	csv                        votes.CSVOptions
	compare                    bool
	insecureSeed               uint64
	charge                     chargeFlags
}

func newAggregate(a *app) *cobra.Command {
	var f aggregateFlags
	c := &cobra.Command{
		Use:   "aggregate votes.csv",
		Short: "Release private labels for a file of votes",
		Long: `Release one private label for every query in a file of votes, with the optimal
noise function for your teachers.

The file has one row per query and one column of 0 and 1 per teacher; a header,
a column "query" or "id" and a column "label" or "truth" are optional. With
--layout counts it has the columns "zeros" and "ones" instead. "-" is stdin.

Say what your teachers promise with --eps and --teacher-delta, and what one label
may cost with --m; or give a table made by solve with --table. There are no
defaults here: a wrong ε would make a wrong promise. A table's promise is about the
teachers that it names; with --table, state yours too (--eps, --teacher-delta,
--affected), and a table for others is refused.

The labels go to stdout or --out as CSV with the columns query,label (or as JSON).
They are drawn with the operating system's randomness. On any error nothing is
written.

Where the file has true labels, or with --compare, stderr shows how each mechanism
does on these votes. Those figures are computed from the raw votes: they are not
private, do not release them.

With --ledger the release is paid for before a label is drawn, and what the budget
does not allow is refused. Fresh teachers pay for every answer; frozen ones pay for
their training, once, whatever they answer. --dry-run tells the price beforehand.
` + exitStatus,
		Example: `  darrm aggregate votes.csv --m 3 --eps 0.13577 --teacher-delta 1e-4 --out labels.csv
  darrm aggregate votes.csv --table table.json --json
  darrm aggregate votes.csv --table table.json --ledger patients.ledger --request-id march --teachers fresh`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, a, args[0]) },
	}
	f.register(c, 0, 0)
	fl := c.Flags()
	fl.StringVar(&f.table, "table", "", "use the noise function in this file, certified again, instead of solving")
	fl.StringVarP(&f.out, "out", "o", "", "write the labels to this file instead of stdout")
	fl.StringVar(&f.header, "header", "auto", `whether the first row names the columns: "auto", "yes" or "no"`)
	fl.StringVar(&f.layout, "layout", "wide", "\"wide\": a column of 0 and 1 per teacher, or \"counts\": columns\nzeros and ones")
	fl.StringVar(&f.csv.IDColumn, "id-column", "", `name or position of the column of query ids, "-" for none`)
	fl.StringVar(&f.csv.LabelColumn, "label-column", "", `name or position of the column of true labels, "-" for none`)
	fl.IntVar(&f.csv.K, "K", 0, "number of teachers to expect (default: what the table or the file says)")
	fl.BoolVar(&f.compare, "compare", false, "show on stderr how each mechanism does on these votes (not private)")
	fl.Uint64Var(&f.insecureSeed, "insecure-seed", 0, "simulate with this seed, for experiments; the output is marked, it is not private")
	f.charge.register(c)
	return c
}

func (f *aggregateFlags) run(c *cobra.Command, a *app, path string) error {
	table, err := f.prepare(c, a)
	if err != nil {
		return err
	}
	account, err := f.charge.open(c)
	if err != nil {
		return err
	}
	t, err := f.read(c, a, path)
	if err != nil {
		return err
	}
	var unsaved error
	if table == nil {
		s, err := f.solve(c, a, t.K)
		if err != nil {
			return err
		}
		table, unsaved = s.Table, s.unsaved
	}
	m := ensemble.New(table.Certified)
	simulated := c.Flags().Changed("insecure-seed")
	r, err := newReleaseReport(m, t, simulated, f.charge)
	if err != nil {
		return err
	}
	if account != nil {
		if err := account.plan(r.problem, r.per, r.queries, r.totals); err != nil {
			return err
		}
	}
	if f.charge.dryRun {
		return f.quote(c, a, account, r)
	}
	if account != nil {
		if err := account.charge(c); err != nil {
			if released(err, f.out) {
				a.say("request %q was released before: its labels are in %s, unchanged", f.charge.requestID, f.out)
				return nil
			}
			return err
		}
	}
	var labels []votes.Label
	if simulated {
		labels, err = m.Simulate(f.insecureSeed).Aggregate(c.Context(), t)
	} else {
		labels, err = m.Aggregate(c.Context(), t)
	}
	if err != nil {
		return err
	}
	deliver := func(w io.Writer) error { return writeLabels(w, t, labels, simulated) }
	if a.json {
		deliver = func(w io.Writer) error { return r.encode(w, t, labels) }
	}
	if account != nil {
		deliver = account.digesting(deliver)
	}
	if err := a.deliver(f.out, deliver); err != nil {
		return err
	}
	r.tell(a)
	if account != nil {
		if err := account.record(c); err != nil {
			unsaved = errors.Join(unsaved, ledgerError{fmt.Errorf("the labels were released and paid for, but not noted in the ledger: %w", err)})
		}
	}
	if f.compare || slices.ContainsFunc(t.Labels, func(l votes.Label) bool { return l != votes.NoLabel }) {
		if err := tellScores(a, table, t, labels); err != nil {
			return err
		}
	}
	return unsaved
}

// prepare checks the flags and returns the table that was given, if one was.
func (f *aggregateFlags) prepare(c *cobra.Command, a *app) (*gamma.Table, error) {
	var err error
	if f.csv.Header, err = votes.ParseHeaderMode(f.header); err != nil {
		return nil, usageError{err}
	}
	if c.Flags().Changed("insecure-seed") && f.charge.ledger != "" {
		return nil, usagef("--insecure-seed and --ledger exclude each other: a simulation releases nothing and pays for nothing")
	}
	if f.csv.Layout, err = votes.ParseLayout(f.layout); err != nil {
		return nil, usageError{err}
	}
	if f.table == "" {
		needed := []string{budget, "eps", "teacher-delta"}
		if math.IsInf(f.epsilon, 1) { // such teachers have no Δ
			needed = needed[:2]
		}
		if err := require(c, needed...); err != nil {
			return nil, err
		}
		// Bad parameters are reported before a large file is read.
		if _, err := f.problem(c, max(1, f.csv.K, f.affected)); err != nil {
			return nil, err
		}
		if _, err := f.options(c); err != nil {
			return nil, err
		}
		return nil, f.charge.prepare(c, !math.IsInf(f.epsilon, 1))
	}
	for _, name := range solveFlagNames {
		if c.Flags().Changed(name) {
			return nil, usagef("--%s and --table exclude each other: the table is solved", name)
		}
	}
	table, err := a.readTable(c, f.table)
	if err != nil {
		return nil, err
	}
	if err := f.mustMatch(c, table.Problem()); err != nil {
		return nil, err
	}
	if k := table.Problem().K; f.csv.K != 0 && f.csv.K != k {
		return nil, usagef("K = %d, but %s is for K = %d teachers", f.csv.K, f.table, k)
	}
	f.csv.K = table.Problem().K
	return table, f.charge.prepare(c, !math.IsInf(table.Problem().Epsilon, 1))
}

// mustMatch compares what was said about teachers and release with the table. A
// certificate holds for the teachers that the table names, not for any others.
func (f *aggregateFlags) mustMatch(c *cobra.Command, p constraints.Problem) error {
	reach, said, err := f.reach(c, p.K)
	if err != nil {
		return err
	}
	if said && reach != p.Affected {
		return usagef("affected = %d, but %s is for %d", reach, f.table, p.Affected)
	}
	for _, v := range []struct {
		flag        string
		said, table float64
	}{
		{"eps", f.epsilon, p.Epsilon}, {"teacher-delta", f.teacherDelta, p.TeacherDelta},
		{"m", f.m, p.M}, {"total-eps", f.totalEpsilon, p.TotalEpsilon}, {"delta", f.delta, p.Delta},
	} {
		if c.Flags().Changed(v.flag) && v.said != v.table {
			return usagef("%s = %v, but %s is for %v", v.flag, v.said, f.table, v.table)
		}
	}
	return nil
}

func (f *aggregateFlags) read(c *cobra.Command, a *app, path string) (*votes.Table, error) {
	r, err := a.open(c.Context(), path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f.csv.Name = path
	t, err := votes.ReadCSV(r, f.csv)
	if err != nil {
		return nil, inputError{err}
	}
	return t, nil
}

// writeLabels writes the answers as CSV. Simulated ones get a column name of their
// own, so that nobody takes them for released labels.
func writeLabels(w io.Writer, t *votes.Table, labels []votes.Label, simulated bool) error {
	ids := make([]string, t.Len())
	for i := range ids {
		ids[i] = t.Query(i).ID
	}
	if simulated {
		return votes.WriteSimulatedLabels(w, ids, labels)
	}
	return votes.WriteLabels(w, ids, labels)
}

// report is what a release says about itself.
type report struct {
	problem   constraints.Problem
	per       accountant.Cost
	queries   int
	totals           // of all labels
	teachers  string // "fresh", "frozen", or "" where it was not said
	simulated bool
}

func newReleaseReport(m *ensemble.Mechanism, t *votes.Table, simulated bool, charge chargeFlags) (report, error) {
	p := m.Certified().Problem()
	r := report{problem: p, per: m.PerAnswer(), queries: t.Len(), teachers: charge.teachers, simulated: simulated}
	var err error
	r.totals, err = newTotals(p, r.per, r.queries, charge.slack)
	return r, err
}

// tell says what was released and what it costs, on stderr.
func (r report) tell(a *app) {
	p := r.problem
	if r.simulated {
		a.say("SIMULATION: drawn from a seed, NOT PRIVATE; do not release these labels")
	}
	a.say("%d labels from K = %d teachers, %s", r.queries, p.K, teachers(p))
	a.say("one label:  %v-DP, certified against all %s constraints", r.per, thousands(p.Count()))
	if r.frozen == nil {
		a.say("all labels: %v-DP", r.fresh.Cost)
		return
	}
	title := "all labels:"
	if r.teachers != accountant.FreshTeachers.String() {
		a.say("%s %v-DP if the teachers were trained once and only vote (however many queries),", title, r.frozen.Cost)
		title = "           "
	}
	if r.teachers != accountant.FrozenTeachers.String() {
		a.say("%s %v-DP if each vote is a fresh run of a private mechanism", title, r.fresh.Cost)
	}
}

// quote says what the release would cost, and whether the ledger would pay.
func (f *aggregateFlags) quote(c *cobra.Command, a *app, acc *account, r report) error {
	q := struct {
		Queries   int     `json:"queries"`
		PerLabel  costJS  `json:"per_label"`
		AllFrozen *costJS `json:"all_labels_frozen_teachers"`
		AllFresh  costJS  `json:"all_labels_fresh_teachers"`
		Charge    *amount `json:"charge,omitempty"`
		Remaining *amount `json:"remaining,omitempty"`
	}{Queries: r.queries, PerLabel: costJS(r.per), AllFresh: costJS(r.fresh.Cost)}
	rows := [][]string{{"one label", fmt.Sprint(r.per.Epsilon), fmt.Sprint(r.per.Delta)}}
	add := func(title string, c accountant.Cost) {
		rows = append(rows, []string{title, fmt.Sprint(c.Epsilon), fmt.Sprint(c.Delta)})
	}
	add(fmt.Sprintf("all %d, fresh teachers", r.queries), r.fresh.Cost)
	if r.frozen != nil {
		q.AllFrozen = (*costJS)(&r.frozen.Cost)
		add(fmt.Sprintf("all %d, frozen teachers", r.queries), r.frozen.Cost)
	}
	if acc != nil {
		pay, err := acc.check(c)
		if err != nil {
			return err
		}
		remaining, err := acc.ledger.Remaining(c.Context())
		if err != nil {
			return err
		}
		paid, left := newAmount(pay), newAmount(remaining)
		q.Charge, q.Remaining = &paid, &left
		rows = append(rows, amountRow("the ledger would be charged", pay), amountRow("of which remains now", remaining))
	}
	if a.json {
		return a.deliverJSON("", q)
	}
	return a.deliver("", func(w io.Writer) error {
		if err := renderRows(w, []string{"dry run: nothing was released", "ε", "δ"}, rows, nil); err != nil {
			return err
		}
		return nil
	})
}

// encode writes the answers and their price as JSON.
func (r report) encode(w io.Writer, t *votes.Table, labels []votes.Label) error {
	type answer struct {
		Query string `json:"query"`
		Label int    `json:"label"`
	}
	out := struct {
		Private   bool     `json:"private"`
		K         int      `json:"k"`
		Queries   int      `json:"queries"`
		PerLabel  costJS   `json:"per_label"`
		AllFrozen *costJS  `json:"all_labels_frozen_teachers"`
		AllFresh  costJS   `json:"all_labels_fresh_teachers"`
		Labels    []answer `json:"labels,omitempty"`
		Simulated []answer `json:"simulated_labels,omitempty"`
	}{
		Private: !r.simulated, K: r.problem.K, Queries: r.queries,
		PerLabel: costJS(r.per), AllFresh: costJS(r.fresh.Cost),
	}
	if r.frozen != nil {
		out.AllFrozen = (*costJS)(&r.frozen.Cost)
	}
	answers := make([]answer, len(labels))
	for i, l := range labels {
		bit, _ := l.Value() // every query was answered
		answers[i] = answer{t.Query(i).ID, bit}
	}
	if r.simulated {
		out.Simulated = answers
	} else {
		out.Labels = answers
	}
	return encodeJSON(w, out)
}

// tellScores shows on stderr how each mechanism does on the votes at hand.
func tellScores(a *app, table *gamma.Table, t *votes.Table, labels []votes.Label) error {
	if a.quiet {
		return nil
	}
	sure, err := gamma.Constant(t.K, 1)
	if err != nil {
		return err
	}
	type entry struct {
		title string
		f     gamma.Func
	}
	entries := []entry{{"plain majority (not private)", sure}, {"optimal γ", table.Func()}}
	for _, b := range table.Baselines {
		entries = append(entries, entry{b.Title, b.Certified.Func()})
	}
	header := []string{"mechanism, over its noise", "like the majority", "right"}
	var rows [][]string
	for _, e := range entries {
		s := ensemble.Evaluate(e.f, t)
		right := "-"
		if s.Labels > 0 {
			right = fmt.Sprintf("%.2f %%", 100*s.Accuracy)
		}
		rows = append(rows, []string{e.title, fmt.Sprintf("%.2f %%", 100*s.Agreement), right})
	}
	a.say("\nNOT PRIVATE, for your eyes only: computed from the raw votes and true labels")
	if err := renderRows(a.err, header, rows, nil); err != nil {
		return err
	}
	right, scored := 0, 0
	for i, l := range labels {
		if truth := t.Query(i).Label; truth != votes.NoLabel {
			scored++
			if truth == l {
				right++
			}
		}
	}
	if scored > 0 {
		a.say("the labels just drawn: %.2f %% right (%d of %d)", 100*float64(right)/float64(scored), right, scored)
	}
	return nil
}
