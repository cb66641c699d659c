package training

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

var shuffledFamily = family{
	name: "shuffled", mechanism: shuffled.Mechanism, unit: "epoch",
	methods: func() methods {
		f := new(ShuffledFlags)
		return methods{familyFlags: f, registerGrid: f.registerGrid, candidate: f.candidate, take: f.Take, explain: f.explain,
			describe: f.describe, ready: func(*trainFamily, *cobra.Command) error { return nil }}
	},
	account: newAccountShuffled,
	trains: commandText{
		short: "Train a model privately with shuffled gradients",
		long: `Train one model with a shuffled gradient method, private (DP-ShuffleG), with public
data as well (Priv-Pub, Pub-Priv, Interleaved), or beside them the baselines.

The noise is the least that meets --eps and --delta by the accounting --mode, or
--noise. "best" takes the mode that needs the least noise of those whose conditions
hold, which rests on the plan and on no record; "paper" is the source's. Shuffled data
get no figure of Poisson sampling. Amplification is counted only where its conditions
hold; stderr says what was counted and why. docs/training.md has the proofs.

The model goes to stdout or --out as JSON. With --checkpoint the state after each
epoch is kept in a file, which is SECRET: after a Ctrl-C the same command goes on
where it was, with the same noise, and is charged once. The file is removed when the
model is out. With --ledger the model is paid for before the first step.

Where noise on public steps or the order of records is to count, no private record may
decide it: state --radius (ridge and logistic). Without it --mode best counts neither,
and a mode by name that needs it releases nothing.

Public records cost nothing, so they must not be private ones. Refused are a public file
that is the private one, by whatever name, one with the same content, and one with any
record that has the numbers of a private one, in whatever order. --allow-shared-records
states that such records are equal by chance, as those of few whole numbers can be. How
many there are goes to stderr, and is a secret of the private records.

Choosing a step size by its results is not private and not paid for.`,
		example: `  darrm train shuffled --data-set crime --method interleaved --epochs 20 --step-size 1e-4 --clip 10 \
    --eps 5 --delta 1e-6 --radius 8
  darrm train shuffled --private a.csv --response y --task logistic --radius 1 --clip 1 \
    --step-size 0.1 --eps 1 --delta 1e-6
  darrm train shuffled --private train-images-idx3-ubyte --labels train-labels-idx1-ubyte --positive 6,9 \
    --task logistic --epochs 5 --clip 1 --step-size 0.01 --eps 4 --delta 1e-6`,
	},
	accounts: commandText{
		use:   "--n records --epochs K --clip G --step-size η --delta δ",
		short: "Tell what training with shuffled gradients costs, or the noise for a target",
		long: `Tell what training with shuffled gradients costs by every way of accounting: the ε of
a given --noise, or the noise that --eps needs.

"best", which train takes by default, is the smallest figure of those whose conditions
hold; "paper" is the source's; docs/training.md has the proofs of the others.
--mode tells of one only. Noise on public steps counts only where the losses are convex,
clipping keeps steps non-expansive, and η ≤ 2/L for every sample (--smoothness);
otherwise "paper" and "gaussian-exact" say why it does not, and the others refuse. The
figures hold for shuffled data under replacement of one record; there is no Poisson
sampling here.

m counts the noise of how many steps covers the worst record, ρ is the Rényi divergence
of order α over α (none where privacy losses are used instead), and more may not be
released than the last column says.

With --grid it prices a choice among candidates, as train shuffled --grid takes it, with the
flags --task and --score that say how candidates are compared.`,
		example: `  darrm account train shuffled --n 1000 --epochs 50 --clip 10 --step-size 1e-3 --smoothness 1 --delta 1e-6 --eps 1
  darrm account train shuffled --method interleaved --n 1000 --clip 1 --step-size 0.1 --smoothness 1 \
    --delta 1e-6 --noise 20
  darrm account train shuffled --n 1000 --epochs 50 --clip 10 --smoothness 1 --delta 1e-6 --eps 1 \
    --task logistic --grid step-size=1e-4,1e-3,1e-2`,
	},
}

// ShuffledFlags hold a method of learn/shuffled and its parameters.
type ShuffledFlags struct {
	methodFlags
	order        string
	l1, l2, ball float64
	Options      shuffled.Config // of the flags whose name is a field's

	config shuffled.Config  // checked, without what the data have
	Set    datasets.Set     // that is trained on
	bound  float64          // --radius for its records
	shared bool             // equal records are so by chance
	report iteration.Report // of the last plan
}

