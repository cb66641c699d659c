package label

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/release"
)

// decisive are the flags of one label and of its mechanism, in the order in which a statement has
// them. A table states itself.
var decisive = append(slices.DeleteFunc(slices.Clone(excluded),
	func(name string) bool { return name == "table" }), "missing", "check-ratio")

// statement returns what the flags state that decides on the mechanism; nil where a table is given.
func (f *answerFlags) statement(c *cobra.Command, budget bool) (*release.Statement, error) {
	if f.table != "" {
		return nil, nil
	}
	reach, _, err := f.Reach(c, release.AllTeachers)
	if err != nil {
		return nil, err
	}
	s := &release.Statement{Affected: reach, Neighbours: f.mechanism.Relation.Name(), Prior: "default"}
	if c.Flags().Changed("prior-mean") {
		s.Prior = fmt.Sprintf("mean %v", f.PriorMean)
	}
	if !budget {
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
	if c.Flags().Changed("eps") && !math.IsInf(f.Epsilon, 1) {
		s.PerTeacher = &accountant.Cost{Epsilon: f.Epsilon, Delta: f.TeacherDelta}
		s.Teachers, s.Ensemble = string(f.charge.Teachers), f.charge.Ensemble
	}
	return s, nil
}

func text(flag *pflag.Flag) string { return flag.Name + "=" + flag.Value.String() }
