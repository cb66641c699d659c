// Package mutant plants changes that break a guarantee, and demands that a test fails for each.
// A mutated file is compiled by way of go test -overlay, so that the tree is not touched.
package mutant

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/raced"
)

// Mutant is one change to a file of the package under test.
type Mutant struct {
	Name, File string
	Old, New   string // Old stands in the file exactly once, white space apart
	Killer     string // regular expression of the tests of which one must fail
}

// CheckPlace fails unless the place of m is in its file, once, and the change compiles as far as
// its types. It returns the changed file.
func (m *Mutant) CheckPlace(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile(m.File)
	if err != nil {
		t.Fatal(err)
	}
	changed, n := replace(string(source), m.Old, m.New)
	if n != 1 {
		t.Errorf("%s: its place in %s is there %d times", m.Name, m.File, n)
	}
	if _, err := exec.LookPath("go"); err != nil {
		return changed // nothing compiles here
	}
	if err := compile(map[string]string{m.File: changed}); err != nil {
		t.Errorf("%s does not compile: %v", m.Name, err)
	}
	return changed
}

// CheckPlaces does what CheckPlace does, for all of list. Changes of different places are checked together,
// and by halves where they do not compile together: two may leave a variable without a use.
func CheckPlaces(t *testing.T, list []Mutant) {
	t.Helper()
	_, err := exec.LookPath("go")
	var together, later []Mutant
	changed := map[string]string{}
	for _, m := range list {
		source, begun := changed[m.File]
		if !begun {
			b, err := os.ReadFile(m.File)
			if err != nil {
				t.Fatal(err)
			}
			source = string(b)
		}
		next, n := replace(source, m.Old, m.New)
		switch {
		case n == 1:
			changed[m.File] = next
			together = append(together, m)
		case begun: // a change before it may have taken its place
			later = append(later, m)
		default:
			m.CheckPlace(t) // says what is wrong
		}
	}
	switch half := len(together) / 2; {
	case err != nil || compile(changed) == nil: // or nothing compiles here
	case half == 0:
		together[0].CheckPlace(t)
	default:
		CheckPlaces(t, together[:half])
		CheckPlaces(t, together[half:])
	}
	if len(later) > 0 {
		CheckPlaces(t, later)
	}
}

// compile returns what the compiler says of files with other contents.
func compile(files map[string]string) error {
	folders := map[string]map[string]string{}
	for path, content := range files {
		dir, name := filepath.Split(path)
		if folders[dir] == nil {
			folders[dir] = map[string]string{}
		}
		folders[dir][name] = content
	}
	for dir, changed := range folders {
		p, err := load(dir)
		if err != nil {
			return err
		}
		if err := p.check(changed); err != nil {
			return err
		}
	}
	return nil
}

// replace returns source with next in the place of the first old, and how often old is in source.
// White space does not count, so that a line may be broken elsewhere than old breaks it.
func replace(source, old, next string) (changed string, n int) {
	var dense strings.Builder
	var at []int // at[i] is the place in source of byte i of dense
	for i := range len(source) {
		if !isSpace(source[i]) {
			dense.WriteByte(source[i])
			at = append(at, i)
		}
	}
	place := strings.NewReplacer(" ", "", "\t", "", "\n", "").Replace(old)
	n = strings.Count(dense.String(), place)
	if n == 0 || place == "" {
		return source, 0
	}
	i := strings.Index(dense.String(), place)
	return source[:at[i]] + next + source[at[i+len(place)-1]+1:], n
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' }

// MustDie plants m in the package of the working directory, and fails unless a killer notices.
// The killers run in their short form.
func (m *Mutant) MustDie(t *testing.T) {
	t.Helper()
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip(err)
	}
	overlayFile, err := Overlay(t.TempDir(), map[string]string{m.File: m.CheckPlace(t)})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(goTool, "test", "-json", "-vet=off", "-count=1", "-timeout=5m", "-overlay", overlayFile,
		"-run", "^("+m.Killer+")$", ".")
	cmd.Env = append(os.Environ(), "DARRM_LONG=", "RAPID_NOFAILFILE=1")
	stream, err := cmd.CombinedOutput()
	o := Read(stream)
	switch {
	case err != nil && (len(o.Failed) > 0 || strings.Contains(o.Text, "fatal error: ")):
	case err != nil:
		t.Errorf("no test failed, but:\n%s", o.Text)
	case len(o.Skipped) > 0 || len(o.Passed) == 0:
		t.Errorf("%s did not run, or was skipped (%s):\n%s", m.Killer, strings.Join(o.Skipped, ", "),
			o.Text)
	default:
		t.Errorf("%s does not notice", m.Killer)
	}
}

// Overlay writes into dir what go's flag -overlay needs to see the contents in the place of files,
// and returns the value of that flag.
func Overlay(dir string, files map[string]string) (string, error) {
	replace := map[string]string{}
	for file, content := range files {
		here, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		replace[here] = filepath.Join(dir, filepath.Base(file))
		if err := os.WriteFile(replace[here], []byte(content), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, list, 0o600)
}

// AllDie looks for the places of the mutants and, in a long run (DARRM_LONG), plants one after the
// other. Under the race detector it does neither: it reads sources.
func AllDie(t *testing.T, list []Mutant) {
	t.Helper()
	if raced.Enabled {
		t.Skip("reads sources, and runs nothing of them")
	}
	t.Parallel()
	CheckPlaces(t, list)
	if os.Getenv("DARRM_LONG") != "" {
		for _, m := range list {
			t.Run(m.Name, m.MustDie)
		}
	}
}
