package label

import (
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plan/commandline"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// lookAt surveys files of which little or nothing is stated, for aggregate, plan and compare without a budget, and
// for votes describe.
func lookAt(c *cobra.Command, a *cli.App, f *readFlags, paths []string) (*votes.Survey, error) {
	if err := f.prepare(c, paths); err != nil {
		return nil, err
	}
	ctx := c.Context()
	o := f.options
	if !statesClasses(c) {
		o.Classes = nil
	}
	o.Stdin = a.Stdin(ctx)
	kept, err := votes.Keep(ctx, o, paths...)
	if err != nil {
		return nil, release.Unreadable(ctx, err)
	}
	defer kept.Close() // it was only read again
	bar := cli.NewProgress(a)
	defer bar.Stop()
	s, err := votes.Look(ctx, o, knownOf(c),
		func(o votes.Options) (*votes.Reader, error) { return kept.Open(ctx, o) }, bar.Rows("reading"))
	if err != nil {
		return nil, release.Unreadable(ctx, err)
	}
	_, notes := commandline.Lasting(paths)
	s.Told = append(s.Told, notes...)
	return s, nil
}

// knownOf returns what the flags state.
func knownOf(c *cobra.Command) votes.Known {
	return votes.Known{Classes: statesClasses(c) || statesLabels(c), Missing: c.Flags().Changed("missing")}
}

// factsOf returns what a survey found, by the names of flags.
func factsOf(c *cobra.Command, s *votes.Survey) []votes.Fact {
	return s.Facts(knownOf(c), func(parameter string) string { return cli.FlagOf(check.Parameter(parameter)) })
}

// readArgs returns the files and the flags that state a reading, those that were stated among them;
// nil where the command would read them otherwise.
func readArgs(c *cobra.Command, f *readFlags, paths []string, r *votes.Reading) []string {
	var args []string
	add := func(name, value string) { args = commandline.AddFlag(args, name, value) }
	fresh, reading := readingCommand()
	c.Flags().Visit(func(flag *pflag.Flag) {
		if reading.Flags().Lookup(flag.Name) != nil {
			for _, value := range valuesOf(flag) {
				add(flag.Name, value)
			}
		}
	})
	o := r.Options
	args = commandline.AddFlags(args, commandline.Reading(o, f.options, knownOf(c)))
	if reading.ParseFlags(args) != nil || fresh.prepare(reading, paths) != nil {
		return nil
	}
	parsed := fresh.options
	parsed.KeepVotes, parsed.NoTruth, parsed.Stdin = o.KeepVotes, o.NoTruth, o.Stdin
	if len(o.Labels) > 0 { // no and yes, stated or not
		parsed.Classes = o.Classes
	}
	if !reflect.DeepEqual(parsed, o) {
		return nil
	}
	names, _ := commandline.Lasting(paths)
	return append(names, args...)
}

// readCommand is a command that reads files, as a program reads it.
type readCommand struct {
	Answer  string   `json:"answer,omitempty"` // what it presumes, where something is asked
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// readCommands returns the commands of all readings; none is chosen.
func readCommands(c *cobra.Command, f *readFlags, paths []string, s *votes.Survey,
	words ...string) []readCommand {
	commands := []readCommand{}
	for _, reading := range s.Readings {
		if args := readArgs(c, f, paths, reading); args != nil {
			args = slices.Concat(words, args)
			commands = append(commands, readCommand{reading.Answer,
				strings.Join(commandline.ShellWords(args), " "), args})
		}
	}
	return commands
}

// readingCommand returns a command that has the flags about files of votes, and no others.
func readingCommand() (*readFlags, *cobra.Command) {
	c, f := &cobra.Command{}, &readFlags{}
	f.register(c)
	return f, c
}
