package training

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/param"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/pairwise"
	"github.com/darrm/darrm/learn/prepare"
	"github.com/darrm/darrm/learn/train"
	"github.com/darrm/darrm/learn/train/selection"
	"github.com/darrm/darrm/release"
)

// family is a group of methods that are priced before any record is read. It has one command in
// train and one in account train; a new family is a line of families.
type family struct {
	name, mechanism  string // mechanism is the ledger's name of it
	trains, accounts commandText
	count            string // what --n of train is for; "" for none
	unit             string // of a run's rounds; "" is round
	methods          func() methods
	// account is nil for the account that families share
	account func(a *cli.App, k family) *cobra.Command
}

// families are the commands of train and account train.
var families = []family{shuffledFamily, convexFamily, pairwiseFamily, metricFamily, federatedFamily}

// commandText holds the help texts of a command.
type commandText struct{ use, short, long, example string }

func (t commandText) command(name string) *cobra.Command {
	return &cobra.Command{Use: strings.TrimSpace(name + " " + t.use), Short: t.short, Long: t.long,
		Example: t.example, Args: cobra.NoArgs}
}

// familyFlags are the flags of a method and its parameters.
type familyFlags interface {
	register(c *cobra.Command)
	common() *methodFlags
	// Check parses the flags, and refuses what can be refused before a file is read. It comes
	// before the others.
	Check(c *cobra.Command) error
	// plan prices the method for n records of dimension d, with --intercept in it.
	plan(ctx context.Context, n, d int) (train.Plan, error)
	// about describes the method for the model's file and for the ledger.
	about() modelKind
	// measure returns a function that describes a simulation's model.
	measure(r *data.Records) func(w []float64) string
}

// methods are the flags of a family and its functions. One that is nil is of no use to the family.
type methods struct {
	familyFlags
	// registerGrid adds the flags that a candidate of --grid may have of its own; nil is all.
	registerGrid func(c *cobra.Command)
	// candidate is plan for a choice among candidates; nil is plan.
	candidate func(ctx context.Context, n, d int) (train.Plan, error)
	// ready rewrites the flags, and refuses what is missing; nil requires --private and --task.
	ready func(f *trainFamily, c *cobra.Command) error
	// addsOrRemoves tells the neighbouring relation before a price does.
	addsOrRemoves func() bool
	norm          func() float64 // q of the norm that --radius bounds; nil is 2
	// weigh sets the weights of records; nil is for records without
	weigh func(r *data.Records) (*data.Records, error)
	// radius is the default of --radius, of the bound that the columns' rules add up to; nil is that bound
	radius func(bound float64) float64
	// complete checks the rules of a table, whose columns are then always looked at first.
	complete func(m *prepare.Map) error
	classes  func() int               // how many there are, where more than two; nil refuses them
	score    func(s *selection.Score) // completes that of records held out
	// take sets the records of families that train on known data sets and on public records too;
	// shared states that public records equal private ones by chance.
	take func(set datasets.Set, shared bool) (*data.Records, error)
	// explain prints what is behind the cost of the last plan, and reports whether that is all of
	// it. Neither explain nor describe is called for a choice among candidates.
	explain  func(a *cli.App) bool
	describe func(r *modelReport)
	// online learns from records as they come; nil of it is a method that does not.
	online        func() func(d int) (*pairwise.Online, error)
	sparse        func() bool // the method keeps records sparse
	measureSparse func(r *data.Sparse) func(w []float64) string
}

func (m methods) grid() func(c *cobra.Command) {
	if m.registerGrid != nil {
		return m.registerGrid
	}
	return m.register
}

// modelKind describes a model's task, for the model's file and for the ledger.
type modelKind struct {
	task, set string
	paidFor   string // task in the ledger; "" is task
	link      model.Link
}

// methodFlags holds the flags that the methods of all families share.
type methodFlags struct {
	privacyFlags
	Method, Task string
	Radius       float64 `flag:"radius" help:"public bound on the norm of a record's features; longer ones are shortened to it, each by itself"`
	Clip         float64 `flag:"clip" help:"bound on the loss's slope; larger ones are cut to it (default: the loss's own)"`
	intercept    bool
}

func (f *methodFlags) common() *methodFlags { return f }

