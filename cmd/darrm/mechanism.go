package main

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
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

const (
	mechanismDaRRM   = "darrm"
	mechanismOptimal = ensemble.OptimalPlurality
	// mechanismFallback takes the place of the optimum where that is not known in time.
	mechanismFallback = "permute-and-flip"
)

// countMechanisms are the values of --mechanism that look at vote counts alone and presume
// nothing of the teachers' votes.
var countMechanisms = []string{"gnmax", "gnmax-renyi", "confident-gnmax", "lnmax", "permute-and-flip"}

// baselineMechanisms are those that are DaRRM with a noise function of their own.
var baselineMechanisms = func() (names []string) {
	for _, kind := range gamma.BaselineKinds() {
		names = append(names, baselineMechanism(kind))
	}
	return names
}()

// baselineMechanism is the value of --mechanism that asks for a baseline: its title, such as
// "randomised-response-tight".
func baselineMechanism(kind gamma.BaselineKind) string {
	return strings.NewReplacer(", ", "-", " ", "-").Replace(kind.Title)
}

// mechanismNames are the values of --mechanism.
var mechanismNames = slices.Concat([]string{mechanismDaRRM, mechanismOptimal}, baselineMechanisms, countMechanisms)

func (f *mechanismFlags) register(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.name, "mechanism", "", "what answers: darrm (the optimal γ, the default for two classes), or with the same flags "+
		strings.Join(baselineMechanisms, ", ")+"; or "+mechanismOptimal+" (the best for the vote counts, the default for more classes), "+strings.Join(countMechanisms, ", ")+
		", which take any classes, need --total-eps, --affected (or --data) and no promise of the teachers")
	oneOf(c, "mechanism", mechanismNames...)
	fl.IntVar(&f.threshold, "threshold", 0, "confident-gnmax: votes that the most popular class needs, noise included (default ⌈0.6·K⌉); it must not be chosen by these votes")
	fl.Float64Var(&f.checkRatio, "check-ratio", 4, "confident-gnmax: noise of that check, in units of the noise of the counts")
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
		if c.Flags().Changed(name) && f.name != "confident-gnmax" {
			return usagef("--%s goes with --mechanism confident-gnmax", name)
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
func (f *mechanismFlags) usesTable() bool { return f.name == mechanismDaRRM }

// usesPlurality says whether it is the optimal plurality of many classes.
func (f *mechanismFlags) usesPlurality() bool { return f.name == mechanismOptimal }

// usesGamma says whether it is DaRRM, with whatever noise function: it rests on what the
// teachers promise.
func (f *mechanismFlags) usesGamma() bool {
	return f.usesTable() || slices.Contains(baselineMechanisms, f.name)
}

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
	kind := gamma.BaselineKinds()[slices.Index(baselineMechanisms, f.name)]
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
	if strings.Contains(f.name, "gnmax") {
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
	g.Mechanism, err = ensemble.Calibrated(strings.ReplaceAll(f.name, "-", "_"), s, target, ensemble.Check{Threshold: f.threshold, Ratio: f.checkRatio})
	return g, err
}
