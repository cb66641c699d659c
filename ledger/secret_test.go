package ledger

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// The secret is for its owner only, belongs to one ledger, and no bit or byte of it may
// change: votes digested with another secret would all look new.
func TestSecret(t *testing.T) {
	l := create(t, 1, 0)
	path := l.Path() + SecretSuffix
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info.Mode(), err)
	}
	digest := func() Digest {
		t.Helper()
		h, err := l.VoteHash()
		if err != nil {
			t.Fatal(err)
		}
		h.Add([]int{1, 0, 1})
		return h.digest("", "d")
	}
	want := digest()
	if l, err = Open(t.Context(), l.Path()); err != nil || digest() != want {
		t.Errorf("after reopening: %v", err)
	}
	refused := func(what string) {
		t.Helper()
		if h, err := l.VoteHash(); h != nil || !errors.Is(err, ErrSecret) {
			t.Errorf("%s: %v, %v", what, h, err)
		}
		// All else works without it.
		if _, err := Open(t.Context(), l.Path()); err != nil {
			t.Errorf("%s: open: %v", what, err)
		}
	}
	for _, mode := range []fs.FileMode{0o644, 0o640, 0o604, 0o620, 0o610, 0o601, 0o602} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		refused(mode.String())
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if digest() != want {
		t.Error("a secret that its owner may only read is another")
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := func(b []byte) bool {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := l.VoteHash()
		return errors.Is(err, ErrSecret)
	}
	for bit := range 8 * len(whole) {
		b := bytes.Clone(whole)
		b[bit/8] ^= 1 << (bit % 8)
		if !damaged(b) {
			t.Errorf("bit %d can change", bit)
		}
	}
	for n := range len(whole) {
		if !damaged(whole[:n]) {
			t.Errorf("cut to %d bytes", n)
		}
	}
	if !damaged(append(bytes.Clone(whole), '\n')) || damaged(whole) {
		t.Error("a byte more is accepted, or the whole is not")
	}
	other, err := os.ReadFile(create(t, 1, 0).Path() + SecretSuffix)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(other, whole) || !damaged(other) {
		t.Error("another ledger's secret is accepted")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	refused("missing")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	refused("a directory")
	if err := chargeOne(l, 0); err != nil {
		t.Errorf("what has no votes is charged without the secret: %v", err)
	}
}

// A secret without a ledger was left by a Create that was cut short, and serves the next
// one. One that others may read does not.
func TestSecretLeftBehind(t *testing.T) {
	budget, _ := NewBudget(1, 0)
	left := countingSecret()
	path := filepath.Join(t.TempDir(), "ledger")
	if err := os.WriteFile(path+SecretSuffix, left.encode(), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(t.Context(), path, budget, ReplaceOne); !errors.Is(err, ErrSecret) {
		t.Errorf("one that others may read: %v", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a ledger without a usable secret: %v", err)
	}
	if err := os.Chmod(path+SecretSuffix, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Create(t.Context(), path, budget, ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	h, err := l.VoteHash()
	if err != nil || h.key != left.of(l.genesis.id) {
		t.Errorf("it was replaced, or is not used: %v", err)
	}
}
