package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/testing/must"
)

// kindOf returns the kind of value that a flag takes; a list has that of its elements, and a number
// that may be "rest" is a number.
func kindOf(f *pflag.Flag) string {
	switch f.Value.(type) {
	case *cli.List[int]:
		return "int"
	case *cli.List[float64]:
		return "float64"
	}
	switch kind := f.Value.Type(); kind {
	case cli.NumberOrRest:
		return "float64"
	case "intSlice", "uint64", "int64":
		return "int"
	case "stringSlice", "stringArray":
		return "string"
	default:
		return kind
	}
}

// homonyms are the names that flags of different kinds share, with the reason why.
var homonyms = map[string]string{
	"average":   "means over the steps; some methods have one of them, others several to choose from",
	"beta":      "β as in the literature: a probability of a theorem, and the factor of an estimator",
	"missing":   "what is missing: a number of reports that may be, and what becomes of a vote that is",
	"noise":     "noise of training: how much, of methods that state it, and which, of methods that work it out",
	"round":     "a round of messages: its number, and its file",
	"threshold": "a threshold as in the literature: of votes, and of squared distances",
}

// flagsByName returns all flags of the program by their names, and the commands that have them.
func flagsByName() map[string]map[*pflag.Flag]string {
	flags := map[string]map[*pflag.Flag]string{}
	root := cli.NewRoot(&cli.App{}, commandGroups)
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if flags[f.Name] == nil {
				flags[f.Name] = map[*pflag.Flag]string{}
			}
			flags[f.Name][f] = c.CommandPath()
		})
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
	return flags
}

// Equally named flags take the same kind of value in every command. The settings of serve's file
// are serve's flags, and the keywords of the Python package are the flags with "_" for "-".
func TestEqualFlagsHaveOneKind(t *testing.T) {
	for name, flags := range flagsByName() {
		kinds := map[string]string{}
		for f, command := range flags {
			kinds[kindOf(f)] = command
		}
		if _, known := homonyms[name]; len(kinds) > 1 != known {
			t.Errorf("--%s is %v; excepted: %v", name, kinds, known)
		}
	}
}

// word is one of a help text that has a meaning of its own.
var word = regexp.MustCompile(`[\pL\d-]{4,}`)

// related are the names whose meanings a reader may see as one although no word of their texts is
// the same, with the meaning that they have in common.
var related = map[string]string{
	"ball":      "a bound on the model's norm, which of a matrix is Frobenius's",
	"beta":      homonyms["beta"],
	"data":      "what is behind the votes or figures: how a teacher's data lie, and where images lie",
	"delta":     "δ of what the command is about: a label, a model, a ledger",
	"eps":       "ε of what the command is about: a teacher, a model, a ledger",
	"format":    "the form of a file: of what is read, or of the rows that are written",
	"method":    "how the command does its work: each family of methods has names of its own",
	"missing":   homonyms["missing"],
	"n":         "n as in the literature: how many hold a record or a vector each",
	"out":       "where the result goes: a file, or a folder of many",
	"queries":   "how many labels, or numbers of them to compare",
	"root":      "the seed of shared randomness: what everybody draws from",
	"rounds":    "R, the rounds of a method",
	"step-size": "η of each step, in the method's own terms",
	"threshold": homonyms["threshold"],
}

// Equally named flags mean the same: the texts that explain them have a word in common, in pairs.
func TestEqualFlagsHaveOneMeaning(t *testing.T) {
	plain := []string{"this", "that", "with", "from", "more", "than", "default", "which", "instead",
		"file", "such", "only", "they", "their", "each"}
	for name, flags := range flagsByName() {
		texts := map[string]string{}
		for f, command := range flags {
			texts[f.Usage] = command
		}
		all := slices.Sorted(maps.Keys(texts))
		apart := false
		for i, a := range all {
			for _, b := range all[:i] {
				same := false
				for _, w := range word.FindAllString(strings.ToLower(a), -1) {
					same = same || !slices.Contains(plain, w) && slices.Contains(
						word.FindAllString(strings.ToLower(b), -1), w)
				}
				if apart = apart || !same; !same && related[name] == "" {
					t.Errorf("--%s:\n%s: %s\n%s: %s", name, texts[a], a, texts[b], b)
				}
			}
		}
		if !apart && related[name] != "" {
			t.Errorf("--%s needs no exception", name)
		}
	}
	for name := range related {
		if flagsByName()[name] == nil {
			t.Errorf("--%s is no flag", name)
		}
	}
}

// parameter matches a parameter of a Python function that is a number or a switch.
var parameter = regexp.MustCompile(`[(,]\s*(\w+): (?:Optional\[)?(float|int|bool)\b`)

// pythonic are the parameters of the Python package whose flags are of another kind, with the
// reason.
var pythonic = map[string]string{"timeout": "in seconds, as of Python's own connections"}

// The named parameters of the Python package take what flags of their names do. All other keywords
// are flags themselves. The second checker's own functions are not for callers.
func TestPythonParametersAreFlags(t *testing.T) {
	flags, found := flagsByName(), 0
	kinds := map[string]string{"float": "float64", "int": "int", "bool": "bool"}
	for _, path := range must.Get(filepath.Glob("../../python/darrm/_*.py"))(t) {
		if name := filepath.Base(path); name == "_answers.py" || name == "_plurality.py" {
			continue
		}
		for _, m := range parameter.FindAllStringSubmatch(string(must.Get(os.ReadFile(path))(t)), -1) {
			named := flags[strings.ReplaceAll(m[1], "_", "-")]
			if named == nil || pythonic[m[1]] != "" {
				continue
			}
			found++
			same := false
			for f := range named {
				same = same || kindOf(f) == kinds[m[2]]
			}
			if !same {
				t.Errorf("%s: %s is a %s, which no flag of its name is", path, m[1], m[2])
			}
		}
	}
	if found == 0 {
		t.Error("no parameter has a flag's name: is this test out of date?")
	}
}
