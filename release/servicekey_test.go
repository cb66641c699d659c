package release

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// The key is made once, whoever comes at the same time, for its owner only, and is the same ever
// after. What is no key, or is open to others, is refused and left as it is.
func TestServiceKeyIsMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	var (
		all   sync.WaitGroup
		names [8]string
	)
	for i := range names {
		all.Go(func() {
			k, err := openServiceKey(t.Context(), path)
			if err != nil {
				t.Error(err)
				return
			}
			names[i] = k.name()
		})
	}
	all.Wait()
	for _, name := range names {
		if name != names[0] || len(name) != 64 {
			t.Errorf("keys %q and %q", name, names[0])
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if another, _ := openServiceKey(t.Context(), path+"2"); another.name() == names[0] {
		t.Error("two files have one key")
	}
	flipped := append([]byte(nil), good...)
	flipped[len(flipped)-1] ^= 1
	for name, bad := range map[string]struct {
		content string
		mode    os.FileMode
		said    string
	}{
		"open to the group": {string(good), 0o640, "mode 0640"},
		"open to all":       {string(good), 0o604, "mode 0604"},
		"empty":             {"", 0o600, "not a service key"},
		"checkpoint": {coinsMagic + string(good[len(serviceKeyMagic):]), 0o600,
			"not a service key"},
		"cut short": {string(good[:len(good)-1]), 0o600, "not a job key"},
		"one bit":   {string(flipped), 0o600, "not the key"},
		"too long":  {string(good) + strings.Repeat("x", maxServiceKey), 0o600, "at most 4096"},
	} {
		p := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(p, []byte(bad.content), bad.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(p, bad.mode); err != nil {
			t.Fatal(err)
		}
		if _, err := openServiceKey(t.Context(), p); err == nil ||
			!strings.Contains(err.Error(), bad.said) {
			t.Errorf("%s: %v, want %q", name, err, bad.said)
		}
		if contentOf(t, p) != bad.content {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

// No two lists of parts, and no two uses, have one digest.
func TestServiceKeyDigestsAreApart(t *testing.T) {
	k, err := openServiceKey(t.Context(), filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[[32]byte]int{}
	for i, d := range [][32]byte{
		k.digest("a", []byte("bc"), []byte("d")), k.digest("a", []byte("b"), []byte("cd")),
		k.digest("a", []byte("bcd")),
		k.digest("a", []byte("bcd"), nil), k.digest("b", []byte("bcd")),
		k.digest("a", []byte("1:b"), []byte("cd")), k.digest("a"),
	} {
		if before, ok := seen[d]; ok {
			t.Errorf("%d is %d", i, before)
		}
		seen[d] = i
	}
}
