package cli

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/internal/check"
)

// Libraries name parameters and no flags, and every parameter of flagsOf is one that a library
// names.
func TestLibrariesNameParameters(t *testing.T) {
	root, flag := filepath.Join("..", "..", "..", ".."), regexp.MustCompile(`(^|[ (])--[a-z]`)
	words := map[string]bool{}
	for _, dir := range []string{"learn", "sketch", "internal/check", "constraints", "ensemble",
		"gamma", "plan", "plurality", "release", "votes", "serve", "ledger", "accountant"} {
		err := filepath.WalkDir(filepath.Join(root, dir),
			func(path string, d fs.DirEntry, err error) error {
				if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
					return err
				}
				for _, text := range literals(t, path) {
					words[text] = true
					if dir != "internal/check" && !strings.Contains(filepath.ToSlash(path), "/release/exitcode/") && flag.MatchString(text) {
						t.Errorf("%s names a flag: %q", path, text)
					}
				}
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range flagsOf {
		if !words[name] {
			t.Errorf("no library has a parameter %q", name)
		}
	}
}

// literals returns the strings of a file.
func literals(t *testing.T, path string) (texts []string) {
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile(path, -1, len(src)), src, nil, 0)
	for {
		_, tok, lit := s.Scan()
		if tok == token.EOF {
			return texts
		}
		if text, err := strconv.Unquote(lit); tok == token.STRING && err == nil {
			texts = append(texts, text)
		}
	}
}

// Errors name the flags that settle them and that the command has, once, on the side that the table
// says.
func TestNameFlag(t *testing.T) {
	c := &cobra.Command{}
	for _, name := range []string{"eps", "noise", "rule", "set"} {
		c.Flags().String(name, "", "")
	}
	wrong := func(name string) error { return &check.Error{Name: name, Value: 0, Rule: "other"} }
	for _, x := range []struct {
		err  error
		want string
	}{
		{wrong("epsilon"), "--eps: epsilon = 0, but it must be other"},
		{wrong("set"), "set = 0, but it must be other (--set)"},
		{wrong("ball"), "ball = 0, but it must be other (--set)"},
		{wrong("radius"), "radius = 0, but it must be other"},
		{check.SettledBy(wrong("set"), "noise=calibrated", "rule", "radius"),
			"set = 0, but it must be other (--noise calibrated, --rule)"},
		{Usagef("--set: %w", wrong("set")), "--set: set = 0, but it must be other"},
		{Usagef("--grid: %w", wrong("set")), "--grid: set = 0, but it must be other (--set)"},
		{Usagef("--grid: %w", wrong("epsilon")), "--grid: epsilon = 0, but it must be other"},
	} {
		if got := NameFlag(c, x.err).Error(); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}
