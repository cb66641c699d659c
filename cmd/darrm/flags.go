package main

import (
	"context"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
)

// problemFlags are the flags that say which noise function is wanted and how to
// get it.
type problemFlags struct {
	m, totalEpsilon, epsilon float64
	teacherDelta, delta      float64
	affected                 int
	data                     string
	method, onInterrupt      string
	objectiveFlags
	cacheFlags
	timeoutFlag
}

func (f *problemFlags) register(c *cobra.Command, epsilon, teacherDelta float64) {
	f.registerPromise(c, epsilon, teacherDelta)
	f.registerSolve(c)
	f.registerCache(c)
}

// What the flags mean that describe the problem: the teachers, and the promise. A sweep
// takes lists of the same.
const (
	usageM            = "privacy allowance: one released answer may cost m·ε (any number > 0)"
	usageTotalEpsilon = "ε of one released answer, instead of m·ε"
	usageEpsilon      = "ε of each teacher; inf for teachers that promise nothing (then give " +
		"--total-eps)"
	usageTeacherDelta = "Δ of each teacher, in [0,1)"
	usageDelta        = "δ of one released answer (default 1-(1-Δ)^min(m, affected))"
	usageAffected     = "how many teachers one person's record can reach (default all)"
	usageData         = "what the teachers were trained on, instead of --affected: \"disjoint\" " +
		"parts (one record reaches one teacher) or \"overlapping\" (any number). If a rule that looks at the record split the data, such as a hash, a record that is replaced leaves one teacher and may join another: then --affected 2"
)

// registerPromise registers what describes the problem.
func (f *problemFlags) registerPromise(c *cobra.Command, epsilon, teacherDelta float64) {
	fl := c.Flags()
	fl.Float64Var(&f.m, "m", 0, usageM)
	fl.Float64Var(&f.totalEpsilon, "total-eps", 0, usageTotalEpsilon)
	fl.Float64Var(&f.epsilon, "eps", epsilon, usageEpsilon)
	fl.Float64Var(&f.teacherDelta, "teacher-delta", teacherDelta, usageTeacherDelta)
	fl.Float64Var(&f.delta, "delta", 0, usageDelta)
	fl.IntVar(&f.affected, "affected", 0, usageAffected)
	fl.StringVar(&f.data, "data", "", usageData)
	oneOf(c, "data", release.DataNames()...)
}

func (f *problemFlags) registerSolve(c *cobra.Command) {
	f.registerObjective(c)
	fl := c.Flags()
	fl.StringVar(&f.method, "method", string(solve.CuttingPlanes),
		"\"cutting-planes\", or \"exhaustive\" to hand all constraints to the solver")
	oneOf(c, "method", solve.Methods()...)
	fl.StringVar(&f.onInterrupt, "on-interrupt", choose.Nothing,
		"when Ctrl-C or --timeout ends the solve: \"nothing\", or \"best\" for the best certified "+
			"table so far, with the gap proved by then")
	oneOf(c, "on-interrupt", choose.Nothing, choose.Best)
	f.registerTimeout(c,
		"give up solving, or checking a table, after this time, such as 90s (default none)")
}

// reach returns how many of k teachers one record can reach, and whether that was said.
func (f *problemFlags) reach(c *cobra.Command, k int) (int, bool, error) {
	if c.Flags().Changed("affected") {
		if f.data != "" {
			return 0, false, errAffectedAndData
		}
		return f.affected, true, nil
	}
	if !c.Flags().Changed("data") {
		return k, false, nil
	}
	affected, err := release.AffectedByData(f.data)
	if affected == release.AllTeachers {
		affected = k
	}
	return affected, err == nil, err
}

var errAffectedAndData = usagef("--affected and --data exclude each other")

// agrees names the one metric of solve, plan, compare and a release's scores: ensemble.Agreement.
const agrees = "any class with the most votes is right"

// budget names the flags of a table's privacy. Every command that solves requires one of them.
const budget = "m|total-eps"

// stated returns what the flags state about the teachers and the privacy of one answer.
func (f *problemFlags) stated(c *cobra.Command) (s release.Stated, err error) {
	reach, said, err := f.reach(c, release.AllTeachers)
	if said {
		s.Affected = &reach
	}
	s.Epsilon, s.TeacherDelta = whenGiven(c, "eps", &f.epsilon),
		whenGiven(c, "teacher-delta", &f.teacherDelta)
	s.M, s.TotalEpsilon, s.Delta = whenGiven(c, "m", &f.m), whenGiven(c, "total-eps", &f.totalEpsilon),
		whenGiven(c, "delta", &f.delta)
	return s, err
}