// orderNames are the values of --order.
var orderNames = map[string]iteration.SampleOrder{"ig": iteration.FixedOrder,
	"so": iteration.ShuffledOnce, "rr": iteration.Reshuffled}

func (f *ShuffledFlags) register(c *cobra.Command) { f.RegisterBy(c, iteration.Best) }

// RegisterBy adds the flags, with a standard for --mode.
func (f *ShuffledFlags) RegisterBy(c *cobra.Command, standard iteration.Mode) {
	fl := c.Flags()
	cli.Enum(c, &f.Task, "task",
		"\"mean\" estimation, \"ridge\" (least squares) or \"logistic\"; a known data set has its own",
		slices.Sorted(maps.Keys(lossNames))...)
	fl.Float64Var(&f.Radius, "radius", 0,
		"public bound on the norm of a record's features; longer private ones are shortened. Without "+
			"it the largest norm at hand counts, which no release may rest on")
	fl.BoolVar(&f.intercept, "intercept", false,
		"add a feature 1 to each record of --private and --public, which --radius does not count; its "+
			"weight is the model's intercept")
	f.registerGrid(c)
	f.registerMode(c, standard)
}

// registerGrid adds the flags that a candidate of --grid may have of its own.
func (f *ShuffledFlags) registerGrid(c *cobra.Command) { f.registerSteps(c, "") }

// registerSteps adds the flags that the steps depend on; more is appended to the help of the
// model's size.
func (f *ShuffledFlags) registerSteps(c *cobra.Command, more string) {
	fl := c.Flags()
	fl.Float64Var(&f.l1, "l1", 0, "λ of the regulariser λ‖x‖₁"+more)
	fl.Float64Var(&f.l2, "l2", 0, "λ of the regulariser (λ/2)‖x‖²"+more)
	fl.Float64Var(&f.ball, "ball", 0, "radius of the ball that the model is kept in"+more)
	f.Method, f.order = string(shuffled.DPShuffleG), "rr"
	schemes := texts(shuffled.Schemes())
	cli.Enum(c, &f.Method, "method", strings.Join(schemes, ", "), schemes...)
	cli.Enum(c, &f.order, "order",
		"order of records: \"ig\" fixed, \"so\" shuffled once, \"rr\" reshuffled in each epoch",
		slices.Sorted(maps.Keys(orderNames))...)
	f.Options.Fraction, f.Options.Epochs = 0.5, 50
	cli.Register(c, &f.Options)
	cli.Register(c, &f.privacyFlags)
}

// registerMode adds --mode and --conversion.
func (f *ShuffledFlags) registerMode(c *cobra.Command, standard iteration.Mode) {
	f.Options.Mode = standard
	cli.Enum(c, &f.Options.Mode, "mode",
		"way of accounting: \"best\" is the one with the smallest figure of "+
			strings.Join(texts(iteration.Modes()[1:]), ", ")+
			" whose conditions hold; \"paper\" is the source's", iteration.Modes()...)
	cli.Enum(c, &f.Options.Conversion, "conversion",
		"to (ε,δ): \"classical\" (the source's) or \"improved\" from Rényi divergences, \"exact\" from "+
			"privacy losses (default: the best for --mode best, else classical)",
		iteration.Conversions()...)
}

// settings returns the configuration of the flags without the data's part.
func (f *ShuffledFlags) settings(c *cobra.Command) (shuffled.Config, error) {
	o := f.Options
	o.Method, o.Order, o.Target = shuffled.Scheme(f.Method), orderNames[f.order], f.target()
	if !o.Method.UsesFraction() {
		if o.Fraction = 0; c.Flags().Changed("fraction") {
			return o, cli.Usagef("--fraction is not for %s, which has no public part", o.Method)
		}
	}
	return o, nil
}

func (f *ShuffledFlags) Check(c *cobra.Command) (err error) {
	method := shuffled.Scheme(f.Method)
	needed := []string{"step-size"}
	if method.IsPrivate() {
		needed = append(needed, "clip", "delta", "eps|noise")
	}
	if err := cli.Require(c, needed...); err != nil {
		return err
	}
	changed := c.Flags().Changed
	if changed("noise") && !(f.Options.Noise > 0) { // 0 would be taken for none given
		return cli.Usagef("noise = %v, but it must be above 0", f.Options.Noise)
	}
	if f.config, err = f.settings(c); err != nil {
		return err
	}
	if method == shuffled.DPSGD || method == shuffled.PublicOnly {
		if changed("order") {
			return cli.Usagef("--order is not for %s, which visits private records in no order", method)
		}
		f.config.Order = 0
	}
	if !changed("clip") {
		f.config.Clip = math.Inf(1)
	}
	if f.config.Regularizer, err = f.regularizer(c); err != nil {
		return err
	}
	seed := c.Flags().Lookup("insecure-seed")
	if seed == nil {
		return nil // nothing is trained
	}
	for _, name := range []string{"public", sharedFlag} {
		if changed(name) && !method.UsesPublic() {
			return cli.Usagef("--%s: %s uses no public data", name, method)
		}
	}
	if method == shuffled.ShuffleG && !seed.Changed {
		return cli.Usagef("method = %q has no noise, so its model is not private: it is for "+
			"--insecure-seed only", method)
	}
	return nil
}

