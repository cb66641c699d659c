package training

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/learn/choose"
	"github.com/darrm/darrm/learn/convex"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/prepare"
	"github.com/darrm/darrm/learn/train"
	"github.com/darrm/darrm/learn/train/onevsrest"
	"github.com/darrm/darrm/learn/train/selection"
)

// chosenFamily is train without a method: package choose takes one.
var chosenFamily = family{
	name: "train", mechanism: convex.Mechanism, methods: func() methods {
		f := new(chosenFlags)
		return methods{familyFlags: f, ready: f.ready, addsOrRemoves: f.addsOrRemoves, norm: f.dualNorm,
			complete: f.complete, classes: func() int { return f.several }, score: f.completeScore,
			weigh: f.weights.weigh, radius: f.usualRadius, explain: f.explain, describe: f.describe, sparse: f.convexFlags.methods().sparse,
			measureSparse: f.measureSparse}
	},
	count: "number of records that the price is for, with --neighbours add-remove: a public one near " +
		"it",
	trains: commandText{
		use:   "FILE --response COLUMN --task TASK --eps ε --delta δ",
		short: "Train a model privately",
		long: `Train one linear model privately on a table. The method follows from what is public:
task, number of records and features, set and neighbours; one line says which it is and
why. The commands below are for those who choose a method.

  logistic   classes 0 and 1, with their probabilities; or those of --classes
  linear     numbers; the response needs a range (--scale)
  auc        the order of two classes
  hinge      classes 0 and 1, by a margin

Rows become records by public rules: --scale, --categories, --fill, or a file of them
(darrm train describe); docs/training.md has more. Nothing is taken from the data. All
noise follows from --eps and --delta, which are met for any rows.

The model goes to stdout or --out as JSON, for darrm predict and darrm evaluate. With
--ledger it is paid for before the first step. Choosing by results on the private data is
not covered, but by --grid.`,
		example: `  darrm train people.csv --response income_above:50000 --scale age=0:120 --categories sex=Male,Female \
    --task logistic --eps 1 --delta 1e-6 -o model.json
  darrm train people.csv --prepare prepare.toml --task logistic --eps 1 --delta 1e-6 --ledger book.ledger`,
	},
}

// chosenFlags are the flags of a training whose method is chosen.
type chosenFlags struct {
	convexFlags
	stated  string // --set
	mapped  **prepare.Map
	reason  string
	classes string // --classes
	several int    // number of classes where there are more than two, else 0
	weights weightFlags
}

func (f *chosenFlags) register(c *cobra.Command) {
	fl := c.Flags()
	cli.Enum(c, &f.Task, "task", strings.Join(choose.Tasks(), ", "), choose.Tasks()...)
	fl.StringVar(&f.classes, "classes", "",
		"what the response can be, separated by commas, as --categories of it; from the task, never "+
			"from the records. --eps and --delta pay for the model of all of them")
	cli.Register(c, &f.privacyFlags)
	fl.Float64Var(&f.Radius, "radius", 0,
		"public bound on the norm of a record's features; longer ones are shortened to it "+
			"(default: what the ranges and categories of all columns add up to, 4 at most)")
	fl.StringVar(&f.stated, "set", "", "what the model is kept in: "+
		strings.Join(geometry.SetNames(), ", ")+" (default: nothing)")
	fl.BoolVar(&f.intercept, "intercept", true,
		"add a feature 1 to each record, which --radius does not count")
	f.neighbours = accountant.ReplaceOne
	cli.Enum(c, &f.neighbours, "neighbours", "\"replace\" or \"add-remove\" one record",
		accountant.ReplaceOne, accountant.AddOrRemoveOne)
	cli.Register(c, &f.weights)
}

// Check refuses what can be refused before a file is read. Everything that is missing is named at
// once.
func (f *chosenFlags) Check(c *cobra.Command) (err error) {
	f.loss, err = choose.Loss(f.Task)
	return err
}

func (f *chosenFlags) addsOrRemoves() bool { return f.neighbours == accountant.AddOrRemoveOne }

func (f *chosenFlags) dualNorm() float64 {
	set, err := geometry.ParseSet(f.stated, 1)
	if err != nil {
		return 2
	}
	return convex.DualNorm(set)
}

func (f *chosenFlags) plan(ctx context.Context, n, d int) (train.Plan, error) {
	if f.several == 0 || f.jointly() {
		return f.one(n, d, f.target())
	}
	return onevsrest.Method{Classes: f.several, Target: f.target(),
		Model: func(target accountant.Cost) (train.Plan, error) { return f.one(n, d, target) },
	}.Plan(ctx, n, d)
}

// jointly reports whether several classes have one model, of all their scores.
func (f *chosenFlags) jointly() bool {
	return f.several > 0 && f.Task == "logistic" && f.dualNorm() == 2
}

// about describes the model, of several classes where they have one.
func (f *chosenFlags) about() modelKind {
	k := f.convexFlags.about()
	if f.jointly() {
		if l, err := loss.NewSoftmax(f.several); err == nil {
			k.task, k.link = l.Name(), model.LinkOf(l)
		}
	}
	return k
}

// usualRadius returns the bound that is taken where --radius is not given.
func (f *chosenFlags) usualRadius(bound float64) float64 {
	if f.dualNorm() != 2 {
		return bound
	}
	return choose.Radius(bound)
}

