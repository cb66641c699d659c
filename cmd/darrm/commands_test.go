package main

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/release/exitcode"
)

func walk(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		walk(sub, visit)
	}
}

// Every command explains itself: what it does, how it may end, what each flag means.
func TestEveryCommandIsDocumented(t *testing.T) {
	var visited []string
	walk(cli.NewRoot(&cli.App{}, commandGroups), func(c *cobra.Command) {
		path := c.CommandPath()
		if c.IsAdditionalHelpTopicCommand() {
			return
		}
		visited = append(visited, path)
		if c.Short == "" || !unicode.IsUpper(rune(c.Short[0])) || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: Short = %q, want a capital first and no full stop", path, c.Short)
		}
		if c.Long == "" || strings.HasSuffix(c.Long, "\n") {
			t.Errorf("%s: Long = %q", path, c.Long)
		}
		if c.RunE == nil || c.Run != nil {
			t.Errorf("%s: must have a RunE, so that its errors become exit codes", path)
		}
		if c.Args == nil {
			t.Errorf("%s: takes any arguments", path)
		}
		// account is a plan of its own, and account train another; plan is of labels and plan train of
		// a model; serve token serves nothing; train chooses the method where its commands are one
		// each; the root has --version.
		if !slices.Contains([]string{"account", "plan", "serve", "train"}, c.Name()) && c.HasParent() &&
			c.LocalNonPersistentFlags().HasAvailableFlags() && c.HasSubCommands() {
			t.Errorf("%s: has flags that its commands do not", path)
		}
		c.InitDefaultHelpFlag()
		check := func(f *pflag.Flag) {
			if f.Usage == "" || strings.Contains(f.Usage, "\n") || strings.HasSuffix(f.Usage, ".") {
				t.Errorf("%s --%s: usage = %q", path, f.Name, f.Usage)
			}
		}
		c.LocalFlags().VisitAll(check)
		c.InheritedFlags().VisitAll(check)
		if c.Flag("json") == nil {
			t.Errorf("%s has no --json", path)
		}
	})
	want := "darrm darrm account darrm account train darrm account train convex darrm account train " +
		"federated darrm account train metric darrm account train pairwise darrm account train shuffled darrm aggregate darrm bounds darrm budget darrm budget adopt darrm budget history darrm budget init darrm budget report darrm budget show darrm budget verify darrm cache darrm cache clear darrm cache list darrm cache path darrm certify darrm compare darrm completion darrm evaluate darrm experiment darrm experiment list darrm experiment run darrm experiment show darrm federated darrm federated aggregate darrm federated encode darrm federated init darrm federated local darrm federated pass darrm federated run darrm federated shuffle darrm label-law darrm man darrm mean darrm mean decode darrm mean encode darrm mean predict darrm mean simulate darrm plan darrm plan train darrm predict darrm report darrm serve darrm serve token darrm solve darrm sweep darrm train darrm train convex darrm train describe darrm train federated darrm train metric darrm train pairwise darrm train shuffled darrm verify darrm version darrm votes darrm votes describe darrm web"
	slices.Sort(visited)
	if got := strings.Join(visited, " "); got != want {
		t.Errorf("commands: %s\nwant %s: is this test out of date?", got, want)
	}
}

// A command that is made by itself has the name by which it is found, and the help that it has
// among all others.
func TestCommandsByThemselves(t *testing.T) {
	help := func(groups []cli.Group, args ...string) string {
		var out bytes.Buffer
		root := cli.NewRoot(&cli.App{In: strings.NewReader(""), Out: &out, Err: &out}, groups)
		root.SetArgs(args)
		if err := root.Execute(); err != nil {
			t.Errorf("%q: %v", args, err)
		}
		return out.String()
	}
	for _, g := range commandGroups {
		for _, c := range g.Commands {
			if name := c.New(&cli.App{}).Name(); name != c.Name {
				t.Errorf("%q is found as %q", name, c.Name)
			}
			one := []cli.Group{{ID: g.ID, Title: g.Title, Commands: []cli.Command{c}}}
			for _, flag := range []string{"--help", "--help-all"} {
				if alone, among := help(one, c.Name, flag), help(commandGroups, c.Name, flag); alone != among {
					t.Errorf("%s %s:\n%s\namong others:\n%s", c.Name, flag, alone, among)
				}
			}
		}
	}
}

