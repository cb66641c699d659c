package training

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/learn/convex"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/train"
)

var convexFamily = family{
	name: "convex", mechanism: convex.Mechanism, methods: func() methods { return new(convexFlags).methods() },
	count: "number of records that the price is for; dp-sgd, whose promise covers their number too, " +
		"must be told one that is public and near it (default: their number)",
	trains: commandText{
		use:   "--private FILE --task LOSS --radius R --eps ε --delta δ",
		short: "Train a linear model privately, with losses that need not be smooth",
		long: `Train one linear model privately, by one of these methods:

  phased-sgd              one pass over the data in l2; losses with kinks
  frank-wolfe             sparse models in the l1 ball or simplex, many features;
                          LIBSVM files are not made dense
  poly-sfw, nsfw          losses that need not be convex, in a polytope or lp ball
  proximally-guided       weakly convex losses with kinks, in an lp ball
  dp-sgd                  noised gradient descent, on samples or at --rate 1 on all
                          records; several classes by --task softmax:K
  sufficient-statistics   one pass: ridge with --clip, logistic, softmax:K
  output-perturbation, objective-perturbation
                          what is commonly used, to compare with

All noise follows from --eps and --delta, which are met for any records: --radius is a
public bound; longer records are shortened to it. Nothing else is taken from the
data: LIBSVM files need --dim, and dp-sgd --n. The names of columns are public. "darrm account train convex" has the price before there are data.

The model goes to stdout or --out as JSON. Checkpoint, ledger and what may be published
are as in darrm train shuffled. Tuning on the private data is not covered.`,
		example: `  darrm train convex --private a.csv --response y --task hinge --set l2:1 --radius 1 \
    --eps 1 --delta 1e-6 -o model.json
  darrm train convex --method frank-wolfe --private words.svm --dim 47236 --task logistic \
    --set l1:10 --radius 1 --eps 1 --delta 1e-6 -o model.json`,
	},
	accounts: commandText{
		use:   "--method NAME --n records --dim features --task LOSS --radius R --eps ε --delta δ",
		short: "Price a training by the methods of train convex, before there are data",
		long: `Price a training by one of the methods of darrm train convex, before there are data: what
the source's printed noise costs, as its text accounts for it and by the corrected
account, beside the noise that is calibrated to --eps. Δ is the sensitivity and σ the
noise per coordinate, where the run costs most. "In use" is the row that train takes with
the same flags. The ε of a row that is not proved is no promise.

It also prints how good the models are at worst, where the theory has a bound: on the
expected excess risk in the set, or on how far from stationary a model is.`,
		example: `  darrm account train convex --n 4096 --dim 20 --task absolute --set l2:1 --radius 1 --eps 0.5 --delta 1e-5
  darrm account train convex --method poly-sfw --n 1000000 --dim 50 --task logistic --set l1:1 --radius 1 \
    --eps 1 --delta 1e-6`,
	},
}

// convexFlags hold a method of learn/convex and its parameters.
type convexFlags struct {
	methodFlags
	loss       loss.Loss // of --task
	set        string
	neighbours accountant.Relation
	options    convex.Parameters
}

func (f *convexFlags) methods() methods {
	return methods{familyFlags: f, addsOrRemoves: f.addsOrRemoves, norm: f.dualNorm,
		classes:       f.several,
		sparse:        func() bool { return f.Method == "frank-wolfe" },
		measureSparse: f.measureSparse}
}

