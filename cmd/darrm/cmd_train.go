package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/shuffleg"
	"github.com/darrm/darrm/shuffleg/data"
)

// trainCommand has the flags of train beyond the training itself.
type trainCommand struct {
	trainFlags
	out, checkpoint   string
	ledger, requestID string
	dryRun            bool
	insecureSeed      uint64
	force             bool
}

func newTrain(a *app) *cobra.Command {
	var f trainCommand
	c := &cobra.Command{
		Use:   "train",
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
		Example: `  darrm train --data-set crime --method interleaved --epochs 20 --step-size 1e-4 --clip 10 \
    --eps 5 --delta 1e-6 --radius 8
  darrm train --private a.csv --response y --task logistic --radius 1 --clip 1 \
    --step-size 0.1 --eps 1 --delta 1e-6
  darrm train --private train-images-idx3-ubyte --labels train-labels-idx1-ubyte --positive 6,9 \
    --task logistic --epochs 5 --clip 1 --step-size 0.01 --eps 4 --delta 1e-6`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c, a) },
	}
	f.trainFlags.register(c)
	f.registerMode(c, iteration.Best)
	fl := c.Flags()
	fl.StringVarP(&f.out, "out", "o", "", "write the model to this file instead of stdout")
	fl.StringVar(&f.checkpoint, "checkpoint", "", "keep the secret state here after each epoch, and go on from it if it is there")
	fl.StringVar(&f.ledger, "ledger", "", "charge this ledger (darrm budget init) before the first step")
	fl.StringVar(&f.requestID, "request-id", "", "name of this training in the ledger (default: a name of its own)")
	fl.BoolVar(&f.force, "force", false, "without --ledger: replace --out by a new model. Nobody accounts for the two")
	fl.BoolVar(&f.dryRun, "dry-run", false, "say what the model would cost, and train and charge nothing")
	fl.Uint64Var(&f.insecureSeed, "insecure-seed", 0, "simulate with this seed, for experiments; the model is marked, it is not\nprivate")
	return c
}