// one prices one model for a target.
func (f *chosenFlags) one(n, d int, target accountant.Cost) (train.Plan, error) {
	p := choose.Problem{Task: f.Task, Records: n, Dim: d, Neighbours: f.neighbours,
		Target: target, Radius: f.bound, WeightBound: f.weights.most()}
	if f.jointly() {
		p.Classes = f.several
	}
	if f.stated != "" {
		var err error
		if p.Set, err = geometry.ParseSet(f.stated, d); err != nil {
			return train.Plan{}, err
		}
	}
	choice, err := choose.Method(p)
	if err != nil {
		return train.Plan{}, err
	}
	f.Method, f.reason, f.set = choice.Name, choice.Reason, f.stated
	method, err := convex.New(choice.Name, choice.Options)
	if err != nil {
		return train.Plan{}, err
	}
	return f.named(method.Plan(n, d))
}

// widestError is the squared error of a response that is predicted at the other end of its range,
// [-1,1].
const widestError = 4

// completeScore sets the bound on the error of a linear task, whose responses have a range.
func (f *chosenFlags) completeScore(s *selection.Score) {
	if f.Task == "linear" && s.Bound == 0 && s.Kind == selection.MeanLoss {
		s.Bound = widestError
	}
	s.Classes = f.several
}

// measure returns a measure for simulations: of several classes the share that is right.
func (f *chosenFlags) measure(r *data.Records) func(w []float64) string {
	if f.several == 0 {
		return f.convexFlags.measure(r)
	}
	return func(w []float64) string {
		right := selection.Score{Kind: selection.Accuracy, Loss: f.loss, Classes: f.several}.Right(w, r)
		return fmt.Sprintf("accuracy %s", num.Percent(float64(right)/float64(r.Len())))
	}
}

// bound returns a bound on the ℓq norm of the records, whose features were shortened to --radius in
// the norm of dualNorm.
func (f *chosenFlags) bound(q float64) float64 {
	radius := f.Radius // also where q is larger than the norm's
	if m := *f.mapped; m != nil && q > f.dualNorm() {
		radius = min(radius, m.Radius(q))
	}
	if f.intercept {
		return geometry.WithIntercept(radius, q)
	}
	return radius
}

// explain names the method and the reason for it. The price is left to others.
func (f *chosenFlags) explain(a *cli.App) bool {
	in := ""
	if f.set != "" {
		in = " in " + f.set
	}
	a.Say("method: %s%s: %s", f.Method, in, f.reason)
	return false
}

func (f *chosenFlags) describe(r *modelReport) {
	r.Reason, r.Weights = f.reason, f.weights.report()
}

// ready rewrites the flags to those of a training whose method is known, or names everything that
// train FILE lacks.
func (f *chosenFlags) ready(t *trainFamily, c *cobra.Command) error {
	f.mapped = &t.mapped
	if err := t.requireAll(c, f.addsOrRemoves()); err != nil {
		return err
	}
	if err := choose.CheckTarget(accountant.Cost{Epsilon: f.Epsilon, Delta: f.Delta}); err != nil {
		return err
	}
	if err := f.weights.check(c, f.Task); err != nil {
		return err
	}
	if !t.isTable(t.private) {
		if f.weights.Column != "" {
			return cli.Usagef("--weights goes with tables: %s is read as %s", t.private, t.formatOf(t.private))
		}
		if err := f.weights.resolve(nil); err != nil {
			return err
		}
	}
	t.weights = f.weights.Column
	if f.classes != "" && t.Response == "" {
		return cli.Usagef("--classes goes with --response: whose values they are")
	}
	if f.classes != "" {
		t.Categories = append(t.Categories, t.Response+"="+f.classes)
	}
	if t.selectFlags.Score == "" && f.Task == "auc" && (t.selectFlags.Grid != nil || t.TestEps != 0 && !f.addsOrRemoves()) {
		t.selectFlags.Score = selection.Pairs
	}
	return nil
}

// requireAll names everything that train FILE lacks.
func (f *trainFamily) requireAll(c *cobra.Command, addsOrRemoves bool) error {
	var missing []string
	if f.private == "" {
		missing = append(missing, "FILE")
	}
	if f.private != "" {
		if err := f.onlyTables(f.private); err != nil {
			return err
		}
	}
	table := f.private == "" || f.isTable(f.private)
	names := []string{"task", "eps", "delta"}
	if table && f.File == "" {
		names = append([]string{"response"}, names...)
	}
	if !table {
		names = append(names, "radius") // no rule bounds the records
	}
	if addsOrRemoves && !c.Flags().Changed("insecure-seed") {
		names = append(names, "n") // how many records there are is private then
	}
	for _, name := range names {
		if !c.Flags().Changed(name) {
			missing = append(missing, "--"+name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	tasks := ""
	if slices.Contains(missing, "--task") {
		tasks = fmt.Sprintf("; tasks are %s", strings.Join(choose.Tasks(), ", "))
	}
	return cli.Usagef("%s must be given%s (see %s --help)", check.Listed(missing, "and"), tasks, c.CommandPath())
}

// complete sets the number of classes by the rule of the response, and their weights. It refuses a table whose rules
// leave records without a bound, or the response of a linear task without a range.
func (f *chosenFlags) complete(m *prepare.Map) error {
	if m.Response != nil && len(m.Response.Categories) > 2 {
		f.several = len(m.Response.Categories)
		if f.Task != "logistic" && f.Task != "hinge" {
			return cli.Usagef("--task %s is not for %d classes: take logistic or hinge", f.Task, f.several)
		}
	}
	if err := f.weights.resolve(m); err != nil {
		return err
	}
	if f.Radius == 0 {
		return needsBound(m)
	}
	if f.Task == "linear" && (m.Response == nil || m.Response.Scale == nil) {
		return needsRange(m)
	}
	return nil
}
