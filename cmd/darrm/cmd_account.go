package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/release"
)

// accountFlags are the flags of account.
type accountFlags struct {
	problemFlags
	mechanism mechanismFlags
	classes   int
	k         int
	queries   *list[int]
	teachers  string
	slack     float64
	records   int
	plot      string
}

func newAccount(a *app) *cobra.Command {
	f := accountFlags{queries: newList("1,10,100,1000,10000", intList(func(q int) error {
		if q < 1 || q > accountant.MaxOptimalCount {
			return &check.Error{Name: "queries", Value: q, Rule: fmt.Sprintf("between 1 and %d", accountant.MaxOptimalCount)}
		}
		return nil
	}))}
	c := &cobra.Command{
		Use:   "account --K teachers --m allowance --eps ε --teacher-delta Δ",
		Short: "Tell what a plan costs before it is run",
		Long: `Tell what Q answers cost together, before any is released: every bound that applies,
side by side, for each number of queries in --queries.

Two things decide what the total is, and both must be right for it to hold:

  --teachers  "fresh": every vote is a new run of a private mechanism. The answers
              compose, and the total grows with Q. "frozen": the teachers were trained
              once and vote ever after. Their answers share the randomness of the
              training and do not compose; all of them are post-processing of the
              training, whose cost is the total for any Q.
  --affected  how many teachers one person's record reaches (or --data).

Without --teachers both totals are shown. For teachers that promise nothing (--eps
inf) the noise is the mechanism's own, fresh in every answer.

The columns are bounds of the smallest ε at the same δ: "basic" adds ε up, "general"
is Theorem 3.4 of Kairouz, Oh and Viswanath (2015), which publications print,
"optimal" their exact Theorem 3.3, "pld" a privacy loss distribution; noisy counts
(--mechanism) have others. "by the votes" composes the fresh votes themselves, of which
the answers are functions. All hold at once; every figure is rounded up.

No figure depends on votes. What GNMax's answers would cost at given votes (PATE's
data-dependent bound) is computed from private votes: darrm compare shows it.

--plot draws ε against Q, as SVG or PNG by the name of the file.
` + exitStatus,
		Example: `  darrm account --K 11 --m 3 --eps 0.1 --teacher-delta 1e-5 --queries 1,20,50,100 --slack 1e-4
  darrm account --K 11 --m 1 --eps 0.1 --teacher-delta 0 --teachers frozen --data disjoint
  darrm account --K 250 --total-eps 0.05 --eps inf --data disjoint --plot eps.svg`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c, a) },
	}
	fl := c.Flags()
	fl.IntVar(&f.k, "K", 0, "number of teachers")
	f.registerPromise(c, 0, 0)
	f.mechanism.register(c)
	fl.IntVar(&f.classes, "num-classes", 2, "number of classes, for mechanisms over vote counts")
	fl.Var(f.queries, "queries", "numbers of answers, and ranges first:last:step, separated\nby commas")
	fl.StringVar(&f.teachers, "teachers", "", "\"fresh\" or \"frozen\" (default: show both)")
	registerSlack(c, &f.slack)
	registerRecords(c, &f.records)
	fl.StringVar(&f.plot, "plot", "", "draw ε against the number of queries into this file (.svg or .png)")
	c.AddCommand(newAccountTrain(a))
	return c
}

func (f *accountFlags) run(c *cobra.Command, a *app) error {
	p, event, per, err := f.plan(c)
	if err != nil {
		return err
	}
	if err := release.CheckRecords(f.records); err != nil {
		return err
	}
	if !c.Flags().Changed("slack") {
		f.slack = ensemble.SlackFor(per)
	}
	bar := newProgress(a)
	defer bar.stop()
	queries := slices.Clone(f.queries.values)
	slices.Sort(queries)
	queries = slices.Compact(queries)
	grid := queries
	if f.plot != "" {
		grid = slices.Compact(slices.Sorted(slices.Values(append(spread(queries[0], queries[len(queries)-1], plotPoints), queries...))))
	}
	s, err := newStatement(c.Context(), p, event, per, f.teachers, f.slack, grid, bar.count("composing"))
	if err != nil {
		return err
	}
	bar.stop()
	if f.plot != "" {
		picture, err := s.picture()
		if err != nil {
			return err
		}
		if err := a.deliverPlot(f.plot, picture); err != nil {
			return err
		}
	}
	s.records = f.records
	s.rows = slices.DeleteFunc(s.rows, func(r statementRow) bool { return !slices.Contains(queries, r.queries) })
	if a.json {
		return a.deliverJSON("", s.json())
	}
	if err := a.deliver("", s.render); err != nil {
		return err
	}
	for _, warning := range s.warnings() {
		for _, line := range release.Wrap("WARNING:", warning) {
			a.say("%s", line)
		}
	}
	return nil
}

