package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/convex"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
)

// convexFlags are a method of learn/convex and its parameters.
type convexFlags struct {
	privacyFlags
	method, task, set        string
	radius, clip             float64
	intercept                bool
	noise, selection, oracle string
	changes, neighbours      string
	options                  convex.Options // of the flags whose name is an option's
}

// optionFlags are the flags of the options.
var optionFlags = map[string]string{
	"Noise": "noise", "Selection": "selection", "Rule": "score-changes", "Oracle": "oracle", "Batches": "batch, --full-budget, --in-order or --rounds", "Rank": "rank",
	"Steps": "steps", "Rounds": "rounds", "Rate": "rate", "StepSize": "step-size", "Lambda": "l2", "Smoothing": "smoothing", "WeakConvexity": "weak-convexity", "Average": "average", "StepFactor": "step-factor",
}

func (f *convexFlags) register(c *cobra.Command) {
	fl, o := c.Flags(), &f.options
	fl.StringVar(&f.method, "method", convex.Methods()[0], strings.Join(convex.Methods(), ", "))
	fl.StringVar(&f.task, "task", "", "loss to be minimised: "+strings.Join(linearTasks(), ", "))
	fl.StringVar(&f.set, "set", "", "what the model is kept in: "+strings.Join(geometry.SetNames(), ", ")+" (default: nothing, for methods in l2)")
	fl.Float64Var(&f.radius, "radius", 0, "public bound on the norm of a record's features, to which longer ones are shortened, each by itself; the norm is dual to the set's (largest feature for l1 and simplex)")
	fl.Float64Var(&f.clip, "clip", 0, "bound on the loss's slope, to which larger ones are cut (default: the loss's own)")
	fl.BoolVar(&f.intercept, "intercept", false, "add a feature 1 to each record, which --radius does not count; its weight is the model's intercept")
	f.privacyFlags.register(c)
	fl.StringVar(&f.noise, "noise", "", "\"calibrated\" to --eps by the exact account, \"printed\", the source's, where that keeps its promise, or for nsfw \"corrected\" (default calibrated)")
	fl.StringVar(&f.selection, "selection", "", "frank-wolfe, poly-sfw: private choice of a vertex, \"exponential\", \"permute-and-flip\" or \"laplace\" (default exponential)")
	fl.StringVar(&f.changes, "score-changes", "", "frank-wolfe, poly-sfw: \"range\" if what counts is how much scores move apart, \"sup\" for the more cautious proof (default range)")
	fl.StringVar(&f.oracle, "oracle", "", "slopes of the smoothed loss: \"fast\" in closed form, or by \"bisection\" or the source's longer \"paper-bisections\" (default fast)")
	fl.StringVar(&f.neighbours, "neighbours", "", "\"replace\" or \"add-remove\" one record (default: the method's, which dp-sgd has as add-remove)")
	oneOf(c, "method", convex.Methods()...)
	oneOf(c, "noise", convex.Calibrated, convex.Corrected, convex.Printed)
	oneOf(c, "selection", convex.Exponential, convex.PermuteAndFlip, convex.LaplaceNoise)
	oneOf(c, "score-changes", convex.Range, convex.Sup)
	oneOf(c, "oracle", convex.Fast, convex.Bisection, convex.PaperBisections)
	oneOf(c, "neighbours", slices.Sorted(maps.Keys(neighbourNames))...)
	fl.IntVar(&o.Rank, "rank", 0, "phased-sgd without a set: bound on the rank of the features (default: min(n, d))")
	fl.IntVar(&o.Steps, "steps", 0, "frank-wolfe, dp-sgd: steps; proximally-guided: steps of a round (default: the theory's)")
	fl.IntVar(&o.Rounds, "rounds", 0, "poly-sfw, nsfw, proximally-guided: rounds (default: the theory's)")
	fl.IntVar(&o.Batches.Size, "batch", 0, "poly-sfw, nsfw: records in a round's first batch (default: n/ln²n)")
	fl.BoolVar(&o.Batches.FullBudget, "full-budget", false, "poly-sfw, nsfw: the largest batches that the records allow")
	fl.BoolVar(&o.Batches.InOrder, "in-order", false, "poly-sfw, nsfw: take the records as they stand, not in a random order")
	fl.Float64Var(&o.Rate, "rate", 0, "dp-sgd: probability that a step takes a record (default: 256/n)")
	fl.Float64Var(&o.StepSize, "step-size", 0, "dp-sgd: η (default: the theory's for the set)")
	fl.Float64Var(&o.StepFactor, "step-factor", 0, "phased-sgd: how many times the theory's steps are, 24 at most; they are for the worst data (default 1)")
	fl.BoolVar(&o.Average, "average", false, "dp-sgd: the model is an average of the iterates, not the last")
	fl.Float64Var(&o.Lambda, "l2", 0, "dp-sgd and the perturbations: λ of the regulariser (λ/2)‖w‖² (default: what balances noise and bias in the set)")
	fl.Float64Var(&o.Smoothing, "smoothing", 0, "frank-wolfe and the perturbations: Moreau parameter β of the smoothed loss (default: the theory's)")
	fl.Float64Var(&o.WeakConvexity, "weak-convexity", 0, "proximally-guided: ρ (default: the loss's own within --radius)")
}

// neighbourNames are the values of --neighbours.
var neighbourNames = map[string]accountant.Relation{"replace": accountant.ReplaceOne, "add-remove": accountant.AddOrRemoveOne}

// linearTasks are the losses of a prediction and a response.
func linearTasks() []string {
	return slices.DeleteFunc(loss.Names(), func(name string) bool { return name == "mean" })
}

// geometry returns the set for models of dimension d, nil for none.
func (f *convexFlags) geometry(d int) (geometry.Set, error) {
	if f.set == "" {
		return nil, nil
	}
	return geometry.ParseSet(f.set, d)
}

// plan prices the method for n records of dimension d, with --intercept in it.
func (f *convexFlags) plan(c *cobra.Command, n, d int) (convex.Plan, error) {
	set, err := f.geometry(d)
	if err != nil {
		return nil, err
	}
	o := f.options
	o.Set, o.Clip, o.Target = set, f.clip, f.target()
	o.Noise, o.Selection, o.Rule, o.Oracle = convex.Noise(f.noise), convex.Selection(f.selection), convex.Rule(f.changes), convex.OracleKind(f.oracle)
	if slices.Contains([]string{"poly-sfw", "nsfw"}, f.method) {
		o.Batches.Rounds, o.Rounds = o.Rounds, 0
	}
	if o.Radius = f.radius; f.intercept && f.radius > 0 {
		o.Radius = geometry.WithIntercept(f.radius, convex.DualNorm(set))
	}
	o.Neighbours = neighbourNames[f.neighbours]
	if o.Loss, err = loss.Parse(f.task); err != nil {
		return nil, err
	}
	method, err := convex.New(f.method, o)
	var unused *convex.OptionError
	if errors.As(err, &unused) {
		return nil, usagef("--%s is not for --method %s", optionFlags[unused.Option], f.method)
	}
	if err != nil {
		return nil, err
	}
	plan, err := method.Plan(n, d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.method, err)
	}
	return plan, nil
}
