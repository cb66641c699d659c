package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
)

// compareFlags are the flags of compare.
type compareFlags struct {
	problemFlags
	mechanism mechanismFlags // its relation, threshold and ratio
	read      readFlags
}

func newCompare(a *app) *cobra.Command {
	var f compareFlags
	c := &cobra.Command{
		Use:   "compare FILE...",
		Short: "Put every mechanism side by side on your votes (not private)",
		Long: `Put every mechanism that applies side by side on files of votes, all with the same
promise for one answer: how often each agrees with the plain majority and how often
it is right, in expectation over its noise, and what it assumes. Nothing is drawn.

  optimal γ                for your teachers (--eps, --teacher-delta)
  best of the vote counts  the same linear program for teachers that promise nothing
                           (--eps inf): the best that any mechanism can do that sees
                           two counts only, to compare GNMax and LNMax with
  randomised response, subsampling
  GNMax, Confident-GNMax, LNMax, permute-and-flip, with discrete noise

What one record can change decides how much noise each needs: say --affected, or
--data. Equal (ε,δ) are equal promises only about the same neighbouring datasets.

All figures are computed from the raw votes: NOT PRIVATE, do not release them.

For GNMax it also shows what answers to all queries would cost together at these very
votes: PATE's data-dependent bound (Papernot et al., 2018, Theorem 6), beside the cost
at any votes. It is small where most teachers agree. It is a statement about these
votes and not a promise: the figure itself tells of them, and darrm has no sanitised
form of it (smooth sensitivity). No ledger takes it, and aggregate and account, whose
figures hold for any votes, do not use it.
` + exitStatus,
		Example: `  darrm compare votes.csv --m 3 --eps 0.13577 --teacher-delta 1e-4 --data disjoint
  darrm compare votes.csv --total-eps 0.4 --delta 3e-4 --eps inf --data disjoint`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, a, args) },
	}
	f.problemFlags.register(c, 0, 0)
	f.read.register(c)
	f.mechanism.registerRelation(c)
	fl := c.Flags()
	fl.IntVar(&f.mechanism.threshold, "threshold", 0, "votes that Confident-GNMax wants for the most popular class (default ⌈0.6·K⌉)")
	fl.Float64Var(&f.mechanism.checkRatio, "check-ratio", 4, "noise of that check, in units of the noise of the counts")
	return c
}

func (f *compareFlags) run(c *cobra.Command, a *app, paths []string) error {
	if err := f.prepare(c); err != nil {
		return err
	}
	ballots, err := f.ballots(c.Context(), a, paths)
	if err != nil {
		return err
	}
	p, err := f.problem(c, ballots.K())
	if err != nil {
		return err
	}
	epsilon, delta := p.Total()
	o := ensemble.CompareOptions{
		Target:   accountant.Cost{Epsilon: epsilon, Delta: delta},
		Teachers: accountant.Cost{Epsilon: p.Epsilon, Delta: p.TeacherDelta},
		Affected: p.Affected, Neighbours: f.mechanism.relation,
		Check: ensemble.Check{Threshold: f.mechanism.threshold, Ratio: f.mechanism.checkRatio},
	}
	var unsaved error
	if ballots.Classes() == 2 {
		if o.Tables, unsaved, err = f.tables(c, a, ballots.K(), o.Target, p.Affected); err != nil {
			return err
		}
	}
	result, err := ensemble.Compare(c.Context(), ballots, o)
	if err != nil {
		return err
	}
	deliver := func(w io.Writer) error { return renderComparison(w, result) }
	if a.json {
		deliver = func(w io.Writer) error { return encodeJSON(w, comparisonJSON(result)) }
	}
	if err := a.deliver("", deliver); err != nil {
		return err
	}
	return unsaved
}

func (f *compareFlags) prepare(c *cobra.Command) error {
	if err := f.read.prepare(); err != nil {
		return err
	}
	if err := f.mechanism.prepareRelation(); err != nil {
		return err
	}
	if err := require(c, f.needed()...); err != nil {
		return err
	}
	if _, err := f.problem(c, max(1, f.read.options.K, f.affected)); err != nil {
		return err
	}
	_, err := f.options(c)
	return err
}

