package atomicfile

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// What Write wrote is removed, at the end of all links, and nothing else.
func TestRemove(t *testing.T) {
	dir := t.TempDir()
	real, link, other := filepath.Join(dir, "real"), filepath.Join(dir, "link"),
		filepath.Join(dir, "other")
	for _, l := range [][2]string{{"second", link}, {"real", filepath.Join(dir, "second")}} {
		if err := os.Symlink(l[0], l[1]); err != nil {
			t.Fatal(err)
		}
	}
	text := func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }
	for _, path := range []string{link, real, other} {
		if err := Write(path, 0o600, text); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // that it is gone already is no error
		if err := Remove(link); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(real); !os.IsNotExist(err) {
			t.Errorf("the file is still there: %v", err)
		}
	}
	if err := Remove(filepath.Join(dir, "missing", "file")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
	for _, path := range []string{dir, os.DevNull} {
		if err := Remove(path); err == nil {
			t.Errorf("%s removed", path)
		}
	}
	if _, err := os.Stat(os.DevNull); err != nil {
		t.Error(err)
	}
}
