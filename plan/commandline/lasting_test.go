package commandline

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// No command names what is gone when it has been read, and two such files have two names.
func TestLasting(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	names, notes := Lasting([]string{file, "-", "/dev/fd/63", "part-*.csv", "/dev/fd/64"})
	if want := []string{file, "-", "votes.csv", "part-*.csv", "votes-2.csv"}; !slices.Equal(names, want) ||
		len(notes) != 2 || notes[0] != "votes.csv stands for what /dev/fd/63 held, which is gone when it has "+
		"been read: keep it in a file." {
		t.Errorf("%q, %q", names, notes)
	}
}
