package training

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/learn/choose"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/prepare"
	"github.com/darrm/darrm/learn/train"
	"github.com/darrm/darrm/release"
)

// trainFamily has the flags of train with a family's name.
type trainFamily struct {
	family
	methods
	DataFlags
	modelFlags
	selectFlags
	count   int     // public figure of how many records there are
	bounded bool    // --radius follows from the columns' rules
	shorter bool    // and is below what they add up to
	HoldOut float64 `flag:"hold-out" help:"share of the records to leave out, such as 0.25, for darrm evaluate --held-out or $score-eps"`
	TestEps float64 `flag:"score-eps" help:"tell the model's score on the records of $hold-out, with noise of this ε, $eps at most, which covers both: a record is learned from or tested on ($score, $score-bound)"`
	Rows    int     `flag:"rows-per-person" help:"most rows that a person has: $eps and $delta are then of a person, and so is what a ledger is charged"`
	held    *data.Records
}

func newTrainFamily(a *cli.App, k family) *cobra.Command {
	f := trainFamily{family: k, methods: k.methods(), Rows: 1}
	c := k.trains.command(k.name)
	c.RunE = func(c *cobra.Command, _ []string) error { return f.run(c, a) }
	if f.methods.take != nil {
		f.DataFlags.Register(c)
	} else {
		f.registerPrivate(c, "")
	}
	if k.count != "" {
		c.Flags().IntVar(&f.count, "n", 0, k.count)
	}
	cli.Register(c, &f, "hold-out", "score-eps", "rows-per-person")
	f.familyFlags.register(c)
	f.modelFlags.register(c)
	f.selectFlags.register(c)
	return c
}

func (f *trainFamily) run(c *cobra.Command, a *cli.App) error {
	ready := f.ready
	if ready == nil {
		ready = func(_ *trainFamily, c *cobra.Command) error { return cli.Require(c, "private", "task") }
	}
	if err := ready(f, c); err != nil {
		return err
	}
	if err := f.prepare(c, f.family.methods().grid()); err != nil {
		return err
	}
	if f.methods.take == nil && f.common().intercept && f.varies("radius") {
		return cli.Usagef("--grid radius= is not for --intercept: candidates would shorten the constant feature, too " +
			"(--intercept=false)")
	}
	if err := f.bound(c, a); err != nil {
		return err
	}
	if err := f.perRow(c); err != nil {
		return err
	}
	if err := f.Check(c); err != nil {
		return err
	}
	if h := f.split(); h != nil || c.Flags().Changed("hold-out") {
		if err := (prepare.HoldOut{Share: f.HoldOut}).Check(); err != nil {
			return err
		}
	}
	if err := f.checkTest(c); err != nil {
		return err
	}
	m := f.model(c, a)
	m.Reads = f.files()
	if err := (release.FileOutput{Path: f.out}).CheckPlace(); err != nil {
		return err
	}
	if err := m.Check(); err != nil {
		return err
	}
	if f.online != nil && f.private == "-" {
		if online := f.online(); online != nil {
			return f.stream(c, a, online, m)
		}
	}
	if f.relation() == accountant.AddOrRemoveOne && f.count == 0 && !m.Simulated {
		return needsCount() // before a refusal by their true number
	}
	if f.addsOrRemoves != nil && len(f.points) == 0 && !m.Simulated {
		m.Relation = f.relation()
		if err := m.CheckRelation(c.Context()); err != nil {
			return err
		}
	}
	if !m.Simulated && f.private != "" {
		if err := f.statedDim(f.private); err != nil {
			return err
		}
	}
	t := &training{app: a, flags: &f.modelFlags, unit: f.rounds(), rows: f.Rows}
	records, plan, err := f.algorithm(c, a, t)
	if err != nil {
		return err
	}
	price := plan.Price
	if h := f.split(); h != nil && h.ByContent != (price.Relation == accountant.AddOrRemoveOne) {
		return cli.Usagef("--hold-out is not for %s where neighbours %s", price.Method, price.Relation)
	}
	if price.Relation == accountant.AddOrRemoveOne && f.count == 0 && !m.Simulated {
		return needsCount()
	}
	if f.shorter {
		a.Say("radius: %.4g, to which longer records are shortened (--radius)", f.common().Radius)
	} else if f.bounded {
		a.Say("radius: %.4g, from the ranges and categories of the columns", f.common().Radius)
	}
	if f.explain == nil || len(f.points) > 0 || !f.explain(a) {
		sayPrice(a, price)
	}
	bound := plan.Bound()
	if bound != nil && bound.Says() {
		for _, line := range proved(bound) {
			a.Say("%s", line)
		}
	}
	if f.TestEps > 0 {
		if f.TestEps <= f.common().Epsilon { // which the model may fall short of by little
			f.TestEps = min(f.TestEps, price.Cost.Epsilon)
		}
		a.Say("score: on the records held out, with noise of epsilon = %.6g, which this cost covers: a "+
			"record is learned from or tested on", f.TestEps)
		if t.algorithm, err = f.test(price.Relation).Of(t.algorithm, f.held); err != nil {
			return err
		}
	}
	if f.Rows > 1 {
		a.Say("cost of a person with up to %d rows: %s-DP", f.Rows,
			train.GroupCost(price.Cost, f.Rows).Short())
	}
	m.Records = records.n
	if !m.Simulated {
		sayWeakness(a, train.GroupCost(price.Cost, f.Rows), m.Records)
	}
	warning := ""
	if choose.NoiseToSignal(price) >= 1 {
		warning = fmt.Sprintf("expect a model hardly better than a constant: at epsilon = %.4g noise is longer than the "+
			"gradients of %d records can add up to; more records, fewer features or a larger epsilon help",
			price.Cost.Epsilon, price.Records)
		a.Say("%s", warning)
	}
	if f.request.Ledger == "" && !m.Simulated {
		a.Say("no ledger: nothing adds this cost to that of earlier models of these records (--ledger)")
	}
	t.document = func(choice *train.Choice, test *train.Test) *modelReport {
		f.choose(choice) // whose radius is the model's
		r := f.report(records)
		r.Warning = warning
		if r.Chosen = choice; test != nil {
			r.Score = &scoreReport{!m.Simulated, test}
		}
		if f.Rows > 1 {
			r.Rows, r.Person = f.Rows, cli.FiniteCost(train.GroupCost(price.Cost, f.Rows))
		}
		r.Method, r.Rounds, r.Dim, r.Cost, r.Price = price.Method, t.algorithm.Rounds, price.Dim,
			cli.FiniteCost(price.Cost), newPriceReport(price)
		r.Theory = bound
		if f.describe != nil && len(f.points) == 0 {
			f.describe(r)
		}
		return r
	}
	m.Relation = price.Relation
	m.Event = release.ModelEvent{Mechanism: f.mechanism, Method: price.Method,
		Task: cmp.Or(f.about().paidFor, f.about().task), Epochs: t.algorithm.Rounds,
		Unit: f.ledgerUnit(), Mode: string(price.Bound), ScoreEpsilon: f.TestEps}
	return t.run(c.Context(), m)
}