// plan checks the flags and returns what one answer is, and what it costs.
func (f *accountFlags) plan(c *cobra.Command) (constraints.Problem, accountant.Event, accountant.Cost, error) {
	p, err := f.checked(c)
	if err != nil {
		return p, nil, accountant.Cost{}, err
	}
	if f.mechanism.usesGamma() {
		if !f.mechanism.usesTable() { // what is not private has no cost
			if _, err := f.mechanism.baseline(c.Context(), p); err != nil {
				return p, nil, accountant.Cost{}, err
			}
		}
		epsilon, delta := p.Total()
		per := accountant.Cost{Epsilon: epsilon, Delta: delta}
		return p, accountant.ApproxDP{Cost: per, Neighbours: f.mechanism.relation}, per, nil
	}
	g, err := f.mechanism.make(c, &f.problemFlags, f.k, f.classes)
	if err != nil {
		return p, nil, accountant.Cost{}, err
	}
	return g.Problem, g.Mechanism.Event(), g.Mechanism.PerAnswer(), nil
}

func (f *accountFlags) checked(c *cobra.Command) (constraints.Problem, error) {
	if err := f.mechanism.prepare(c); err != nil {
		return constraints.Problem{}, err
	}
	if !f.mechanism.usesGamma() {
		if err := require(c, "K"); err != nil {
			return constraints.Problem{}, err
		}
		if f.teachers != "" {
			return constraints.Problem{}, usagef("--teachers goes with --mechanism %s or one of its baselines: the noise of %s is new in every answer", mechanismDaRRM, f.mechanism.name)
		}
		if err := f.mechanism.require(c, &f.problemFlags); err != nil {
			return constraints.Problem{}, err
		}
		return constraints.Problem{}, f.checkRest()
	}
	needed := []string{"K", budget, "eps", "teacher-delta"}
	if math.IsInf(f.epsilon, 1) {
		needed = needed[:3]
	}
	if err := require(c, needed...); err != nil {
		return constraints.Problem{}, err
	}
	p, err := f.problem(c, f.k)
	if err != nil {
		return p, err
	}
	switch f.teachers {
	case "":
	case ensemble.FreshTeachers.String(), ensemble.FrozenTeachers.String():
		if math.IsInf(f.epsilon, 1) {
			return p, usagef("teachers = %q, but teachers that promise nothing have no privacy to add up: leave it out", f.teachers)
		}
	default:
		return p, usagef("teachers = %q, but it must be \"fresh\" or \"frozen\"", f.teachers)
	}
	return p, f.checkRest()
}

// checkRest checks what every plan has.
func (f *accountFlags) checkRest() error {
	if !(f.slack >= 0 && f.slack < 1) {
		return &check.Error{Name: "slack", Value: f.slack, Rule: "in [0,1)"}
	}
	return checkPlot(f.plot)
}

// statement is what a plan costs for several numbers of queries.
type statement struct {
	problem  constraints.Problem
	event    accountant.Event // one answer
	per      accountant.Cost
	teachers string
	slack    float64
	records  int                 // that the teachers were trained on; 0 if unknown
	methods  []accountant.Method // that have a column
	frozen   *ensemble.Total     // of two or more answers; nil for teachers that promise nothing
	rows     []statementRow
}

type statementRow struct {
	queries int
	delta   float64
	report  accountant.Report
	votes   *ensemble.Bound // by the fresh votes of which the answers are functions; nil where it says nothing
}

// best returns the smallest ε that holds.
func (r statementRow) best() (epsilon float64, ok bool) {
	best, ok := r.report.Best()
	epsilon = best.Cost.Epsilon
	if r.votes != nil && (!ok || r.votes.Cost.Epsilon < epsilon) {
		return r.votes.Cost.Epsilon, true
	}
	return epsilon, ok
}

// bound returns the method's figure, and whether it applies.
func (r statementRow) bound(m accountant.Method) (accountant.Bound, bool) {
	for _, b := range r.report.Bounds {
		if b.Method == m {
			return b, true
		}
	}
	return accountant.Bound{}, false
}

