package release

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/darrm/darrm/ledger"
)

// A server whose ledger is exchanged for an older copy charges it nothing, however often it is
// asked; when the ledger is back it answers again.
func TestOnlineNoticesABackup(t *testing.T) {
	w := ways(t)["none"]
	o, options := newOnline(t, w.plan, w.charge, w.cost(3))
	q := func(id string) Query { return Query{ID: id, ReplayKey: myKey, Votes: w.votes} }
	mustAnswer(t, o, q("a"))
	path := options.Charge.Ledger
	keep := func() (files [2][]byte) {
		for i, name := range []string{path, path + ledger.AnchorSuffix} {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files[i] = b
		}
		return files
	}
	restore := func(files [2][]byte) {
		for i, name := range []string{path, path + ledger.AnchorSuffix} {
			if err := os.WriteFile(name, files[i], 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	old := keep()
	mustAnswer(t, o, q("b"))
	now := keep()
	restore(old)
	for i := range 3 {
		o.tried = time.Time{} // long ago
		if a, err := o.Answer(t.Context(), q("c")); a != nil || !errors.Is(err, ledger.ErrDamaged) {
			t.Fatalf("try %d: %+v, %v", i, a, err)
		}
	}
	if _, err := o.Answer(t.Context(), q("c")); !errors.Is(err, ledger.ErrBroken) {
		t.Errorf("at once: %v", err)
	}
	restore(now)
	o.tried = time.Time{}
	if a := mustAnswer(t, o, q("c")); a.Replayed {
		t.Error("replayed")
	}
	if _, err := o.Answer(t.Context(), q("d")); !errors.Is(err, ledger.ErrExceeded) {
		t.Errorf("beyond the budget: %v", err)
	}
}
