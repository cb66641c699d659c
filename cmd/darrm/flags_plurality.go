package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/votes"
)

// pluralityFlags say what a mechanism of many classes is to be best at, beside --prior-counts,
// which two classes have too.
type pluralityFlags struct {
	accuracy, concentration, abstain, gap float64
}

func (f *pluralityFlags) registerPlurality(c *cobra.Command) {
	fl := c.Flags()
	fl.Float64Var(&f.concentration, "concentration", plurality.DefaultConcentration, "many classes: presume that classes have uneven shares of a query's votes, the more so the smaller this is, in (0,1e6] (for two classes the default is --accuracy 0.75). What is presumed decides what is useful, never what is private")
	fl.Float64Var(&f.accuracy, "accuracy", 0, "many classes, instead of --concentration: presume that each teacher is right with this probability, in (1/C,1), one by one, and otherwise votes for any other class")
	fl.Float64Var(&f.abstain, "abstain", 0, "many classes: the mechanism may also answer no class, which is worth this in [0,1], where a plurality class is worth 1")
}

func (f *pluralityFlags) registerGap(c *cobra.Command, otherwise float64) {
	c.Flags().Float64Var(&f.gap, "gap", otherwise, "many classes: stop once the value is proved to be within this of the optimum's")
}

// pluralityFlagNames are the flags of registerPlurality, which go with many classes only.
var pluralityFlagNames = []string{"concentration", "accuracy", "abstain"}

// check refuses flags of the other kind of problem: of two classes where --classes is given, of
// many where it is not, more among them. infinite and noDelta say that --eps and --teacher-delta
// say what holds for many classes anyway.
func (f *pluralityFlags) check(c *cobra.Command, objective string, infinite, noDelta bool, more ...string) error {
	if !c.Flags().Changed("classes") {
		for _, name := range slices.Concat(pluralityFlagNames, more) {
			if c.Flags().Changed(name) {
				return usagef("--%s goes with --classes", name)
			}
		}
		return nil
	}
	for _, name := range []string{"m", "prior", "prior-mean", "shape"} {
		if c.Flags().Changed(name) {
			return usagef("--%s does not go with --classes", name)
		}
	}
	switch {
	case objective == objectiveSource:
		return usagef("objective = %q, but with --classes it is always %q", objective, objectiveAgreement)
	case c.Flags().Changed("eps") && !infinite, c.Flags().Changed("teacher-delta") && !noDelta:
		return usagef("--eps and --teacher-delta do not go with --classes: nothing is presumed of the teachers")
	}
	return require(c, "K", "total-eps", "affected|data")
}

// law is what the flags say a mechanism is to be best for, without the histograms where
// --prior-counts names a file. It reads nothing.
func (f *pluralityFlags) law(c *cobra.Command, priorCounts string, classes int) (o plurality.Objective, err error) {
	accuracy, concentration := c.Flags().Changed("accuracy"), c.Flags().Changed("concentration")
	switch {
	case priorCounts == countsUniform || priorCounts == countsBinomial:
		return o, usagef("prior-counts = %q goes with two classes: give a file of histograms, --concentration or --accuracy", priorCounts)
	case priorCounts != "" && accuracy:
		return o, usagef("--accuracy and --prior-counts exclude each other")
	case priorCounts != "" && concentration:
		return o, usagef("--concentration and --prior-counts exclude each other")
	case accuracy && concentration:
		return o, usagef("--accuracy and --concentration exclude each other")
	// Checked here, since a 0 that was typed would be none to the library.
	case accuracy:
		o.Accuracy, err = f.accuracy, plurality.CheckAccuracy(f.accuracy, classes)
	case concentration:
		o.Concentration, err = f.concentration, plurality.CheckConcentration(f.concentration)
	case priorCounts == "":
		o = plurality.DefaultObjective(classes)
	}
	if err == nil && c.Flags().Changed("abstain") {
		o.AbstainValue, err = f.abstain, plurality.CheckAbstainValue(f.abstain)
	}
	return o, err
}

// pluralityObjective returns the objective for k teachers and so many classes, and whether
// abstaining is an answer. It reads the file of --prior-counts, if there is one.
func (f *pluralityFlags) pluralityObjective(c *cobra.Command, a *app, priorCounts string, k, classes int) (o plurality.Objective, abstain bool, err error) {
	abstain = c.Flags().Changed("abstain")
	if o, err = f.law(c, priorCounts, classes); err != nil || priorCounts == "" {
		return o, abstain, err
	}
	r, err := a.open(c.Context(), priorCounts, votes.MaxHistogramsBytes)
	if err != nil {
		return o, abstain, err
	}
	defer r.Close()
	histograms, counts, err := votes.ReadHistograms(r, priorCounts, k, classes)
	if err != nil {
		return o, abstain, inputError{Err: err}
	}
	o.Counts = plurality.CountHistograms(histograms, counts)
	a.say("darrm: the prior counts in %s become part of the mechanism: they must come from public data", priorCounts)
	return o, abstain, nil
}
