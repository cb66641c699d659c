package cli

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Exclude refuses calls with more than one of the flags, which a shell then does not offer
// together. why ends the error; it may be empty. The command has the flags.
func Exclude(c *cobra.Command, why string, flags ...string) {
	c.MarkFlagsMutuallyExclusive(flags...)
	if why != "" {
		if c.Annotations == nil {
			c.Annotations = map[string]string{}
		}
		c.Annotations[whyExcluded+strings.Join(flags, " ")] = ": " + why
	}
}

// ExcludeEach refuses calls with a flag and any of others.
func ExcludeEach(c *cobra.Command, why, flag string, others ...string) {
	for _, other := range others {
		Exclude(c, why, other, flag)
	}
}

// whyExcluded begins the key of a command's annotation with the reason why flags exclude each
// other.
const whyExcluded = "excluded "

// conflict matches cobra's error of flags that exclude each other: the group, and those given.
var conflict = regexp.MustCompile(
	`\[([^\]]*)\] are set none of the others can be; \[([^\]]*)\] were all set`)

// CheckExcluded returns the error of flags that exclude each other. NewRoot has every command
// checked before it runs; flags that are set later are checked by this.
func CheckExcluded(c *cobra.Command) error {
	err := c.ValidateFlagGroups()
	if err == nil {
		return nil
	}
	m := conflict.FindStringSubmatch(err.Error())
	if m == nil {
		return Usagef("%w", err)
	}
	given := strings.Fields(m[2])
	names := slices.DeleteFunc(strings.Fields(m[1]), func(name string) bool {
		return !slices.Contains(given, name)
	})
	return Usagef("--%s exclude each other%s", strings.Join(names, " and --"),
		c.Annotations[whyExcluded+m[1]])
}
