package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/release"
)

// answerFlags say what answers votes, and who pays.
type answerFlags struct {
	problemFlags
	mechanism mechanismFlags
	optimal   optimalFlags
	read      readFlags
	charge    chargeFlags
	table     string
	// teachersOfTable says that what the teachers promise comes from the table alone.
	teachersOfTable bool
}

// register registers the flags of the mechanism.
func (f *answerFlags) register(c *cobra.Command) {
	f.problemFlags.register(c, 0, 0)
	f.mechanism.register(c)
	f.optimal.registerPlurality(c)
	f.optimal.registerGap(c, defaultGap)
	c.Flags().StringVar(&f.table, "table", "", "use the noise function, or the table of many classes, in this file, certified again, instead of solving")
	takesFile(c, "table", tableFiles...)
}

// prepare checks the flags, returns the mechanism of the table that was given, if one was, and says
// whether the teachers promise anything.
func (f *answerFlags) prepare(c *cobra.Command, a *app) (given chosen, promise bool, err error) {
	if err := f.mechanism.prepare(c); err != nil {
		return chosen{}, false, err
	}
	if f.table != "" {
		return f.prepareTable(c, a)
	}
	promise, err = f.prepareMechanism(c)
	return chosen{}, promise, err
}

// prepareMechanism checks what is said of the mechanism, before a large file is read, and says
// whether the teachers promise anything.
func (f *answerFlags) prepareMechanism(c *cobra.Command) (promise bool, err error) {
	classes := len(f.read.options.Classes)
	f.mechanism.resolve(classes)
	if !f.mechanism.usesPlurality() {
		if err := f.mechanism.withoutOptimum(c, classes); err != nil {
			return false, err
		}
	}
	switch {
	case f.mechanism.usesPlurality():
		if err := f.optimal.prepare(c, &f.mechanism, &f.problemFlags, classes); err != nil || f.mechanism.usesPlurality() {
			return false, err
		}
	case !f.mechanism.usesGamma():
		return false, f.mechanism.require(c, &f.problemFlags)
	}
	if err := require(c, f.needed()...); err != nil {
		return false, err
	}
	if err := f.checkWithoutK(c, f.read.options.K); err != nil {
		return false, err
	}
	if _, err := f.options(c); err != nil {
		return false, err
	}
	if !f.mechanism.usesTable() {
		if err := f.mechanism.solvesNothing(c); err != nil {
			return false, err
		}
	}
	return !math.IsInf(f.epsilon, 1), nil
}

// prepareTable reads the table that was given, compares it with what was said, and says whether its
// teachers promise anything.
func (f *answerFlags) prepareTable(c *cobra.Command, a *app) (g chosen, promise bool, err error) {
	if f.mechanism.name != "" && !f.mechanism.usesTable() && !f.mechanism.usesPlurality() {
		return g, false, usagef("--table goes with --mechanism %s or %s", mechanismDaRRM, mechanismOptimal)
	}
	for _, name := range slices.Concat(solveFlagNames, optimalFlagNames) {
		if c.Flags().Changed(name) {
			return g, false, usagef("--%s and --table exclude each other: the table is solved", name)
		}
	}
	if err := f.checkTimeout(c); err != nil {
		return g, false, err
	}
	table, err := f.readAnyTable(c, a, f.table)
	if err != nil {
		return g, false, err
	}
	if table.Plurality != nil && f.mechanism.usesTable() {
		return g, false, usagef("--mechanism %s, but %s is a table of many classes: say --mechanism %s", mechanismDaRRM, f.table, mechanismOptimal)
	}
	if g.Plan, err = table.Plan(f.mechanism.relation); err != nil {
		return g, false, err
	}
	g.table, g.optimal = table.Gamma, table.Plurality
	setting := g.Mechanism.Setting()
	stated, err := f.stated(c, setting.K)
	if err != nil {
		return g, false, err
	}
	if err := stated.Match(g.Problem, f.table); err != nil {
		return g, false, err
	}
	f.teachersOfTable = !stated.Teachers()
	if f.read.options.K != 0 && f.read.options.K != setting.K {
		return g, false, usagef("K = %d, but %s is for K = %d teachers", f.read.options.K, f.table, setting.K)
	}
	f.read.options.K = setting.K
	if n := len(f.read.options.Classes); n != setting.Classes {
		return g, false, usagef("%d classes, but %s is for %d: say --classes or --num-classes", n, f.table, setting.Classes)
	}
	return g, !math.IsInf(g.Problem.Epsilon, 1), nil
}

