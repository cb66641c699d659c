package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/solve"
)

// optimalFlags say how the optimal plurality of many classes is found.
type optimalFlags struct {
	pluralityFlags
	within time.Duration
}

func (f *optimalFlags) register(c *cobra.Command) {
	f.registerPlurality(c)
	f.registerGap(c, choose.DefaultGap)
	f.registerWithin(c)
}

func (f *optimalFlags) registerWithin(c *cobra.Command) {
	c.Flags().DurationVar(&f.within, "solve-within", choose.DefaultWithin,
		"many classes: how long to look for the optimal table where another mechanism can take its place")
}

// solve returns the optimal table of the problem, from the cache if it is there. limit is how
// long that may take, 0 for as long as --timeout allows. unsaved is the cache's error, to be
// returned at the end.
func (f *optimalFlags) solve(ctx context.Context, a *app, flags *problemFlags, p plurality.Problem,
	o plurality.Objective, limit time.Duration) (t *plurality.Table, unsaved, err error) {
	store, err := flags.store()
	if err != nil {
		return nil, nil, err
	}
	bar := newProgress(a)
	defer bar.stop()
	options := solve.Options{Gap: f.gap, Version: version, Progress: bar.gap(f.gap)}
	ctx, cancel := flags.limit(ctx)
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
	if r.Table != nil && err != nil {
		return r.Table, outputError{Err: err}, nil
	}
	return r.Table, nil, err
}

// optimalFields are the JSON fields of a table.
type optimalFields struct {
	Concentration float64 `json:"concentration,omitempty"` // the prior is this, or the next, or counts
	Accuracy      float64 `json:"accuracy,omitempty"`
	AbstainValue  float64 `json:"abstain_value,omitempty"`
	// expected agreement under the prior, and AbstainValue for each abstention
	Value float64 `json:"value"`
	Gap   float64 `json:"gap"`
}

func optimalFieldsOf(t *plurality.Table) *optimalFields {
	if t == nil {
		return nil
	}
	return &optimalFields{t.Objective.Concentration, t.Objective.Accuracy, t.Objective.AbstainValue,
		t.Value, t.Gap}
}