// regularizer checks the flags of the model's size, and returns the regulariser that they ask for,
// nil for none.
func (f *ShuffledFlags) regularizer(c *cobra.Command) (stated geometry.Regularizer, err error) {
	changed := c.Flags().Changed
	if changed("radius") && !(f.Radius > 0) {
		return nil, cli.Usagef("radius = %v, but it must be above 0", f.Radius)
	}
	for _, r := range []struct {
		flag  string
		value float64
		reg   geometry.Regularizer
	}{{"l1", f.l1, geometry.L1{Lambda: f.l1}}, {"l2", f.l2, geometry.L2{Lambda: f.l2}},
		{"ball", f.ball, geometry.Ball{Radius: f.ball}}} {
		switch {
		case !changed(r.flag):
			continue
		case stated != nil:
			return nil, cli.Usagef("--l1, --l2 and --ball exclude each other")
		case r.flag != "ball" && (!(r.value >= 0) || math.IsInf(r.value, 1)):
			return nil, cli.Usagef("%s = %v, but it must be finite and ≥ 0", r.flag, r.value)
		}
		stated = r.reg
	}
	return stated, nil
}

// Take sets the records to train on, with --intercept.
func (f *ShuffledFlags) Take(set datasets.Set, shared bool) (*data.Records, error) {
	f.Set, f.bound, f.shared = set, f.Radius, shared
	if f.intercept {
		if _, mean := set.Task.(loss.MeanEstimation); mean {
			return nil, cli.Usagef("--intercept: the task mean has none")
		}
		f.Set.Private = set.Private.WithIntercept()
		if set.Public != nil {
			f.Set.Public = set.Public.WithIntercept()
		}
		if f.Radius > 0 {
			f.bound = geometry.WithIntercept(f.Radius, 2)
		}
	}
	return f.Set.Private, nil
}

// Complete returns the configuration with the data's part.
func (f *ShuffledFlags) Complete() shuffled.Config {
	o := f.config
	o.Task, o.Start, o.Radius, o.SharedRecords = f.Set.Task, f.Set.Start, f.bound, f.shared
	o.Regularizer = cmp.Or[geometry.Regularizer](o.Regularizer, f.Set.Regularizer, geometry.NoRegularizer{})
	return o
}

// plan prices the method on the records that were taken.
func (f *ShuffledFlags) plan(ctx context.Context, _, _ int) (train.Plan, error) {
	return train.PlanOf(f.priced(ctx))
}

// candidate is plan with the event that a choice is priced by.
func (f *ShuffledFlags) candidate(ctx context.Context, _, _ int) (train.Plan, error) {
	plan, err := f.priced(ctx)
	if err != nil {
		return train.Plan{}, err
	}
	return plan.Priced()
}

func (f *ShuffledFlags) priced(ctx context.Context) (*shuffled.Plan, error) {
	plan, err := shuffled.NewPlan(ctx, f.Complete(), f.Set.Private, f.Set.Public)
	if err != nil {
		return nil, TrainingError(err)
	}
	f.report = plan.Report()
	return plan, nil
}

// TrainingError adds to an error the flags of data that must differ, and the number of equal
// records. It goes to stderr alone: the count is a secret of the private records.
func TrainingError(err error) error {
	if e := (*data.SharedError)(nil); errors.As(err, &e) {
		return fmt.Errorf("--public, --private: %w: %s; --%s states that it is by chance",
			err, e.Count(), sharedFlag)
	}
	return err
}

func (f *ShuffledFlags) about() modelKind {
	return modelKind{task: f.Set.Task.Name(), link: model.LinkOf(f.Set.Task)}
}

func (f *ShuffledFlags) measure(r *data.Records) func(w []float64) string {
	o := f.Complete()
	return objective(train.Problem{Loss: o.Task, Regularizer: o.Regularizer, Records: r}.Objective)
}

// texts converts names to strings.
func texts[T ~string](names []T) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = string(name)
	}
	return out
}
