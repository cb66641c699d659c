package docs

import (
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The figures of testdata/mnist-5v8-disjoint/README.md are those of its votes, and the
// program that made them still builds.
func TestDisjointVotes(t *testing.T) {
	const dir = "../testdata/mnist-5v8-disjoint"
	f, err := os.Open(filepath.Join(dir, "votes.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows = rows[1:]
	right, majority := 0, 0
	for _, row := range rows {
		ones := 0
		for _, v := range row[1:102] {
			if v == "1" {
				ones++
			}
		}
		if (2*ones > 101) == (row[102] == "1") {
			right++
		}
		majority += max(ones, 101-ones)
	}
	n := float64(len(rows))
	b, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, figure := range []string{
		"1,866 test images",
		fmt.Sprintf("right on %.2f %%", 100*float64(right)/n),
		fmt.Sprintf("has %.2f %% of the votes", 100*float64(majority)/n/101),
	} {
		if len(rows) != 1866 || !strings.Contains(string(b), figure) {
			t.Errorf("the README does not say %q of %d queries", figure, len(rows))
		}
	}
	if out, err := exec.Command("go", "vet",
		filepath.Join(dir, "make.go")).CombinedOutput(); err != nil {
		t.Errorf("make.go: %v\n%s", err, out)
	}
}
