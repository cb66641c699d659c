package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A page has what its commands print, and nothing else of its template changes. What fails keeps its
// result.
func TestReport(t *testing.T) {
	folder := t.TempDir()
	page := filepath.Join(folder, "page.md")
	const template = "# Page\n\n<!-- begin output of: echo '| 1 |' -->\n<!-- end -->\nbetween\n" +
		"<!-- begin output of: echo $NOT_SET_ANYWHERE -->\n<!-- end -->\n" +
		"<!-- begin output of: printf 'a\\nb' -->\n```\n```\n<!-- end -->\nafter\n"
	const kept = `[{"command": "echo $NOT_SET_ANYWHERE", "date": "2026-01-02", "version": "0.1.0", ` +
		`"go": "go1 linux/amd64", "machine": "2 × X", "load_before": "1", "load_after": "2", "took": "3s", ` +
		`"output": ["kept"]}]`
	for name, text := range map[string]string{page + suffix: template,
		filepath.Join(folder, "results.json"): kept} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir("../..")
	oldPages, oldResults := pages, results
	pages, results = []string{page}, filepath.Join(folder, "results.json")
	defer func() { pages, results = oldPages, oldResults }()
	for range 2 { // a command with a result gets another one, not a second one
		failed, err := measure(context.Background(), false, "")
		if err != nil || failed != 1 {
			t.Fatalf("%d failed, %v", failed, err)
		}
		if err := write(pages, results); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		stamp := regexp.MustCompile(
			`(?m)^Measured \d{4}-\d\d-\d\d, darrm \S+, go\S+ \S+, \d+ × .+; load \S+ before, \S+ after \S+\.\n\n`)
		if n := len(stamp.FindAllString(string(got), -1)); n != 3 {
			t.Errorf("%d stamps", n)
		}
		want := "# Page\n\n<!-- go run ./bench/report writes this page from page.md.tmpl and results.json. -->\n\n" +
			"<!-- begin output of: echo '| 1 |' -->\n| 1 |\n<!-- end -->\nbetween\n" +
			"<!-- begin output of: echo $NOT_SET_ANYWHERE -->\nkept\n<!-- end -->\n" +
			"<!-- begin output of: printf 'a\\nb' -->\n```\na\nb\n```\n<!-- end -->\nafter\n"
		if plain := stamp.ReplaceAllString(string(got), ""); plain != want {
			t.Errorf("%s\nis not\n%s", plain, want)
		}
	}
}

// The pages are what their templates and the results give, and each result is on a page.
func TestPagesAreTheResults(t *testing.T) {
	t.Chdir("../..")
	all, err := readResults(results)
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, name := range pages {
		template, err := os.ReadFile(name + suffix)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if want := page(name, string(template), all); string(got) != want {
			t.Errorf("%s is not what its template and %s give: go run ./bench/report -write", name, results)
		}
		list := commands(string(template))
		if n := strings.Count(string(template), "<!-- begin"); n != len(list) {
			t.Errorf("%s%s: %d of %d places for results can be read", name, suffix, len(list), n)
		}
		shown = append(shown, list...)
	}
	if len(shown) < 10 {
		t.Errorf("%d tables", len(shown))
	}
	for i, r := range all {
		if !slices.Contains(shown, r.Command) {
			t.Errorf("no page shows %s", r.Command)
		}
		if i > 0 && all[i-1].Command >= r.Command {
			t.Errorf("%s is out of order", r.Command)
		}
	}
	for _, command := range shown {
		if !slices.ContainsFunc(all, func(r result) bool { return r.Command == command }) {
			t.Errorf("%s was never measured", command)
		}
	}
}
