package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
	"github.com/darrm/darrm/release"
)

// trainCommand has the flags of train shuffled.
type trainCommand struct {
	trainFlags
	modelFlags
	selectFlags
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

Choosing a step size by its results is not private and not paid for.`,
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
	f.selectFlags.register(c)
	return c
}

func (f *trainCommand) run(c *cobra.Command, a *app) error {
	m := f.model(c, a)
	m.Reads = []release.File{
		{Flag: "private", Path: f.private}, {Flag: "public", Path: f.public},
		{Flag: "labels", Path: f.labels}, {Flag: "public-labels", Path: f.publicLabels},
	}
	if err := (release.FileOutput{Path: f.out}).CheckPlace(); err != nil {
		return err
	}
	if err := m.Check(); err != nil {
		return err
	}
	if f.private != "" && !m.Simulated {
		if err := f.stated(f.private); err != nil {
			return err
		}
	}
	if err := f.prepare(c, new(trainFlags).gridFlags); err != nil {
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
	if config.Method == shuffled.ShuffleG && !m.Simulated {
		return usagef("method = %q has no noise, so its model is not private: it is for --insecure-seed only", config.Method)
	}
	plan, err := pricing(c, a, func() (*shuffled.Plan, error) { return shuffled.NewPlan(c.Context(), config, set.Private, set.Public) })
	if err != nil {
		return trainingError(err)
	}
	if len(f.points) > 0 {
		return f.choose(c, a, m, set, config, plan)
	}
	sayPlan(a, plan.Report())
	t := &training{
		app: a, flags: &f.modelFlags, unit: "epoch", algorithm: plan, document: func() *modelReport { return newModelReport(set, config, plan, f.intercept) },
		measure: objective(train.Problem{Loss: config.Task, Regularizer: regularizer(config), Records: set.Private}.Objective),
	}
	m.Relation = plan.Report().Relation
	m.Event = release.ModelEvent{
		Mechanism: shuffled.Mechanism, Method: string(config.Method), Task: config.Task.Name(),
		Epochs: config.Epochs, Mode: string(plan.Report().Mode),
	}
	return t.run(c.Context(), m)
}

// choose trains the candidates of --grid, of which first is one.
func (f *trainCommand) choose(c *cobra.Command, a *app, m release.Model, set datasets.Set, config shuffled.Config, first *shuffled.Plan) error {
	plan, err := pricing(c, a, func() (train.Plan, error) {
		return f.selectFlags.plan(set.Private.Len(), set.Private.Dim(), &f.privacyFlags, config.Task.Name(), model.LinkOf(config.Task), func() (train.Plan, error) {
			return f.candidate(c, set, config)
		})
	})
	if err != nil {
		return err
	}
	price := plan.Price()
	sayPrice(a, price)
	t := &training{app: a, flags: &f.modelFlags, unit: "round", measure: objective(train.Problem{Loss: config.Task, Regularizer: regularizer(config), Records: set.Private}.Objective)}
	if t.algorithm, err = plan.Train(set.Private); err != nil {
		return err
	}
	t.document = func() *modelReport {
		r := newModelReport(set, config, first, f.intercept)
		r.Method, r.Epochs, r.Rounds, r.Cost, r.Account, r.Price = price.Method, 0, t.algorithm.Rounds(), finiteCost(price.Cost), nil, newPriceReport(price)
		r.Regularizer = "" // a candidate may have its own
		return r
	}
	m.Relation = price.Relation
	m.Event = release.ModelEvent{Mechanism: shuffled.Mechanism, Method: price.Method, Task: config.Task.Name(), Epochs: t.algorithm.Rounds(), Mode: string(price.Bound)}
	return t.run(c.Context(), m)
}

// objective is what a simulation says of a model by what is minimised.
func objective(value func(x []float64) float64) func(x []float64) string {
	return func(x []float64) string { return fmt.Sprintf("objective %.9g", value(x)) }
}

// modelReport is a model with what it costs.
type modelReport struct {
	DryRun      bool             `json:"dry_run,omitempty"` // there is no model: this is what it would be
	Private     bool             `json:"private"`
	Standin     bool             `json:"stand_in_data"`
	DataSet     string           `json:"data_set"`
	Regularizer string           `json:"regularizer,omitempty"`
	Set         string           `json:"set,omitempty"` // that the model is kept in
	Method      string           `json:"method"`
	Epochs      int              `json:"epochs,omitempty"`
	Rounds      int              `json:"rounds,omitempty"`
	Cost        *accountant.Cost `json:"cost"`              // null without noise
	Account     *costBasis       `json:"account,omitempty"` // of shuffled gradients
	Price       *priceReport     `json:"price,omitempty"`   // of the other methods
	Chosen      *chosenCandidate `json:"chosen,omitempty"`  // of a choice among candidates
	Dim         int              `json:"dim"`
	model.Document
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

func newModelReport(set datasets.Set, config shuffled.Config, plan *shuffled.Plan, intercept bool) *modelReport {
	r := plan.Report()
	basis := newCostBasis(r)
	return &modelReport{
		Standin: set.Standin, DataSet: set.Name, Regularizer: regularizer(config).Name(),
		Method: string(config.Method), Epochs: plan.Rounds(), Dim: plan.Dim(),
		Cost: finiteCost(r.Cost), Account: &basis,
		Document: model.Document{Task: config.Task.Name(), Link: model.LinkOf(config.Task), Columns: set.Private.Columns(), Response: set.Private.ResponseName(), Intercept: intercept},
	}
}

func finiteCost(c accountant.Cost) *accountant.Cost {
	if finite(c.Epsilon) == nil {
		return nil
	}
	return &c
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
