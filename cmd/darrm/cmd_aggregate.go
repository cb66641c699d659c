package main

import (
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
` + exitStatus,
		Example: `  darrm aggregate votes.csv --m 3 --eps 0.13577 --teacher-delta 1e-4 --out labels.csv
  darrm aggregate votes.csv --table table.json --json`,
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
	return c
}

func (f *aggregateFlags) run(c *cobra.Command, a *app, path string) error {
	table, err := f.prepare(c, a)
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
	var labels []votes.Label
	if simulated {
		labels, err = m.Simulate(f.insecureSeed).Aggregate(c.Context(), t)
	} else {
		labels, err = m.Aggregate(c.Context(), t)
	}
	if err != nil {
		return err
	}
	r, err := newReport(m, t, simulated)
	if err != nil {
		return err
	}
	deliver := func(w io.Writer) error { return writeLabels(w, t, labels, simulated) }
	if a.json {
		deliver = func(w io.Writer) error { return r.encode(w, t, labels) }
	}
	if err := a.deliver(f.out, deliver); err != nil {
		return err
	}
	r.tell(a)
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
		_, err := f.options(c)
		return nil, err
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
	return table, nil
}

// mustMatch compares what was said about teachers and release with the table. A
// certificate holds for the teachers that the table names, not for any others.
func (f *aggregateFlags) mustMatch(c *cobra.Command, p constraints.Problem) error {
	for _, v := range []struct {
		flag        string
		said, table float64
	}{
		{"eps", f.epsilon, p.Epsilon}, {"teacher-delta", f.teacherDelta, p.TeacherDelta},
		{"affected", float64(f.affected), float64(p.Affected)},
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
	fresh     accountant.Cost  // all labels, if every answer of a teacher is drawn afresh
	frozen    *accountant.Cost // all labels, if teachers were trained once; nil if they promise nothing
	simulated bool
}

func newReport(m *ensemble.Mechanism, t *votes.Table, simulated bool) (report, error) {
	p := m.Certified().Problem()
	r := report{problem: p, per: m.PerAnswer(), queries: t.Len(), simulated: simulated}
	var err error
	if r.fresh, err = accountant.Basic(t.Len(), r.per); err != nil {
		return r, err
	}
	if math.IsInf(p.Epsilon, 1) {
		return r, nil
	}
	frozen, err := accountant.Basic(p.Affected, accountant.Cost{Epsilon: p.Epsilon, Delta: p.TeacherDelta})
	r.frozen = &frozen
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
		a.say("all labels: %v-DP", r.fresh)
		return
	}
	a.say("all labels: %v-DP if the teachers were trained once and only vote (however many queries),", *r.frozen)
	a.say("            %v-DP if each vote is a fresh run of a private mechanism", r.fresh)
}

// encode writes the answers and their price as JSON.
func (r report) encode(w io.Writer, t *votes.Table, labels []votes.Label) error {
	type cost struct {
		Epsilon float64 `json:"epsilon"`
		Delta   float64 `json:"delta"`
	}
	type answer struct {
		Query string `json:"query"`
		Label int    `json:"label"`
	}
	out := struct {
		Private   bool     `json:"private"`
		K         int      `json:"k"`
		Queries   int      `json:"queries"`
		PerLabel  cost     `json:"per_label"`
		AllFrozen *cost    `json:"all_labels_frozen_teachers"`
		AllFresh  cost     `json:"all_labels_fresh_teachers"`
		Labels    []answer `json:"labels,omitempty"`
		Simulated []answer `json:"simulated_labels,omitempty"`
	}{
		Private: !r.simulated, K: r.problem.K, Queries: r.queries,
		PerLabel: cost(r.per), AllFrozen: (*cost)(r.frozen), AllFresh: cost(r.fresh),
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
