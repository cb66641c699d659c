package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A page's tables get what their commands print, and nothing else of it changes.
func TestReport(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	const before = "# Page\n\n<!-- begin output of: echo '| 1 |' -->\nold\n<!-- end -->\nbetween\n" +
		"<!-- begin output of: echo $NOT_SET_ANYWHERE -->\nkept\n<!-- end -->\n" +
		"<!-- begin output of: printf 'a\\nb' -->\n```\nold\n```\n<!-- end -->\nafter\n"
	if err := os.WriteFile(page, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	old := pages
	pages = []string{page}
	defer func() { pages = old }()
	for range 2 { // a table with a stamp gets another one, not a second one
		failed, err := report(context.Background(), false, "")
		if err != nil || failed != 1 {
			t.Fatalf("%d failed, %v", failed, err)
		}
		got, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		stamp := regexp.MustCompile(
			`(?m)^Measured \d{4}-\d\d-\d\d, darrm \S+, go\S+ \S+, \d+ × .+; load \S+ before, \S+ after \S+\.\n\n`)
		if n := len(stamp.FindAllString(string(got), -1)); n != 2 {
			t.Errorf("%d stamps", n)
		}
		want := strings.Replace(strings.Replace(before, "old", "| 1 |", 1), "old", "a\nb", 1)
		if plain := stamp.ReplaceAllString(string(got), ""); plain != want {
			t.Errorf("%s\nis not\n%s", plain, want)
		}
	}
}

// The pages that make bench-report writes can be read, and have a stamp for each table.
func TestPages(t *testing.T) {
	tables := 0
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join("../..", page))
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := parse(string(text))
		if err != nil {
			t.Fatalf("%s: %v", page, err)
		}
		for _, b := range blocks {
			tables++
			if b.stamp == "" {
				t.Errorf("%s: nothing says when %s was run, and on what", page, b.command)
			}
		}
	}
	if tables < 10 {
		t.Errorf("%d tables", tables)
	}
	if _, err := parse("<!-- begin output of: a -->\n<!-- begin output of: b -->\n<!-- end -->\n"); err == nil {
		t.Error("a block without an end was taken")
	}
}
