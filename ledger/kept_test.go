package ledger

import (
	"errors"
	"os"
	"testing"
)

// What is kept beside a file is a file of its own, and one that is lost is an error by name.
func TestKeptFiles(t *testing.T) {
	l := create(t, 1, 0)
	if err := l.Keep(t.Context(), Digest{1}, []byte("x")); err != nil {
		t.Fatal(err)
	}
	path := l.Path() + KeptSuffix + "/" + Digest{1}.String() + ".json"
	if b, err := os.ReadFile(path); string(b) != "x" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Kept(t.Context(), Digest{1}); !errors.Is(err, ErrKept) {
		t.Errorf("removed: %v", err)
	}
	if err := new(Ledger).Keep(t.Context(), Digest{1}, nil); err == nil {
		t.Error("a ledger that nobody opened keeps")
	}
}
