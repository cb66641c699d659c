package problem

import (
	"context"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
)

// Flags state the teachers, the privacy of an answer, the objective and the solver.
type Flags struct {
	m, TotalEpsilon, Epsilon float64
	TeacherDelta, Delta      float64
	Affected                 int
	Data                     string
	Method, OnInterrupt      string
	ObjectiveFlags
	CacheFlags
	TimeoutFlag
}

// Register adds the flags to a command, with the default of the objective and those of --eps and
// --teacher-delta.
func (f *Flags) Register(c *cobra.Command, objective string, epsilon, teacherDelta float64) {
	f.RegisterPromise(c, epsilon, teacherDelta)
	f.registerSolve(c, objective)
	f.RegisterCache(c)
}

// The help of the flags of teachers and privacy, of which a sweep takes lists.
const (
	UsageM            = "privacy allowance: one released answer may cost m·ε (any number > 0)"
	UsageLabelEpsilon = "ε of one released answer, instead of m·ε"
	UsageEpsilon      = "ε of each teacher; inf for teachers that promise nothing (then give " +
		"--label-eps)"
	UsageTeacherDelta = "Δ of each teacher, in [0,1)"
	UsageDelta        = "δ of one released answer (default 1-(1-Δ)^min(m, affected))"
	UsageAffected     = "how many teachers one person's record can reach (default all)"
	UsageData         = "what the teachers were trained on, instead of --affected: \"disjoint\" " +
		"parts (one record reaches one teacher) or \"overlapping\" (any number). If a rule that looks at the record split the data, such as a hash, a record that is replaced leaves one teacher and may join another: then --affected 2"
)

// RegisterPromise registers the flags of the teachers and of an answer's privacy.
func (f *Flags) RegisterPromise(c *cobra.Command, epsilon, teacherDelta float64) {
	fl := c.Flags()
	fl.Float64Var(&f.m, "m", 0, UsageM)
	fl.Float64Var(&f.TotalEpsilon, "label-eps", 0, UsageLabelEpsilon)
	fl.Float64Var(&f.Epsilon, "eps", epsilon, UsageEpsilon)
	fl.Float64Var(&f.TeacherDelta, "teacher-delta", teacherDelta, UsageTeacherDelta)
	fl.Float64Var(&f.Delta, "delta", 0, UsageDelta)
	fl.IntVar(&f.Affected, "affected", 0, UsageAffected)
	fl.StringVar(&f.Data, "data", "", UsageData)
	cli.OneOf(c, "data", release.DataNames()...)
	cli.Exclude(c, "", "affected", "data")
}

func (f *Flags) registerSolve(c *cobra.Command, objective string) {
	f.RegisterObjective(c, objective)
	fl := c.Flags()
	fl.StringVar(&f.Method, "method", string(solve.CuttingPlanes),
		"\"cutting-planes\", or \"exhaustive\" to hand all constraints to the solver")
	cli.OneOf(c, "method", solve.Methods()...)
	fl.StringVar(&f.OnInterrupt, "on-interrupt", choose.Nothing,
		"when Ctrl-C or --timeout ends the solve: \"nothing\", or \"best\" for the best certified "+
			"table so far, with the gap proved by then")
	cli.OneOf(c, "on-interrupt", choose.Nothing, choose.Best)
	f.RegisterTimeout(c,
		"give up solving, or checking a table, after this time, such as 90s (default none)")
}

// Reach returns how many of k teachers one record can reach, and whether a flag states it.
func (f *Flags) Reach(c *cobra.Command, k int) (int, bool, error) {
	if c.Flags().Changed("affected") {
		return f.Affected, true, nil
	}
	if !c.Flags().Changed("data") {
		return k, false, nil
	}
	affected, err := release.AffectedByData(f.Data)
	if affected == release.AllTeachers {
		affected = k
	}
	return affected, err == nil, err
}

// AgreementRule names the one metric of solve, plan, compare and a release's scores:
// ensemble.Agreement.
const AgreementRule = "any class with the most votes is right"

// RequiredBudget names the flags of a table's privacy. Every command that solves requires one of
// them.
const RequiredBudget = "m|label-eps"

// stated returns what the flags state about the teachers and the privacy of one answer.
func (f *Flags) stated(c *cobra.Command) (s release.Stated, err error) {
	reach, said, err := f.Reach(c, release.AllTeachers)
	if said {
		s.Affected = &reach
	}
	s.Epsilon, s.TeacherDelta = cli.WhenGiven(c, "eps", &f.Epsilon),
		cli.WhenGiven(c, "teacher-delta", &f.TeacherDelta)
	s.M, s.LabelEpsilon, s.Delta = cli.WhenGiven(c, "m", &f.m),
		cli.WhenGiven(c, "label-eps", &f.TotalEpsilon), cli.WhenGiven(c, "delta", &f.Delta)
	return s, err
}

