package problem

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/plurality"
)

// PluralityFlags hold the objective of many classes, but for --prior-counts, which two classes have
// too.
type PluralityFlags struct {
	accuracy, concentration, abstain, Gap float64
}

// RegisterPlurality adds the flags to a command, but --gap.
func (f *PluralityFlags) RegisterPlurality(c *cobra.Command) {
	fl := c.Flags()
	fl.Float64Var(&f.concentration, "concentration", plurality.DefaultConcentration,
		"many classes: presume that classes have uneven shares of a query's votes, the more so the "+
			"smaller this is, in (0,1e6] (for two classes the default is --accuracy 0.75). What is "+
			"presumed decides what is useful, never what is private")
	fl.Float64Var(&f.accuracy, "accuracy", 0,
		"many classes, instead of --concentration: presume that each teacher is right with this "+
			"probability, in (1/C,1), one by one, and otherwise votes for any other class")
	fl.Float64Var(&f.abstain, "abstain", 0,
		"many classes: the mechanism may also answer no class, which is worth this in [0,1], where a "+
			"plurality class is worth 1")
}

// RegisterGap adds --gap with its default.
func (f *PluralityFlags) RegisterGap(c *cobra.Command, otherwise float64) {
	c.Flags().Float64Var(&f.Gap, "gap", otherwise,
		"many classes: stop once the value is proved to be within this of the optimum's")
}

// pluralityFlagNames are the flags of registerPlurality, which go with many classes only.
var pluralityFlagNames = []string{"concentration", "accuracy", "abstain"}

// Check refuses flags of the other kind of problem: of two classes where --num-classes is given, of
// many where it is not, more among them. infinite and noDelta state that --eps is inf and
// --teacher-delta 0, which many classes presume anyway.
func (f *PluralityFlags) Check(c *cobra.Command, objective string, infinite, noDelta bool,
	more ...string) error {
	if !c.Flags().Changed("num-classes") {
		for _, name := range slices.Concat(pluralityFlagNames, more) {
			if c.Flags().Changed(name) {
				return cli.Usagef("--%s goes with --num-classes", name)
			}
		}
		return nil
	}
	for _, name := range []string{"m", "prior", "prior-mean", "shape"} {
		if c.Flags().Changed(name) {
			return cli.Usagef("--%s does not go with --num-classes", name)
		}
	}
	switch {
	case objective == choose.Source:
		return cli.Usagef("objective = %q, but with --num-classes it is always %q", objective,
			choose.Agreement)
	case c.Flags().Changed("eps") && !infinite, c.Flags().Changed("teacher-delta") && !noDelta:
		return cli.Usagef("--eps and --teacher-delta do not go with --num-classes: nothing is presumed of " +
			"the teachers")
	}
	return cli.Require(c, "K", "label-eps", "affected|data")
}

// Many returns the objective that the flags state for mechanisms of many classes.
func (f *PluralityFlags) Many(c *cobra.Command) choose.Many {
	return choose.Many{
		Accuracy:      cli.WhenGiven(c, "accuracy", &f.accuracy),
		Concentration: cli.WhenGiven(c, "concentration", &f.concentration),
		Abstain:       cli.WhenGiven(c, "abstain", &f.abstain), Gap: cli.WhenGiven(c, "gap", &f.Gap),
	}
}