func (f *convexFlags) register(c *cobra.Command) {
	fl := c.Flags()
	f.methodFlags.register(c, convex.Methods(), strings.Join(linearTasks(), ", "),
		"; the norm is dual to the set's (largest feature for l1 and simplex)")
	fl.StringVar(&f.set, "set", "", "what the model is kept in: "+
		strings.Join(geometry.SetNames(), ", ")+" (default: nothing, for methods in l2)")
	fl.BoolVar(&f.intercept, "intercept", false,
		"add a feature 1 to each record, which --radius does not count; its weight is the model's "+
			"intercept")
	cli.Enum(c, &f.neighbours, "neighbours",
		"\"replace\" or \"add-remove\" one record (default: the method's, which dp-sgd has as "+
			"add-remove)", accountant.AddOrRemoveOne, accountant.ReplaceOne)
	cli.Register(c, &f.options)
	cli.OneOf(c, "noise", convex.Calibrated, convex.Corrected, convex.Printed)
	cli.OneOf(c, "selection", convex.Exponential, convex.PermuteAndFlip, convex.LaplaceNoise)
	cli.OneOf(c, "score-changes", convex.Range, convex.Sup)
	cli.OneOf(c, "oracle", convex.Fast, convex.Bisection)
}

// linearTasks are the losses that depend on a prediction and a response.
func linearTasks() []string {
	return append(slices.DeleteFunc(loss.Names(), func(name string) bool { return name == "mean" }),
		"softmax:K")
}

// geometry returns the set for models of dimension d, nil for none.
func (f *convexFlags) geometry(d int) (geometry.Set, error) {
	if f.set == "" {
		return nil, nil
	}
	return geometry.ParseSet(f.set, d)
}

// dualNorm returns the q of the norm that --radius bounds, 2 where --set is not one.
func (f *convexFlags) dualNorm() float64 {
	set, err := f.geometry(1) // the norm is that of every dimension
	if err != nil {
		return 2
	}
	return convex.DualNorm(set)
}

// addsOrRemoves reports whether neighbours differ by a record that one of them has more.
func (f *convexFlags) addsOrRemoves() bool {
	return f.neighbours == accountant.AddOrRemoveOne || f.neighbours == 0 && f.Method == "dp-sgd"
}

func (f *convexFlags) Check(c *cobra.Command) (err error) {
	if err = cli.Require(c, "radius", "eps", "delta"); err == nil {
		f.loss, err = loss.ParseSized(f.Task)
		if _, network := f.loss.(loss.Network); network {
			_, err = loss.Parse(f.Task) // whose error names the tasks
		}
	}
	return err
}

// several returns how many classes the task has, 0 for two or none.
func (f *convexFlags) several() int {
	if s, ok := f.loss.(loss.Softmax); ok {
		return s.Classes()
	}
	return 0
}

func (f *convexFlags) about() modelKind {
	return modelKind{task: f.loss.Name(), set: f.set, link: model.LinkOf(f.loss)}
}

// plan prices the method for n records of dimension d, with --intercept in it.
func (f *convexFlags) plan(_ context.Context, n, d int) (train.Plan, error) {
	set, err := f.geometry(d)
	if err != nil {
		return train.Plan{}, err
	}
	o := convex.Options{Set: set, Parameters: f.options}
	o.Clip, o.Target = f.Clip, f.target()
	if o.Radius = f.Radius; f.intercept && f.Radius > 0 {
		o.Radius = geometry.WithIntercept(f.Radius, convex.DualNorm(set))
	}
	o.Neighbours, o.Loss = f.neighbours, f.loss
	method, err := convex.New(f.Method, o)
	if err != nil {
		return train.Plan{}, f.unused(err)
	}
	return f.named(method.Plan(n, d))
}

func (f *convexFlags) measure(r *data.Records) func(w []float64) string {
	return objective(train.Problem{Loss: f.loss, Regularizer: geometry.NoRegularizer{},
		Records: r}.Objective)
}

// measureSparse measures the mean loss.
func (f *convexFlags) measureSparse(r *data.Sparse) func(w []float64) string {
	return objective(func(w []float64) float64 {
		link, sum := f.loss.(loss.Linear).Scalar(), 0.0
		for i := range r.Len() {
			columns, values := r.Row(i)
			sum += link.Value(geometry.SparseDot(columns, values, w), r.Response(i))
		}
		return sum / float64(r.Len())
	})
}
