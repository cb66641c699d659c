package release

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A result is written where nothing is, left as it is where it was written before, and takes the
// place of nothing else.
func TestWriteOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "1.round")
	write := func(text string) (bool, error) {
		return WriteOnce(t.Context(), "--out", FileOutput{Path: path}, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
	}
	if before, err := write("first"); before || err != nil {
		t.Errorf("nothing was there: %t, %v", before, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if before, err := write("first"); !before || err != nil {
		t.Errorf("it was there: %t, %v", before, err)
	}
	if now, err := os.Stat(path); err != nil || !os.SameFile(info, now) ||
		now.ModTime() != info.ModTime() {
		t.Errorf("the file was written again: %v", err)
	}
	var output *OutputError
	for _, other := range []string{"second", "", "first and more"} {
		if before, err := write(other); before || !errors.As(err, &output) ||
			!errors.Is(err, fs.ErrExist) {
			t.Errorf("%q: %t, %v", other, before, err)
		}
	}
	if b, err := os.ReadFile(path); string(b) != "first" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	// Another run writes while this one does: the first stays, and the second knows.
	for _, theirs := range []string{"mine", "theirs"} {
		raced, first := filepath.Join(t.TempDir(), "2.round"), true
		before, err := WriteOnce(t.Context(), "--out", FileOutput{Path: raced}, func(w io.Writer) error {
			if first {
				first = false
				if err := os.WriteFile(raced, []byte(theirs), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := io.WriteString(w, "mine")
			return err
		})
		if same := theirs == "mine"; before != same || errors.Is(err, fs.ErrExist) == same ||
			(err == nil) != same {
			t.Errorf("beside %q: %t, %v", theirs, before, err)
		}
		if b, err := os.ReadFile(raced); string(b) != theirs || err != nil {
			t.Errorf("beside %q the file has %q, %v", theirs, b, err)
		}
	}
	// A link is followed, to a file that is not there yet too.
	link, target := filepath.Join(t.TempDir(), "link"), filepath.Join(t.TempDir(), "3.round")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if before, err := WriteOnce(t.Context(), "--out", FileOutput{Path: link}, func(w io.Writer) error {
		_, err := io.WriteString(w, "x")
		return err
	}); before || err != nil {
		t.Errorf("through a link: %t, %v", before, err)
	}
	if b, err := os.ReadFile(target); string(b) != "x" || err != nil {
		t.Errorf("through a link: %q, %v", b, err)
	}
	broken := errors.New("broken")
	if before, err := WriteOnce(t.Context(), "--out", FileOutput{Path: path},
		func(io.Writer) error { return broken }); before || !errors.Is(err, broken) {
		t.Errorf("a result that fails: %t, %v", before, err)
	}
}