// --help of every command works, names every flag, and runs nothing.
func TestHelpOfEveryCommand(t *testing.T) {
	var paths [][]string
	walk(cli.NewRoot(&cli.App{}, commandGroups), func(c *cobra.Command) {
		if c.IsAdditionalHelpTopicCommand() {
			return
		}
		paths = append(paths, strings.Fields(c.CommandPath())[1:])
	})
	for _, args := range paths {
		var out bytes.Buffer
		a := &cli.App{In: strings.NewReader(""), Out: &out, Err: io.Discard}
		root := cli.NewRoot(a, commandGroups)
		root.SetArgs(append(args, "--help"))
		if err := root.Execute(); err != nil {
			t.Errorf("%v --help: %v", args, err)
			continue
		}
		help := out.String()
		if !strings.HasPrefix(help, "Usage:\n  darrm") {
			t.Errorf("%v --help does not start with the usage: %.40q", args, help)
		}
		for _, want := range []string{"Exit codes: darrm help exit-codes", "--json", "--help"} {
			if !strings.Contains(help, want) {
				t.Errorf("%v --help does not have %q", args, want)
			}
		}
		c, _, err := root.Find(args)
		if err != nil {
			t.Fatal(err)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(help, "--"+f.Name) { // train's are those of train shuffled
				t.Errorf("%v --help does not name --%s", args, f.Name)
			}
		})
		lines := strings.Split(help, "\n")
		for _, line := range lines {
			if len([]rune(line)) > 80 {
				t.Errorf("%v --help has a line of %d characters: %s", args, len([]rune(line)), line)
			}
		}
		if len(lines) > 60 {
			t.Errorf("%v --help has %d lines", args, len(lines))
		}
		whole, _ := runDarrm(t, append(args, "--help-all")...)
		for _, paragraph := range strings.Split(c.Long, "\n\n") {
			if first := strings.Fields(paragraph)[0]; !strings.Contains(whole, first) {
				t.Errorf("%v --help-all has no paragraph of %q", args, first)
			}
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(whole, "--"+f.Name+" ") {
				t.Errorf("%v --help-all does not explain --%s", args, f.Name)
			}
		})
	}
}

// A help that begins with some flags begins with eight, and all flags are in one group each.
func TestFlagGroups(t *testing.T) {
	short := 0
	walk(cli.NewRoot(&cli.App{}, commandGroups), func(c *cobra.Command) {
		if c.IsAdditionalHelpTopicCommand() {
			return
		}
		seen := map[string]int{}
		groups := cli.FlagGroups(c)
		for i, g := range groups {
			first := 0
			g.Flags.VisitAll(func(f *pflag.Flag) {
				seen[f.Name]++
				first++
			})
			if i == 0 && len(groups) > 2 {
				if short++; first != 8 {
					t.Errorf("%s --help begins with %d flags", c.CommandPath(), first)
				}
			}
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if seen[f.Name] != 1 && !f.Hidden {
				t.Errorf("%s --%s is in %d groups", c.CommandPath(), f.Name, seen[f.Name])
			}
		})
	})
	if short == 0 {
		t.Error("no help is short")
	}
}

// The table of exit codes in the help is the one in the code.
func TestExitStatusIsComplete(t *testing.T) {
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^  (\d+) +\S`).FindAllStringSubmatch(exitcode.Status,
		-1) {
		documented[m[1]] = true
	}
	codes := map[string]exitcode.Code{
		"0": exitcode.OK, "1": exitcode.Failure, "2": exitcode.Usage, "3": exitcode.Input,
		"4": exitcode.Uncertified, "5": exitcode.Solver, "6": exitcode.Output, "7": exitcode.Budget,
		"8": exitcode.Ledger, "130": exitcode.Interrupted,
	}
	for text, code := range codes {
		if !documented[text] {
			t.Errorf("exit code %s is not in EXIT STATUS", text)
		}
		if _, ok := exitcode.Kinds[code]; !ok && code != exitcode.OK {
			t.Errorf("exit code %s has no kind", text)
		}
	}
	if len(documented) != len(codes) || len(exitcode.Kinds) != len(codes)-1 {
		t.Errorf("%d codes documented and %d kinds, want %d and %d", len(documented), len(exitcode.Kinds),
			len(codes), len(codes)-1)
	}
}
