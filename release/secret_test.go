package release

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/votes"
)

// keyedTransaction is a release of text with the secret at path, whose content is its key.
func keyedTransaction(t *testing.T, l *ledger.Ledger, path, key, out, result string) *Transaction {
	t.Helper()
	s, b, err := openSecret(t.Context(), path, owner{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	if s.resumed {
		key = string(b)
	}
	s.state = func() []byte { return []byte(key) }
	return &Transaction{Ledger: l, Bill: keyedBill(t, key), Output: FileOutput{Path: out},
		Draw: text(result), secret: s}
}

// stateOf returns the state in the file of a secret; "" where there is none.
func stateOf(t *testing.T, path string) string {
	t.Helper()
	_, state, _ := unseal([]byte(contentOf(t, path)))
	return string(state)
}

// A secret is of one release: no other goes on with it, charges for it or removes it, whatever it asks
// for, and each error names both.
func TestSecretIsOfOneRelease(t *testing.T) {
	broken := errors.New("broken")
	for _, change := range []struct {
		name string
		to   func(l *planning, other *ledger.Ledger)
	}{
		{"request \"april\" of the ledger", func(l *planning, _ *ledger.Ledger) { l.Charge.RequestID = "april" }},
		{"request \"march\" of the ledger", func(l *planning, other *ledger.Ledger) { l.Charge.Ledger = other.Path() }},
	} {
		l, dir, book := newLabels(t, 10)
		l.Charge, l.Checkpoint = paidBy(book, "march"), filepath.Join(dir, "secret")
		l.Charge.Draw = "drawn"
		l.Each = func(*votes.Batch, []int) error { return broken }
		if _, err := l.Run(t.Context()); !errors.Is(err, broken) {
			t.Fatal(err)
		}
		kept, spent := contentOf(t, l.Checkpoint), entries(t, book)
		next, second := l, newLedger(t, 10)
		next.Each = nil
		change.to(&next, second)
		var input *InputError
		s, err := next.Run(t.Context())
		if s != nil || !errors.As(err, &input) || !strings.Contains(err.Error(), change.name) ||
			!strings.Contains(err.Error(), "request \"march\" of the ledger "+book.ID()[:8]) {
			t.Errorf("%s: %+v, %v", change.name, s, err)
		}
		if contentOf(t, l.Checkpoint) != kept || contentOf(t, l.Output.Path) != "" ||
			!slices.Equal(entries(t, book), spent) || entries(t, second) != nil {
			t.Errorf("%s: something was charged, written or removed", change.name)
		}
		l.Each = nil
		if s, err := l.Run(t.Context()); err != nil || s.Queries == 0 {
			t.Errorf("%s: its own release: %+v, %v", change.name, s, err)
		}
	}
	for name, to := range map[string]func(*Model, string){
		"another request": func(m *Model, _ string) { m.RequestID = "second" },
		"no request id":   func(m *Model, _ string) { m.RequestID = "" },
		"another ledger":  func(m *Model, path string) { m.Ledger = path },
		"no ledger":       func(m *Model, _ string) { m.Ledger, m.RequestID = "", "" },
	} {
		m, tr, _, book := newModel(t, 0.5, 10)
		tr.stops = map[int]bool{1: true}
		if _, err := m.Run(t.Context()); !errors.Is(err, errStopped) {
			t.Fatal(err)
		}
		kept, spent := contentOf(t, m.Checkpoint), entries(t, book)
		next, second := m, newLedger(t, 10)
		to(&next, second.Path())
		var input *InputError
		if o, err := next.Run(t.Context()); o.Done() || !errors.As(err, &input) {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
		if contentOf(t, m.Checkpoint) != kept || contentOf(t, m.Output.Path) != "" ||
			!slices.Equal(entries(t, book), spent) || entries(t, second) != nil {
			t.Errorf("%s: something was charged, written or removed", name)
		}
		if o, err := m.Run(t.Context()); err != nil || !o.Done() {
			t.Errorf("%s: its own training: %+v, %v", name, o, err)
		}
	}
}

// When the result is out the secret is gone, also where the path is a link to it.
func TestSecretBehindALinkIsRemoved(t *testing.T) {
	for _, begun := range []bool{false, true} {
		dir, l := t.TempDir(), newLedger(t, 100)
		real, link, out := filepath.Join(dir, "real"), filepath.Join(dir, "link"),
			filepath.Join(dir, "labels")
		if err := os.Symlink("real", link); err != nil {
			t.Fatal(err)
		}
		if begun {
			if err := os.WriteFile(real, owner{}.seal([]byte("key")), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		o, err := keyedTransaction(t, l, link, "key", out, "labels").Run(t.Context())
		if err != nil || !o.Done() || contentOf(t, out) != "labels" {
			t.Errorf("begun %t: %+v, %v", begun, o, err)
		}
		if _, err := os.Lstat(real); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("begun %t: the secret is still at %s: %v", begun, real, err)
		}
	}
}

// Nobody else may read what is written, whoever could read the file that it replaces.
func TestSecretIsForItsOwner(t *testing.T) {
	m, tr, dir, book := newModel(t, 0.5, 1)
	of := owner{book.ID(), m.RequestID}
	real := filepath.Join(dir, "real")
	if err := errors.Join(os.WriteFile(real, of.seal([]byte("key 5 step 1")), 0o600), os.Chmod(real, 0o644),
		os.Symlink("real", m.Checkpoint)); err != nil {
		t.Fatal(err)
	}
	tr.stops = map[int]bool{2: true}
	if _, err := m.Run(t.Context()); !errors.Is(err, errStopped) {
		t.Fatal(err)
	}
	if info, err := os.Lstat(real); err != nil || info.Mode() != 0o600 ||
		stateOf(t, real) != "key 5 step 2" {
		t.Errorf("%v, %v, %q", info.Mode(), err, contentOf(t, real))
	}
}

// A request whose result is in its output takes its own secret away, and not that of another
// release, which may be paid for.
func TestReleasedBeforeKeepsAnothersSecret(t *testing.T) {
	for key, want := range map[string]string{"a": "", "b": "b"} {
		dir, l := t.TempDir(), newLedger(t, 100)
		at, out := filepath.Join(dir, "secret"), filepath.Join(dir, "labels")
		if _, err := keyedTransaction(t, l, at, "a", out, "labels").Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.WriteFile(at, owner{}.seal([]byte(key)), 0o600), os.Chmod(out, 0o400)); err != nil {
			t.Fatal(err)
		}
		o, err := keyedTransaction(t, l, at, "", out, "others").Run(t.Context())
		if err != nil || !o.Before || contentOf(t, out) != "labels" || stateOf(t, at) != want {
			t.Errorf("key %q: %+v, %v, secret %q", key, o, err, contentOf(t, at))
		}
	}
}

// A secret that another run made meanwhile is neither replaced nor removed: that run may have
// paid for its release.
func TestSecretOfAnotherRunIsKept(t *testing.T) {
	dir, l := t.TempDir(), newLedger(t, 100)
	at, out := filepath.Join(dir, "secret"), filepath.Join(dir, "labels")
	late := keyedTransaction(t, l, at, "late", out, "others")
	first := keyedTransaction(t, l, at, "first", out, "labels")
	first.Output = watched{first.Output, func() { // between its charge and the end
		if o, err := late.Run(t.Context()); !errors.Is(err, fs.ErrExist) || o.Done() ||
			stateOf(t, at) != "first" {
			t.Errorf("%+v, %v, secret %q", o, err, contentOf(t, at))
		}
	}}
	if o, err := first.Run(t.Context()); err != nil || !o.Done() || contentOf(t, out) != "labels" {
		t.Errorf("%+v, %v", o, err)
	}
	if got := namesIn(t, dir); !slices.Equal(got, []string{"labels"}) {
		t.Errorf("files %q", got)
	}
	checkSpent(t, l, 0.9)
}

// A dry run of a release that was paid for and not finished reports that it would be finished, with
// the secret that was paid for and no other, and touches nothing.
func TestDryRunOfAnUnfinishedRelease(t *testing.T) {
	labels, dir, book := newLabels(t, 10)
	labels.Charge, labels.Checkpoint = paidBy(book, "march"), filepath.Join(dir, "secret")
	labels.Output.Path = "/dev/full"
	if _, err := os.Stat(labels.Output.Path); err != nil {
		t.Skip("no way to lose a release here")
	}
	if q, err := labels.Quote(t.Context()); err != nil || *q.Charge == (ledger.Cost{}) ||
		contentOf(t, labels.Checkpoint) != "" {
		t.Fatalf("before: %+v, %v", q, err)
	}
	if _, err := labels.Run(t.Context()); err == nil {
		t.Fatal("not lost")
	}
	key := contentOf(t, labels.Checkpoint)
	if q, err := labels.Quote(t.Context()); err != nil || *q.Charge != (ledger.Cost{}) || key == "" ||
		contentOf(t, labels.Checkpoint) != key {
		t.Errorf("%+v, %v", q, err)
	}
	labels.Checkpoint += ".other"
	if q, err := labels.Quote(t.Context()); !errors.Is(err, ledger.ErrReplayed) {
		t.Errorf("another key: %+v, %v", q, err)
	}

	model, tr, _, paid := newModel(t, 0.5, 1)
	tr.stops = map[int]bool{1: true}
	if _, err := model.Run(t.Context()); !errors.Is(err, errStopped) {
		t.Fatal(err)
	}
	if err := model.Quote(t.Context()); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(model.Checkpoint, owner{paid.ID(), model.RequestID}.seal([]byte("key 7 step 1")),
		0o600); err != nil {
		t.Fatal(err)
	}
	if err := model.Quote(t.Context()); !errors.Is(err, ledger.ErrReplayed) {
		t.Errorf("another model's state: %v", err)
	}
}
