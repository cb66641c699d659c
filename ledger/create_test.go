package ledger

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// Processes that make ledgers in one directory at one time do not sweep one another's.
func TestCreateManyInOneDirectory(t *testing.T) {
	dir := t.TempDir()
	budget, _ := NewBudget(1, 0)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 5 {
				path := filepath.Join(dir, string(rune('a'+g))+string(rune('a'+i)))
				if _, err := Create(context.Background(), path, budget, ReplaceOne); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := len(names(t, dir)); got != 3*20 {
		t.Errorf("%d files, want 60", got)
	}
}
