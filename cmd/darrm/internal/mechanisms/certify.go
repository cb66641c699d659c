package mechanisms

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/certify"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plan/commandline"
	"github.com/darrm/darrm/release"
	"github.com/spf13/cobra"
)

// certifyFlags are the flags of certify.
type certifyFlags struct {
	problem problem.Flags // the teachers, and the reach
	out     string
}

// NewCertify makes the command that proves what a mechanism of one's own promises.
func NewCertify(a *cli.App) *cobra.Command {
	var f certifyFlags
	c := &cobra.Command{
		Use:   "certify FILE",
		Short: "Prove what a mechanism of your own promises; make it a table",
		Long: `Read a mechanism that you worked out by other means, round it to multiples of 2⁻⁵³,
and prove for the ε of one label (--label-eps) the smallest δ, or for the δ (--delta)
the smallest ε. Every privacy constraint of the rounded mechanism is checked, rounding
errors included. Nothing is shrunk and no noise is added: the largest change of a
probability is printed. --out writes the rounded mechanism as a table, which alone is
proved, and which verify, aggregate, account, compare and serve take like a solved one.

FILE is a noise function of two classes, or what is answered to each histogram of votes.
"-" is stdin. CSV names its columns, in any order; rows are in any order:

  votes,gamma          γ(l): with l votes for one answer the majority is released with
                       probability γ(l), otherwise a fair coin. l from 0 to K, or the
                       half below K/2: γ(l) = γ(K-l). All K+1 may differ between the
                       labels: then below 0 the minority is released with probability
                       -γ(l), and γ(K/2) is how often the second label is
  v1,…,vC,p1,…,pC      one row for each histogram of votes, the most votes first, and the
                       probability of each of these classes; another column, abstain, is
                       that of no class. Classes with equal votes have equal ones.
                       Rows of all histograms, sorted or not, are of a mechanism that
                       tells the classes apart

JSON has one of the two beside whatever else is stated, by the names of the flags:

  {"k": 5, "affected": 1, "label_eps": 1, "gamma": [0.7, 0.3, 0.1]}
  {"affected": 1, "delta": 0, "histograms": [{"votes": [2,0,0],
   "probabilities": [0.5,0.25,0.25], "abstain": 0}, …]}

A probability that is no number, a sum that is off 1 by more than 1e-9, and a histogram
that is missing, there twice or not sorted are refused by name. What is not stated is
the worst case: every teacher reached, and teachers that promise nothing.
docs/own-mechanism.md has examples.`,
		Example: `  darrm certify gamma.csv --K 11 --data disjoint --label-eps 1 --out table.json
  darrm certify gamma.csv --K 11 --data disjoint --delta 1e-6
  darrm certify histograms.csv --affected 2 --label-eps 0.5 --out table.json
  darrm certify mechanism.json --out table.json
  darrm compare votes.csv --table table.json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cli.CompleteFiles("csv", "json"),
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, a, args[0]) },
	}
	fl := c.Flags()
	f.problem.Register(c, "K", "label-eps", "delta", "eps", "teacher-delta", "teachers", "neighbours")
	f.problem.RegisterReach(c)
	for name, usage := range map[string]string{
		"K":         "number of teachers (histograms: their number of votes)",
		"label-eps": "ε of one released answer; the smallest δ for it is proved",
		"delta":     "instead of --label-eps: δ of one released answer; the smallest ε for it is proved",
		"eps": "γ alone: ε of each teacher, which --teacher-delta and --teachers fresh go with; inf, the default, " +
			"for teachers that promise nothing",
		"teachers": "\"fresh\": each vote is a new run of a private mechanism, or \"frozen\", which vote alike ever " +
			"after: nothing is presumed of those",
	} {
		c.Flag(name).Usage = usage
	}
	fl.StringVarP(&f.out, "out", "o", "", "write the table to this file, as JSON; \"-\" for JSON on "+
		"stdout instead")
	cli.TakesFile(c, "out", cli.TableFiles...)
	f.problem.RegisterTimeout(c, "give up after this time, such as 90s (default none)")
	cli.First(c, problem.FlagGroups, "K", "affected", "data", "label-eps", "delta", "eps", "teachers",
		"out")
	return c
}

func (f *certifyFlags) run(c *cobra.Command, a *cli.App, path string) error {
	if err := f.problem.CheckTimeout(c); err != nil {
		return err
	}
	// before anything is read
	if err := cli.CheckFiles(f.out, release.File{Name: "FILE", Path: path}); err != nil {
		return err
	}
	more, err := f.statement(c)
	if err != nil {
		return err
	}
	ctx, cancel := f.problem.Limit(c.Context())
	defer cancel()
	bar := cli.NewProgress(a)
	o, err := newCertified(bar.Work(ctx, "certifying", 1), a, path, more)
	bar.Stop()
	if err != nil {
		return f.problem.Late("certify "+path, cli.NameFlag(c, err))
	}
	o.reached = o.reached || f.problem.Data != ""
	if f.out != "" {
		if err := a.Deliver(f.out, o.table.Encode); err != nil || f.out == "-" {
			return err
		}
	}
	if a.JSON {
		return a.DeliverJSON("", o.json())
	}
	if err := a.Print(func(w *terminal.Page) error { return o.render(w, f.out) }); err != nil {
		return err
	}
	if reason, worthless := ensemble.Worthless(o.mechanism.PerAnswer(), 0); worthless {
		a.Fact("WARNING:", reason)
	}
	return nil
}

// statement returns what the flags state.
func (f *certifyFlags) statement(c *cobra.Command) (ensemble.Stated, error) {
	s := f.problem.Stated
	reach, given, err := f.problem.Reach(c, ensemble.AllTeachers)
	if given && (f.problem.Data == "" || reach != ensemble.AllTeachers) {
		s.Affected = &reach
	}
	if c.Flags().Changed("K") { // 0 would not be stated
		err = cmp.Or(err, check.Teachers(s.K))
	}
	if !c.Flags().Changed("neighbours") {
		s.Neighbours = 0
	}
	return s, err
}

// certified is the printed form of a mechanism that was certified.
type certified struct {
	path      string // of the file
	result    *certify.Result
	table     release.Table
	mechanism *ensemble.Mechanism // of the table
	epsilon   bool                // ε was stated, and δ is what was proved
	reached   bool                // how many teachers a record reaches was stated
}

func newCertified(ctx context.Context, a *cli.App, path string,
	more ensemble.Stated) (*certified, error) {
	in, err := a.Open(ctx, path, certify.MaxBytes)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	d, err := certify.Read(in)
	if err != nil {
		return nil, &release.InputError{Err: fmt.Errorf("%s: %w", path, err)}
	}
	r, err := d.Certify(ctx, more)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	o := &certified{path: path, result: r, epsilon: d.LabelEpsilon != nil || more.LabelEpsilon != nil,
		reached: d.Affected != nil || more.Affected != nil}
	o.table.Gamma, o.table.Plurality, o.table.Answers = r.Gamma, r.Plurality, r.Answers
	switch {
	case r.Gamma != nil:
		r.Gamma.Version = cli.Version
	case r.Answers != nil:
		r.Answers.Version = cli.Version
	default:
		r.Plurality.Version = cli.Version
	}
	p, err := o.table.Plan(r.Neighbours)
	o.mechanism = p.Mechanism()
	return o, err
}

func (o *certified) render(w *terminal.Page, out string) error {
	of, cost := o.mechanism.Setting(), o.mechanism.PerAnswer()
	var what string
	if t := o.result.Gamma; t != nil {
		apart := ""
		if !t.Func().Symmetric() {
			apart = " that tells the labels apart"
		}
		what = fmt.Sprintf("a noise function γ of K = %d teachers%s, %s", of.K, apart, teachers(t.Problem()))
	} else {
		apart := ""
		if o.result.Answers != nil {
			apart = " that tells them apart"
		}
		what = fmt.Sprintf("a mechanism for K = %d votes for %d classes%s; nothing is presumed of the teachers", of.K, of.Classes, apart)
	}
	w.Fact("given:", o.path+", "+what)
	reach := fmt.Sprintf("at most %d of the teachers", of.Affected)
	if !o.reached {
		reach = "any number of the teachers (not stated, so the worst case)"
	}
	w.Fact("one record:", fmt.Sprintf("reaches %s; neighbours %s", reach, o.result.Neighbours))
	stated := [2]string{"ε", "δ"}
	if o.epsilon {
		stated = [2]string{"δ", "ε"}
	}
	w.Fact("proved:", fmt.Sprintf("one label is (%v, %v)-differentially private; for this %s "+
		"it is the "+
		"smallest %s that the certificate shows", cost.Epsilon, cost.Delta, stated[1], stated[0]))
	w.Fact("rounding:", fmt.Sprintf("to multiples of 2^-53; no probability changed by more than %s. "+
		"Nothing was shrunk", num.Outward(o.result.Change, 2, true)))
	if out == "" {
		w.Fact("table:", "not written, since --out names no file; nothing but the rounded table is proved")
		return nil
	}
	w.Fact("table:", out+", which alone is proved: release with it, and not with the numbers of "+
		o.path)
	w.Fact("next:", strings.Join(commandline.ShellWords([]string{"darrm", "verify", out}), " ")+
		" puts it beside the baselines; on votes: darrm compare votes.csv --table "+
		strings.Join(commandline.ShellWords([]string{out}), " "))
	return nil
}

func (o *certified) json() any {
	of := o.mechanism.Setting()
	proved := "epsilon"
	if o.epsilon {
		proved = "delta"
	}
	return struct {
		K          int                 `json:"k"`
		Classes    int                 `json:"classes"`
		Affected   int                 `json:"affected"`
		Stated     bool                `json:"affected_stated"`
		Neighbours accountant.Relation `json:"neighbours"`
		PerLabel   accountant.Cost     `json:"per_label"`
		Proved     string              `json:"proved"` // of per_label; the other one was stated
		Change     float64             `json:"largest_change"`
		Table      json.Marshaler      `json:"table"`
	}{of.K, of.Classes, of.Affected, o.reached, o.result.Neighbours, o.mechanism.PerAnswer(), proved, o.result.Change, o.table.Document()}
}

// NewVerify makes the command that checks a table.
func NewVerify(a *cli.App) *cobra.Command {
	var f problem.TimeoutFlag
	c := &cobra.Command{
		Use:   "verify table.json",
		Short: "Check a table's privacy guarantee and its optimality from scratch",
		Long: `Check a table file from scratch, of two classes or of many: every privacy constraint
is evaluated again with rounding errors accounted for, and the proof of optimality
is worked out again. A table for many answers is priced again, over all pairs of
neighbours, and noise that is priced by its label over all counts. No solver is needed. A file that claims more about itself than is
proved is refused, by however little and even if its mechanism is private; one that
claims less is not. Expected errors and rates of disagreement, on which no promise
rests, are compared to within 1e-9.

The file "-" is stdin; any other is a regular file of at most 256 MiB. With --timeout a
check that takes longer fails: nothing is said of the table.`,
		Example: `  darrm solve --K 11 --m 3 --out table.json
  darrm verify table.json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cli.CompleteFiles(cli.TableFiles...),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.CheckTimeout(c); err != nil {
				return err
			}
			t, err := f.ReadAnyTable(c, a, args[0])
			if err != nil {
				return err
			}
			if a.JSON {
				return a.Deliver("", t.Encode)
			}
			return a.Print(func(w *terminal.Page) error {
				if err := render(w, t); err != nil {
					return err
				}
				w.Text("  ", t.Verdict())
				if t.Gamma != nil {
					w.Text("  ", fmt.Sprintf("Expected errors and disagreement, on which no promise rests, are "+
						"within %g of the file's.", check.ExpectationTolerance))
				}
				return nil
			})
		},
	}
	f.RegisterTimeout(c, "give up checking after this time, such as 90s (default none)")
	return c
}

func render(w *terminal.Page, t release.Table) error {
	switch {
	case t.Answers != nil:
		return renderAnswers(w, t.Answers)
	case t.Noise != nil:
		return renderNoise(w, t.Noise)
	case t.Plurality != nil:
		return renderPlurality(w, t.Plurality)
	}
	return renderTable(w, t.Gamma)
}
