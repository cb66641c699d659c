package darrm_test

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What is not the voting product: private learning and the commands for it, communication, the
// evidence, and the command that joins all of them. A package that is not named here is the product's.
var besideTheCore = regexp.MustCompile(`^github.com/darrm/darrm/(` +
	`(learn|sketch|experiment|bench|examples|docs|testdata)(/.*)?` +
	`|ensemble/teachers|release/(silo|folder|exitcode/learning)` +
	`|internal/testing/(experimenttest|traintest)|cmd/darrm|cmd/darrm/internal/(training|research))$`)

// What tests share, and who may link it.
var (
	ofTests = regexp.MustCompile(`/internal/testing/`)
	tries   = regexp.MustCompile(`/(internal/testing|bench)/`)
)

// The core stands alone: no package of the voting product links learning, communication or
// experiments, whatever its imports import. What tests share is linked by tests and benchmarks.
func TestTheCoreStandsAlone(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	core, beside := 0, 0
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if i := slices.IndexFunc(words, ofTests.MatchString); i >= 0 && !tries.MatchString(words[0]) {
			t.Errorf("%s links %s", words[0], words[i])
		}
		if besideTheCore.MatchString(words[0]) {
			beside++
			continue
		}
		core++
		for _, linked := range words[1:] {
			if besideTheCore.MatchString(linked) {
				t.Errorf("%s links %s", words[0], linked)
			}
		}
	}
	if core < 50 || beside < 30 {
		t.Errorf("%d packages are the core's and %d are not: the list was not read", core, beside)
	}
}