func needsCount() error {
	return cli.Usagef("--n must be given: where records may be added or removed, their number is private, " +
		"and the price needs a public number near it")
}

// bound sets --radius, where it is not given, to the bound that public rules put on the records of
// a table. The names of the columns decide which rules hold, so the table is opened before its
// records are read.
func (f *trainFamily) bound(c *cobra.Command, a *cli.App) error {
	flag := c.Flags().Lookup("radius")
	if flag == nil || f.private == "" || !f.isTable(f.private) ||
		f.complete == nil && (flag.Changed || !f.stated()) {
		return nil
	}
	varies := f.varies("radius") || f.varies("set")
	switch {
	case varies && f.complete == nil:
		return nil
	case varies && f.common().Radius == 0: // whose default has the norm of one set
		return cli.Usagef("--radius must be given with --grid set=: candidates shorten records to it")
	}
	if err := (release.FileOutput{Path: f.out}).CheckPlace(); err != nil { // before anything is read
		return err
	}
	m, err := f.openEarly(c, a, f.private, reading{})
	if err != nil {
		return err
	}
	radius := m.Radius(f.dual())
	if !varies && !flag.Changed && !math.IsInf(radius, 1) { // else there is a number without a scale
		f.bounded = true
		if f.methods.radius != nil {
			f.shorter = f.methods.radius(radius) < radius
			radius = f.methods.radius(radius)
		}
		if err := c.Flags().Set("radius", strconv.FormatFloat(radius, 'g', -1, 64)); err != nil {
			return err
		}
	}
	if f.complete != nil {
		return f.complete(m)
	}
	return nil
}

// perRow turns --eps and --delta from those of a person into those of a row, which the method
// keeps.
func (f *trainFamily) perRow(c *cobra.Command) error {
	if !c.Flags().Changed("rows-per-person") {
		return nil
	}
	if err := cli.Require(c, "eps", "delta"); err != nil {
		return err
	}
	row, err := train.ForGroup(f.common().target(), f.Rows)
	f.common().Epsilon, f.common().Delta = row.Epsilon, row.Delta
	return err
}

// dual returns the q of the norm that --radius bounds.
func (f *trainFamily) dual() float64 {
	if f.norm != nil {
		return f.norm()
	}
	return 2
}

// relation returns the neighbouring relation of the flags, ReplaceOne where they have no say.
func (f *trainFamily) relation() accountant.Relation {
	if f.addsOrRemoves != nil && f.addsOrRemoves() {
		return accountant.AddOrRemoveOne
	}
	return accountant.ReplaceOne
}

// rounds returns the word for a round of a run: the method's own unit, or "round", as for a choice,
// whose rounds train a candidate each.
func (f *trainFamily) rounds() string {
	if len(f.points) > 0 {
		return "round"
	}
	return cmp.Or(f.unit, "round")
}

// ledgerUnit is the unit of a [release.ModelEvent].
func (f *trainFamily) ledgerUnit() string {
	if f.unit == "" {
		return "rounds"
	}
	return "" // epochs
}

// report returns a model's file without the method's part.
func (f *trainFamily) report(records recordsRead) *modelReport {
	k := f.about()
	if f.varies("ball") || f.varies("set") { // a candidate may have its own
		k.set = ""
	}
	return &modelReport{
		Standin: records.standin, DataSet: records.name, Set: k.set,
		Document: model.Document{Task: k.task, Link: k.link, Columns: records.columns,
			Response: records.response, Intercept: f.common().intercept,
			Preparation: ruled(records.prepare), HoldOut: f.split(), Classes: f.classesOf(records),
			Radius: f.common().Radius, Norm: model.NormName(f.dual())},
	}
}
