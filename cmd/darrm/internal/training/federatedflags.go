package training

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/amplification"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/train"
)

// The values of --method.
const (
	methodPSGM    = "psgm"
	methodCentral = "central"
)

var federatedFamily = family{
	name: "federated", mechanism: federated.Mechanism,
	methods: func() methods { return methods{familyFlags: new(federatedFlags)} },
	trains: commandText{
		use:   "--private FILE --silos n,n,… --task LOSS --clip C --difference-clip C --eps ε --delta δ",
		short: "Train on the records of many silos as one machine would, to rehearse rounds",
		long: `Train one model by the rounds of darrm federated, in one process: for the holder of all
records, or, with --insecure-seed, to see on stand-in data what a run across machines
would give. The records are in the order of the silos, --silos says how many each has.

  psgm      each record's clipped gradient becomes one short private report, reports are
            shuffled, and the server averages them (MB-PSGM; with --local-steps CE-PSGM)
  central   a server that sees all records adds the noise (DP-GD; with --period DIFF2-GD),
            to compare with

All noise follows from --eps and --delta. Where the records of the silos really lie on
machines of their own, use darrm federated. "darrm account train federated" has the price
before there are data, by every way to account for it.

The model goes to stdout or --out as JSON. Checkpoint, ledger and what may be published
are as in darrm train shuffled. Tuning on the private data is not covered.`,
		example: `  darrm train federated --private a.csv --response y --silos 400,300,300 --task logistic \
    --clip 1 --difference-clip 1 --step-size 0.5 --eps 1 --delta 1e-6 -o model.json`,
	},
	accounts: commandText{
		use: "--n records --dim features --silos n,n,… --task LOSS --clip C --difference-clip C " +
			"--eps ε --delta δ",
		short: "Price a run of darrm federated, by every way to account for it",
		long: `Price a run of darrm federated, before there are data: the proof in use, the published
constants, and what the reports would cost without a shuffler. A row that cannot price
the run says why. σ is the noise on the mean of a round's gradients, Δ what one record
changes of it.

With --local-eps the reports are given, and the price is what comes of them.`,
		example: `  darrm account train federated --n 16512 --dim 8 --task ridge --clip 1 --difference-clip 1 \
    --step-size 0.1 --rounds 500 --eps 0.8 --delta 1e-5
  darrm account train federated --n 16512 --dim 8 --task ridge --clip 1 --difference-clip 1 \
    --step-size 0.1 --rounds 500 --local-eps 0.58 --delta 1e-5`,
	},
}

// federatedFlags hold the parameters of a run of learn/federated.
type federatedFlags struct {
	methodFlags
	loss   loss.Loss // of --task
	psgm   federated.PSGM
	Period int `flag:"period" help:"central: rounds from one full gradient to the next"`
}

func (f *federatedFlags) register(c *cobra.Command) {
	f.Method, f.Period = methodPSGM, 1
	cli.Enum(c, &f.Method, "method", `"psgm", without a trusted server, or "central", with one, to compare`,
		methodPSGM, methodCentral)
	cli.Register(c, f, "period")
	f.registerRun(c)
	c.Flags().IntSliceVar(&f.psgm.Silos, "silos", nil,
		"how many records each silo has, in their order (default: one silo with all)")
}

// registerRun adds the flags of a run across machines.
func (f *federatedFlags) registerRun(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.Task, "task", "", "loss to be minimised: "+strings.Join(linearTasks(), ", ")+
		" or network:h, of h softplus units")
	fl.BoolVar(&f.intercept, "intercept", false,
		"add a feature 1 to each record; its weight is the model's intercept")
	f.psgm = federated.PSGM{Momentum: 0.1, Randomizer: federated.OneBit, Setting: federated.Setting{
		Rounds: 50, Output: federated.Last, Local: federated.Local{Steps: 1}}}
	cli.Register(c, &f.psgm)
	cli.OneOf(c, "account", append(texts(amplification.Modes()), string(federated.Unshuffled))...)
	cli.Offer(c, "randomizer", cobra.FixedCompletions([]string{string(federated.OneBit),
		string(federated.PrivUnit), string(federated.RandK) + ":", string(federated.Floats)},
		cobra.ShellCompDirectiveNoFileComp))
	cli.OneOf(c, "output", federated.Last, federated.Uniform)
	cli.Register(c, &f.privacyFlags)
}

func (f *federatedFlags) Check(c *cobra.Command) (err error) {
	if err = cli.Require(c, "clip", "delta", "eps|local-eps"); err != nil {
		return err
	}
	if err = f.unusedGiven(c, &f.psgm); err != nil {
		return err
	}
	if f.Method != methodCentral && c.Flags().Changed("period") {
		return cli.Usagef("--period is not for --method %s", f.Method)
	}
	for _, given := range []struct {
		flag  string
		value float64
	}{{"step-size", f.psgm.StepSize}, {"local-eps", f.psgm.Epsilon},
		{"local-noise", f.psgm.Local.Noise}} {
		if c.Flags().Changed(given.flag) && !(given.value > 0) {
			return cli.Usagef("--%s = %v, but it must be above 0", given.flag, given.value)
		}
	}
	f.loss, err = loss.ParseSized(f.Task)
	return err
}

func (f *federatedFlags) about() modelKind {
	return modelKind{task: f.loss.Name(), link: model.LinkOf(f.loss)}
}

// run returns the run that the flags describe, for silos of these sizes.
func (f *federatedFlags) run(silos []int) federated.PSGM {
	o := f.psgm
	o.Loss, o.Silos, o.Target = f.loss, silos, f.target()
	if o.Local.Steps == 1 {
		o.Local.Steps = 0 // none, which has no other parameters
	}
	return o
}

// plan prices the method for n records of dimension d, with --intercept in it.
func (f *federatedFlags) plan(_ context.Context, n, d int) (train.Plan, error) {
	silos := f.psgm.Silos
	if len(silos) == 0 {
		silos = []int{n}
	}
	run := f.run(silos)
	if f.Method == methodCentral {
		return f.named(federated.Central{Setting: run.Setting, Period: f.Period}.Plan(n, d))
	}
	return f.named(run.Plan(n, d))
}

func (f *federatedFlags) measure(r *data.Records) func(w []float64) string {
	return objective(train.Problem{Loss: f.loss, Regularizer: geometry.NoRegularizer{},
		Records: r}.Objective)
}

// sayRun prints the cost of a run and the amount of data that its silos send.
func sayRun(a *cli.App, p *rounds.Run) {
	sayPrice(a, p.Price())
	a.Say("      %d silos send %s in all", len(p.Silos()),
		megabytes(p.Federated().Reports()*p.Federated().Randomizer().Size()))
}

func megabytes(n int) string {
	if n < 1e6 {
		return fmt.Sprintf("%.3g kB", math.Ceil(float64(n)/10)/100)
	}
	return fmt.Sprintf("%.4g MB", float64(n)/1e6)
}
