package ledger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
)

// The ledger that is there is opened, with what it spent; one that is not is made, and that is
// reported.
func TestOpenOrCreate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger")
	budget := must.Get(NewBudget(2, 1e-5))(t)
	l, created, err := OpenOrCreate(t.Context(), path, budget, ReplaceOne)
	if err != nil || !created {
		t.Fatal(created, err)
	}
	one := Request{Relation: ReplaceOne, ID: "a", Count: 1, Unit: mustCost(t, 1, 0)}
	mustCharge(t, l, one)
	l, created, err = OpenOrCreate(t.Context(), path, budget, ReplaceOne)
	if err != nil || created {
		t.Fatal(created, err)
	}
	mustSpend(t, l, one.Unit)
}

// What is not the ledger that was asked for is refused, and so is what a lost ledger left: a new
// one would have its budget again.
func TestOpenOrCreateRefuses(t *testing.T) {
	t.Parallel()
	budget := must.Get(NewBudget(2, 1e-5))(t)
	other := must.Get(NewBudget(2, 2e-5))(t)
	made := func(t *testing.T) string {
		path := filepath.Join(t.TempDir(), "ledger")
		l := must.Get(Create(t.Context(), path, budget, ReplaceOne))(t)
		mustCharge(t, l, Request{Relation: ReplaceOne, ID: "a", Count: 1, Unit: mustCost(t, 1, 0)})
		return path
	}
	without := func(suffixes ...string) func(t *testing.T) string {
		return func(t *testing.T) string {
			path := made(t)
			for _, suffix := range suffixes {
				if err := os.Remove(path + suffix); err != nil {
					t.Fatal(err)
				}
			}
			return path
		}
	}
	for name, c := range map[string]struct {
		place    func(*testing.T) string
		budget   Budget
		relation Relation
		want     error
	}{
		"another budget":          {made, other, ReplaceOne, ErrBudget},
		"another relation":        {made, budget, AddOrRemoveOne, ErrRelation},
		"anchor and secret left":  {without(""), budget, ReplaceOne, fs.ErrExist},
		"anchor left":             {without("", SecretSuffix), budget, ReplaceOne, fs.ErrExist},
		"secret left":             {without("", AnchorSuffix), budget, ReplaceOne, fs.ErrExist},
		"the anchor is lost":      {without(AnchorSuffix), budget, ReplaceOne, ErrDamaged},
		"no budget, and a ledger": {made, Budget{}, ReplaceOne, nil},
		"no relation":             {made, budget, 0, nil},
		"no folder": {func(t *testing.T) string { return filepath.Join(t.TempDir(), "no", "l") },
			budget, ReplaceOne, fs.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := c.place(t)
			files := func() (out []string) {
				out, _ = filepath.Glob(path + "*")
				return out
			}
			before := files()
			l, created, err := OpenOrCreate(t.Context(), path, c.budget, c.relation)
			if err == nil || l != nil || created || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%v, %v, %v, want %v", l, created, err, c.want)
			}
			if after := files(); !slices.Equal(after, before) {
				t.Errorf("%q became %q", before, after)
			}
		})
	}
}

// Of many that open it at once one makes it.
func TestOpenOrCreateAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger")
	budget := must.Get(NewBudget(2, 1e-5))(t)
	var made atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			l, created, err := OpenOrCreate(t.Context(), path, budget, ReplaceOne)
			if err != nil || l == nil {
				t.Error(err)
			}
			if created {
				made.Add(1)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 {
		t.Errorf("%d made it", made.Load())
	}
}
