package release

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/darrm/darrm/ledger"
)

// A head that cannot be written is an error, for nobody would keep it then.
func TestHeadThatIsNotKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "head")
	if err := os.MkdirAll(filepath.Join(path, "a folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := (&headFile{path: path}).keep(t.Context(), ledger.Head{Seq: 1}); err == nil {
		t.Error("a folder in the file's place is no error")
	}
}

// A server that starts beside an older copy of its ledger, which was put back with its anchor, is
// refused by the head that was kept; with the newest copy it goes on, however much came later.
func TestHeadFile(t *testing.T) {
	w := ways(t)["none"]
	_, options := newOnline(t, w.plan, w.charge, w.cost(9))
	options.HeadFile = filepath.Join(t.TempDir(), "head")
	path, n := options.Charge.Ledger, 0
	o := openOnline(t, options) // no file beside a ledger without entries: it is made
	answer := func() {
		t.Helper()
		n++
		mustAnswer(t, o, Query{ID: string(rune('a' + n)), Votes: w.votes})
	}
	keep := func() {
		t.Helper()
		if err := o.KeepHead(t.Context()); err != nil {
			t.Fatal(err)
		}
		head, err := o.book.Head(t.Context())
		if b, readErr := os.ReadFile(options.HeadFile); err != nil || readErr != nil ||
			string(b) != head.String()+"\n" {
			t.Fatalf("the file has %q, the head is %v: %v, %v", b, head, err, readErr)
		}
	}
	refused := func(what string, is func(error) bool) {
		t.Helper()
		before, _ := os.ReadFile(options.HeadFile)
		if _, err := OpenOnline(t.Context(), options); err == nil || !is(err) {
			t.Errorf("%s: %v", what, err)
		}
		if now, _ := os.ReadFile(options.HeadFile); string(now) != string(before) {
			t.Errorf("%s: the head file was changed to %q", what, now)
		}
	}
	rolledBack := func(err error) bool { return errors.Is(err, ledger.ErrRolledBack) }
	input := func(err error) bool {
		var e *InputError
		return errors.As(err, &e)
	}
	keep()
	answer()
	// Of two servers on one ledger the slower does not put an older head back.
	slow, err := o.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	answer()
	keep()
	if err := o.head.keep(t.Context(), slow.Head); err != nil {
		t.Fatal(err)
	}
	keep()
	if head, err := o.head.read(t.Context()); err != nil || head.Seq <= slow.Head.Seq {
		t.Errorf("the file has %v after %v: %v", head, slow.Head, err)
	}
	// Another process that holds the lock is an error, and not waited for without end.
	if info, err := os.Stat(options.HeadFile + lockSuffix); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the lock's file: %v, %v", info, err)
	}
	held, err := lockedfile.OpenFile(options.HeadFile+lockSuffix, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	brief, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	if err := o.head.keep(brief, slow.Head); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a lock that is held: %v", err)
	}
	cancel()
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	keep()
	backup := map[string][]byte{}
	for _, name := range []string{path, path + ledger.AnchorSuffix} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		backup[name] = b
	}
	restore := func() {
		t.Helper()
		for name, b := range backup {
			now, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
			backup[name] = now
		}
	}
	answer()
	keep()
	answer() // after the last head: a kill within the second
	o = openOnline(t, options)
	keep()
	restore()
	refused("an older copy", rolledBack)
	restore()
	o = openOnline(t, options)
	answer()

	// A file that is lost, or on a disk that is not there, is no statement that there was no head.
	away := options.HeadFile + ".away"
	if err := os.Rename(options.HeadFile, away); err != nil {
		t.Fatal(err)
	}
	refused("no file", input)
	if err := os.WriteFile(options.HeadFile, []byte("5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("no head", input)
	other, otherOptions := newOnline(t, w.plan, w.charge, w.cost(9))
	mustAnswer(t, other, Query{ID: "a", Votes: w.votes})
	otherOptions.HeadFile = options.HeadFile
	if err := os.WriteFile(options.HeadFile, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused("an empty file", input)
	head, err := other.book.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(options.HeadFile, []byte(head.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("another ledger's head", rolledBack)
	if err := os.Rename(away, options.HeadFile); err != nil {
		t.Fatal(err)
	}
	o = openOnline(t, options)

	// A file that cannot be written is said at the start, and not only later.
	_, empty := newOnline(t, w.plan, w.charge, w.cost(9))
	empty.HeadFile = filepath.Join(t.TempDir(), "none", "head")
	if _, err := OpenOnline(t.Context(), empty); err == nil {
		t.Error("a folder that is not there")
	}
}
