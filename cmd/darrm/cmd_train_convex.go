package main

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/learn/convex"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/train"
	"github.com/darrm/darrm/release"
)

// trainConvex has the flags of train convex.
type trainConvex struct {
	convexFlags
	recordFlags
	modelFlags
	private, labels string
	count           int // public figure of how many records there are
}

func newTrainConvex(a *app) *cobra.Command {
	var f trainConvex
	c := &cobra.Command{
		Use:   "convex --private FILE --task LOSS --radius R --eps ε --delta δ",
		Short: "Train a linear model privately, with losses that need not be smooth",
		Long: `Train one linear model privately, by one of these methods:

  phased-sgd              one pass over the data in l2; losses with kinks
  frank-wolfe             sparse models in the l1 ball or simplex, many features;
                          LIBSVM files are not made dense
  poly-sfw, nsfw          losses that need not be convex, in a polytope or lp ball
  proximally-guided       weakly convex losses with kinks, in l2
  dp-sgd, output-perturbation, objective-perturbation
                          what is commonly used, to compare with

All noise follows from --eps and --delta, which are met for any records: --radius is a
public bound, to which longer records are shortened, and nothing else is taken from the
data: LIBSVM files need --dim, and dp-sgd --n. The names of columns are public. "darrm account train convex" has the price before there are data.

The model goes to stdout or --out as JSON. Checkpoint, ledger and what may be published
are as in darrm train shuffled.`,
		Example: `  darrm train convex --private a.csv --response y --task hinge --set l2:1 --radius 1 \
    --eps 1 --delta 1e-6 -o model.json
  darrm train convex --method frank-wolfe --private words.svm --dim 47236 --task logistic \
    --set l1:10 --radius 1 --eps 1 --delta 1e-6 -o model.json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c, a) },
	}
	c.Flags().StringVar(&f.private, "private", "", "file of private records")
	c.Flags().StringVar(&f.labels, "labels", "", "IDX file of the labels of --private, which are its responses")
	c.Flags().IntVar(&f.count, "n", 0, "number of records that the price is for; dp-sgd, whose promise covers their number too, must be told one that is public and near it (default: their number)")
	takesFile(c, "private", recordFiles...)
	takesFile(c, "labels", idxFiles...)
	f.recordFlags.register(c)
	f.convexFlags.register(c)
	f.modelFlags.register(c)
	return c
}

func (f *trainConvex) run(c *cobra.Command, a *app) error {
	if err := require(c, "private", "task", "radius", "eps", "delta"); err != nil {
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
	l, err := loss.Parse(f.task)
	if err != nil {
		return err
	}
	t.document = func() *modelReport {
		r := &modelReport{
			DataSet: records.name, Task: l.Name(), Set: f.set, Method: price.Method, Rounds: t.algorithm.Rounds(), Dim: price.Dim,
			Cost: finiteCost(price.Cost), Price: newPriceReport(price),
			Link: model.LinkOf(l), Columns: records.columns, Response: records.response, Intercept: f.intercept,
		}
		return r
	}
	m.Relation = price.Relation
	m.Event = release.ModelEvent{Mechanism: release.ConvexMechanism, Method: price.Method, Task: l.Name(), Epochs: t.algorithm.Rounds(), Mode: string(price.Bound)}
	return t.run(c.Context(), m)
}

// recordsRead is what a model's file says of the records.
type recordsRead struct {
	name, response string
	columns        []string
}

// algorithm reads the records and sets the training's algorithm and objective.
func (f *trainConvex) algorithm(c *cobra.Command, a *app, t *training) (recordsRead, convex.Plan, error) {
	read := recordsRead{name: filepath.Base(f.private)}
	if f.method == "frank-wolfe" && f.formatOf(f.private) == formatLIBSVM && !f.intercept {
		in, err := a.open(c.Context(), f.private, data.MaxBytes)
		if err != nil {
			return read, nil, err
		}
		defer in.Close()
		records, err := data.ReadSparseLIBSVM(in, f.dim)
		if err != nil {
			return read, nil, release.Unreadable(c.Context(), fmt.Errorf("%s: %w", f.private, err))
		}
		plan, err := f.plan(c, cmp.Or(f.count, records.Len()), records.Dim())
		if err != nil {
			return read, nil, err
		}
		l, err := loss.Parse(f.task)
		if err != nil {
			return read, nil, err
		}
		t.objective = func(x []float64) float64 { return sparseObjective(l, records, x) }
		t.algorithm, err = plan.(convex.SparsePlan).TrainSparse(records)
		return read, plan, err
	}
	set := datasets.Set{}
	var err error
	if set.Private, err = f.read(c, a, f.private, f.labels, reading{responses: true}); err != nil {
		return read, nil, err
	}
	read.columns, read.response = set.Private.Columns(), set.Private.ResponseName()
	if f.intercept {
		set.Private = set.Private.WithIntercept()
	}
	plan, err := f.plan(c, cmp.Or(f.count, set.Private.Len()), set.Private.Dim())
	if err != nil {
		return read, nil, err
	}
	l, err := loss.Parse(f.task)
	if err != nil {
		return read, nil, err
	}
	t.objective = train.Problem{Loss: l, Regularizer: geometry.NoRegularizer{}, Records: set.Private}.Objective
	t.algorithm, err = plan.Train(set.Private)
	return read, plan, err
}

// sparseObjective returns the mean loss.
func sparseObjective(l loss.Loss, r *data.Sparse, x []float64) float64 {
	link, sum := l.(loss.Linear).Scalar(), 0.0
	for i := range r.Len() {
		columns, values := r.Row(i)
		sum += link.Value(geometry.SparseDot(columns, values, x), r.Response(i))
	}
	return sum / float64(r.Len())
}

// sayPrice says on what grounds a training costs what.
func sayPrice(a *app, p convex.Price) {
	a.say("cost: %v-DP where neighbours %s", p.Cost, p.Relation)
	a.say("by:   %s, %s", p.Method, p.Bound)
	if b, ok := worst(p.Blocks); ok {
		a.say("      noise %s on a vector of sensitivity %s, in %s", num.Outward(b.Deviation, 6, true), num.Outward(b.Sensitivity, 6, true), b.Name)
	}
	for _, note := range p.Notes {
		a.say("      %s", note)
	}
}

// worst returns the block with the least noise for its sensitivity.
func worst(blocks []convex.Block) (worst convex.Block, ok bool) {
	for i, b := range blocks {
		if i == 0 || b.Deviation*worst.Sensitivity < worst.Deviation*b.Sensitivity {
			worst = b
		}
	}
	return worst, len(blocks) > 0
}

// priceReport is on what grounds a training costs what.
type priceReport struct {
	Relation string   `json:"neighbours"`
	Bound    string   `json:"bound"`
	Records  int      `json:"records"`
	Notes    []string `json:"notes,omitempty"`
}

func newPriceReport(p convex.Price) *priceReport {
	return &priceReport{Relation: p.Relation.String(), Bound: string(p.Bound), Records: p.Records, Notes: p.Notes}
}
