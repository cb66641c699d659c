package training

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/pairwise"
	"github.com/darrm/darrm/learn/train"
)

var pairwiseFamily = family{
	name: "pairwise", mechanism: pairwise.Mechanism,
	methods: func() methods {
		f := new(pairwiseFlags)
		return methods{familyFlags: f, online: f.stream}
	},
	trains: commandText{
		use:   "--private FILE --task LOSS --radius R --ball D --eps ε --delta δ",
		short: "Train a linear score privately that puts records of two classes in order (AUC)",
		long: `Train one linear score whose order counts: of a record of class 1 and one of class 0 the
first should have the higher score, and the share of pairs where it has is the AUC. The
loss is of pairs of records. Private methods:

  cyclic        several passes over the records, always in one order and each with
                other partners: the default
  one-pass      each record once
  minimised     the minimiser over all pairs, for losses with kinks (hinge)
  random-steps  the same by the source's random solver, with twice the noise
  localized     Algorithm 3 of the literature, to compare with
  full-batch    descent over all pairs (DPEGD), to compare with

All noise follows from --eps and --delta, which are met for any records: --radius is a
public bound; longer records are shortened to it. Nothing else is taken from the
data. The number of records and the names of columns are public, and LIBSVM files need
--dim. "darrm account train pairwise" has the price before there are data.

The others promise nothing, and need --insecure-seed: sgd (Algorithm 1), online (Algorithm 2),
localized-sgd (Algorithm 4), random-pairs, olp, oam and spauc. online learns from stdin, with
"--private -", as the records come, and keeps one of them.

The model goes to stdout or --out as JSON. Checkpoint, ledger and what may be published
are as in darrm train shuffled. Tuning on the private data is not covered.`,
		example: `  darrm train pairwise --private a.csv --response y --task logistic --radius 1 --ball 5 \
    --eps 1 --delta 1e-6 -o model.json
  darrm train pairwise --method online --private - --data-format csv --response y --task hinge \
    --step-size 0.1 --insecure-seed 1 -o model.json < stream.csv`,
	},
	accounts: commandText{
		use:   "--method NAME --n records --dim features --task LOSS --radius R --eps ε --delta δ",
		short: "Price a training by the methods of train pairwise, before there are data",
		long: `Price a training by one of the private methods of darrm train pairwise, before there are
data: the ways to the sensitivity side by side, each with the noise that it needs in the
first phase, where most is spent. Δ is the sensitivity and σ the noise per coordinate.
"In use" is the row that train takes with the same flags. --method localized has the most
rows: the source's bound on how often a record is drawn, Chernoff's, the exact quantile,
and what one or several passes in order cost.`,
		example: `  darrm account train pairwise --n 20000 --dim 20 --task logistic --radius 1 --ball 5 --eps 1 --delta 1e-6
  darrm account train pairwise --method localized --n 20000 --dim 20 --task logistic --radius 1 --ball 5 \
    --eps 1 --delta 1e-6`,
	},
}

// pairwiseFlags hold a method of learn/pairwise and its parameters.
type pairwiseFlags struct {
	methodFlags
	loss    loss.Pair // of --task
	Ball    float64   `flag:"ball" help:"radius of the ball around 0 that the model is kept in (default: none, and $step-size must be given)"`
	options pairwise.Parameters
}

func (f *pairwiseFlags) register(c *cobra.Command) {
	f.methodFlags.register(c, pairwise.Methods(), strings.Join(loss.PairNames(), ", ")+
		", each also with :ordered, which counts half of the pairs", "")
	cli.Register(c, f, "ball")
	cli.Register(c, &f.options)
	cli.OneOf(c, "rule", pairwise.Averaged, pairwise.Mixture, pairwise.Exact, pairwise.Chernoff,
		pairwise.Paper)
	cli.OneOf(c, "noise", train.Calibrated, pairwise.Corrected, train.Printed)
	cli.OneOf(c, "decay", pairwise.Constant, pairwise.Root, pairwise.Inverse)
	cli.OneOf(c, "average", pairwise.Uniform, pairwise.Lagged, pairwise.LaggedStrong, pairwise.Last,
		pairwise.Suffix)
}

func (f *pairwiseFlags) Check(c *cobra.Command) (err error) {
	if pairwise.Private(f.Method) {
		err = cli.Require(c, "radius", "eps", "delta")
	} else {
		err = f.promiseless(c)
	}
	if stopping := c.Flags().Lookup("stopping"); err == nil && stopping != nil && stopping.Changed && pairwise.ByLosses(f.Method) {
		err = check.Wantf("law of the number of runs", stopping.Value.String(), "left out for these candidates, each of which "+
			"is then trained once: it needs Rényi divergences, and %s is priced by privacy losses", f.Method)
	}
	if err == nil {
		f.loss, err = loss.ParsePair(f.Task)
	}
	return err
}

// promiseless checks the flags of a method that promises no privacy: it has no price, and only a
// simulation.
func (f *pairwiseFlags) promiseless(c *cobra.Command) error {
	seed := c.Flags().Lookup("insecure-seed")
	if seed == nil {
		return cli.Usagef("method = %q promises no privacy, so there is no price", f.Method)
	}
	if err := cli.Refuse(c, fmt.Sprintf("is not for --method %s, which promises no privacy (private: %s)", f.Method,
		strings.Join(f.private(), ", ")), "eps", "delta", "grid"); err != nil {
		return err
	}
	if !seed.Changed {
		return cli.Usagef("method = %q promises no privacy: it is for --insecure-seed only (private: %s)",
			f.Method, strings.Join(f.private(), ", "))
	}
	return nil
}

// private returns the methods with a privacy guarantee.
func (f *pairwiseFlags) private() []string {
	return slices.DeleteFunc(pairwise.Methods(), func(name string) bool {
		return !pairwise.Private(name)
	})
}

func (f *pairwiseFlags) about() modelKind {
	k := modelKind{task: f.loss.Name(), paidFor: f.loss.Name() + " pairs", link: model.LinkRank}
	if f.Ball > 0 {
		k.set = fmt.Sprintf("l2:%g", f.Ball)
	}
	return k
}

// all returns the options of all flags.
func (f *pairwiseFlags) all() pairwise.Options {
	o := pairwise.Options{Parameters: f.options}
	o.Loss, o.Radius, o.Clip, o.Target, o.Ball = f.loss, f.Radius, f.Clip, f.target(), f.Ball
	o.Lambda /= 2 // the library's regulariser is λ‖w‖²
	return o
}

func (f *pairwiseFlags) plan(_ context.Context, n, d int) (train.Plan, error) {
	method, err := pairwise.New(f.Method, f.all())
	if err != nil {
		return train.Plan{}, f.unused(err)
	}
	return f.named(method.Plan(n, d))
}

// measure measures the AUC.
func (f *pairwiseFlags) measure(r *data.Records) func(w []float64) string {
	return func(w []float64) string {
		m := model.Model{Pair: f.loss, Link: model.LinkRank, Weights: w}
		e, err := m.Evaluate(r)
		if err != nil {
			return "no AUC: " + err.Error()
		}
		return "AUC " + showAUC(e.AUC, e.AUCInterval)
	}
}
