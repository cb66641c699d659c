package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/testing/must"
)

var (
	fencedBlock = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")
	codeSpan    = regexp.MustCompile("`(darrm [^`]+)`")
	operator    = regexp.MustCompile(`&&|\|\||[;()]|\s\|\s|\s\d?>{1,2}`)
	shownDarrm  = regexp.MustCompile(`^\s*(?:\$ |env )?(?:[A-Z_]+=\S* )*(?:bin/)?darrm ([a-z-].*)`)
	flagSpan    = regexp.MustCompile("`--[^`]*`")
	flagName    = regexp.MustCompile(`--([A-Za-z][A-Za-z0-9-]*)`)
	plainWord   = regexp.MustCompile(`^[a-z][a-z|-]*$`)
)

// quotedCommands returns what a page shows of commands, without "darrm": the lines of its blocks,
// and code in its sentences.
func quotedCommands(page string) (out []string) {
	for _, m := range fencedBlock.FindAllStringSubmatch(page, -1) {
		if m[1] == "go" || m[1] == "python" {
			continue
		}
		for line := range strings.Lines(strings.ReplaceAll(m[2], "\\\n", " ")) {
			code, _, _ := strings.Cut(line, " # ")
			for _, part := range operator.Split(code, -1) {
				if c := shownDarrm.FindStringSubmatch(part); c != nil {
					out = append(out, c[1])
				}
			}
		}
	}
	for _, m := range codeSpan.FindAllStringSubmatch(fencedBlock.ReplaceAllString(page, ""), -1) {
		if c := shownDarrm.FindStringSubmatch(operator.Split(m[1], 2)[0]); c != nil {
			out = append(out, c[1])
		}
	}
	return out
}

// unknown returns an error text for the first command or flag of a quoted command that does not
// exist, "" if all exist. "a|b" in a quoted command stands for both a and b.
func unknown(root *cobra.Command, command string) string {
	words := strings.Fields(command)
	at := []*cobra.Command{root}
	for len(words) > 0 && at[0].HasSubCommands() && plainWord.MatchString(words[0]) {
		var next []*cobra.Command
		for name := range strings.SplitSeq(words[0], "|") {
			sub, _, err := at[0].Find([]string{name})
			if err != nil || sub == at[0] {
				return fmt.Sprintf("%s has no command %s", at[0].CommandPath(), name)
			}
			next = append(next, sub)
		}
		at, words = next, words[1:]
	}
	for _, word := range words {
		word = strings.TrimLeft(word, "[(")
		name, isFlag := strings.CutPrefix(word, "--")
		name, _, _ = strings.Cut(strings.TrimRight(name, ",.])"), "=")
		if !isFlag || name == "" || name == "help" {
			continue
		}
		for _, c := range at {
			if c.Flag(name) == nil {
				return fmt.Sprintf("%s has no flag --%s", c.CommandPath(), name)
			}
		}
	}
	return ""
}

// magic is the beginning of messages, keys and passes.
var magic = regexp.MustCompile(`^(federated (reports|shuffled|sealed)|shuffler (public key|pass)) \d`)

// Every command that a page shows exists, with the flags that it shows. Those of the README and
// the guides that can be run are run as well (docs, TestCommandsOfThePages).
func TestPagesShowRealCommands(t *testing.T) {
	root := cli.NewRoot(&cli.App{}, commandGroups)
	root.InitDefaultHelpCmd()
	seen := 0
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := e.Name(); e.IsDir() && (name == "dist" || name == "bin" || name == "results" ||
			name != ".." && strings.HasPrefix(name, ".")) {
			return filepath.SkipDir
		}
		// The changelog tells of commands that have gone.
		if e.IsDir() || filepath.Ext(path) != ".md" || e.Name() == "CHANGELOG.md" {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, c := range quotedCommands(string(b)) {
			if magic.MatchString(c) {
				continue // what messages begin with
			}
			seen++
			if why := unknown(root, c); why != "" {
				t.Errorf("%s: darrm %s: %s", path, c, why)
			}
		}
		return nil
	})
	if err != nil || seen < 100 {
		t.Errorf("%d commands, %v", seen, err)
	}
	t.Logf("%d commands", seen)
}

// otherFlags are flags of the pages that belong to other programs.
var otherFlags = map[string]string{"lattice": "proofs/check", "shots": "scripts/test-web", "help": "every command"}

// Every flag that a guide or a help text names by itself is one of some command.
func TestNamedFlagsExist(t *testing.T) {
	root := cli.NewRoot(&cli.App{}, commandGroups)
	flags, help := map[string]bool{}, map[string]string{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		text := []string{c.Long}
		note := func(f *pflag.Flag) {
			flags[f.Name] = true
			text = append(text, f.Usage)
		}
		c.Flags().VisitAll(note)
		c.PersistentFlags().VisitAll(note)
		help["darrm help "+c.Name()] = strings.Join(text, "\n")
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../../README.md", "../../ARCHITECTURE.md", "../../CONTRIBUTING.md") {
		spans := flagSpan.FindAllString(string(must.Get(os.ReadFile(page))(t)), -1)
		help[page] = strings.Join(spans, "\n")
	}
	seen := 0
	for where, text := range help {
		for _, m := range flagName.FindAllStringSubmatch(text, -1) {
			seen++
			if !flags[m[1]] && otherFlags[m[1]] == "" {
				t.Errorf("%s names --%s, which no command has", where, m[1])
			}
		}
	}
	if seen < 500 {
		t.Errorf("only %d flags are named", seen)
	}
}

func TestUnknown(t *testing.T) {
	root := cli.NewRoot(&cli.App{}, commandGroups)
	page := "`darrm train`, `darrm mean predict|simulate`\n```sh\nX=1 darrm solve --K 11 \\\n  " +
		"--epsilon 1 | darrm verify - && darrm budget shows x  # darrm no\n```\n"
	var got []string
	for _, c := range quotedCommands(page) {
		got = append(got, strings.Join(strings.Fields(c), " ")+": "+unknown(root, c))
	}
	want := []string{"solve --K 11 --epsilon 1: darrm solve has no flag --epsilon", "verify -: ",
		"budget shows x: darrm budget has no command shows", "train: ", "mean predict|simulate: "}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", got)
	}
}
