package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A page that keeps a ledger charges all its releases to it: else the ledger's figure, which the
// page shows, is less than what was spent. A simulation and a dry run release nothing.
func TestLedgerComesFirst(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	keepers := 0
	for _, page := range append([]string{"../README.md"}, pages...) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		keeps, unpaid := false, ""
		for _, b := range blocks(page, string(text)) {
			for _, s := range b.steps() {
				for _, c := range commandsOf(s.command) {
					keeps = keeps || strings.HasPrefix(c, "darrm budget init")
					if strings.HasPrefix(c, "darrm aggregate") && !strings.Contains(c, "--ledger") &&
						!strings.Contains(c, "--dry-run") && !strings.Contains(c, "--insecure-seed") {
						unpaid = s.at + ": " + c
					}
				}
			}
		}
		if keeps {
			keepers++
		}
		if keeps && unpaid != "" {
			t.Errorf("%s has a ledger that knows nothing of a release: %s", page, unpaid)
		}
	}
	if keepers < 2 {
		t.Errorf("%d pages keep a ledger", keepers)
	}
}

// commandsOf returns the commands of a step, each on one line.
func commandsOf(step string) (list []string) {
	for line := range strings.Lines(strings.ReplaceAll(step, "\\\n", " ")) {
		list = append(list, strings.TrimSpace(line))
	}
	return list
}