// problem returns the problem for k teachers that the flags describe, with their defaults.
func (f *Flags) problem(c *cobra.Command, k int) (constraints.Problem, error) {
	s, err := f.stated(c)
	if err != nil {
		return constraints.Problem{}, err
	}
	if c.Flags().Changed("affected") {
		if err := check.Affected(f.Affected, k); err != nil {
			return constraints.Problem{}, err // 0 would mean all of them to the library
		}
	}
	s.Epsilon = &f.Epsilon
	if !math.IsInf(f.Epsilon, 1) { // the default is not for teachers that promise nothing
		s.TeacherDelta = &f.TeacherDelta
	}
	return s.Problem(k)
}

// Request returns the request that the flags describe, of a release or of a comparison. k is the
// number of teachers, or 0 where the votes determine it.
func (f *Flags) Request(c *cobra.Command, a *cli.App, o *OptimalFlags, m *MechanismFlags,
	k int) (r choose.Request, err error) {
	if c.Flags().Changed("affected") && f.Affected < 1 { // 0 would mean all of them to the library
		if k > 0 {
			return r, check.Affected(f.Affected, k)
		}
		return r, &check.Error{Name: "affected", Value: f.Affected,
			Rule: "at least 1, and at most the number of teachers"}
	}
	if r.Stated, err = f.stated(c); err != nil {
		return r, err
	}
	r.Neighbours, r.Mechanism = m.Relation, m.name
	r.Threshold, r.CheckRatio = cli.WhenGiven(c, "threshold", &m.Threshold),
		cli.WhenGiven(c, "check-ratio", &m.CheckRatio)
	r.Noise, r.Many = f.noise(c), o.Many(c)
	r.Timeout, r.SolveWithin = cli.WhenGiven(c, "timeout", &f.timeout),
		cli.WhenGiven(c, "solve-within", &o.Within)
	r.Solve.Histogram, r.Solve.Histograms = Histogram(a), Histograms(a)
	return r, nil
}

// noise returns the objective and the solver of the optimal noise function, as flags state them.
func (f *Flags) noise(c *cobra.Command) choose.Noise {
	n := f.ObjectiveFlags.Noise(c)
	n.Method, n.OnInterrupt = cli.Value(cli.WhenGiven(c, "method", &f.Method)),
		cli.Value(cli.WhenGiven(c, "on-interrupt", &f.OnInterrupt))
	return n
}

// Solve returns the certified table for k teachers. Solved.unsaved holds the error of a cache that
// could not store it.
func (f *Flags) Solve(c *cobra.Command, a *cli.App, k int) (Solved, error) {
	p, err := f.problem(c, k)
	if err != nil {
		return Solved{}, err
	}
	o, err := f.noise(c).Options()
	if err != nil {
		return Solved{}, err
	}
	if err := f.CheckTimeout(c); err != nil {
		return Solved{}, err
	}
	if o.Counts, err = f.noise(c).Counts(c.Context(), k, Histogram(a)); err != nil {
		return Solved{}, err
	}
	return f.solveProblem(c.Context(), a, p, o)
}

// solveProblem returns the certified table of a problem, from the cache if it is there.
func (f *Flags) solveProblem(ctx context.Context, a *cli.App, p constraints.Problem,
	o solve.Options) (Solved, error) {
	store, err := f.Store()
	if err != nil {
		return Solved{}, err
	}
	ctx, cancel := f.Limit(ctx)
	defer cancel()
	progress := cli.NewProgress(a)
	defer progress.Stop()
	o.Version, o.Progress = cli.Version, progress.Round
	start := time.Now()
	r, err := solve.Cached(ctx, store, p, o)
	err = f.Late("solve", err)
	s := Solved{Result: r, Took: time.Since(start)}
	if err != nil && r.Table != nil {
		s.Unsaved = &release.OutputError{Err: err}
		err = nil
	}
	progress.Stop()
	if err == nil && ctx.Err() != nil && o.BestOnCancel {
		a.Say("darrm: stopped early: this is the best certified table so far, within %.3g of the optimum",
			r.Table.Gap)
	}
	if r.Rejected != nil {
		a.Say("darrm: not used, and solved again: %v", r.Rejected)
	}
	return s, err
}

// Solved is a table with its origin.
type Solved struct {
	solve.Result
	Took    time.Duration
	Unsaved error // the cache could not store the table
}
