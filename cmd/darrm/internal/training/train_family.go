package training

import (
	"cmp"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/train"
	"github.com/darrm/darrm/release"
)

// trainFamily has the flags of train with a family's name.
type trainFamily struct {
	family
	familyFlags
	DataFlags
	modelFlags
	selectFlags
	count int // public figure of how many records there are
}

func newTrainFamily(a *cli.App, k family) *cobra.Command {
	f := trainFamily{family: k, familyFlags: k.flags()}
	c := k.trains.command(k.name)
	c.RunE = func(c *cobra.Command, _ []string) error { return f.run(c, a) }
	if _, ok := f.familyFlags.(onSets); ok {
		f.DataFlags.Register(c)
	} else {
		f.registerPrivate(c, "")
	}
	if k.count != "" {
		c.Flags().IntVar(&f.count, "n", 0, k.count)
	}
	f.familyFlags.register(c)
	f.modelFlags.register(c)
	f.selectFlags.register(c)
	return c
}

func (f *trainFamily) run(c *cobra.Command, a *cli.App) error {
	if _, ok := f.familyFlags.(onSets); !ok { // which may have a known data set
		if err := cli.Require(c, "private", "task"); err != nil {
			return err
		}
	}
	if err := f.prepare(c, registerGrid(f.flags())); err != nil {
		return err
	}
	if err := f.Check(c); err != nil {
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
	if s, ok := f.familyFlags.(streamed); ok && s.streams() && f.private == "-" {
		return f.stream(c, a, s, m)
	}
	if !m.Simulated && f.private != "" {
		if err := f.stated(f.private); err != nil {
			return err
		}
	}
	t := &training{app: a, flags: &f.modelFlags, unit: f.rounds()}
	records, plan, err := f.algorithm(c, a, t)
	if err != nil {
		return err
	}
	price := plan.Price()
	if price.Relation == accountant.AddOrRemoveOne && f.count == 0 && !m.Simulated {
		return cli.Usagef("--n must be given: where a record may be added or removed, how many there " +
			"are " +
			"is private, and the price rests on a public number near it")
	}
	g, ok := f.familyFlags.(grounded)
	if !ok || !g.explain(a, plan) {
		sayPrice(a, price)
	}
	t.document = func() *modelReport {
		r := f.report(records)
		r.Method, r.Rounds, r.Dim, r.Cost, r.Price = price.Method, t.algorithm.Rounds(), price.Dim,
			cli.FiniteCost(price.Cost), newPriceReport(price)
		if ok {
			g.describe(r, plan)
		}
		return r
	}
	m.Relation = price.Relation
	m.Event = release.ModelEvent{Mechanism: f.mechanism, Method: price.Method,
		Task: cmp.Or(f.about().paidFor, f.about().task), Epochs: t.algorithm.Rounds(),
		Unit: f.ledgerUnit(), Mode: string(price.Bound)}
	return t.run(c.Context(), m)
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
			Response: records.response, Intercept: f.common().intercept},
	}
}

// recordsRead describes the training records in a model's file.
type recordsRead struct {
	name, response string
	columns        []string
	standin        bool
}

// algorithm reads the records and sets the training's algorithm and measure.
func (f *trainFamily) algorithm(c *cobra.Command, a *cli.App,
	t *training) (recordsRead, train.PricedMethod, error) {
	read := recordsRead{name: filepath.Base(f.private)}
	priced := func(n, d int) (train.PricedMethod, error) {
		n = cmp.Or(f.count, n)
		return pricing(c, a, func() (train.PricedMethod, error) {
			return f.selectFlags.plan(n, d, &f.common().privacyFlags, f.about().task, f.about().link,
				func() (train.PricedMethod, error) { return checkedPlan(f.familyFlags, c, n, d) })
		})
	}
	if s, ok := f.familyFlags.(sparse); ok && s.sparse() && len(f.points) == 0 &&
		f.formatOf(f.private) == formatLIBSVM && !f.common().intercept {
		records, err := f.readSparse(c, a, f.private)
		if err != nil {
			return read, nil, err
		}
		plan, err := priced(records.Len(), records.Dim())
		if err == nil {
			t.measure = s.measureSparse(records)
			t.algorithm, err = s.trainSparse(plan, records)
		}
		return read, plan, err
	}
	records, err := f.records(c, a, &read)
	if err != nil {
		return read, nil, err
	}
	plan, err := priced(records.Len(), records.Dim())
	if err == nil {
		t.measure = f.measure(records)
		t.algorithm, err = plan.Train(records)
	}
	return read, plan, err
}

// records reads the records, with --intercept, and their description for a model's file.
func (f *trainFamily) records(c *cobra.Command, a *cli.App,
	read *recordsRead) (*data.Records, error) {
	describe := func(r *data.Records) { read.columns, read.response = r.Columns(), r.ResponseName() }
	if s, ok := f.familyFlags.(onSets); ok {
		set, err := f.Open(c, a, f.common().Task)
		if err != nil {
			return nil, err
		}
		read.name, read.standin = set.Name, set.Standin
		describe(set.Private)
		f.SayShared(a, set)
		return s.Take(set, f.SharedRecords)
	}
	records, err := f.read(c, a, f.private, f.labels, reading{responses: true})
	if err != nil {
		return nil, err
	}
	describe(records)
	if f.common().intercept {
		records = records.WithIntercept()
	}
	return records, nil
}

// sparse is implemented by families with a method that keeps records sparse.
type sparse interface {
	sparse() bool // with the flags as they are
	trainSparse(plan train.PricedMethod, r *data.Sparse) (train.Algorithm, error)
	measureSparse(r *data.Sparse) func(w []float64) string
}
