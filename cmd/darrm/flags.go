package main

import (
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
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
	usageEpsilon      = "ε of each teacher; inf for teachers that promise nothing (then give --total-eps)"
	usageTeacherDelta = "Δ of each teacher, in [0,1)"
	usageDelta        = "δ of one released answer (default 1-(1-Δ)^min(m, affected))"
	usageAffected     = "how many teachers one person's record can reach (default all)"
	usageData         = "what the teachers were trained on, instead of --affected: \"disjoint\" parts (one record reaches one teacher) or \"overlapping\" (any number). If a rule that looks at the record split the data, such as a hash, a record that is replaced leaves one teacher and may join another: then --affected 2"
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
	fl.StringVar(&f.method, "method", string(solve.CuttingPlanes), "\"cutting-planes\", or \"exhaustive\" to hand all constraints to the solver")
	oneOf(c, "method", solve.Methods()...)
	fl.StringVar(&f.onInterrupt, "on-interrupt", "nothing", "when Ctrl-C or --timeout ends the solve: \"nothing\", or \"best\" for the best certified table so far, with the gap proved by then")
	oneOf(c, "on-interrupt", "nothing", "best")
	f.registerTimeout(c, "give up solving, or checking a table, after this time, such as 90s (default none)")
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

// solveFlagNames are those that a given table makes meaningless.
var solveFlagNames = []string{
	"objective", "prior", "prior-mean", "prior-counts", "shape", "method", "on-interrupt",
}

// needed returns more and what describes a problem without defaults, for require. Teachers
// that promise nothing have no Δ.
func (f *problemFlags) needed(more ...string) []string {
	more = append(more, budget, "eps")
	if !math.IsInf(f.epsilon, 1) {
		more = append(more, "teacher-delta")
	}
	return more
}

// budget is what require wants of every command that solves.
const budget = "m|total-eps"

// checkWithoutK checks what can be checked before the votes say how many teachers there are; stated is
// their number where the flags say it, else 0.
func (f *problemFlags) checkWithoutK(c *cobra.Command, stated int) error {
	if c.Flags().Changed("affected") && f.affected < 1 {
		return &check.Error{Name: "affected", Value: f.affected, Rule: "at least 1, and at most the number of teachers"}
	}
	_, err := f.problem(c, max(1, stated, f.affected))
	return err
}

// problem returns the problem for k teachers that the flags describe.
func (f *problemFlags) problem(c *cobra.Command, k int) (constraints.Problem, error) {
	p := constraints.Problem{K: k, M: f.m, Epsilon: f.epsilon, TeacherDelta: f.teacherDelta}
	if c.Flags().Changed("total-eps") {
		if err := check.TotalEpsilon(f.totalEpsilon); err != nil {
			return p, err // 0 would mean "not given" to the library
		}
		p.M, p.TotalEpsilon = 0, f.totalEpsilon
	}
	if math.IsInf(f.epsilon, 1) && !c.Flags().Changed("teacher-delta") {
		p.TeacherDelta = 0 // the default is not for teachers that promise nothing
	}
	var err error
	if p.Affected, _, err = f.reach(c, k); err != nil {
		return p, err
	}
	if !c.Flags().Changed("delta") {
		return p.WithDefaultDelta()
	}
	p.Delta = f.delta
	return p, p.Validate()
}

// options checks all flags that do not describe the problem. It reads no file: see
// counts.
func (f *problemFlags) options(c *cobra.Command) (solve.Options, error) {
	o, err := f.objective(c)
	if err != nil {
		return o, err
	}
	if o.Method, err = solve.ParseMethod(f.method); err != nil {
		return o, err
	}
	if err := f.checkTimeout(c); err != nil {
		return o, err
	}
	o.BestOnCancel = f.onInterrupt == "best"
	return o, nil
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
	ctx, cancel := f.limit(c.Context())
	defer cancel()
	progress := newProgress(a)
	defer progress.stop()
	o.Progress = progress.round
	start := time.Now()
	r, err := solve.Cached(ctx, store, p, o)
	err = f.late("solve", err)
	s := solved{Result: r, took: time.Since(start)}
	if err != nil && r.Table != nil {
		s.unsaved = outputError{Err: err}
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