func (f *compareFlags) ballots(ctx context.Context, a *app, paths []string) (*ensemble.Ballots, error) {
	r, err := f.read.open(ctx, a.in, paths)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	s, err := newScores(r.K(), len(r.Classes()))
	if err != nil {
		return nil, err
	}
	bar := newProgress(a)
	defer bar.stop()
	show := bar.rows("reading")
	for b, err := range r.Batches() {
		if err != nil {
			return nil, inputFailure(ctx, err)
		}
		if b.Missing != nil {
			// Whatever stood for a missing vote would be a draw, and nothing is drawn here.
			return nil, inputError{Err: fmt.Errorf("the votes have missing ones, which compare does not take")}
		}
		if err := s.add(b, nil); err != nil {
			return nil, err
		}
		b.Release()
		show(r.Progress())
	}
	return s.ballots, nil
}

// tables solves for the given teachers, and for ones that promise nothing.
func (f *compareFlags) tables(c *cobra.Command, a *app, k int, target accountant.Cost, affected int) ([]gamma.Named, error, error) {
	own, err := f.solve(c, a, k)
	if err != nil {
		return nil, nil, err
	}
	const counts = "best of the vote counts"
	if math.IsInf(f.epsilon, 1) {
		return []gamma.Named{{Name: "optimal_counts", Title: counts, Certified: own.Table.Certified}}, own.unsaved, nil
	}
	list := []gamma.Named{{Name: "optimal", Title: "optimal γ", Certified: own.Table.Certified}}
	p := own.Table.Problem()
	p.M, p.TotalEpsilon = 0, target.Epsilon
	p.Epsilon, p.TeacherDelta, p.Delta, p.Affected = math.Inf(1), 0, target.Delta, affected
	blind, err := f.solveProblem(c, a, p)
	if err != nil {
		return nil, nil, err
	}
	return append(list, gamma.Named{Name: "optimal_counts", Title: counts, Certified: blind.Table.Certified}), own.unsaved, nil
}

func renderComparison(w io.Writer, c *ensemble.Comparison) error {
	fmt.Fprintln(w, notPrivate)
	fmt.Fprintln(w, wrapped("", "", fmt.Sprintf("%d queries, K = %d teachers, %d classes; every mechanism: one answer (%v, %v)-DP where neighbours %s, which reaches at most %d of the teachers",
		c.Queries, c.Setting.K, c.Setting.Classes, c.Target.Epsilon, c.Target.Delta, c.Setting.Neighbours, c.Setting.Affected)))
	fmt.Fprintln(w)
	rows := [][]string{append(scoreRow("plain majority (not private)", c.Plain), "-")}
	var refused []string
	for _, r := range c.Rows {
		if r.Refused != nil {
			refused = append(refused, wrapped("  ", "    ", fmt.Sprintf("%s: %v", r.Title, r.Refused)))
			continue
		}
		rows = append(rows, append(scoreRow(r.Title, r.Score), abstainedShare(r.Score)))
	}
	if err := renderRows(w, []string{"mechanism, over its noise", "like the majority", "right", "abstains"}, rows, nil); err != nil {
		return err
	}
	renderAlike(w, "What proves each promise:", c.Rows, func(a *ensemble.Mechanism) []string { return []string{a.Basis()} })
	renderAlike(w, "What each assumes:", c.Rows, (*ensemble.Mechanism).Assumptions)
	if len(refused) > 0 {
		fmt.Fprintln(w, "\nNot applicable:")
		for _, n := range refused {
			fmt.Fprintln(w, n)
		}
	}
	return renderAtVotes(w, c)
}

// renderAlike writes what is to be said of each mechanism that applies, those of which the
// same is said together.
func renderAlike(w io.Writer, title string, rows []ensemble.ComparisonRow, say func(*ensemble.Mechanism) []string) {
	var order []string
	mechanisms := map[string][]string{}
	for _, r := range rows {
		if r.Refused != nil {
			continue
		}
		what := strings.Join(say(r.Mechanism), "\n")
		if mechanisms[what] == nil {
			order = append(order, what)
		}
		mechanisms[what] = append(mechanisms[what], r.Title)
	}
	fmt.Fprintln(w, "\n"+title)
	for _, what := range order {
		fmt.Fprintln(w, wrapped("  ", "  ", strings.Join(mechanisms[what], "; ")+":"))
		for line := range strings.Lines(what) {
			fmt.Fprintln(w, wrapped("    - ", "      ", line))
		}
	}
}