func (f *trainCommand) run(c *cobra.Command, a *app) error {
	m := f.model(c, a)
	if err := checkOut(f.out); err != nil {
		return err
	}
	if err := m.Check(); err != nil {
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
	if config.Method == shuffleg.ShuffleG && !m.Simulated {
		return usagef("method = %q has no noise, so its model is not private: it is for --insecure-seed only", config.Method)
	}
	plan, err := shuffleg.NewPlan(config, set.Private, set.Public)
	if err != nil {
		return planFailure(err)
	}
	tellPlan(a, plan.Report())
	t := &training{a: a, f: f, set: set, config: config, plan: plan}
	m.Relation, m.StateSize, m.Begin = plan.Report().Relation, int64(plan.CheckpointSize()), t.release
	m.Event = release.ModelEvent{
		Mechanism: release.ModelMechanism, Method: string(config.Method), Task: config.Task.Name(),
		Epochs: config.Epochs, Mode: string(plan.Report().Mode),
	}
	if m.Simulated {
		m.Begin = t.simulate
	}
	if f.dryRun {
		if !m.Simulated {
			if err := m.Quote(c.Context()); err != nil {
				return err
			}
		}
		quote := newModelReport(set, config, plan)
		quote.DryRun, quote.Private = true, !m.Simulated
		return a.deliverJSON("", quote)
	}
	out, err := m.Run(c.Context())
	if out.Before {
		a.say("request %q was released before: its model is in %s, unchanged", f.requestID, f.out)
	}
	return err
}

// model is what the flags say of the release, without its training.
func (f *trainCommand) model(c *cobra.Command, a *app) release.Model {
	return release.Model{
		Ledger: f.ledger, RequestID: f.requestID, Output: release.FileOutput{Path: f.out, Stdout: a.out}, Checkpoint: f.checkpoint,
		Force: f.force, Simulated: c.Flags().Changed("insecure-seed"),
		Reads: []release.File{
			{Flag: "private", Path: f.private}, {Flag: "public", Path: f.public},
			{Flag: "labels", Path: f.labels}, {Flag: "public-labels", Path: f.publicLabels},
		},
	}
}

// training makes the trainings of a plan.
type training struct {
	a      *app
	f      *trainCommand
	set    data.Set
	config shuffleg.Config
	plan   *shuffleg.Plan
}

// release begins the private training, or goes on with that of a state.
func (t *training) release(state []byte) (out release.Training, err error) {
	var model *shuffleg.Release
	if state == nil {
		model, err = t.plan.NewRelease()
	} else {
		model, err = t.plan.ResumeRelease(state)
	}
	if err != nil {
		return out, t.failure(err)
	}
	if state != nil && !t.f.dryRun {
		t.a.say("going on after epoch %d of %d", model.Epoch(), t.plan.Epochs())
	}
	run := func(ctx context.Context, save func() error) (func(io.Writer) error, error) {
		var x []float64
		err := t.watched(func(show func(int, int)) (err error) {
			x, err = model.Run(ctx, func(epoch int) error {
				show(epoch, t.plan.Epochs())
				return save()
			})
			return err
		})
		if err != nil && ctx.Err() != nil && t.f.checkpoint != "" {
			t.a.say("stopped after epoch %d of %d; the same command goes on from %s", model.Epoch(), t.plan.Epochs(), t.f.checkpoint)
		}
		r := newModelReport(t.set, t.config, t.plan)
		r.Private, r.Model = true, x
		return r.encode, err
	}
	return release.Training{ID: model.ID(), Cost: model.Cost(), State: model.Checkpoint, Run: run}, nil
}

// simulate begins a training from a seed, or goes on with that of a state. The model is not
// private.
func (t *training) simulate(state []byte) (out release.Training, err error) {
	s := t.plan.Simulate(t.f.insecureSeed)
	if state != nil {
		if s, err = t.plan.ResumeSimulation(state); err != nil {
			return out, t.failure(err)
		}
	}
	run := func(ctx context.Context, save func() error) (func(io.Writer) error, error) {
		var x []float64
		err := t.watched(func(show func(int, int)) (err error) {
			x, err = s.Run(ctx, func(epoch int, _ []float64) error {
				show(epoch, t.plan.Epochs())
				return save()
			})
			return err
		})
		if err != nil {
			return nil, err
		}
		t.a.say("SIMULATION: drawn from a seed, NOT PRIVATE; do not release this model")
		t.a.say("NOT PRIVATE: objective on the private records %.9g", shuffleg.Objective(t.config.Task, regularizer(t.config), t.set.Private, x))
		r := newModelReport(t.set, t.config, t.plan)
		r.Simulated = x
		return r.encode, nil
	}
	return release.Training{State: s.Checkpoint, Run: run}, nil
}

// watched shows how many epochs are done.
func (t *training) watched(run func(show func(done, of int)) error) error {
	bar := newProgress(t.a)
	defer bar.stop()
	return run(bar.count("epochs"))
}

// failure names the checkpoint that does not fit.
func (t *training) failure(err error) error {
	if errors.Is(err, shuffleg.ErrCheckpoint) {
		return inputError{Err: fmt.Errorf("%s: %w", t.f.checkpoint, err)}
	}
	return planFailure(err)
}

// modelReport is a model with what it costs.
type modelReport struct {
	DryRun      bool             `json:"dry_run,omitempty"` // there is no model: this is what it would be
	Private     bool             `json:"private"`
	Standin     bool             `json:"stand_in_data"`
	DataSet     string           `json:"data_set"`
	Task        string           `json:"task"`
	Regularizer string           `json:"regularizer"`
	Method      string           `json:"method"`
	Epochs      int              `json:"epochs"`
	Cost        *accountant.Cost `json:"cost"` // null without noise
	Account     costBasis        `json:"account"`
	Dim         int              `json:"dim"`
	Model       []float64        `json:"model,omitempty"`
	Simulated   []float64        `json:"simulated_model,omitempty"`
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

func newModelReport(set data.Set, config shuffleg.Config, plan *shuffleg.Plan) *modelReport {
	r := plan.Report()
	return &modelReport{
		Standin: set.Standin, DataSet: set.Name, Task: config.Task.Name(), Regularizer: regularizer(config).Name(),
		Method: string(config.Method), Epochs: plan.Epochs(), Dim: plan.Dim(),
		Cost: finiteCost(r.Cost), Account: newCostBasis(r),
	}
}

func finiteCost(c accountant.Cost) *accountant.Cost {
	if finite(c.Epsilon) == nil {
		return nil
	}
	return &c
}

func (r *modelReport) encode(w io.Writer) error { return encodeJSON(w, r) }

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
