package main

import (
	"cmp"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/train"
	"github.com/darrm/darrm/release"
)

// trainFamily has the flags of train with a family's name.
type trainFamily struct {
	family
	familyFlags
	recordFlags
	modelFlags
	selectFlags
	private, labels string
	count           int // public figure of how many records there are
}

func newTrainFamily(a *app, k family) *cobra.Command {
	f := trainFamily{family: k, familyFlags: k.flags()}
	c := k.trains.command(k.name)
	c.RunE = func(c *cobra.Command, _ []string) error { return f.run(c, a) }
	c.Flags().StringVar(&f.private, "private", "", "file of private records")
	c.Flags().StringVar(&f.labels, "labels", "", "IDX file of the labels of --private, which are its responses")
	if k.count != "" {
		c.Flags().IntVar(&f.count, "n", 0, k.count)
	}
	takesFile(c, "private", recordFiles...)
	takesFile(c, "labels", idxFiles...)
	f.recordFlags.register(c)
	f.familyFlags.register(c)
	f.modelFlags.register(c)
	f.selectFlags.register(c)
	return c
}

func (f *trainFamily) run(c *cobra.Command, a *app) error {
	if err := require(c, "private", "task"); err != nil {
		return err
	}
	if err := f.prepare(c, f.flags().register); err != nil {
		return err
	}
	if err := f.check(c); err != nil {
		return err
	}
	m := f.model(c, a)
	m.Reads = []release.File{{Flag: "private", Path: f.private}, {Flag: "labels", Path: f.labels}}
	if err := (release.FileOutput{Path: f.out}).CheckPlace(); err != nil {
		return err
	}
	if err := m.Check(); err != nil {
		return err
	}
	if s, ok := f.familyFlags.(streamed); ok && s.streams() && f.private == "-" {
		return f.stream(c, a, s, m)
	}
	if !m.Simulated {
		if err := f.stated(f.private); err != nil {
			return err
		}
	}
	t := &training{app: a, flags: &f.modelFlags, unit: "round"}
	records, plan, err := f.algorithm(c, a, t)
	if err != nil {
		return err
	}
	price := plan.Price()
	if price.Relation == accountant.AddOrRemoveOne && f.count == 0 && !m.Simulated {
		return usagef("--n must be given: where a record may be added or removed, how many there are is private, and the price rests on a public number near it")
	}
	sayPrice(a, price)
	t.document = func() *modelReport {
		r := f.report(records)
		r.Method, r.Rounds, r.Dim, r.Cost, r.Price = price.Method, t.algorithm.Rounds(), price.Dim, finiteCost(price.Cost), newPriceReport(price)
		return r
	}
	m.Relation = price.Relation
	m.Event = release.ModelEvent{Mechanism: f.mechanism, Method: price.Method, Task: cmp.Or(f.about().paidFor, f.about().task), Epochs: t.algorithm.Rounds(), Unit: "rounds", Mode: string(price.Bound)}
	return t.run(c.Context(), m)
}

// report is a model's file without the method.
func (f *trainFamily) report(records recordsRead) *modelReport {
	k := f.about()
	if f.varies("ball") || f.varies("set") { // a candidate may have its own
		k.set = ""
	}
	return &modelReport{
		DataSet: records.name, Set: k.set,
		Document: model.Document{Task: k.task, Link: k.link, Columns: records.columns, Response: records.response, Intercept: f.common().intercept},
	}
}

// recordsRead is what a model's file says of the records.
type recordsRead struct {
	name, response string
	columns        []string
}

// algorithm reads the records and sets the training's algorithm and measure.
func (f *trainFamily) algorithm(c *cobra.Command, a *app, t *training) (recordsRead, train.Plan, error) {
	read := recordsRead{name: filepath.Base(f.private)}
	priced := func(n, d int) (train.Plan, error) {
		n = cmp.Or(f.count, n)
		return pricing(c, a, func() (train.Plan, error) {
			return f.selectFlags.plan(n, d, &f.common().privacyFlags, f.about().task, f.about().link, func() (train.Plan, error) { return checkedPlan(f.familyFlags, c, n, d) })
		})
	}
	if s, ok := f.familyFlags.(sparse); ok && s.sparse() && len(f.points) == 0 && f.formatOf(f.private) == formatLIBSVM && !f.common().intercept {
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
	records, err := f.read(c, a, f.private, f.labels, reading{responses: true})
	if err != nil {
		return read, nil, err
	}
	read.columns, read.response = records.Columns(), records.ResponseName()
	if f.common().intercept {
		records = records.WithIntercept()
	}
	plan, err := priced(records.Len(), records.Dim())
	if err == nil {
		t.measure = f.measure(records)
		t.algorithm, err = plan.Train(records)
	}
	return read, plan, err
}

// sparse are families with a method that does not make records dense.
type sparse interface {
	sparse() bool // with the flags as they are
	trainSparse(plan train.Plan, r *data.Sparse) (train.Algorithm, error)
	measureSparse(r *data.Sparse) func(w []float64) string
}
