package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/readfile"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
	"github.com/spf13/cobra"
)

// trainCommand has the flags of train shuffled.
type trainCommand struct {
	trainFlags
	modelFlags
	relation  accountant.Relation // of the plan
	accounted iteration.Mode      // the plan is
}

func newTrainShuffled(a *app) *cobra.Command {
	var f trainCommand
	c := &cobra.Command{
		Use:   "shuffled",
		Short: "Train a model privately with shuffled gradients",
		Long: `Train one model with a shuffled gradient method, private (DP-ShuffleG), with public
data as well (Priv-Pub, Pub-Priv, Interleaved), or beside them the baselines.

The noise is the least that meets --eps and --delta by the accounting --mode, or
--noise. "best" takes the mode that needs the least noise of those whose conditions
hold, which rests on the plan and on no record; "paper" is the source's. Shuffled data
get no figure of Poisson sampling. Amplification is counted only where its conditions
hold; stderr says what was counted and why. docs/training-accounting.md has the proofs.

The model goes to stdout or --out as JSON. With --checkpoint the state after each
epoch is kept in a file, which is SECRET: after a Ctrl-C the same command goes on
where it was, with the same noise, and is charged once. The file is removed when the
model is out. With --ledger the model is paid for before the first step.

Where noise on public steps or the order of records is to count, no private record may
decide it: state --radius (ridge and logistic). Without it --mode best counts neither,
and a mode by name that needs it releases nothing.

Public records cost nothing, so they must not be private ones. Refused are a public file
that is the private one, by whatever name, one with the same content, and one that begins
with the same records in any order. Fewer records in both are not noticed: they can be
equal by coincidence.

Choosing a step size by its results is not private and not paid for.
` + exitStatus,
		Example: `  darrm train shuffled --data-set crime --method interleaved --epochs 20 --step-size 1e-4 --clip 10 \
    --eps 5 --delta 1e-6 --radius 8
  darrm train shuffled --private a.csv --response y --task logistic --radius 1 --clip 1 \
    --step-size 0.1 --eps 1 --delta 1e-6
  darrm train shuffled --private train-images-idx3-ubyte --labels train-labels-idx1-ubyte --positive 6,9 \
    --task logistic --epochs 5 --clip 1 --step-size 0.01 --eps 4 --delta 1e-6`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c, a) },
	}
	f.trainFlags.register(c)
	f.registerMode(c, iteration.Best)
	f.modelFlags.register(c)
	return c
}

func (f *trainCommand) run(c *cobra.Command, a *app) error {
	simulated := c.Flags().Changed("insecure-seed")
	if simulated && f.ledger != "" {
		return usagef("--insecure-seed and --ledger exclude each other: a simulation releases nothing and pays for nothing")
	}
	if f.requestID != "" && f.ledger == "" {
		return usagef("--request-id goes with --ledger")
	}
	if err := checkOut(f.out); err != nil {
		return err
	}
	if err := release.CheckPaths(f.files()...); err != nil {
		return err
	}
	set, config, err := f.load(c, a)
	if err != nil {
		return err
	}
	if !config.Method.UsesPublic() {
		for _, name := range []string{"public", "unclipped-public"} {
			if c.Flags().Changed(name) {
				return usagef("--%s: %s uses no public data", name, config.Method)
			}
		}
	}
	if config.Method == shuffled.ShuffleG && !simulated {
		return usagef("method = %q has no noise, so its model is not private: it is for --insecure-seed only", config.Method)
	}
	plan, err := shuffled.NewPlan(config, set.Private, set.Public)
	if err != nil {
		return planFailure(err)
	}
	f.relation, f.accounted = plan.Report().Relation, plan.Report().Mode
	tellPlan(a, plan.Report())
	if f.dryRun {
		if !simulated {
			if err := f.rehearse(c.Context(), config, plan); err != nil {
				return err
			}
		}
		quote := newModelReport(set, config, plan)
		quote.DryRun, quote.Private = true, !simulated
		return a.deliverJSON("", quote)
	}
	if simulated {
		return f.simulate(c.Context(), a, set, config, plan)
	}
	return f.release(c.Context(), a, set, config, plan)
}

