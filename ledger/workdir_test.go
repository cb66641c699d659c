package ledger

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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

// Create removes what killed ones left, and nothing that is in use or that somebody else
// may have made.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	mk := func(name string, files ...string) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(dir, name, f), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	elsewhere := t.TempDir()
	if err := os.WriteFile(filepath.Join(elsewhere, workDatabase), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mk(".ledger-1")
	mk(".ledger-22", workDatabase, workSecret)
	mk(".ledger-3", workDatabase, "mine")
	mk(".ledger-")
	mk(".ledger-2024-05")
	mk(".ledger-backup", workDatabase)
	if err := os.Symlink(elsewhere, filepath.Join(dir, ".ledger-4")); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".ledger-5"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	used, err := newWorkDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	budget, _ := NewBudget(1, 0)
	held, err := Create(t.Context(), filepath.Join(dir, "held"), budget, ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	lockOfHeld, err := lock(t.Context(), held.Path(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock(lockOfHeld)
	if _, err := Create(t.Context(), filepath.Join(dir, "free"), budget, ReplaceOne); err != nil {
		t.Fatal(err)
	}
	const random = "AAAAAAAAAAAAAAAAAAAAAAAAAA"
	for _, name := range []string{
		".l.anchor.tmp-" + random, ".free.anchor.tmp-" + random, ".gone.anchor.tmp-" + random, // left behind
		".held.anchor.tmp-" + random, ".l.tmp-" + random, ".l.anchor.tmp-x", // in use, or of somebody else
	} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Create(t.Context(), filepath.Join(dir, "l"), budget, ReplaceOne); err != nil {
		t.Fatal(err)
	}
	want := []string{
		".held.anchor.tmp-" + random, ".l.tmp-" + random, ".l.anchor.tmp-x",
		".ledger-", ".ledger-2024-05", ".ledger-3", ".ledger-4", ".ledger-5", ".ledger-backup", filepath.Base(used.path),
		"l", "l.anchor", "l.secret", "held", "held.anchor", "held.secret", "free", "free.anchor", "free.secret",
	}
	slices.Sort(want)
	if got := names(t, dir); !reflect.DeepEqual(got, want) {
		t.Errorf("left %q, want %q", got, want)
	}
	if len(names(t, elsewhere)) != 1 {
		t.Error("it followed a link")
	}
	if err := used.remove(); err != nil {
		t.Error(err)
	}
}

// The first charge removes what is left of an anchor that a killed Create did not finish.
func TestChargeSweepsAnchor(t *testing.T) {
	l := create(t, 5, 0)
	if err := os.Remove(l.Path() + AnchorSuffix); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(filepath.Dir(l.Path()), ".ledger.anchor.tmp-AAAAAAAAAAAAAAAAAAAAAAAAAA")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := chargeOne(l, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("%s: %v", left, err)
	}
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