// register adds the flags; norm names the norm that --radius bounds.
func (f *methodFlags) register(c *cobra.Command, methods []string, tasks, norm string) {
	f.Method = methods[0]
	cli.Enum(c, &f.Method, "method", strings.Join(methods, ", "), methods...)
	c.Flags().StringVar(&f.Task, "task", "", "loss to be minimised: "+tasks)
	cli.Register(c, f)
	c.Flags().Lookup("radius").Usage += norm
	cli.Register(c, &f.privacyFlags)
}

// checkedPlan prices the method of the flags as they are, which a candidate of --grid may have
// changed since they were checked.
func (m methods) checkedPlan(c *cobra.Command, n, d int, candidate bool) (train.Plan, error) {
	if err := m.Check(c); err != nil {
		return train.Plan{}, err
	}
	if candidate && m.candidate != nil {
		return m.candidate(c.Context(), n, d)
	}
	return m.plan(c.Context(), n, d)
}

// unused names the flag of an option that a method does not have.
func (f *methodFlags) unused(err error) error {
	var option *train.OptionError
	if errors.As(err, &option) {
		return cli.Usagef("--%s is not for --method %s", option.Flag, f.Method)
	}
	return err
}

// unusedGiven refuses a flag that is given and whose option the method does not have.
func (f *methodFlags) unusedGiven(c *cobra.Command, options any) error {
	for _, o := range param.Of(options) {
		if c.Flags().Changed(o.Flag) && !o.IsFor(f.Method) {
			return cli.Usagef("--%s is not for --method %s", o.Flag, f.Method)
		}
	}
	return nil
}

// named adds the method to a plan's error.
func (f *methodFlags) named(plan train.Plan, err error) (train.Plan, error) {
	if err != nil {
		return train.Plan{}, fmt.Errorf("%s: %w", f.Method, err)
	}
	return plan, nil
}

// pricing works out a price within seconds; an interruption ends it at once.
func pricing[T any](c *cobra.Command, a *cli.App, price func() (T, error)) (T, error) {
	bar := cli.NewProgress(a)
	defer bar.Stop()
	bar.Wait("pricing")
	return cli.Interruptibly(c.Context(), price)
}

// sayPrice prints a training's cost with the bound and the noise that it follows from.
func sayPrice(a *cli.App, p train.Price) {
	if math.IsInf(p.Cost.Epsilon, 1) {
		a.Say("NOT PRIVATE: %s promises nothing, whatever its model is used for", p.Method)
		return
	}
	a.Say("cost: %s-DP where neighbours %s", p.Cost.Short(), p.Relation)
	a.Say("by:   %s, %s", p.Method, p.Bound)
	if b, ok := worst(p.Blocks); ok {
		a.Say("      noise %s on a vector of sensitivity %s, in %s", num.Outward(b.Deviation, 6, true),
			num.Outward(b.Sensitivity, 6, true), b.Name)
	}
	for _, note := range p.Notes {
		a.Say("      %s", note)
	}
	a.Say("      %s", p.Tuning())
}

// worst returns the block with the least noise for its sensitivity, of those that are equal but
// for rounding the first.
func worst(blocks []train.Block) (worst train.Block, ok bool) {
	for i, b := range blocks {
		if i == 0 || b.Deviation*worst.Sensitivity < worst.Deviation*b.Sensitivity*(1-64*train.Slack) {
			worst = b
		}
	}
	return worst, len(blocks) > 0
}

// priceReport is the bound and the notes that a training's cost follows from, in JSON.
type priceReport struct {
	Relation string   `json:"neighbours"`
	Bound    string   `json:"bound"`
	Records  int      `json:"records"`
	Notes    []string `json:"notes,omitempty"`
}

// newPriceReport returns nil where nothing is promised.
func newPriceReport(p train.Price) *priceReport {
	if math.IsInf(p.Cost.Epsilon, 1) {
		return nil
	}
	return &priceReport{Relation: p.Relation.String(), Bound: string(p.Bound), Records: p.Records,
		Notes: append(slices.Clone(p.Notes), p.Tuning())}
}

// sayWeakness prints the reason for which a release of a model of this cost is refused, or the
// check that it leaves out.
func sayWeakness(a *cli.App, cost accountant.Cost, records int) {
	for _, remark := range release.Weakness(cost, records) {
		a.Say("%s", remark)
	}
}
