// Package ledgertest has a ledger in memory for tests ([New]).
package ledgertest

import (
	"path/filepath"
	"testing"

	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/ledger/memory"
)

// New returns a ledger in memory, for the tests of programs that release. It keeps all rules of a
// ledger and is forgotten with the test, so what it pays for is marked as a simulation
// ([ledger.Ledger.Simulated]).
func New(t testing.TB, budget ledger.Budget, relation ledger.Relation) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Create(t.Context(), Memory(t), budget, relation)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Memory returns the location of a ledger in memory, which is not made yet. Its secret is a file
// among the temporary ones of the test.
func Memory(t testing.TB) string {
	t.Helper()
	location, forget := memory.Make(filepath.Join(t.TempDir(), "secret"))
	t.Cleanup(forget)
	return location
}
