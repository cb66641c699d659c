package release

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/darrm/darrm/ledger"
)

// After damage that was undone, such as a file that was put back, the very next query is answered:
// the handle that saw the damage is replaced at once, not only when it has refused once more.
func TestOnlineReopensAfterDamage(t *testing.T) {
	o, options := newOnline(t, together(t, 9), Charge{}, 1e3)
	q := func(id string) Query { return Query{ID: id, ReplayKey: myKey, Votes: threeVotes} }
	mustAnswer(t, o, q("a"))
	path := options.Charge.Ledger
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]func() error{
		"an answer": func() error { _, err := o.Answer(t.Context(), q("b")); return err },
		"a state":   func() error { _, err := o.State(t.Context()); return err },
		"a share":   func() error { _, err := o.SpentBy(t.Context(), "alice"); return err },
		"a quota":   func() error { _, _, _, err := o.Taken(t.Context(), "alice"); return err },
	} {
		if err := os.WriteFile(path, whole[:len(whole)/2], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := ask(); !errors.Is(err, ledger.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		o.tried = time.Time{} // the time between two tries is over
		if a := mustAnswer(t, o, q("a")); !a.Replayed {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if err := o.book.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	// What cannot be read at all, for now, is no damage, and no reason to read the whole ledger again.
	if err := os.Rename(path, filepath.Join(t.TempDir(), "away")); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Answer(t.Context(), q("b")); err == nil || o.broken != nil {
		t.Errorf("%v, %v", err, o.broken)
	}
}
