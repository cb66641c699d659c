package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/votes"
)

// problemFlags are the flags that say which noise function is wanted and how to
// get it.
type problemFlags struct {
	m, totalEpsilon, epsilon   float64
	teacherDelta, delta        float64
	affected                   int
	data                       string
	prior, priorCounts         string
	priorMean                  float64
	shape, method, onInterrupt string
	noCache                    bool
	cacheDir                   string
	timeout                    time.Duration
}

func (f *problemFlags) register(c *cobra.Command, epsilon, teacherDelta float64) {
	f.registerPromise(c, epsilon, teacherDelta)
	f.registerSolve(c)
	f.registerCache(c)
}

// registerPromise registers what describes the problem: the teachers, and the promise.
func (f *problemFlags) registerPromise(c *cobra.Command, epsilon, teacherDelta float64) {
	fl := c.Flags()
	fl.Float64Var(&f.m, "m", 0, "privacy allowance: one released answer may cost m·ε (any number > 0)")
	fl.Float64Var(&f.totalEpsilon, "total-eps", 0, "ε of one released answer, instead of m·ε")
	fl.Float64Var(&f.epsilon, "eps", epsilon, "ε of each teacher; inf for teachers that promise nothing\n(then give --total-eps)")
	fl.Float64Var(&f.teacherDelta, "teacher-delta", teacherDelta, "Δ of each teacher, in [0,1)")
	fl.Float64Var(&f.delta, "delta", 0, "δ of one released answer (default 1-(1-Δ)^min(m, affected))")
	fl.IntVar(&f.affected, "affected", 0, "how many teachers one person's record can reach (default all)")
	fl.StringVar(&f.data, "data", "", "what the teachers were trained on, instead of --affected: \"disjoint\" parts\n(one record reaches one teacher) or \"overlapping\" (any number)")
}

func (f *problemFlags) registerSolve(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.prior, "prior", "", "what to be optimal for; it never decides what is private:\n\"uniform\" (a vote for the likelier answer has mean 0.75, the default),\n\"clear\" (0.85), \"custom\" (--prior-mean), \"counts\" (--prior-counts) or\n\"worst-case\" (the largest error, whatever the teachers do)")
	fl.Float64Var(&f.priorMean, "prior-mean", solve.DefaultPriorMean, "mean probability that a teacher votes for the likelier\nanswer, in (0.5,1)")
	fl.StringVar(&f.priorCounts, "prior-counts", "", "file with how often each number of votes occurs (CSV: votes,count);\nit becomes part of the mechanism, so it must come from PUBLIC data")
	fl.StringVar(&f.shape, "shape", string(gamma.Free), "noise functions to choose from: \"free\", or \"monotone\" (never more noise with\nmore agreement)")
	fl.StringVar(&f.method, "method", string(solve.CuttingPlanes), "\"cutting-planes\", or \"exhaustive\" to hand all constraints to\nthe solver")
	fl.StringVar(&f.onInterrupt, "on-interrupt", "nothing", "when Ctrl-C or --timeout ends the solve: \"nothing\", or \"best\" for\nthe best certified table so far, with the gap proved by\nthen")
	fl.DurationVar(&f.timeout, "timeout", 0, "give up solving after this time, such as 90s (default none)")
}

// reach returns how many of k teachers one record can reach, and whether that was said.
func (f *problemFlags) reach(c *cobra.Command, k int) (int, bool, error) {
	switch {
	case c.Flags().Changed("affected"):
		if f.data != "" {
			return 0, false, usagef("--affected and --data exclude each other")
		}
		return f.affected, true, nil
	case f.data == "disjoint":
		return 1, true, nil
	case f.data == "overlapping":
		return k, true, nil
	case c.Flags().Changed("data"):
		return 0, false, usagef("data = %q, but it must be \"disjoint\" or \"overlapping\"", f.data)
	}
	return k, false, nil
}

func (f *problemFlags) registerCache(c *cobra.Command) {
	c.Flags().BoolVar(&f.noCache, "no-cache", false, "neither read nor write the cache of solved tables")
	c.Flags().StringVar(&f.cacheDir, "cache-dir", "", "directory of the cache (default see darrm cache path)")
}

// solveFlagNames are those that a given table makes meaningless.
var solveFlagNames = []string{
	"prior", "prior-mean", "prior-counts", "shape", "method", "on-interrupt", "timeout",
}

// budget is what require wants of every command that solves.
const budget = "m|total-eps"

func (f *problemFlags) problem(c *cobra.Command, k int) (constraints.Problem, error) {
	teacherDelta := f.teacherDelta
	if math.IsInf(f.epsilon, 1) && !c.Flags().Changed("teacher-delta") {
		teacherDelta = 0 // the default is not for teachers that promise nothing
	}
	p, err := constraints.NewProblem(k, f.m, f.epsilon, teacherDelta)
	if c.Flags().Changed("total-eps") {
		if err := check.TotalEpsilon(f.totalEpsilon); err != nil {
			return p, err // 0 would mean "not given" to the library
		}
		p, err = constraints.NewTotalProblem(k, f.totalEpsilon, f.epsilon, teacherDelta)
	}
	if err != nil && !c.Flags().Changed("delta") {
		return p, err
	}
	reach, said, reachErr := f.reach(c, k)
	if reachErr != nil {
		return p, reachErr
	}
	if said {
		p.Affected = reach
		if err := p.Validate(); err != nil && !c.Flags().Changed("delta") {
			return p, err
		}
		p.Delta = p.DefaultDelta()
	}
	if c.Flags().Changed("delta") {
		p.Delta = f.delta
	}
	return p, p.Validate()
}