// renderAtVotes writes the data-dependent costs.
func renderAtVotes(w io.Writer, c *ensemble.Comparison) error {
	var rows [][]string
	for _, r := range c.Rows {
		if d := r.AtVotes; d != nil {
			rows = append(rows, []string{
				r.Title, outward(d.AnyVotes, 6, true), outward(d.Epsilon, 6, true),
				fmt.Sprintf("%.4g", d.Order), fmt.Sprintf("%d of %d", d.Cheaper, d.Answers),
			})
		}
	}
	if rows == nil {
		return nil
	}
	fmt.Fprintf(w, "\nε of answers to all %d queries, at δ = %v, by Rényi divergences:\n\n", c.Queries, c.Target.Delta)
	if err := renderRows(w, []string{"mechanism", "at any votes", "at these votes", "order", "cheaper at these"}, rows, nil); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, wrapped("  ", "  ", `"At these votes" is COMPUTED FROM PRIVATE VOTES and not sanitised. It is no promise: it holds for these votes alone, in one direction, for queries that were fixed beforehand. No ledger takes it.`))
	return err
}

// wrapped breaks text at 80 columns, the first line after first, the others after rest.
func wrapped(first, rest, text string) string {
	const columns = 80
	return first + strings.ReplaceAll(wrap(text, columns-len(rest)), "\n", "\n"+rest)
}

func comparisonJSON(c *ensemble.Comparison) any {
	type score struct {
		Agreement float64  `json:"agreement"`
		Accuracy  *float64 `json:"accuracy"` // null without true labels
		Abstained float64  `json:"abstained"`
	}
	of := func(s ensemble.Score) *score {
		out := &score{Agreement: s.Agreement, Abstained: s.Abstained}
		if s.Labels > 0 {
			out.Accuracy = &s.Accuracy
		}
		return out
	}
	type atVotes struct {
		Computed  string  `json:"computed_from"` // "private votes", always
		Sanitised bool    `json:"sanitised"`     // false, always
		Queries   int     `json:"queries"`
		Delta     float64 `json:"delta"`
		Epsilon   float64 `json:"epsilon"`
		AnyVotes  float64 `json:"epsilon_at_any_votes"`
		Order     float64 `json:"order"`
		Cheaper   int     `json:"cheaper"`
	}
	type row struct {
		Name      string           `json:"mechanism"`
		Title     string           `json:"title"`
		PerAnswer *accountant.Cost `json:"per_answer,omitempty"`
		Score     *score           `json:"score,omitempty"`
		Basis     string           `json:"basis,omitempty"`
		Assumes   []string         `json:"assumes,omitempty"`
		AtVotes   *atVotes         `json:"all_answers_at_these_votes,omitempty"`
		Refused   string           `json:"refused,omitempty"`
	}
	out := struct {
		Private    bool            `json:"private"` // false, always
		Queries    int             `json:"queries"`
		K          int             `json:"k"`
		Classes    int             `json:"classes"`
		Affected   int             `json:"affected"`
		Neighbours string          `json:"neighbours"`
		Target     accountant.Cost `json:"target"`
		Plain      *score          `json:"plain_majority"`
		Mechanisms []row           `json:"mechanisms"`
	}{
		Queries: c.Queries, K: c.Setting.K, Classes: c.Setting.Classes, Affected: c.Setting.Affected,
		Neighbours: c.Setting.Neighbours.String(), Target: c.Target, Plain: of(c.Plain),
	}
	for _, r := range c.Rows {
		j := row{Name: r.Name, Title: r.Title}
		if r.Refused != nil {
			j.Refused = r.Refused.Error()
		} else {
			per := r.Mechanism.PerAnswer()
			j.PerAnswer, j.Score = &per, of(r.Score)
			j.Basis, j.Assumes = r.Mechanism.Basis(), r.Mechanism.Assumptions()
		}
		if d := r.AtVotes; d != nil {
			j.AtVotes = &atVotes{"private votes", false, d.Answers, d.Delta, d.Epsilon, d.AnyVotes, d.Order, d.Cheaper}
		}
		out.Mechanisms = append(out.Mechanisms, j)
	}
	return out
}
