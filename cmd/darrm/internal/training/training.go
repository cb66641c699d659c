package training

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/train"
	"github.com/darrm/darrm/release"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// model returns the release of a model that the flags describe, without its training.
func (f *modelFlags) model(c *cobra.Command, a *cli.App) release.Model {
	m := f.request
	m.Output, m.Simulated = release.FileOutput{Path: f.out, Stdout: a.Out}, c.Flags().Changed("insecure-seed")
	return m
}

// training runs an algorithm of any method: released, simulated, or priced only.
type training struct {
	app       *cli.App
	flags     *modelFlags
	unit      string // of the algorithm's rounds
	rows      int    // of a person, for all of which a release is charged
	algorithm train.Algorithm
	// document describes the model without its weights; choice is that among
	// candidates, and test is on records held out, each nil for none
	document func(choice *train.Choice, test *train.Test) *modelReport
	measure  func(x []float64) string // on the private records
}

// run releases the model, simulates it, or prints the cost of its release.
func (t *training) run(ctx context.Context, m release.Model) error {
	m.StateSize, m.Begin = int64(train.CheckpointSize(t.algorithm)), t.release
	if m.Simulated {
		m.Begin = t.simulate
	}
	if t.flags.DryRun {
		if !m.Simulated {
			if err := m.Quote(ctx); err != nil {
				return err
			}
		}
		quote := t.document(nil, nil)
		quote.DryRun, quote.Private = true, !m.Simulated
		return t.app.DeliverJSON("", quote)
	}
	out, err := m.Run(ctx)
	if out.Before {
		t.app.Say("request %q was released before: its model is in %s, unchanged", t.flags.request.RequestID,
			t.flags.out)
	}
	return err
}

// release begins the private training, or goes on with that of a state.
func (t *training) release(state []byte) (out release.Training, err error) {
	var model *train.Release
	if state == nil {
		model, err = train.NewRelease(t.algorithm)
	} else {
		model, err = train.ResumeRelease(t.algorithm, state)
	}
	if err != nil {
		return out, t.failure(err)
	}
	if state != nil && !t.flags.DryRun {
		t.app.Say("going on after %s %d of %d", t.unit, model.Round(), t.algorithm.Rounds)
	}
	run := func(ctx context.Context, save func() error) (func(io.Writer) error, error) {
		show, stop := t.progress()
		defer stop()
		x, err := model.Run(ctx, func(epoch int) error { show(epoch); return save() })
		stop()
		if err != nil && ctx.Err() != nil && t.flags.request.Checkpoint != "" {
			t.app.Say("stopped after %s %d of %d; the same command goes on from %s", t.unit, model.Round(),
				t.algorithm.Rounds, t.flags.request.Checkpoint)
		}
		if err != nil {
			return nil, err
		}
		test, err := model.Test()
		t.sayTest(test)
		r := t.document(model.Choice(), test)
		r.Private, r.Model = true, x
		return r.encode, err
	}
	return release.Training{ID: model.ID(), Cost: train.GroupCost(model.Cost(), t.rows),
		State: model.Checkpoint, Run: run}, nil
}

// simulate begins a training from a seed, or goes on with that of a state. The model is not
// private.
func (t *training) simulate(state []byte) (out release.Training, err error) {
	s := train.Simulate(t.algorithm, t.flags.InsecureSeed)
	if state != nil {
		if s, err = train.ResumeSimulation(t.algorithm, state); err != nil {
			return out, t.failure(err)
		}
	}
	run := func(ctx context.Context, save func() error) (func(io.Writer) error, error) {
		show, stop := t.progress()
		defer stop()
		x, err := s.Run(ctx, func(epoch int, _ []float64) error { show(epoch); return save() })
		if err != nil {
			return nil, err
		}
		stop()
		t.app.Say("SIMULATION: drawn from a seed, NOT PRIVATE; do not release this model")
		t.app.Say("NOT PRIVATE: %s on the private records", t.measure(x))
		t.app.Say("%s", train.Tuning)
		test, err := s.Test()
		t.sayTest(test)
		r := t.document(s.Choice(), test)
		r.Simulated = x
		return r.encode, err
	}
	return release.Training{State: s.Checkpoint, Run: run}, nil
}

// sayTest prints the score on the records held out.
func (t *training) sayTest(test *train.Test) {
	if test != nil {
		t.app.Say("score: %s %.6g, with noise of deviation %.2g", test.Kind, test.Value, test.Deviation)
	}
}

// progress displays the number of epochs done, until stop.
func (t *training) progress() (show func(done int), stop func()) {
	bar := cli.NewProgress(t.app)
	count := bar.Count("training", t.unit+"s")
	return func(done int) { count(done, t.algorithm.Rounds) }, bar.Stop
}

// failure adds to an error the checkpoint that does not fit.
func (t *training) failure(err error) error {
	if errors.Is(err, train.ErrCheckpoint) {
		return &release.InputError{Err: fmt.Errorf("%s: %w", t.flags.request.Checkpoint, err)}
	}
	return err
}

