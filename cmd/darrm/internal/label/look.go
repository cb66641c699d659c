package label

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/commandline"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// lookAt surveys files of which perhaps nothing is stated. It is behind aggregate, plan and compare
// without a budget, and behind votes describe.
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
	s, err := votes.Look(ctx, o, votes.Known{Classes: statesClasses(c), Missing: c.Flags().Changed("missing")},
		func(o votes.Options) (*votes.Reader, error) { return kept.Open(ctx, o) }, bar.Rows("reading"))
	if err != nil {
		return nil, release.Unreadable(ctx, err)
	}
	_, notes := commandline.Lasting(paths)
	s.Told = append(s.Told, notes...)
	switch {
	case len(s.Readings) == 0:
		s.Told = append(s.Told, "--classes names what a vote can be; no command is proposed")
	case s.Readings[0].Options.Layout == votes.LayoutLong && (o.K == 0 || o.QueryIDs == nil):
		s.Told = append(s.Told, "--K is the number of teachers, --query-ids the file of all queries")
	}
	return s, nil
}

// factsOf returns what a survey found, as titles and texts.
func factsOf(c *cobra.Command, s *votes.Survey) (facts [][2]string) {
	add := func(title, format string, args ...any) {
		facts = append(facts, [2]string{title, fmt.Sprintf(format, args...)})
	}
	add("found:", "%s", s)
	switch stated := statesClasses(c); {
	case len(s.Values) == 0 && s.Columns.Layout != votes.LayoutCounts.String():
		add("values:", "no votes")
	case len(s.Values) == 0:
	case stated:
		add("values:", "%s, of the classes that you state", joined(s.Values))
	default:
		add("values:", "%s, FOR YOUR EYES ONLY: the votes may lack a class. Confirm them by the task: "+
			"--classes names all that a vote can be", joined(s.Values))
	}
	if n := total(s.Missing); n > 0 {
		text := fmt.Sprintf("%d votes are missing", n)
		if n == 1 {
			text = "1 vote is missing"
		}
		if !statesClasses(c) {
			text += ": " + joined(s.Missing)
		}
		if !c.Flags().Changed("missing") {
			text += "; --missing abstain takes them for no answer"
		}
		add("gaps:", "%s", text)
	}
	if s.Columns.Truth != "" {
		text := fmt.Sprintf("known for %d of %d queries", s.Labelled, s.Queries)
		if len(s.Truth) > 0 {
			text += ": " + joined(s.Truth)
		}
		add("truth:", "%s; a release reads none", text)
	}
	for _, told := range s.Told {
		add("told:", "%s", told)
	}
	for _, asked := range s.Asked {
		add("asked:", "%s", asked)
	}
	return facts
}

// answerOf tells what an answer presumes, and what follows from it.
func answerOf(r *votes.Reading) string {
	if popular := r.Description.Popular(); popular != "" {
		return r.Answer + ": then " + popular
	}
	return r.Answer
}

func joined[T fmt.Stringer](of []T) string {
	var parts []string
	for _, x := range of {
		parts = append(parts, x.String())
	}
	return strings.Join(parts, ", ")
}

func total(of []votes.Spelled) (n int64) {
	for _, s := range of {
		n += s.Votes
	}
	return n
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
	stated, o := f.options, r.Options
	for _, x := range []struct{ flag, value, stated string }{
		{"layout", o.Layout.String(), stated.Layout.String()}, {"id-column", o.IDColumn, stated.IDColumn},
		{"label-column", o.LabelColumn, stated.LabelColumn}, {"votes-column", o.VotesColumn, stated.VotesColumn},
		{"teacher-column", o.TeacherColumn, stated.TeacherColumn}, {"vote-column", o.VoteColumn, stated.VoteColumn},
		{"vote-columns", votes.FormatColumns(o.VoteColumns), votes.FormatColumns(stated.VoteColumns)},
		{"header", o.Header.String(), stated.Header.String()},
	} {
		if x.value != x.stated {
			add(x.flag, x.value)
		}
	}
	if !statesClasses(c) {
		if list := strings.Join(o.Classes, ","); strings.Count(list, ",") == len(o.Classes)-1 {
			add("classes", list)
		} else {
			for _, class := range o.Classes {
				add("class", class)
			}
		}
	}
	for _, s := range o.Same[min(len(stated.Same), len(o.Same)):] {
		add("same", s.String())
	}
	if o.Missing != stated.Missing && !c.Flags().Changed("missing") {
		add("missing", o.Missing.String())
	}
	if reading.ParseFlags(args) != nil || fresh.prepare(reading, paths) != nil {
		return nil
	}
	parsed := fresh.options
	parsed.KeepVotes, parsed.NoTruth, parsed.Stdin = o.KeepVotes, o.NoTruth, o.Stdin
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
