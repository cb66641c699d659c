package label

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/release"
)

// decisive are the flags of one label and of its mechanism, in the order in which a statement has
// them. A table states itself.
var decisive = append(slices.DeleteFunc(slices.Clone(excluded),
	func(name string) bool { return name == "table" }), "missing", "check-ratio")

// statement returns what the flags state that decides on the mechanism; nil where a table is given. within is nil where each
// label has its own price.
func (f *answerFlags) statement(c *cobra.Command, within *within) (*release.Statement, error) {
	if f.table != "" {
		return nil, nil
	}
	reach, _, err := f.Reach(c, ensemble.AllTeachers)
	if err != nil {
		return nil, err
	}
	s := &release.Statement{Affected: reach, Neighbours: f.Neighbours.Name(), Prior: "default"}
	if mean := f.Noise.PriorMean; mean != nil {
		s.Prior = fmt.Sprintf("mean %v", *mean)
	}
	losses, err := f.Many.Losses(f.read.options.Classes)
	if err != nil {
		return nil, err
	}
	s.Shares, s.Costs = losses.Shares, losses.Costs
	if within != nil {
		s.For = within.purposeOf(losses)
	} else {
		var words []string
		seen := map[string]bool{}
		for _, name := range decisive {
			flag := c.Flags().Lookup(name)
			if flag != nil && flag.Changed && !seen[name] {
				words = append(words, text(flag))
				seen[name] = true
			}
		}
		s.Mechanism = strings.Join(words, " ")
	}
	if each := f.Each(); f.Promised() {
		s.PerTeacher = &each
		s.Teachers, s.Ensemble = string(f.charge.Teachers), f.charge.Ensemble
	}
	return s, nil
}

func text(flag *pflag.Flag) string { return flag.Name + "=" + flag.Value.String() }