// problem returns the problem for k teachers that the flags describe, with their defaults.
func (f *problemFlags) problem(c *cobra.Command, k int) (constraints.Problem, error) {
	s, err := f.stated(c)
	if err != nil {
		return constraints.Problem{}, err
	}
	if c.Flags().Changed("affected") {
		if err := check.Affected(f.affected, k); err != nil {
			return constraints.Problem{}, err // 0 would mean all of them to the library
		}
	}
	s.Epsilon = &f.epsilon
	if !math.IsInf(f.epsilon, 1) { // the default is not for teachers that promise nothing
		s.TeacherDelta = &f.teacherDelta
	}
	return s.Problem(k)
}

// request returns the request that the flags describe, of a release or of a comparison. k is the
// number of teachers, or 0 where the votes determine it.
func (f *problemFlags) request(c *cobra.Command, a *app, o *optimalFlags, m *mechanismFlags,
	k int) (r choose.Request, err error) {
	if c.Flags().Changed("affected") && f.affected < 1 { // 0 would mean all of them to the library
		if k > 0 {
			return r, check.Affected(f.affected, k)
		}
		return r, &check.Error{Name: "affected", Value: f.affected,
			Rule: "at least 1, and at most the number of teachers"}
	}
	if r.Stated, err = f.stated(c); err != nil {
		return r, err
	}
	r.Neighbours, r.Mechanism = m.relation, m.name
	r.Threshold, r.CheckRatio = whenGiven(c, "threshold", &m.threshold),
		whenGiven(c, "check-ratio", &m.checkRatio)
	r.Noise, r.Many = f.noise(c), o.many(c)
	r.Timeout, r.SolveWithin = whenGiven(c, "timeout", &f.timeout),
		whenGiven(c, "solve-within", &o.within)
	r.Solve.Histogram, r.Solve.Histograms = a.histogram, a.histograms
	return r, nil
}

// noise returns the objective and the solver of the optimal noise function, as flags state them.
func (f *problemFlags) noise(c *cobra.Command) choose.Noise {
	n := f.objectiveFlags.noise(c)
	n.Method, n.OnInterrupt = value(whenGiven(c, "method", &f.method)),
		value(whenGiven(c, "on-interrupt", &f.onInterrupt))
	return n
}

// solve returns the certified table for k teachers. A cache that fails to store
// is an error only after the table was delivered: see solved.
func (f *problemFlags) solve(c *cobra.Command, a *app, k int) (solved, error) {
	p, err := f.problem(c, k)
	if err != nil {
		return solved{}, err
	}
	o, err := f.noise(c).Options()
	if err != nil {
		return solved{}, err
	}
	if err := f.checkTimeout(c); err != nil {
		return solved{}, err
	}
	if o.Counts, err = f.noise(c).Counts(c.Context(), k, a.histogram); err != nil {
		return solved{}, err
	}
	return f.solveProblem(c.Context(), a, p, o)
}

// solveProblem returns the certified table of a problem, from the cache if it is there.
func (f *problemFlags) solveProblem(ctx context.Context, a *app, p constraints.Problem,
	o solve.Options) (solved, error) {
	store, err := f.store()
	if err != nil {
		return solved{}, err
	}
	ctx, cancel := f.limit(ctx)
	defer cancel()
	progress := newProgress(a)
	defer progress.stop()
	o.Version, o.Progress = version, progress.round
	start := time.Now()
	r, err := solve.Cached(ctx, store, p, o)
	err = f.late("solve", err)
	s := solved{Result: r, took: time.Since(start)}
	if err != nil && r.Table != nil {
		s.unsaved = release.OutputError{Err: err}
		err = nil
	}
	progress.stop()
	if err == nil && ctx.Err() != nil && o.BestOnCancel {
		a.say("darrm: stopped early: this is the best certified table so far, within %.3g of the optimum",
			r.Table.Gap)
	}
	if r.Rejected != nil {
		a.say("darrm: not used, and solved again: %v", r.Rejected)
	}
	return s, err
}

// solved is a table with its origin.
type solved struct {
	solve.Result
	took    time.Duration
	unsaved error // the cache could not store the table
}
