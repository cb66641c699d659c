package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/solve"
)

// optimalFlags say how the optimal plurality of many classes is come by.
type optimalFlags struct {
	pluralityFlags
	within time.Duration
}

// What a release, a comparison and a plan take for the optimum: a label in ten thousand is
// less than any of them can show, and the last digits take most of the time.
const (
	defaultGap    = 1e-4
	defaultWithin = 20 * time.Second
)

func (f *optimalFlags) register(c *cobra.Command) {
	f.registerPlurality(c)
	f.registerGap(c, defaultGap)
	f.registerWithin(c)
}

func (f *optimalFlags) registerWithin(c *cobra.Command) {
	c.Flags().DurationVar(&f.within, "solve-within", defaultWithin, "many classes: how long to look for the optimal table where another mechanism can take its place")
}

func (f *optimalFlags) checkWithin() error {
	if f.within <= 0 {
		return usagef("solve-within = %v, but it must be > 0", f.within)
	}
	return nil
}

// optimalFlagNames are the flags that go with the optimal plurality alone.
var optimalFlagNames = append([]string{"gap", "solve-within"}, pluralityFlagNames...)

// ofMajority are the flags that describe the majority of two classes, and say nothing to many.
var ofMajority = []string{"m", "teacher-delta", "prior", "prior-mean", "shape", "method", "on-interrupt"}

// optimalOnly checks what is said of the optimal plurality, which presumes nothing of the
// teachers and is best for agreement.
func optimalOnly(c *cobra.Command, p *problemFlags) error {
	for _, name := range ofMajority {
		if c.Flags().Changed(name) {
			return usagef("--%s goes with two classes and --mechanism %s; --mechanism %s is told --total-eps and --affected (or --data)", name, mechanismDaRRM, mechanismOptimal)
		}
	}
	if c.Flags().Changed("eps") && !math.IsInf(p.epsilon, 1) {
		return usagef("eps = %v, but --mechanism %s presumes nothing of the teachers: leave --eps out, or say inf", p.epsilon, mechanismOptimal)
	}
	if p.name == objectiveSource {
		return usagef("objective = %q, but --mechanism %s is for %q", p.name, mechanismOptimal, objectiveAgreement)
	}
	return require(c, "total-eps", "affected|data")
}

// prepare checks what is said of the optimal plurality. Of two classes that do not abstain it is
// the majority, which m then is.
func (f *optimalFlags) prepare(c *cobra.Command, m *mechanismFlags, p *problemFlags, classes int) error {
	if err := optimalOnly(c, p); err != nil {
		return err
	}
	if err := p.checkTimeout(c); err != nil {
		return err
	}
	if c.Flags().Changed("solve-within") && !m.byDefault {
		return usagef("--solve-within goes without --mechanism %s, for which nothing takes its place: see --timeout", mechanismOptimal)
	}
	if err := f.checkWithin(); err != nil {
		return err
	}
	if classes == 2 && !c.Flags().Changed("abstain") {
		if c.Flags().Changed("gap") {
			return usagef("--gap goes with more than two classes: of two the optimum is known exactly")
		}
		if c.Flags().Changed("concentration") {
			return usagef("--concentration goes with more than two classes: for two say --accuracy or --prior-counts")
		}
		return m.majority(c, &f.accuracy)
	}
	of := plurality.Problem{K: max(1, p.affected), Classes: classes, Epsilon: p.totalEpsilon, Delta: p.delta, Affected: max(1, p.affected), Abstain: true}
	if err := of.Validate(); err != nil && tooLong(err) == nil {
		return err
	}
	if _, err := f.law(c, p.priorCounts, classes); err != nil {
		return err
	}
	return check.Within("gap", f.gap)
}

// checkCompared checks what is said of the optimal plurality beside the other mechanisms.
func (f *optimalFlags) checkCompared(c *cobra.Command, classes int) error {
	for _, name := range optimalFlagNames {
		if c.Flags().Changed(name) && classes == 2 && !c.Flags().Changed("abstain") {
			return usagef("--%s goes with more than two classes, or with --abstain", name)
		}
	}
	return cmp.Or(f.checkWithin(), check.Within("gap", f.gap))
}

// withoutOptimum refuses the flags of the optimal plurality where that does not answer.
func (f *mechanismFlags) withoutOptimum(c *cobra.Command, classes int) error {
	for _, name := range optimalFlagNames {
		if c.Flags().Changed(name) {
			return usagef("--%s goes with --mechanism %s, not with %s of %d classes", name, mechanismOptimal, f.name, classes)
		}
	}
	return nil
}

// pluralityProblem is what is promised for k teachers and so many classes.
func (f *problemFlags) pluralityProblem(c *cobra.Command, k, classes int) (plurality.Problem, error) {
	p := plurality.Problem{K: k, Classes: classes, Epsilon: f.totalEpsilon, Delta: f.delta, Abstain: c.Flags().Changed("abstain")}
	var err error
	p.Affected, _, err = f.reach(c, k)
	return p, err
}

// solvedPlurality is a table with what is said of how it was come by.
type solvedPlurality struct {
	*plurality.Table
	unsaved error // the cache could not store it
}

// tooLong says why there is no optimal table, where that is the size or the time and not what
// was asked for; else nil.
func tooLong(err error) error {
	var limit *solve.LimitError
	var size *plurality.SizeError
	switch {
	case errors.As(err, &limit):
		return fmt.Errorf("%w (--solve-within)", limit)
	case errors.As(err, &size):
		return size
	}
	return nil
}

// solve returns the optimal table of the problem, from the cache if it is there. limit is how
// long that may take, 0 for as long as --timeout allows.
func (f *optimalFlags) solve(c *cobra.Command, a *app, flags *problemFlags, p plurality.Problem, o plurality.Objective, limit time.Duration) (solvedPlurality, error) {
	store, err := flags.store()
	if err != nil {
		return solvedPlurality{}, err
	}
	bar := newProgress(a)
	defer bar.stop()
	options := solve.Options{Gap: f.gap, Version: version, Progress: bar.gap(f.gap)}
	ctx, cancel := flags.limit(c.Context())
	defer cancel()
	var r solve.Result
	if limit > 0 {
		r, err = solve.Within(ctx, limit, store, p, o, options)
	} else {
		r, err = solve.Cached(ctx, store, p, o, options)
	}
	err = flags.late("solve", err)
	bar.stop()
	if r.Rejected != nil {
		a.say("darrm: not used, and solved again: %v", r.Rejected)
	}
	switch {
	case r.Table == nil:
		return solvedPlurality{}, err
	case err != nil:
		return solvedPlurality{r.Table, outputError{Err: err}}, nil
	}
	return solvedPlurality{Table: r.Table}, nil
}

// optimalFields are the JSON fields of a table.
type optimalFields struct {
	Concentration float64 `json:"concentration,omitempty"` // the prior is this, or the next, or counts
	Accuracy      float64 `json:"accuracy,omitempty"`
	AbstainValue  float64 `json:"abstain_value,omitempty"`
	Value         float64 `json:"value"` // expected agreement under the prior, and AbstainValue for each abstention
	Gap           float64 `json:"gap"`
}

func optimalFieldsOf(t *plurality.Table) *optimalFields {
	if t == nil {
		return nil
	}
	return &optimalFields{t.Objective.Concentration, t.Objective.Accuracy, t.Objective.AbstainValue, t.Value, t.Gap}
}
