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

const module = "github.com/darrm/darrm/"

type listed struct {
	ImportPath, Dir string
	Imports         []string
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
			"-json=ImportPath,Dir,Imports,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles"}, arguments,
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
		packages[strings.TrimPrefix(p.ImportPath, module)] = p
	}
}

// parallel finds what a data race needs: a goroutine, or what keeps several of them apart.
var parallel = regexp.MustCompile(
	`(?m)(^|\s)go (func|[a-zA-Z_.]+\()|\.Go\(|"sync"|"sync/atomic"|"golang.org/x/sync|t\.Parallel\(\)|train\.Grid\{|Workers: |GOMAXPROCS`)

// The packages that the race detector leaves out have nothing that could race. Only lp has other
// files without HiGHS, and none has others without cgo, so that what imports no solver is the same.
func TestPackagesThatAreLeftOut(t *testing.T) {
	all := list(t, "CGO_ENABLED=1", "-tags=") // make test may set -tags=highs
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
	// cmd/darrm is apart: see TestScriptsOfTheCommand.
	if got, want := packages(t, "race"), len(all)-len(left)-1; len(got) != want {
		t.Errorf("make race tests %d packages, want %d", len(got), want)
	}

	plain := packages(t, "plain")
	highs := list(t, "CGO_ENABLED=1", "-tags", "highs")
	for name, without := range list(t, "CGO_ENABLED=0") {
		if !slices.Equal(all[name].files(), without.files()) {
			t.Errorf("%s has other files with cgo alone: lint and plain do not compile them", name)
		}
		if !slices.Equal(highs[name].files(), without.files()) && name != "lp" {
			t.Errorf("%s has other files without HiGHS: lint vets lp alone so", name)
		}
		solves := slices.ContainsFunc(without.Imports, func(path string) bool {
			name, ours := strings.CutPrefix(path, module)
			return ours && (name == "lp" || strings.HasSuffix(name, "/solve"))
		})
		if want := solves || name == "lp"; slices.Contains(plain, name) != want {
			t.Errorf("%s solves: %t, and make plain tests it: %t", name, solves, !want)
		}
	}
	if len(plain) < 15 {
		t.Errorf("make plain tests %d packages only", len(plain))
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
		names[strings.TrimPrefix(strings.TrimSpace(name), module)] = true
	}
	return slices.Collect(maps.Keys(names))
}

// What make race and make plain test of the command. Under the race detector that is what its own
// packages start in parallel, and with plain Go every command that solves.
func TestScriptsOfTheCommand(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	scripts := func(name string) map[string]string {
		m := regexp.MustCompile(`(?m)^` + name + ` := .*\^TestScripts\$\$/\^\(([a-z_|]+)\)\$\$$`).
			FindSubmatch(makefile)
		if m == nil {
			t.Fatalf("the Makefile has no %s", name)
		}
		texts := map[string]string{}
		for script := range strings.SplitSeq(string(m[1]), "|") {
			texts[script] = read(t, "../cmd/darrm/testdata/script/"+script+".txtar")
		}
		return texts
	}

	// Where the command starts something, and a script or test that runs it.
	starts := map[string]string{
		"internal/cli/input.go":                  "votes",
		"internal/cli/progress.go":               "progress",
		"internal/cli/root.go":                   "interrupt",
		"internal/cli/run.go":                    "interrupt",
		"internal/label/serve_plan.go":           "serve",
		"internal/mechanisms/solve_plurality.go": "classes",
		"internal/mechanisms/sweep.go":           "sweep",
	}
	raced := scripts("RACED")
	err = filepath.WalkDir("../cmd/darrm", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(path), "../cmd/darrm/")
		if found := parallel.FindString(read(t, path)); (found != "") != (starts[name] != "") {
			t.Errorf("%s has %q, and runs in the raced script %q", name, found, starts[name])
		} else if found != "" && raced[starts[name]] == "" {
			t.Errorf("%s has %q, and the script %q is not raced", name, found, starts[name])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	solving := strings.Join(slices.Collect(maps.Values(scripts("SOLVING"))), "\n")
	for _, command := range []string{"solve", "sweep", "plan", "aggregate", "serve", "experiment run",
		"verify", "version"} {
		runs := `(?m)^(\[\w+\] )?(exec|(exits|fails) \d+|interrupt .*) darrm ` + command + `\b`
		if !regexp.MustCompile(runs).MatchString(solving) {
			t.Errorf("no script that make plain runs has darrm %s", command)
		}
	}
}

// A test that is left out of make race for another names one that its package has and that runs.
func TestRacedElsewhere(t *testing.T) {
	call := regexp.MustCompile(`raced\.Elsewhere\(\w+, "(\w+)"\)`)
	found := 0
	for _, p := range list(t, "CGO_ENABLED=1") {
		var text strings.Builder
		for _, file := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			text.WriteString(read(t, filepath.Join(p.Dir, file)))
		}
		for _, m := range call.FindAllStringSubmatch(text.String(), -1) {
			found++
			_, body, ok := strings.Cut(text.String(), "\nfunc "+m[1]+"(t *testing.T) {")
			body, _, _ = strings.Cut(body, "\n}\n")
			if !ok || strings.Contains(body, "raced.") || !raceable.MatchString(body) {
				t.Errorf("%s leaves a test to %s, which is not raced or runs nothing in parallel",
					p.ImportPath, m[1])
			}
		}
	}
	if found < 10 {
		t.Errorf("%d tests are left out, and more were", found)
	}
}

var raceable = regexp.MustCompile(`\.Go\(|\tgo |Workers`)

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
