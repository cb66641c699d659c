package cli

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// FlagGroup has the names of the flags that belong together in help, separated by spaces. The last
// group of a list has no names: it takes all flags that are in no other.
type FlagGroup struct{ Title, Flags string }

// NamedFlags are the flags of a command that are in one group.
type NamedFlags struct {
	Title string
	Flags *pflag.FlagSet
}

// Keys of the annotations of commands and flags that order them in help.
const (
	firstFlags = "first flags" // of a command: their names
	groupNames = "flag groups" // of a command: the titles of its groups
	groupOf    = "flag group"  // of a flag: the title of its group
)

// mostFirst is the number of flags that a help begins with.
const mostFirst = 8

// First has the help of a command begin with the first eight of the named flags that the command
// has, those that most calls need, and puts all others into groups. The command has its flags.
func First(c *cobra.Command, groups []FlagGroup, names ...string) {
	var first, titles []string
	flags := c.LocalFlags() // made anew by each call
	for _, name := range names {
		if f := flags.Lookup(name); f != nil && !f.Hidden && len(first) < mostFirst {
			first = append(first, name)
		}
	}
	for _, g := range groups {
		titles = append(titles, g.Title)
		for _, name := range strings.Fields(g.Flags) {
			if f := flags.Lookup(name); f != nil {
				f.Annotations = withAnnotation(f.Annotations, groupOf, g.Title)
			}
		}
	}
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[firstFlags] = strings.Join(first, " ")
	c.Annotations[groupNames] = strings.Join(titles, "\n")
}

func withAnnotation(all map[string][]string, key, value string) map[string][]string {
	if all == nil {
		all = map[string][]string{}
	}
	all[key] = []string{value}
	return all
}

// hasFirst reports whether a command has a short help.
func hasFirst(c *cobra.Command) bool { return c.Annotations[firstFlags] != "" }

// FlagGroups returns the flags of a command in the groups of its help, those first that most calls
// need, those last that all commands have. No group is empty.
func FlagGroups(c *cobra.Command) []NamedFlags {
	c.InitDefaultHelpFlag()
	newSet := func() *pflag.FlagSet { return pflag.NewFlagSet("", pflag.ContinueOnError) }
	first := NamedFlags{"Flags", c.LocalFlags()}
	global := NamedFlags{"Global flags", c.InheritedFlags()}
	var groups []NamedFlags
	if hasFirst(c) {
		first.Flags, global = newSet(), NamedFlags{global.Title, newSet()}
		first.Flags.SortFlags = false
		for _, name := range strings.Fields(c.Annotations[firstFlags]) {
			first.Flags.AddFlag(c.LocalFlags().Lookup(name))
		}
		for _, title := range strings.Split(c.Annotations[groupNames], "\n") {
			groups = append(groups, NamedFlags{title, newSet()})
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if first.Flags.Lookup(f.Name) != nil {
				return
			}
			to := groups[len(groups)-1].Flags
			for _, g := range groups {
				if title := f.Annotations[groupOf]; title != nil && title[0] == g.Title {
					to = g.Flags
				}
			}
			if f.Name == "help" {
				to = global.Flags
			}
			to.AddFlag(f)
		})
		global.Flags.AddFlagSet(c.InheritedFlags())
	}
	var full []NamedFlags
	for _, g := range append(append([]NamedFlags{first}, groups...), global) {
		if g.Flags.HasAvailableFlags() {
			full = append(full, g)
		}
	}
	return full
}

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
