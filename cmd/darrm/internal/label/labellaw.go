package label

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/ensemble/labellaw"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// labelLawFlags are the flags of label-law.
type labelLawFlags struct {
	problem problem.Flags
	read    readFlags // its classes and --K alone
	table   string
	shares  string
	out     string
}

// NewLabelLaw makes the command that writes the law of a mechanism's labels.
func NewLabelLaw(a *cli.App) *cobra.Command {
	var f labelLawFlags
	c := &cobra.Command{
		Use:   "label-law",
		Short: "Write the law of labels, for training on them (public)",
		Long: `Write the law of a mechanism's labels, for training a model on them: the probability of
each label given the class with the most votes (T), the worth of all labels in labels
without noise, and the layer that a student's training adds after its scores (β). The law is
public. docs/students.md describes how to learn with it.

The law is a function of a table (--table), or of the noise of a mechanism without one
(--mechanism, --K, --num-classes, --label-eps), and of a public prior of the votes: the
table's own, or --prior-mean, --concentration or --prior-counts, which must be public. No votes are
read and nothing is charged. darrm aggregate --label-law FILE writes the same bytes for
the mechanism of a release.

--shares a=.9,b=.1 states how frequent the classes are, from public knowledge too. Without it
they are equally frequent, or, of a table that tells the classes apart, as frequent as in the prior.
Such a table has a law for each class.`,
		Example: `  darrm label-law --table table.json --out law.json
  darrm label-law --table table.json --shares cat=.7,dog=.2,bird=.1 --out law.json
  darrm label-law --mechanism gnmax --K 100 --label-eps 0.1 --delta 1e-7 --data disjoint`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c, a) },
	}
	fl := c.Flags()
	fl.StringVar(&f.table, "table", "", "the law of the labels of this table, of any kind; it is certified again")
	cli.TakesFile(c, "table", cli.TableFiles...)
	names := problem.MechanismNames(ensemble.Description.Calibrated)
	f.problem.Register(c, "label-eps", "delta", "neighbours", "prior-mean", "concentration", "prior-counts")
	cli.Register(c, &f.problem.Request, "mechanism")
	cli.OneOf(c, "mechanism", names...)
	c.Flag("concentration").DefValue = ""
	for name, usage := range map[string]string{
		"mechanism": "instead of --table, a mechanism that needs none: " + strings.Join(names, ", "),
		"label-eps": "ε of one released answer of --mechanism",
		"delta":     "δ of one released answer of --mechanism, where it has one",
		"prior-mean": "the public prior: mean probability that a teacher votes for the likelier class (default: the " +
			"table's own prior)",
		"concentration": "instead: classes have uneven shares of a query's votes, as darrm solve takes it",
		"prior-counts":  "instead: a file of public counts of votes, as darrm solve takes it",
	} {
		c.Flag(name).Usage = usage
	}
	cli.Exclude(c, "", "table", "mechanism")
	f.problem.RegisterReach(c)
	f.read.registerVotes(c, "number of teachers of --mechanism")
	cli.Exclude(c, "", "prior-mean", "concentration", "prior-counts")
	fl.StringVar(&f.shares, "shares", "", "CLASS=SHARE of each class, separated by commas: how frequent it is, as is "+
		"public (default: equally frequent, or as a table for uneven shares has them). Without --classes their names are the classes")
	f.problem.RegisterTimeout(c, "give up checking a table after this time, such as 90s (default none)")
	fl.StringVarP(&f.out, "out", "o", "", "write the document to this file, and a summary to stdout")
	cli.TakesFile(c, "out", "json")
	cli.First(c, problem.FlagGroups, "table", "mechanism", "K", "label-eps", "delta", "data", "shares", "out")
	return c
}

