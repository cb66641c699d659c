package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/release"
)

// mechanismFlags choose what answers.
type mechanismFlags struct {
	name       string // "" until resolve, where none was named
	byDefault  bool   // nobody named it: another may take its place
	neighbours string
	threshold  int
	checkRatio float64
	relation   accountant.Relation
}

// The mechanisms that commands choose by themselves.
const (
	mechanismDaRRM   = ensemble.OptimalNoise
	mechanismOptimal = ensemble.OptimalPlurality
)

// mechanismNames returns the values of --mechanism that the table has, those of some kind alone.
func mechanismNames(of func(ensemble.Description) bool) (names []string) {
	for _, d := range ensemble.Mechanisms() {
		if of(d) {
			names = append(names, d.Name)
		}
	}
	return names
}

func anyMechanism(ensemble.Description) bool { return true }
func isBaseline(d ensemble.Description) bool { _, ok := d.Baseline(); return ok }

// checkedMechanisms lists those that --threshold and --check-ratio go with.
func checkedMechanisms() string {
	return strings.Join(mechanismNames(func(d ensemble.Description) bool { return d.Check }), ", ")
}

// described is the chosen mechanism; resolve has filled in its name.
func (f *mechanismFlags) described() ensemble.Description {
	d, _ := ensemble.Describe(f.name) // the flag takes nothing else
	return d
}

func (f *mechanismFlags) register(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.name, "mechanism", "", "what answers: darrm (the optimal γ, the default for two classes), or with the same flags "+
		strings.Join(mechanismNames(isBaseline), ", ")+"; or "+mechanismOptimal+" (the best for the vote counts, the default for more classes), "+
		strings.Join(mechanismNames(ensemble.Description.Calibrated), ", ")+", which take any classes, need --total-eps, --affected (or --data) and no promise of the teachers")
	oneOf(c, "mechanism", mechanismNames(anyMechanism)...)
	fl.IntVar(&f.threshold, "threshold", 0, checkedMechanisms()+": votes that the most popular class needs, noise included (default ⌈0.6·K⌉); it must not be chosen by these votes")
	fl.Float64Var(&f.checkRatio, "check-ratio", ensemble.CheckRatio, checkedMechanisms()+": noise of that check, in units of the noise of the counts")
	f.registerRelation(c)
}

func (f *mechanismFlags) registerRelation(c *cobra.Command) {
	c.Flags().StringVar(&f.neighbours, "neighbours", "replace", "which datasets differ by one person in the teachers' promise and in --affected: \"replace\" a record, or \"add-remove\" one")
	oneOf(c, "neighbours", release.RelationNames()...)
}

func (f *mechanismFlags) prepare(c *cobra.Command) error {
	if err := f.prepareRelation(); err != nil {
		return err
	}
	f.byDefault = f.name == ""
	for _, name := range []string{"threshold", "check-ratio"} {
		if c.Flags().Changed(name) && !f.described().Check {
			return usagef("--%s goes with --mechanism %s", name, checkedMechanisms())
		}
	}
	return nil
}

func (f *mechanismFlags) prepareRelation() (err error) {
	f.relation, err = release.ParseRelation(f.neighbours)
	return err
}

// resolve fills in the mechanism that nobody named, which goes by the number of classes.
func (f *mechanismFlags) resolve(classes int) {
	switch {
	case f.name != "":
	case classes > 2:
		f.name = mechanismOptimal
	default:
		f.name = mechanismDaRRM
	}
}

// majority makes of the optimum of two classes what it is: the noise function that agrees most
// often, for teachers that promise nothing. The answers are the same, coin by coin.
func (f *mechanismFlags) majority(c *cobra.Command, accuracy *float64) error {
	f.name = mechanismDaRRM
	set := map[string]string{"eps": "inf", "objective": objectiveAgreement}
	if c.Flags().Changed("accuracy") {
		set["prior-mean"] = strconv.FormatFloat(*accuracy, 'g', -1, 64)
	}
	for name, value := range set {
		if c.Flags().Lookup(name) == nil {
			continue // the command does not ask what is best
		}
		if err := c.Flags().Set(name, value); err != nil {
			return err
		}
	}
	return nil
}

// usesTable says whether the mechanism is DaRRM with the optimal noise function.
func (f *mechanismFlags) usesTable() bool { return f.described().Table == ensemble.NoiseTable }

// usesPlurality says whether it is the optimal plurality of many classes.
func (f *mechanismFlags) usesPlurality() bool { return f.described().Table == ensemble.PluralityTable }

// usesGamma says whether it is DaRRM, with whatever noise function: it rests on what the
// teachers promise.
func (f *mechanismFlags) usesGamma() bool { return f.described().Teachers }

// solvesNothing refuses the flags of the linear program where none is solved.
func (f *mechanismFlags) solvesNothing(c *cobra.Command, more ...string) error {
	for _, name := range append(more, solveFlagNames...) {
		if c.Flags().Changed(name) {
			return usagef("--%s goes with --mechanism %s: %s uses nothing of it", name, mechanismDaRRM, f.name)
		}
	}
	return nil
}

// baseline returns the mechanism of a baseline for the promise of p, certified for it.
func (f *mechanismFlags) baseline(ctx context.Context, p constraints.Problem) (release.Plan, error) {
	kind, _ := f.described().Baseline()
	b, err := kind.Certify(ctx, p)
	if err != nil {
		return release.Plan{}, err
	}
	a, err := ensemble.Baseline(b, f.relation)
	return release.Plan{Mechanism: a, Problem: p, Certified: b.Certified}, err
}

// require checks what mechanisms over vote counts must be told.
func (f *mechanismFlags) require(c *cobra.Command, p *problemFlags) error {
	if err := require(c, "total-eps", "affected|data"); err != nil {
		return err
	}
	if err := f.solvesNothing(c, "m", "eps", "teacher-delta", "timeout"); err != nil {
		return err
	}
	if f.described().Delta {
		return require(c, "delta")
	}
	if p.delta != 0 {
		return usagef("delta = %v, but %s needs none: leave --delta out", p.delta, f.name)
	}
	return nil
}

// make returns the mechanism with just as much noise as the promise needs.
func (f *mechanismFlags) make(c *cobra.Command, p *problemFlags, k, classes int) (release.Plan, error) {
	reach, _, err := p.reach(c, k)
	if err != nil {
		return release.Plan{}, err
	}
	s := ensemble.Setting{K: k, Classes: classes, Affected: reach, Neighbours: f.relation}
	target := accountant.Cost{Epsilon: p.totalEpsilon, Delta: p.delta}
	g := release.Plan{Problem: ensemble.OfCounts(s, target)}
	g.Mechanism, err = ensemble.Calibrated(f.name, s, target, ensemble.Check{Threshold: f.threshold, Ratio: f.checkRatio})
	return g, err
}
