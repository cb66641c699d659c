package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
)

// complete returns what the shell is offered for the last argument, and cobra's directive.
func complete(t *testing.T, args ...string) (values []string, directive string) {
	t.Helper()
	var out bytes.Buffer
	args = append([]string{cobra.ShellCompNoDescRequestCmd}, args...)
	root := cli.NewRoot(&cli.App{In: strings.NewReader(""), Out: &out, Err: io.Discard},
		cli.Needed(commandGroups, args))
	root.SetArgs(args)
	root.SetErr(io.Discard)
	if err := root.Execute(); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	lines := strings.Fields(out.String())
	last := len(lines) - 1
	return lines[:last], lines[last]
}

const noFiles, byEnding, foldersOnly = ":4", ":8", ":16"

// Every flag that is not a switch has a completion: values, files or nothing. A flag whose help
// quotes values is a choice. The shell offers all quoted values, and the flag accepts every value
// that the shell offers.
func TestCompletionOfEveryFlag(t *testing.T) {
	quoted := regexp.MustCompile(`"([a-z][a-z-]+)"`)
	choices := map[string]bool{}
	walk(cli.NewRoot(&cli.App{}, commandGroups), func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if strings.HasPrefix(f.Value.Type(), "bool") {
				return
			}
			where := c.CommandPath() + " --" + f.Name
			args := append(strings.Fields(c.CommandPath())[1:], "--"+f.Name, "")
			values, directive := complete(t, args...)
			if _, ok := f.Value.(*cli.Choice); ok {
				choices[f.Name] = true
				if len(values) == 0 || directive != noFiles {
					t.Errorf("%s offers %q with directive %s", where, values, directive)
				}
				for _, v := range values {
					if err := f.Value.Set(v); err != nil {
						t.Errorf("%s %s is offered, but: %v", where, v, err)
					}
				}
				if err := f.Value.Set("no-such-value"); err == nil {
					t.Errorf("%s takes anything", where)
				}
			}
			if f.Name == "classes" || f.Name == "num-classes" {
				return // "0,1" is no enumeration
			}
			for _, m := range quoted.FindAllStringSubmatch(f.Usage, -1) {
				if !slices.Contains(values, m[1]) {
					t.Errorf("%s: the help names %q, but only %q are offered", where, m[1], values)
				}
			}
		})
	})
	for _, name := range []string{"mechanism", "objective", "format", "neighbours", "method",
		"progress", "mode", "prior", "shape", "layout", "header", "missing", "data", "teachers", "order",
		"task", "data-set", "data-format", "conversion", "released", "on-interrupt", "out-format",
		"compression"} {
		if !choices[name] {
			t.Errorf("--%s is no choice", name)
		}
	}
}

func TestCompletionOfFiles(t *testing.T) {
	for command, want := range map[string]string{
		"solve --out": byEnding, "solve --plot": byEnding, "aggregate --table": byEnding,
		"aggregate --ledger": byEnding, "aggregate --label-law": byEnding, "aggregate": byEnding,
		"verify": byEnding, "votes describe": byEnding, "train shuffled --private": byEnding, "train": byEnding,
		"train shuffled --data-dir": foldersOnly,
		"budget show":               byEnding, "budget history": byEnding, "budget verify": byEnding,
		"budget report": byEnding, "report": foldersOnly, "man": foldersOnly,
		"solve": noFiles, "version": noFiles, "solve --eps": noFiles, "experiment show": ":0",
	} {
		if _, got := complete(t, append(strings.Fields(command), "")...); got != want {
			t.Errorf("%s: directive %s, want %s", command, got, want)
		}
	}
	if names, _ := complete(t, "experiment", "run", ""); !slices.Contains(names, "figure-3.2") {
		t.Errorf("experiments offered: %q", names)
	}
}

func TestCompletionScripts(t *testing.T) {
	shells, _ := complete(t, "completion", "")
	if len(shells) < 4 {
		t.Errorf("shells %q", shells)
	}
	for _, shell := range shells {
		if out, _ := runDarrm(t, "completion", shell); !strings.Contains(out, "darrm") ||
			!strings.Contains(out, cobra.ShellCompRequestCmd) {
			t.Errorf("%s: no script", shell)
		}
	}
}

// Every command has a page, which names its flags, and nothing of this machine is in it: the
// pages are the same at another time, in another home and at another width.
func TestManual(t *testing.T) {
	pages := func(columns int, home, epoch string) map[string]string {
		t.Setenv("COLUMNS", fmt.Sprint(columns))
		t.Setenv("HOME", home)
		t.Setenv("XDG_CACHE_HOME", home)
		t.Setenv("DARRM_CACHE", filepath.Join(home, "c"))
		t.Setenv("SOURCE_DATE_EPOCH", epoch)
		dir := t.TempDir()
		runDarrm(t, "man", dir)
		found, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, f := range found {
			b, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			out[f.Name()] = string(b)
		}
		return out
	}
	home := t.TempDir()
	first, second := pages(60, home, "1700000000"), pages(200, t.TempDir(), "1700000000")
	dated, undated := 0, pages(80, home, "")
	commands := 0
	walk(cli.NewRoot(&cli.App{}, commandGroups), func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		commands++
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		page := first[name]
		if page == "" || page != second[name] {
			t.Errorf("%s is missing, or not the same twice", name)
		}
		if strings.Contains(page, home) || strings.Contains(page, "/tmp") {
			t.Errorf("%s holds a path of this machine", name)
		}
		if strings.Contains(page, `"2023-11-14"`) && !strings.Contains(undated[name], "2023") {
			dated++
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(page, strings.ReplaceAll("--"+f.Name, "-", `\-`)) {
				t.Errorf("%s does not name --%s", name, f.Name)
			}
		})
		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") &&
				!regexp.MustCompile(`^\.(TH|SH|SS|PP|TP|RS|RE|B|BR|br|nf|fi)\b`).MatchString(line) {
				t.Errorf("%s: no request of ours: %q", name, line)
			}
		}
	})
	if len(first) != commands || dated != commands {
		t.Errorf("%d pages, %d with the date, for %d commands", len(first), dated, commands)
	}
}
