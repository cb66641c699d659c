// Package scripts tests the lists that the scripts go by.
package scripts

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	CgoFiles        []string
	TestGoFiles     []string
	XTestGoFiles    []string
}

func (p listed) files() []string {
	return slices.Concat(p.GoFiles, p.CgoFiles, p.TestGoFiles, p.XTestGoFiles)
}

// list returns the packages of the module by their folder.
func list(t *testing.T, environment string, arguments ...string) map[string]listed {
	t.Helper()
	cmd := exec.Command("go",
		slices.Concat([]string{"list", "-e",
			"-json=ImportPath,Dir,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles"}, arguments,
			[]string{"../..."})...)
	cmd.Env = append(os.Environ(), environment)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]listed{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages[strings.TrimPrefix(p.ImportPath, "github.com/darrm/darrm/")] = p
	}
}

// parallel finds what a data race needs: a goroutine, or what keeps several of them apart.
var parallel = regexp.MustCompile(
	`(?m)(^|\s)go (func|[a-zA-Z_.]+\()|\.Go\(|"sync"|"sync/atomic"|"golang.org/x/sync|t\.Parallel\(\)|train\.Grid\{|Workers: |GOMAXPROCS`)

// The packages that the race detector leaves out have nothing that could race, and those that plain
// Go leaves out are compiled from the same files with HiGHS, with cgo and without.
func TestPackagesThatAreLeftOut(t *testing.T) {
	all := list(t, "CGO_ENABLED=1")
	f, err := os.Open("sequential")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	left := map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, _ := strings.Cut(line, " ")
		p, ok := all[name]
		if !ok || reason == "" || left[name] {
			t.Errorf("%q: a package with a reason, once", line)
		}
		left[name] = true
		for _, file := range p.files() {
			b, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				t.Fatal(err)
			}
			if found := parallel.Find(b); found != nil {
				t.Errorf("%s/%s has %q, and is left out of make race", name, file, found)
			}
		}
	}
	if got, want := packages(t, "race"), len(all)-len(left); len(got) != want {
		t.Errorf("make race tests %d packages, want %d", len(got), want)
	}

	plain := packages(t, "plain")
	highs := list(t, "CGO_ENABLED=1", "-tags", "highs")
	for name, without := range list(t, "CGO_ENABLED=0") {
		for _, with := range []map[string]listed{all, highs} {
			if !slices.Equal(with[name].files(), without.files()) && !slices.Contains(plain, name) {
				t.Errorf("%s has other files without cgo, and is left out of make plain", name)
			}
		}
	}
	for _, must := range []string{"lp", "gamma/solve", "plurality/solve", "cmd/darrm", "sweep"} {
		if !slices.Contains(plain, must) {
			t.Errorf("%s is left out of make plain", must)
		}
	}
}

func packages(t *testing.T, which string) []string {
	t.Helper()
	out, err := exec.Command("./packages", which).Output()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for name := range strings.Lines(string(out)) {
		names[strings.TrimPrefix(strings.TrimSpace(name), "github.com/darrm/darrm/")] = true
	}
	return slices.Collect(maps.Keys(names))
}

// The scripts of the command that make race and make plain skip solve nothing.
func TestScriptsThatAreSkippedSolveNothing(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^SEQUENTIAL := TestScripts/\^\(([a-z_|]+)\)\$\$$`).FindSubmatch(
		makefile)
	if m == nil {
		t.Fatal("the Makefile names no scripts")
	}
	solves := regexp.MustCompile(`darrm (solve|sweep|plan|aggregate|compare|serve|experiment)\b`)
	for name := range strings.SplitSeq(string(m[1]), "|") {
		b, err := os.ReadFile(filepath.Join("..", "cmd", "darrm", "testdata", "script", name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		if found := solves.Find(b); found != nil {
			t.Errorf("%s has %q", name, found)
		}
	}
}
