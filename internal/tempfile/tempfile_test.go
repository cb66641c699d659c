package tempfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"testing"
)

// The file keeps what is written while it is open, and no name of it is left: on Unix at once.
func TestFileIsGone(t *testing.T) {
	dir := t.TempDir()
	names := func() int {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	f, err := New(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := f.Stat(); err != nil || runtime.GOOS != "windows" &&
		(info.Mode().Perm() != 0o600 || names() != 0) {
		t.Errorf("%v, error %v, %d names", info, err, names())
	}
	if _, err := f.WriteString("1,0,1\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(f); err != nil || string(b) != "1,0,1\n" {
		t.Errorf("%q, error %v", b, err)
	}
	if err := f.Close(); err != nil || names() != 0 {
		t.Errorf("error %v, %d names", err, names())
	}
	if _, err := New(dir + "/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want one of a directory that is not there", err)
	}
}