// newStatement works out all rows, as many at a time as there are cores.
func newStatement(ctx context.Context, p constraints.Problem, event accountant.Event, per accountant.Cost, teachers string, slack float64, queries []int, progress func(done, of int)) (*statement, error) {
	s := &statement{problem: p, event: event, per: per, teachers: teachers, slack: slack}
	if !math.IsInf(p.Epsilon, 1) {
		t, err := release.Frozen(p)
		if err != nil {
			return nil, err
		}
		s.frozen = &t
	}
	none, err := accountant.New(event.Relation())
	if err != nil {
		return nil, err
	}
	s.rows = make([]statementRow, len(queries))
	var done atomic.Int64
	err = forEach(ctx, len(queries), func(i int) error {
		q := queries[i]
		total, err := totalDelta(q, s.per, slack)
		if err != nil {
			return err
		}
		row := statementRow{queries: q, delta: total}
		if total < 1 { // else nothing is promised
			charged, err := none.Charge(event, q)
			if err != nil {
				return err
			}
			if row.report, err = charged.AtDelta(total); err != nil {
				return err
			}
			if row.votes, err = s.votesBound(q, total); err != nil {
				return err
			}
		}
		s.rows[i] = row
		progress(int(done.Add(1)), len(queries))
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, m := range []accountant.Method{
		accountant.MethodBasic, accountant.MethodGeneral, accountant.MethodOptimal, accountant.MethodGaussian,
		accountant.MethodZCDP, accountant.MethodRDP, accountant.MethodPLD,
	} {
		if slices.ContainsFunc(s.rows, func(r statementRow) bool { _, ok := r.bound(m); return ok }) {
			s.methods = append(s.methods, m)
		}
	}
	return s, nil
}

// votesBound bounds the answers by the votes of fresh teachers: Q answers are a function of
// tQ votes that one record reaches, each (ε, Δ)-DP, which is less where m is large.
func (s *statement) votesBound(queries int, delta float64) (*ensemble.Bound, error) {
	p := s.problem
	if math.IsInf(p.Epsilon, 1) || delta == 0 {
		return nil, nil
	}
	report, err := ensemble.Answers{
		Queries: queries, PerAnswer: s.per, K: p.K, Affected: p.Affected, Randomness: ensemble.FreshTeachers,
		Teachers: accountant.Cost{Epsilon: p.Epsilon, Delta: p.TeacherDelta}, Delta: delta,
	}.Bounds()
	if err != nil {
		return nil, err
	}
	var best *ensemble.Bound
	for _, b := range report.Bounds {
		if b.Of == ensemble.OfTeacherAnswers && b.Holds && (best == nil || b.Cost.Epsilon < best.Cost.Epsilon) {
			best = &b
		}
	}
	return best, nil
}

// showsVotes says whether any row has such a bound.
func (s *statement) showsVotes() bool {
	return slices.ContainsFunc(s.rows, func(r statementRow) bool { return r.votes != nil })
}

// totalDelta is 1-(1-δ)^q(1-δ'), rounded up: the δ at which all bounds are compared.
func totalDelta(q int, per accountant.Cost, slack float64) (float64, error) {
	if slack == 0 {
		c, err := accountant.Basic(q, per)
		return c.Delta, err
	}
	c, err := accountant.General(q, per, slack)
	return c.Delta, err
}

// forEach calls f for 0..n-1 on all cores and returns the first error, or ctx's.
func forEach(ctx context.Context, n int, f func(int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := f(i); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// spread returns about n numbers from first to last, evenly on a logarithmic scale.
func spread(first, last, n int) []int {
	var out []int
	for i := range n {
		x := math.Pow(float64(last)/float64(first), float64(i)/float64(n-1)) * float64(first)
		out = append(out, min(last, max(first, int(math.Round(x)))))
	}
	return out
}

// warnings says which totals protect nobody: of fresh answers, from which number of queries on.
func (s *statement) warnings() (out []string) {
	if s.showsFresh() {
		for _, r := range s.rows {
			epsilon, ok := r.best()
			if !ok {
				epsilon = math.Inf(1)
			}
			if reason, worthless := ensemble.Worthless(accountant.Cost{Epsilon: epsilon, Delta: r.delta}, s.records); worthless {
				out = append(out, fmt.Sprintf("Q = %d: %s", r.queries, reason))
				break // and so is every larger Q
			}
		}
	}
	if s.showsFrozen() {
		if reason, worthless := ensemble.Worthless(s.frozen.Cost, s.records); worthless {
			out = append(out, "frozen teachers: "+reason)
		}
	}
	return out
}

func (s *statement) showsFresh() bool { return s.teachers != ensemble.FrozenTeachers.String() }
func (s *statement) showsFrozen() bool {
	return s.frozen != nil && s.teachers != ensemble.FreshTeachers.String()
}

func (s *statement) render(w io.Writer) error {
	p := s.problem
	fmt.Fprintf(w, "K = %d teachers, %s; one record reaches %d of them\n", p.K, teachers(p), p.Affected)
	fmt.Fprintf(w, "one answer: %v-DP", s.per)
	if _, plain := s.event.(accountant.ApproxDP); !plain {
		fmt.Fprintf(w, ", %v", s.event)
	}
	fmt.Fprint(w, "\n\n")
	if s.showsFresh() {
		switch {
		case s.frozen == nil:
			fmt.Fprintf(w, "Q answers, each with fresh noise of the mechanism's own\n\n")
		default:
			fmt.Fprintf(w, "Q answers of FRESH teachers: each vote is a new run of a private mechanism\n\n")
		}
		header := []string{"Q", "δ of all", "smallest ε of all"}
		for _, m := range s.methods {
			header = append(header, string(m))
		}
		if s.showsVotes() {
			header = append(header, "by the votes")
		}
		var rows [][]string
		for _, r := range s.rows {
			row := []string{strconv.Itoa(r.queries), outward(r.delta, 6, true), "no promise"}
			if epsilon, ok := r.best(); ok {
				row[2] = outward(epsilon, 6, true)
			}
			for _, m := range s.methods {
				cell := "-"
				if b, ok := r.bound(m); ok {
					cell = outward(b.Cost.Epsilon, 6, true)
				}
				row = append(row, cell)
			}
			if s.showsVotes() {
				cell := "-"
				if r.votes != nil {
					cell = outward(r.votes.Cost.Epsilon, 6, true)
				}
				row = append(row, cell)
			}
			rows = append(rows, row)
		}
		if err := renderRows(w, header, rows, nil); err != nil {
			return err
		}
	}
	if s.showsFrozen() {
		if s.showsFresh() {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "Q answers of FROZEN teachers, trained once: %v-DP, however many\n", s.frozen.Cost)
		fmt.Fprintf(w, "  (%s; the answers are post-processing of the training)\n", s.frozen.Rule)
	}
	return nil
}

func (s *statement) json() any {
	type bound struct {
		Method  string  `json:"method"`
		Epsilon float64 `json:"epsilon"`
		Note    string  `json:"note,omitempty"`
	}
	type row struct {
		Queries int      `json:"queries"`
		Delta   float64  `json:"delta"`
		Epsilon *float64 `json:"epsilon"` // of the best bound; null where nothing is promised
		Bounds  []bound  `json:"bounds"`
	}
	out := struct {
		K         int             `json:"k"`
		Affected  int             `json:"affected"`
		PerAnswer accountant.Cost `json:"per_answer"`
		Slack     float64         `json:"slack"`
		Warnings  []string        `json:"warnings,omitempty"`
		Fresh     []row           `json:"fresh_teachers,omitempty"`
		Frozen    *struct {
			accountant.Cost
			Rule string `json:"rule"`
		} `json:"frozen_teachers,omitempty"`
	}{K: s.problem.K, Affected: s.problem.Affected, PerAnswer: s.per, Slack: s.slack, Warnings: s.warnings()}
	if s.showsFresh() {
		for _, r := range s.rows {
			j := row{Queries: r.queries, Delta: r.delta, Bounds: []bound{}}
			if epsilon, ok := r.best(); ok {
				j.Epsilon = &epsilon
			}
			for _, b := range r.report.Bounds {
				j.Bounds = append(j.Bounds, bound{string(b.Method), b.Cost.Epsilon, b.Note})
			}
			if r.votes != nil {
				j.Bounds = append(j.Bounds, bound{"votes", r.votes.Cost.Epsilon, r.votes.Rule()})
			}
			out.Fresh = append(out.Fresh, j)
		}
	}
	if s.showsFrozen() {
		out.Frozen = &struct {
			accountant.Cost
			Rule string `json:"rule"`
		}{s.frozen.Cost, s.frozen.Rule}
	}
	return out
}
