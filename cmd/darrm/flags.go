package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
)

// problemFlags are the flags that say which noise function is wanted and how to
// get it.
type problemFlags struct {
	m, epsilon, teacherDelta, delta float64
	affected                        int
	priorMean                       float64
	shape, method                   string
	noCache                         bool
	cacheDir                        string
	timeout                         time.Duration
}

func (f *problemFlags) register(c *cobra.Command, epsilon, teacherDelta float64) {
	fl := c.Flags()
	fl.Float64Var(&f.m, "m", 0, "privacy allowance: one released answer may cost m·ε (any number > 0)")
	fl.Float64Var(&f.epsilon, "eps", epsilon, "ε of each teacher")
	fl.Float64Var(&f.teacherDelta, "teacher-delta", teacherDelta, "Δ of each teacher, in [0,1)")
	fl.Float64Var(&f.delta, "delta", 0, "δ of one released answer (default 1-(1-Δ)^m)")
	fl.IntVar(&f.affected, "affected", 0, "how many teachers one person's record can reach (default all)")
	fl.Float64Var(&f.priorMean, "prior-mean", solve.DefaultPriorMean, "mean probability that a teacher votes for the likelier answer, in (0.5,1);\nit decides what is optimal, never what is private")
	fl.StringVar(&f.shape, "shape", string(gamma.Free), `noise functions to choose from: "free", or "monotone" (never more noise with\nmore agreement)`)
	fl.StringVar(&f.method, "method", string(solve.CuttingPlanes), `"cutting-planes", or "exhaustive" to hand all constraints to the solver`)
	fl.DurationVar(&f.timeout, "timeout", 0, "give up solving after this time, such as 90s (default none)")
	f.registerCache(c)
}

func (f *problemFlags) registerCache(c *cobra.Command) {
	c.Flags().BoolVar(&f.noCache, "no-cache", false, "neither read nor write the cache of solved tables")
	c.Flags().StringVar(&f.cacheDir, "cache-dir", "", "directory of the cache (default see darrm cache path)")
}

// problemFlagNames are those that a given table makes meaningless.
var problemFlagNames = []string{"m", "eps", "teacher-delta", "delta", "affected", "prior-mean", "shape", "method"}

func (f *problemFlags) problem(c *cobra.Command, k int) (constraints.Problem, error) {
	p, err := constraints.NewProblem(k, f.m, f.epsilon, f.teacherDelta)
	if c.Flags().Changed("delta") {
		p.Delta = f.delta
		err = p.Validate()
	}
	if err == nil && c.Flags().Changed("affected") {
		p.Affected = f.affected
		err = p.Validate()
	}
	return p, err
}

func (f *problemFlags) options() (solve.Options, error) {
	shape, err := gamma.ParseShape(f.shape)
	if err != nil {
		return solve.Options{}, err
	}
	method, err := solve.ParseMethod(f.method)
	if err != nil {
		return solve.Options{}, err
	}
	o := solve.Options{PriorMean: f.priorMean, Shape: shape, Method: method, Version: version}
	// 0 would mean the default to the library; here it was typed.
	if f.priorMean == 0 {
		return o, gamma.Objective{PriorMean: 0, Shape: shape}.Validate()
	}
	return o, nil
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
	o, err := f.options()
	if err != nil {
		return solved{}, err
	}
	store, err := f.store()
	if err != nil {
		return solved{}, err
	}
	ctx := c.Context()
	if f.timeout < 0 {
		return solved{}, usagef("timeout = %v, but it must be > 0", f.timeout)
	}
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
	s := solved{Result: r, took: time.Since(start)}
	if err != nil && r.Table != nil {
		s.unsaved = outputError{err}
		err = nil
	}
	progress.stop()
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
