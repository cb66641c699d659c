package release

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/ledger"
)

// A place where no output can be is found before anything is done, and nothing is written there.
func TestCheckPlace(t *testing.T) {
	dir := t.TempDir()
	book := filepath.Join(dir, "a.ledger")
	for _, name := range []string{book, book + ledger.AnchorSuffix} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var output *OutputError
	var usage *UsageError
	if err := (FileOutput{Path: book}).CheckPlace(); !errors.As(err, &usage) {
		t.Errorf("a ledger: %v", err)
	}
	if err := (FileOutput{Path: dir}).CheckPlace(); !errors.As(err, &output) {
		t.Errorf("a directory: %v", err)
	}
	if err := (FileOutput{Path: filepath.Join(dir, "no", "x.csv")}).CheckPlace(); !errors.As(err,
		&output) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	for _, path := range []string{"", "-", filepath.Join(dir, "x.csv")} {
		if err := (FileOutput{Path: path}).CheckPlace(); err != nil {
			t.Errorf("%q: %v", path, err)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Errorf("%d files, %v", len(files), err)
	}
}

// A device and stdout are written to, also where no file may be there: they are in nobody's way.
// Nothing is read from them.
func TestWriteNewToADevice(t *testing.T) {
	if _, err := os.Stat(os.DevNull); err != nil || os.DevNull != "/dev/null" {
		t.Skip("no device")
	}
	wrote := 0
	encode := func(w io.Writer) error {
		wrote++
		_, err := io.WriteString(w, "labels")
		return err
	}
	if err := (FileOutput{Path: os.DevNull}).WriteNew(t.Context(), encode); err != nil || wrote != 1 {
		t.Errorf("%v, written %d times", err, wrote)
	}
	for _, path := range []string{"-", "", os.DevNull} { // a pipe would be waited for
		f, err := (FileOutput{Path: path}).Open(t.Context())
		if f != nil || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q is read: %v", path, err)
		}
	}
	path := filepath.Join(t.TempDir(), "x.csv")
	for i, want := range []error{nil, fs.ErrExist} {
		if err := (FileOutput{Path: path}).WriteNew(t.Context(), encode); !errors.Is(err, want) {
			t.Errorf("file %d: %v", i+1, err)
		}
	}
}

// What could not be encoded is an error, on stdout too, which gets nothing of a short text; so is what
// stdout does not take.
func TestWriteOfAnError(t *testing.T) {
	stop := errors.New("stop")
	var stdout strings.Builder
	path := filepath.Join(t.TempDir(), "x.csv")
	var output *OutputError
	for _, o := range []FileOutput{{Stdout: &stdout}, {Path: "-", Stdout: &stdout}, {Path: path}} {
		err := o.Write(t.Context(), func(w io.Writer) error {
			_, err := io.WriteString(w, "labels")
			return cmp.Or(err, stop)
		})
		if !errors.As(err, &output) || !errors.Is(err, stop) {
			t.Errorf("%q: %v", o.Path, err)
		}
	}
	if _, err := os.Stat(path); stdout.Len() > 0 || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("stdout has %q, the file: %v", stdout.String(), err)
	}
	closed, w := io.Pipe()
	closed.Close()
	err := FileOutput{Stdout: w}.Write(t.Context(), func(w io.Writer) error {
		_, err := io.WriteString(w, "labels")
		return err
	})
	if !errors.As(err, &output) || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a closed pipe: %v", err)
	}
}