func (f *labelLawFlags) run(c *cobra.Command, a *cli.App) error {
	if err := f.read.prepareVotes(c); err != nil {
		return err
	}
	if err := f.problem.CheckTimeout(c); err != nil {
		return err
	}
	if err := release.CheckPaths(f.out, "", "", release.File{Name: "--table", Path: f.table},
		release.File{Name: "--prior-counts", Path: f.problem.Noise.PriorCounts}); err != nil {
		return err
	}
	m, t, err := f.made(c, a)
	if err != nil {
		return err
	}
	s := m.Setting()
	o := labellaw.Options{}
	if statesClasses(c) {
		o.Names = f.read.options.Classes
	}
	if o.Names, o.Shares, err = sharesOf(f.shares, o.Names); err != nil {
		return err
	}
	if o.Names != nil && len(o.Names) != s.Classes {
		return cli.Usagef("%d classes, but the labels are of %d: say --classes or --shares of as many",
			len(o.Names), s.Classes)
	}
	prior, err := f.prior(c, a, m, t, o.Shares)
	if err != nil {
		return err
	}
	l, err := lawOf(c.Context(), m, prior, o)
	if err != nil {
		return err
	}
	data, err := l.Encode()
	if err != nil {
		return err
	}
	err = a.Deliver(f.out, cli.Bytes(data))
	if err != nil || f.out == "" || f.out == "-" || a.JSON {
		return err
	}
	return a.Print(func(w *terminal.Page) error { renderLaw(w, l); return nil })
}

// made returns the mechanism that the flags name, with its table if it has one.
func (f *labelLawFlags) made(c *cobra.Command, a *cli.App) (*ensemble.Mechanism, release.Table, error) {
	if f.table != "" {
		if err := cli.Refuse(c, "goes with --mechanism: the table says it", "K", "label-eps", "delta", "affected",
			"data"); err != nil {
			return nil, release.Table{}, err
		}
		t, err := f.problem.ReadAnyTable(c, a, f.table)
		if err != nil {
			return nil, t, err
		}
		p, err := t.Plan(f.problem.Neighbours)
		return p.Mechanism(), t, err
	}
	if f.problem.Mechanism == "" {
		return nil, release.Table{}, cli.Usagef("say whose labels: --table FILE, or --mechanism, --K, --label-eps and --data")
	}
	if err := cli.Require(c, "K", "label-eps"); err != nil {
		return nil, release.Table{}, err
	}
	f.problem.Missing = f.read.abstain()
	s := f.problem.Setting(f.read.options.K, len(f.read.options.Classes))
	var err error
	if s.Affected, _, err = f.problem.Reach(c, s.K); err != nil {
		return nil, release.Table{}, err
	}
	m, err := ensemble.Calibrated(f.problem.Mechanism, s, f.problem.PerAnswer(), f.problem.Check())
	return m, release.Table{}, err
}

// prior returns the stated public prior of votes, or else the table's own. Where m tells the classes apart a stated
// mean or concentration has the stated shares, or else the table's.
func (f *labelLawFlags) prior(c *cobra.Command, a *cli.App, m *ensemble.Mechanism, t release.Table, shares plurality.Shares) (*plan.Law, error) {
	k, classes := m.Setting().K, m.Setting().Classes
	if shares == nil && t.Answers != nil {
		shares = t.Answers.Prior.Shares
	}
	switch {
	case f.problem.Noise.PriorCounts != "" && classes == 2:
		counts, err := problem.Histogram(a)(c.Context(), f.problem.Noise.PriorCounts, k)
		if err != nil {
			return nil, err
		}
		if m.Named() {
			return plan.NamedOnes(counts)
		}
		return plan.CountedOnes(counts)
	case f.problem.Noise.PriorCounts != "":
		counts, err := problem.Histograms(a)(c.Context(), f.problem.Noise.PriorCounts, k, classes)
		if err != nil {
			return nil, err
		}
		if m.Named() {
			return plan.NamedPrior(k, classes, plurality.Objective{Counts: counts}, nil)
		}
		return plan.Counted(k, classes, counts)
	case f.problem.Many.Concentration != nil && m.Named():
		return plan.NamedPrior(k, classes, plurality.Objective{Concentration: *f.problem.Many.Concentration}, shares)
	case f.problem.Noise.PriorMean != nil && m.Named():
		return plan.NamedPrior(k, classes, plurality.Objective{Accuracy: *f.problem.Noise.PriorMean}, shares)
	case f.problem.Many.Concentration != nil:
		return plan.Uneven(k, classes, *f.problem.Many.Concentration)
	case f.problem.Noise.PriorMean != nil:
		return plan.Prior(k, classes, *f.problem.Noise.PriorMean)
	}
	return choose.PriorOf(t, k, classes)
}

