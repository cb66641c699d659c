package cli

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
)

// Choice is a flag with a fixed list of values, which the shell completes.
type Choice struct {
	pflag.Value
	values []string
}

// Enum adds a flag that takes one of the values, by their names. What target has is the default.
func Enum[T any](c *cobra.Command, target *T, flag, usage string, values ...T) {
	c.Flags().Var(textValue{reflect.ValueOf(target).Elem()}, flag, usage)
	OneOf(c, flag, values...)
}

// OneOf makes a flag a choice. The flag's default is allowed too.
func OneOf[T any](c *cobra.Command, flag string, values ...T) {
	f := c.Flag(flag)
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = textValue{reflect.ValueOf(v)}.String()
	}
	v := &Choice{f.Value, names}
	f.Value = v
	Offer(c, flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return v.values, cobra.ShellCompDirectiveNoFileComp
	})
}

// AlsoOneOf adds values to a choice.
func AlsoOneOf[T ~string](c *cobra.Command, flag string, values ...T) {
	f := c.Flag(flag).Value.(*Choice)
	for _, v := range values {
		f.values = append(f.values, string(v))
	}
}

// Offer completes a flag by a function.
func Offer(c *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // no such flag, or twice: a mistake of the program
	}
}

// Set takes one of the values, in upper or lower case.
func (v *Choice) Set(text string) error {
	if i := slices.IndexFunc(v.values, func(name string) bool {
		return strings.EqualFold(name, text)
	}); i >= 0 {
		return v.Value.Set(v.values[i])
	}
	if text == "" && v.String() == "" {
		return nil
	}
	return fmt.Errorf("%q, but it must be %s%s", text, check.Alternatives(v.values),
		DidYouMean("", Similar(text, v.values)))
}

// Similar returns the names that may have been meant, by cobra's measure for commands.
func Similar(text string, names []string) []string {
	if len(text) < 2 {
		return nil
	}
	c := &cobra.Command{SuggestionsMinimumDistance: 2}
	if len(text) < 4 {
		c.SuggestionsMinimumDistance = 1 // of two letters everything is two changes away
	}
	for _, name := range names {
		c.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	found := c.SuggestionsFor(text)
	for _, name := range names { // the whole word where the name is its beginning, such as epsilon
		if len(name) >= 3 && strings.HasPrefix(strings.ToLower(text), name) &&
			!slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found
}

// Completion offers these file name endings, by the kind of file.
var (
	PictureFiles = []string{"svg", "png"}
	TableFiles   = []string{"json"}
	RecordFiles  = []string{"csv", "tsv", "jsonl", "parquet", "libsvm", "svm", "txt", "idx",
		"gz", "idx3-ubyte"}
	IdxFiles    = []string{"idx", "gz", "idx1-ubyte"}
	LedgerFiles = []string{"ledger"}
)

// TakesFile has the shell complete a flag by files with these endings, any file for none.
func TakesFile(c *cobra.Command, flag string, endings ...string) {
	Offer(c, flag, CompleteFiles(endings...))
}

// TakesFolder has the shell complete a flag by folders.
func TakesFolder(c *cobra.Command, flag string) {
	Offer(c, flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	})
}

// CompleteFiles completes files with these endings, any file for none.
func CompleteFiles(endings ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		if len(endings) == 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

// noCompletion offers nothing: commands without arguments, and flags of free values, complete by
// it.
func noCompletion(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// completeArgs offers no arguments to commands that state none, and no values to flags that state
// none.
func completeArgs(c *cobra.Command) {
	if c.ValidArgsFunction == nil && len(c.ValidArgs) == 0 && !c.HasSubCommands() {
		c.ValidArgsFunction = noCompletion
	}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if _, set := c.GetFlagCompletionFunc(f.Name); !set && f.Value.Type() != "bool" {
			Offer(c, f.Name, noCompletion)
		}
	})
	for _, sub := range c.Commands() {
		completeArgs(sub)
	}
}

// WhenGiven returns the value of a flag that was given, else nil.
func WhenGiven[T any](c *cobra.Command, flag string, v *T) *T {
	if c.Flags().Changed(flag) {
		return v
	}
	return nil
}

// Or returns *v, or otherwise where v is nil.
func Or[T any](v *T, otherwise T) T {
	if v == nil {
		return otherwise
	}
	return *v
}

// Group is a part of the program, by what a person does with it. Groups and their commands are
// listed with the most used first.
type Group struct {
	ID, Title string
	Commands  []Command
}

// Command is a command of the program, which is made where it is needed.
type Command struct {
	Name string // as New names it
	New  func(*App) *cobra.Command
	// Whole is true if the command is about all commands.
	Whole bool
}

// addGroups adds the commands of the groups in their order.
func addGroups(root *cobra.Command, a *App, groups []Group) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.ID, Title: g.Title})
		for _, command := range g.Commands {
			c := command.New(a)
			c.GroupID = g.ID
			root.AddCommand(c)
		}
	}
}

// Needed returns the groups with the one command that the arguments name, or with all commands
// where they name none or one about all. To make all of them takes half the time of a start. A
// shell that completes the arguments of a command needs that command alone.
func Needed(groups []Group, args []string) []Group {
	before := []string{"--json", "-q", "--quiet"}
	if len(args) > 2 {
		before = append(before, cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd)
	}
	for len(args) > 0 && slices.Contains(before, args[0]) {
		args = args[1:]
	}
	for _, g := range groups {
		for _, c := range g.Commands {
			if len(args) > 0 && c.Name == args[0] && !c.Whole {
				return []Group{{g.ID, g.Title, []Command{c}}}
			}
		}
	}
	return groups
}

// Finite returns a number for JSON, nil (null) where x is infinite or not a number.
func Finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

// FiniteCost returns a cost for JSON, nil where ε is infinite.
func FiniteCost(c accountant.Cost) *accountant.Cost {
	if Finite(c.Epsilon) == nil {
		return nil
	}
	return &c
}
