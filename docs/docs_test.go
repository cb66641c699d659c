package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	quoted   = regexp.MustCompile("`([^`]+)`")
	testName = regexp.MustCompile(`^Test[A-Z]\w*…?$`)
	testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// Every test that a page here names exists in the package that is named before it on the line. It
// is a Go test, all Go tests with a beginning that ends in …, or a script. A page that names a
// removed test claims a check that may not exist.
func TestNamedTestsExist(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("pages %q, %v", pages, err)
	}
	tests := map[string][]string{} // by directory
	named := 0
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(b), "\n") {
			dir := ""
			for _, m := range quoted.FindAllStringSubmatch(line, -1) {
				name := m[1]
				at := filepath.Join("..", filepath.FromSlash(name))
				info, err := os.Stat(at)
				isScript := strings.HasSuffix(name, ".txtar")
				switch {
				case err == nil && info.IsDir():
					dir = at
					continue
				case !testName.MatchString(name) && !isScript:
					continue
				}
				named++
				switch {
				case dir == "":
					t.Errorf("%s:%d: %s: no package stands before it", page, i+1, name)
				case isScript:
					if _, err := os.Stat(filepath.Join(dir, "testdata", "script", name)); err != nil {
						t.Errorf("%s:%d: %v", page, i+1, err)
					}
				case !has(testsOf(t, tests, dir), name):
					t.Errorf("%s:%d: there is no test %s in %s", page, i+1, name, dir)
				}
			}
		}
	}
	if named < 40 { // the threat model names more
		t.Errorf("only %d tests were found by name", named)
	}
}

// has reports whether a name, or a beginning that ends in …, is among names.
func has(names []string, name string) bool {
	start, isStart := strings.CutSuffix(name, "…")
	for _, n := range names {
		if n == name || isStart && strings.HasPrefix(n, start) {
			return true
		}
	}
	return false
}

// testsOf returns the Go tests of a package.
func testsOf(t *testing.T, known map[string][]string, dir string) []string {
	t.Helper()
	if names, ok := known[dir]; ok {
		return names
	}
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range testFunc.FindAllStringSubmatch(string(b), -1) {
			names = append(names, m[1])
		}
	}
	known[dir] = names
	return names
}

// The changelog's list of what is unreleased can be read: its points stand under headings, no two
// begin alike, and there are at most 150. A merge that keeps both sides brings dropped points back.
func TestChangelogIsOneList(t *testing.T) {
	b, err := os.ReadFile("../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(b), "\n## Unreleased\n")
	text, _, _ = strings.Cut(text, "\n## ")
	points, headings, seen := 0, 0, map[string]bool{}
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "### "):
			headings++
		case strings.HasPrefix(line, "- "):
			points++
			begins := string([]rune(line)[:min(len([]rune(line)), 50)])
			if seen[begins] {
				t.Errorf("two points begin alike: %s", begins)
			}
			seen[begins] = true
		}
	}
	if points > 150 || points > 10 && headings < 5 {
		t.Errorf("%d points under %d headings", points, headings)
	}
}