// options checks all flags that do not describe the problem. It reads no file: see
// counts.
func (f *problemFlags) options(c *cobra.Command) (solve.Options, error) {
	o := solve.Options{Version: version}
	var err error
	if o.Shape, err = gamma.ParseShape(f.shape); err != nil {
		return o, err
	}
	if o.Method, err = solve.ParseMethod(f.method); err != nil {
		return o, err
	}
	if f.timeout < 0 {
		return o, usagef("timeout = %v, but it must be > 0", f.timeout)
	}
	switch f.onInterrupt {
	case "nothing":
	case "best":
		o.BestOnCancel = true
	default:
		return o, usagef("on-interrupt = %q, but it must be \"nothing\" or \"best\"", f.onInterrupt)
	}
	prior, mean, counts := f.prior, c.Flags().Changed("prior-mean"), f.priorCounts != ""
	if prior == "" {
		switch {
		case counts:
			prior = "counts"
		case mean:
			prior = "custom"
		default:
			prior = "uniform"
		}
	}
	if mean != (prior == "custom") {
		return o, usagef("prior = %q: --prior-mean goes with \"custom\", and only with it", prior)
	}
	if counts != (prior == "counts") {
		return o, usagef("prior = %q: --prior-counts goes with \"counts\", and only with it", prior)
	}
	switch prior {
	case "uniform":
		o.PriorMean = solve.DefaultPriorMean
	case "clear":
		o.PriorMean = solve.ClearPriorMean
	case "custom":
		// Here, since a prior mean of 0 that was typed would be the default to solve.
		o.PriorMean, err = f.priorMean, check.PriorMean(f.priorMean)
	case "worst-case":
		o.WorstCase = true
	case "counts":
	default:
		err = usagef("prior = %q, but it must be \"uniform\", \"clear\", \"custom\", \"counts\" or \"worst-case\"", prior)
	}
	return o, err
}

// counts reads the file of --prior-counts, if one was given.
func (f *problemFlags) counts(c *cobra.Command, a *app, k int) ([]float64, error) {
	if f.priorCounts == "" {
		return nil, nil
	}
	r, err := a.open(c.Context(), f.priorCounts)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	counts, err := votes.ReadHistogram(r, f.priorCounts, k)
	if err != nil {
		return nil, inputError{err}
	}
	a.say("darrm: the prior counts in %s become part of the mechanism: they must come from public data", f.priorCounts)
	return counts, nil
}

// store opens the cache, or returns nil where none is wanted. It fails before any
// work is done if the cache cannot be written.
func (f *problemFlags) store() (*cache.Store, error) {
	if f.noCache {
		return nil, nil
	}
	dir := f.cacheDir
	if dir == "" {
		var err error
		if dir, err = cache.DefaultDir(); err != nil {
			return nil, outputError{err}
		}
	}
	return cache.Open(dir)
}

// solve returns the certified table for k teachers. A cache that fails to store
// is an error only after the table was delivered: see solved.
func (f *problemFlags) solve(c *cobra.Command, a *app, k int) (solved, error) {
	p, err := f.problem(c, k)
	if err != nil {
		return solved{}, err
	}
	return f.solveProblem(c, a, p)
}

// solveProblem is solve for a problem that is not quite the flags'.
func (f *problemFlags) solveProblem(c *cobra.Command, a *app, p constraints.Problem) (solved, error) {
	o, err := f.options(c)
	if err != nil {
		return solved{}, err
	}
	if o.Counts, err = f.counts(c, a, p.K); err != nil {
		return solved{}, err
	}
	store, err := f.store()
	if err != nil {
		return solved{}, err
	}
	ctx := c.Context()
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.timeout)
		defer cancel()
	}
	progress := newProgress(a)
	defer progress.stop()
	o.Progress = progress.round
	start := time.Now()
	r, err := solve.Cached(ctx, store, p, o)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("timeout = %v was not enough to solve: %w", f.timeout, err)
	}
	s := solved{Result: r, took: time.Since(start)}
	if err != nil && r.Table != nil {
		s.unsaved = outputError{err}
		err = nil
	}
	progress.stop()
	if err == nil && ctx.Err() != nil && o.BestOnCancel {
		a.say("darrm: stopped early: this is the best certified table so far, within %.3g of the optimum", r.Table.Gap)
	}
	if r.Rejected != nil {
		a.say("darrm: not used, and solved again: %v", r.Rejected)
	}
	return s, err
}

// solved is a table with how it was come by.
type solved struct {
	solve.Result
	took    time.Duration
	unsaved error // the cache could not store the table
}