// files are all that the flags name.
func (f *trainCommand) files() []release.File {
	return append(release.Files(f.out, f.checkpoint, f.ledger), release.File{Flag: "private", Path: f.private},
		release.File{Flag: "public", Path: f.public}, release.File{Flag: "labels", Path: f.labels}, release.File{Flag: "public-labels", Path: f.publicLabels})
}

// rehearse says whether the release would go through, without making it.
func (f *trainCommand) rehearse(ctx context.Context, config shuffled.Config, plan *shuffled.Plan) error {
	model, resumed, err := f.begin(ctx, plan)
	if err != nil || f.ledger == "" {
		return err
	}
	l, err := ledger.Open(ctx, f.ledger)
	if err != nil {
		return err
	}
	request, err := f.request(model, config)
	if err != nil {
		return err
	}
	if err = l.Check(ctx, request); resumed && errors.Is(err, ledger.ErrReplayed) {
		return nil // paid for before
	}
	return release.Again(err, request, trainingCoins)
}

// begin makes the release, or goes on with the one of the checkpoint.
func (f *trainCommand) begin(ctx context.Context, plan *shuffled.Plan) (model *train.Release, resumed bool, err error) {
	state, err := f.state(ctx, plan)
	if err != nil {
		return nil, false, err
	}
	if state == nil {
		model, err = train.NewRelease(plan)
		return model, false, planFailure(err)
	}
	if model, err = train.ResumeRelease(plan, state); err != nil {
		if !errors.Is(err, train.ErrCheckpoint) {
			return nil, false, planFailure(err)
		}
		return nil, false, inputError{fmt.Errorf("%s: %w", f.checkpoint, err)}
	}
	return model, true, nil
}

// simulate trains from a seed. The model is not private.
func (f *trainCommand) simulate(ctx context.Context, a *app, set datasets.Set, config shuffled.Config, plan *shuffled.Plan) error {
	s := train.Simulate(plan, f.insecureSeed)
	if state, err := f.state(ctx, plan); err != nil {
		return err
	} else if state != nil {
		if s, err = train.ResumeSimulation(plan, state); err != nil {
			return inputError{err}
		}
	}
	bar := newProgress(a)
	defer bar.stop()
	show := bar.count("epochs")
	x, err := s.Run(ctx, func(epoch int, _ []float64) error {
		show(epoch, plan.Rounds())
		return f.save(s.Checkpoint)
	})
	if err != nil {
		return err
	}
	bar.stop()
	a.say("SIMULATION: drawn from a seed, NOT PRIVATE; do not release this model")
	a.say("NOT PRIVATE: objective on the private records %.9g", train.Problem{Loss: config.Task, Regularizer: regularizer(config), Records: set.Private}.Objective(x))
	r := newModelReport(set, config, plan)
	r.Private, r.Simulated = false, x
	if err := a.deliverJSON(f.out, r); err != nil {
		return err
	}
	return f.forget()
}

// release trains the private model, paid for before the first step.
func (f *trainCommand) release(ctx context.Context, a *app, set datasets.Set, config shuffled.Config, plan *shuffled.Plan) error {
	var l *ledger.Ledger
	if f.ledger != "" {
		var err error
		if l, err = ledger.Open(ctx, f.ledger); err != nil {
			return err
		}
	}
	if err := release.CheckOut(f.out); err != nil {
		return err
	}
	model, resumed, err := f.begin(ctx, plan)
	if err != nil {
		return err
	}
	if resumed {
		a.say("going on after epoch %d of %d", model.Round(), plan.Rounds())
	} else if err := f.newModel(model); err != nil {
		// The key of the noise is on disk before it is paid for, so that a crash between
		// the two costs nothing: the same release goes on.
		return err
	}
	receipt, err := f.pay(ctx, l, model, config, resumed)
	if err != nil {
		if !resumed && release.Refused(err) {
			err = errors.Join(err, f.forget()) // nothing was paid, nothing goes on
		}
		return err
	}
	bar := newProgress(a)
	defer bar.stop()
	show := bar.count("epochs")
	x, err := model.Run(ctx, func(epoch int) error {
		show(epoch, plan.Rounds())
		return f.save(model.Checkpoint)
	})
	if err != nil {
		bar.stop()
		if ctx.Err() != nil && f.checkpoint != "" {
			a.say("stopped after epoch %d of %d; the same command goes on from %s", model.Round(), plan.Rounds(), f.checkpoint)
		}
		return err
	}
	bar.stop()
	r := newModelReport(set, config, plan)
	r.Private, r.Model = true, x
	// Noted, out, and only then forgotten: after a death in between the same command does
	// the rest, with the same noise.
	if err := publish(a, f.out, release.Note(ctx, l, receipt), func(w io.Writer) error { return encodeJSON(w, r) }); err != nil {
		return err
	}
	return f.forget()
}