// lawOf returns the law of m's labels under a public prior.
func lawOf(ctx context.Context, m *ensemble.Mechanism, prior *plan.Law, o labellaw.Options) (*labellaw.Law, error) {
	o.Prior = labellaw.Stated{Mean: prior.Mean(), Concentration: prior.Concentration(), Shares: prior.Shares()}
	o.Prior.Counts = o.Prior.Mean == 0 && o.Prior.Concentration == 0
	l, err := m.LabelLaw(ctx, prior.Histograms(), o)
	if err != nil && ctx.Err() == nil {
		err = &release.UsageError{Err: err}
	}
	return l, err
}

// sharesOf parses --shares, in the order of the classes' names where those are stated.
func sharesOf(text string, names []string) ([]string, []float64, error) {
	if text == "" {
		return names, nil, nil
	}
	if names == nil {
		for part := range strings.SplitSeq(text, ",") {
			end := strings.LastIndex(part, "=")
			if end < 0 {
				return nil, nil, cli.Usagef("--shares = %q, but it must be CLASS=SHARE,… where --classes does not name the classes", text)
			}
			if slices.Contains(names, part[:end]) {
				return nil, nil, cli.Usagef("--shares = %q, but it must have the class %q once", text, part[:end])
			}
			names = append(names, part[:end])
		}
	}
	if err := votes.CheckClasses(names, nil); err != nil {
		return nil, nil, &release.UsageError{Err: fmt.Errorf("--shares: %w", err)}
	}
	shares, err := choose.ParseShares(text, names)
	return names, shares, err
}

// renderLaw writes a law for people.
func renderLaw(w *terminal.Page, l *labellaw.Law) {
	w.Fact("labels:", fmt.Sprintf("of %s, K = %d teachers, %d classes", l.Mechanism, l.K, l.Classes))
	w.Fact("label:", fmt.Sprintf("is the class with the most votes in %s, a tie shared%s",
		num.Percent(l.Agrees), abstaining(l)))
	layer := "softmax(β·K·shares)"
	if l.Apart != nil {
		var each []string
		for class, row := range l.Apart {
			each = append(each, fmt.Sprintf("%s in %s", l.Names[class], num.Percent(row[class])))
		}
		w.Fact("each class:", strings.Join(each, ", "))
		layer = "softmax(β·K·shares + offsets)"
	}
	worth := plan.Worth{Labels: l.Worth(), Of: l.Answers, Limit: l.Limit}
	what := fmt.Sprintf("%d labels tell a student as much as %s labels without noise", l.Answers, worth)
	if l.Answers == 1 {
		what = fmt.Sprintf("one label tells a student as much as %s labels without noise", worth)
	}
	w.Fact("worth:", what)
	if math.IsInf(l.Beta, 1) {
		w.Fact("layer:", "none: the labels have no noise, so train on them as they are")
		return
	}
	layer += fmt.Sprintf(", β = %.6f", l.Beta)
	for class, offset := range l.Offsets {
		if class > 0 {
			layer += fmt.Sprintf(", %s %+.6f", l.Names[class], offset)
		}
	}
	w.Fact("layer:", layer)
}

func abstaining(l *labellaw.Law) string {
	if l.Abstains == 0 {
		return ""
	}
	return fmt.Sprintf(", and no class in %s", num.Percent(l.Abstains))
}