func (r *modelReport) encode(w io.Writer) error { return cli.EncodeJSON(w, r) }

// objective returns a measure for simulations. It prints the value that training minimises.
func objective(value func(x []float64) float64) func(x []float64) string {
	return func(x []float64) string { return fmt.Sprintf("objective %.9g", value(x)) }
}

// modelReport is a model with its cost, in JSON.
type modelReport struct {
	// there is no model: this is what it would be
	DryRun      bool             `json:"dry_run,omitempty"`
	Private     bool             `json:"private"`
	Standin     bool             `json:"stand_in_data"`
	DataSet     string           `json:"data_set"`
	Regularizer string           `json:"regularizer,omitempty"`
	Set         string           `json:"set,omitempty"` // that the model is kept in
	Method      string           `json:"method"`
	Reason      string           `json:"reason,omitempty"`  // for the method, where it was chosen
	Warning     string           `json:"warning,omitempty"` // that it is hardly better than a constant
	Epochs      int              `json:"epochs,omitempty"`
	Rounds      int              `json:"rounds,omitempty"`
	Cost        *accountant.Cost `json:"cost"` // null without noise
	Rows        int              `json:"rows_per_person,omitempty"`
	Person      *accountant.Cost `json:"person_cost,omitempty"` // Cost is of a row
	Account     *costBasis       `json:"account,omitempty"`     // of shuffled gradients
	Price       *priceReport     `json:"price,omitempty"`       // of the other methods
	Theory      *train.Bound     `json:"theory,omitempty"`      // what is proved of the models
	Chosen      *train.Choice    `json:"chosen,omitempty"`      // of a choice among candidates
	Score       *scoreReport     `json:"score,omitempty"`       // on the records held out
	Weights     *weightReport    `json:"weights,omitempty"`     // of records and classes
	Dim         int              `json:"dim"`
	model.Document
}

// scoreReport is the score on the records held out, in JSON.
type scoreReport struct {
	Private     bool `json:"private"` // it has noise, and the model's cost covers it
	*train.Test      // whose ε is for a row
}

// NewTrain makes the command train, which chooses a method, with a subcommand for each family of
// methods.
func NewTrain(a *cli.App) *cobra.Command {
	c := newTrainFamily(a, chosenFamily)
	c.Flags().Lookup("private").Hidden = true
	c.Args = cobra.MaximumNArgs(1)
	c.ValidArgsFunction = cli.CompleteFiles(cli.RecordFiles...)
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			if c.Flags().Changed("private") {
				return cli.Usagef("%q is given beside --private", args[0])
			}
			if err := c.Flags().Set("private", args[0]); err != nil {
				return err
			}
		}
		return run(c, args)
	}
	cli.First(c, FlagGroups, "response", "task", "eps", "delta", "scale", "categories", "ledger",
		"out")
	for _, k := range families {
		method := newTrainFamily(a, k)
		cli.First(method, FlagGroups, "private", "response", "task", "method", "radius", "eps", "delta",
			"out", "clip", "step-size")
		c.AddCommand(method)
	}
	c.AddCommand(newDescribe(a))
	c.SetFlagErrorFunc(otherMethods(c))
	return c
}

// otherMethods returns FlagError for the methods of train: the error of an unknown flag names the
// methods that have it.
func otherMethods(all *cobra.Command) func(*cobra.Command, error) error {
	return func(c *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if !errors.As(err, &unknown) {
			return cli.FlagError(c, err)
		}
		var names []string
		for _, other := range all.Commands() {
			if other.Flags().Lookup(unknown.GetSpecifiedName()) != nil {
				names = append(names, other.CommandPath())
			}
		}
		if names == nil {
			return cli.FlagError(c, err)
		}
		return cli.Usagef("%w: it is a flag of %s", err, strings.Join(names, ", "))
	}
}

// NewAccountTrain makes the command account train with the same subcommands.
func NewAccountTrain(a *cli.App) *cobra.Command {
	c := newAccountFamily(a, shuffledFamily)
	c.Use, c.Short = "train", "Tell what training a model costs, before there are data"
	c.Long = `Tell what training a model costs, by one of the methods below, before there are data.
Flags without a method are those of account train shuffled.`
	c.Example = `  darrm account train shuffled --n 1000 --epochs 50 --clip 10 --step-size 1e-3 --smoothness 1 \
    --delta 1e-6 --eps 1
  darrm account train convex --n 4096 --dim 20 --task absolute --set l2:1 --radius 1 --eps 0.5 --delta 1e-5`
	c.Flags().VisitAll(func(f *pflag.Flag) { f.Hidden = true })
	for _, k := range families {
		account := newAccountFamily(a, k)
		cli.First(account, FlagGroups, "n", "dim", "task", "method", "eps", "delta", "clip", "radius",
			"epochs", "step-size", "noise")
		c.AddCommand(account)
	}
	return c
}