// newModel checks that a model which is begun, and not gone on with, replaces no other that
// nobody accounts for, and keeps its state.
func (f *trainCommand) newModel(model *train.Release) error {
	if f.ledger == "" {
		if err := release.CheckOverwrite(f.out, f.force); err != nil {
			return err
		}
	}
	return f.save(model.Checkpoint)
}

// trainingMechanism is the mechanism of a trainingEvent, trainingCoins the field that names
// the draw of its noise.
const (
	trainingMechanism = "shuffled-gradients"
	trainingCoins     = "release"
)

// trainingEvent is what the ledger remembers of a training.
type trainingEvent struct {
	Mechanism string `json:"mechanism"`
	Release   string `json:"release"` // tells one draw of the noise from another
	Method    string `json:"method"`
	Task      string `json:"task"`
	Epochs    int    `json:"epochs"`
	Mode      string `json:"mode"`
}

func (e trainingEvent) String() string {
	return fmt.Sprintf("model of %s by %s, %d epochs, accounting %s", e.Task, e.Method, e.Epochs, e.Mode)
}

// request is what the ledger is asked for.
func (f *trainCommand) request(model *train.Release, config shuffled.Config) (ledger.Request, error) {
	cost := model.Cost()
	unit, err := ledger.NewCost(cost.Epsilon, cost.Delta)
	if err != nil {
		return ledger.Request{}, err
	}
	event, err := json.Marshal(trainingEvent{
		Mechanism: trainingMechanism, Release: model.ID(), Method: string(config.Method), Task: config.Task.Name(),
		Epochs: config.Epochs, Mode: string(f.accounted),
	})
	id := f.requestID
	if id == "" {
		id = "training:" + model.ID()
	}
	return ledger.Request{ID: id, Count: 1, Unit: unit, Event: event, Relation: release.RelationOf(f.relation)}, err
}

// pay charges the ledger; nil where there is none. A release that goes on was paid for if
// the ledger has the very same request, its draw of the noise included; anything else is
// refused.
func (f *trainCommand) pay(ctx context.Context, l *ledger.Ledger, model *train.Release, config shuffled.Config, resumed bool) (*ledger.Receipt, error) {
	if l == nil {
		return nil, nil
	}
	request, err := f.request(model, config)
	if err != nil {
		return nil, err
	}
	return release.Once(ctx, l, request, trainingCoins, resumed)
}

