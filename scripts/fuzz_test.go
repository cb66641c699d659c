package scripts

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// Every fuzz target has inputs that each go test runs; scripts/fuzz refuses a target without.
func TestFuzzTargetsHaveInputs(t *testing.T) {
	targets := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range fuzzTarget.FindAllSubmatch(text, -1) {
			targets++
			folder := filepath.Join(filepath.Dir(path), "testdata", "fuzz", string(found[1]))
			if inputs, _ := os.ReadDir(folder); len(inputs) == 0 {
				t.Errorf("%s is missing: run scripts/fuzz and scripts/fuzz-corpus", folder)
			}
		}
		return err
	})
	if err != nil || targets < 30 {
		t.Errorf("%d targets: %v", targets, err)
	}
}