// stated is what the flags say of the teachers and the release.
func (f *answerFlags) stated(c *cobra.Command, k int) (s release.Stated, err error) {
	reach, said, err := f.reach(c, k)
	if said {
		s.Affected = &reach
	}
	for _, v := range []struct {
		flag  string
		value *float64
		field **float64
	}{
		{"eps", &f.epsilon, &s.Epsilon}, {"teacher-delta", &f.teacherDelta, &s.TeacherDelta},
		{"m", &f.m, &s.M}, {"total-eps", &f.totalEpsilon, &s.TotalEpsilon}, {"delta", &f.delta, &s.Delta},
	} {
		if c.Flags().Changed(v.flag) {
			*v.field = v.value
		}
	}
	return s, err
}

// chosen is the mechanism of a release.
type chosen struct {
	release.Plan
	table   *gamma.Table     // of the optimal noise function; else nil
	optimal *plurality.Table // of the optimal plurality; else nil
	instead error            // why there is none, where there should have been one
}

// choose makes the mechanism for k teachers, solving where no table was given. The
// second error is a cache's, to be returned at the end.
func (f *answerFlags) choose(c *cobra.Command, a *app, given chosen, k, classes int) (chosen, error, error) {
	if given.Mechanism != nil {
		return given, nil, nil
	}
	if f.mechanism.usesPlurality() {
		return f.chooseOptimal(c, a, k, classes)
	}
	if !f.mechanism.usesGamma() {
		plan, err := f.mechanism.make(c, &f.problemFlags, k, classes)
		return chosen{Plan: plan}, nil, err
	}
	if classes != 2 {
		return chosen{}, nil, &check.Error{Name: "number of classes", Value: classes, Rule: "2 for DaRRM and its baselines; see --mechanism for others"}
	}
	if !f.mechanism.usesTable() {
		p, err := f.problem(c, k)
		if err != nil {
			return chosen{}, nil, err
		}
		ctx, cancel := f.limit(c.Context())
		defer cancel()
		plan, err := f.mechanism.baseline(ctx, p)
		return chosen{Plan: plan}, nil, f.late("certify", err)
	}
	s, err := f.solve(c, a, k)
	if err != nil {
		return chosen{}, nil, err
	}
	plan, err := release.DaRRM(s.Table.Certified, f.mechanism.relation)
	return chosen{Plan: plan, table: s.Table}, s.unsaved, err
}

// chooseOptimal makes the optimal plurality. Where nobody named it and it is not known in time,
// another (ensemble.Fallback) keeps the same ε; a table that the clock made would be another the next time.
func (f *answerFlags) chooseOptimal(c *cobra.Command, a *app, k, classes int) (chosen, error, error) {
	p, err := f.pluralityProblem(c, k, classes)
	if err != nil {
		return chosen{}, nil, err
	}
	objective, _, err := f.optimal.pluralityObjective(c, a, f.priorCounts, k, classes)
	if err != nil {
		return chosen{}, nil, err
	}
	limit := f.optimal.within
	if !f.mechanism.byDefault {
		limit = 0
	}
	t, err := f.optimal.solve(c, a, &f.problemFlags, p, objective, limit)
	late := tooLong(err)
	if late != nil && f.charge.checkpoint != "" {
		return chosen{}, nil, fmt.Errorf("%w; %s does not take its place, since --checkpoint needs a table", late, ensemble.Fallback)
	}
	if late != nil && f.mechanism.byDefault && !p.Abstain {
		f.mechanism.name = ensemble.Fallback
		plan, err := f.mechanism.make(c, &f.problemFlags, k, classes)
		if err != nil {
			return chosen{}, nil, err
		}
		plan.Problem.Delta = 0 // it spends none
		return chosen{Plan: plan, instead: late}, nil, nil
	}
	if err != nil {
		return chosen{}, nil, cmp.Or(late, err)
	}
	plan, err := release.Plurality(t.Certified, f.mechanism.relation)
	return chosen{Plan: plan, optimal: t.Table}, t.unsaved, err
}