// state returns the checkpoint, nil where there is none.
func (f *trainCommand) state(ctx context.Context, plan *shuffled.Plan) ([]byte, error) {
	if f.checkpoint == "" {
		return nil, nil
	}
	b, err := readfile.Whole(ctx, f.checkpoint, int64(train.CheckpointSize(plan)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, inputError{err}
	}
	return b, nil
}

// forget removes the checkpoint: with the model it would tell the noise.
func (f *trainCommand) forget() error {
	if f.checkpoint == "" {
		return nil
	}
	if err := os.Remove(f.checkpoint); err != nil {
		return outputError{fmt.Errorf("the secret checkpoint is still there: %w", err)}
	}
	return nil
}

// save writes the checkpoint, which nobody else may read.
func (f *trainCommand) save(state func() []byte) error {
	if f.checkpoint == "" {
		return nil
	}
	err := atomicfile.Write(f.checkpoint, 0o600, func(w io.Writer) error { _, err := w.Write(state()); return err })
	if err != nil {
		return outputError{err}
	}
	return nil
}

// modelReport is a model with what it costs.
type modelReport struct {
	DryRun      bool          `json:"dry_run,omitempty"` // there is no model: this is what it would be
	Private     bool          `json:"private"`
	Standin     bool          `json:"stand_in_data"`
	DataSet     string        `json:"data_set"`
	Task        string        `json:"task"`
	Regularizer string        `json:"regularizer"`
	Method      string        `json:"method"`
	Epochs      int           `json:"epochs"`
	Cost        *release.Cost `json:"cost"` // null without noise
	Account     costBasis     `json:"account"`
	Dim         int           `json:"dim"`
	Model       []float64     `json:"model,omitempty"`
	Simulated   []float64     `json:"simulated_model,omitempty"`
}

// costBasis is on what grounds a training costs what.
type costBasis struct {
	Mode          string   `json:"mode"`
	Conversion    string   `json:"conversion"`
	Relation      string   `json:"neighbours"`
	Order         string   `json:"order"`
	Released      string   `json:"released"` // the most that may be, for the cost to hold
	Noise         float64  `json:"noise"`
	PublicNoise   float64  `json:"public_noise"`
	Clip          *float64 `json:"clip"` // null without clipping
	Amplification float64  `json:"amplification"`
	Rho           *float64 `json:"rho"`   // null without noise, and by privacy losses
	Alpha         float64  `json:"alpha"` // 0 where no order was used
	StepSize      float64  `json:"step_size"`
	Smoothness    *float64 `json:"smoothness"` // null where unknown
	Contractive   bool     `json:"contractive"`
	Fallback      []string `json:"fallback"`
	Warnings      []string `json:"warnings"`
	Tried         []tried  `json:"tried,omitempty"` // what each mode says, with --mode best
}

// tried is what one mode says where the best was asked for.
type tried struct {
	Mode       string   `json:"mode"`
	Conversion string   `json:"conversion,omitempty"`
	Epsilon    *float64 `json:"epsilon,omitempty"`
	Refused    string   `json:"refused,omitempty"`
}

func newModelReport(set datasets.Set, config shuffled.Config, plan *shuffled.Plan) *modelReport {
	r := plan.Report()
	return &modelReport{
		Standin: set.Standin, DataSet: set.Name, Task: config.Task.Name(), Regularizer: regularizer(config).Name(),
		Method: string(config.Method), Epochs: plan.Rounds(), Dim: plan.Dim(),
		Cost: finiteCost(r.Cost), Account: newCostBasis(r),
	}
}

func finiteCost(c accountant.Cost) *release.Cost {
	if finite(c.Epsilon) == nil {
		return nil
	}
	out := release.Cost(c)
	return &out
}

func newCostBasis(r iteration.Report) costBasis {
	b := costBasis{
		Mode: string(r.Mode), Conversion: string(r.Conversion), Relation: r.Relation.String(), Order: orderName(r), Released: r.Released.String(),
		Noise: r.Noise, PublicNoise: r.PublicNoise, Clip: finite(r.Clip), Amplification: r.Amplification,
		Rho: finite(r.Rho), Alpha: r.Alpha, StepSize: r.StepSize,
		Contractive: r.Contractive, Fallback: append([]string{}, r.Fallback...), Warnings: append([]string{}, r.Warnings...),
	}
	if r.Smoothness > 0 {
		b.Smoothness = finite(r.Smoothness)
	}
	if byLosses(r) {
		b.Rho = nil
	}
	for _, t := range r.Trials {
		row := tried{Mode: string(t.Mode), Conversion: string(t.Conversion)}
		if t.Refused != nil {
			row.Refused = t.Refused.Error()
		} else {
			row.Epsilon = finite(t.Epsilon)
		}
		b.Tried = append(b.Tried, row)
	}
	return b
}
