package readfile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestWhole(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	want := bytes.Repeat([]byte("0123456789"), 1000)
	if err := os.WriteFile(path, want, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link} {
		for _, limit := range []int64{10_000, 10_001, math.MaxInt64} {
			if got, err := Whole(context.Background(), name, limit); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s with limit %d: %d bytes, %v", name, limit, len(got), err)
			}
		}
		got, err := Whole(context.Background(), name, 9999)
		if err == nil || len(got) > 0 || err.Error() != name+
			" has 10000 bytes, but at most 9999 are read of it" {
			t.Errorf("%s with limit 9999: %d bytes, %v", name, len(got), err)
		}
	}
	if _, err := Whole(context.Background(), filepath.Join(dir, "none"), 1); !errors.Is(err,
		fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := Whole(context.Background(), dir, 1<<20); err == nil ||
		err.Error() != dir+" is a directory, not a file" {
		t.Errorf("a directory: %v", err)
	}
}

// What is given is what was there, and never a byte beyond the limit: in whatever pieces it
// comes, however it ends.
func TestLimit(t *testing.T) {
	ctx := context.Background()
	for length := range 6 {
		for limit := range int64(6) {
			for name, by := range map[string]func(io.Reader) io.Reader{
				"at once": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader,
				"end with data": iotest.DataErrReader,
			} {
				want := "abcdef"[:length]
				got, err := io.ReadAll(Limit(ctx, by(strings.NewReader(want)), "x", limit))
				if over := int64(length) > limit; over != (err != nil) ||
					string(got) != want[:min(length, int(limit))] {
					t.Errorf("%d bytes %s with limit %d: %q, %v", length, name, limit, got, err)
				}
				if err != nil && !strings.HasPrefix(err.Error(), "x has more than ") {
					t.Errorf("%d bytes with limit %d: %v", length, limit, err)
				}
			}
		}
	}
	r := Limit(ctx, strings.NewReader("abc"), "x", 2)
	_, _ = io.ReadAll(r)
	if n, err := r.Read(make([]byte, 8)); n != 0 || err == nil || err == io.EOF {
		t.Errorf("after the error: %d, %v", n, err)
	}
}

func TestEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	f, err := Open(ctx, path, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cancel()
	if n, err := f.Read(make([]byte, 3)); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("read: %d, %v", n, err)
	}
	if _, err := Whole(ctx, path, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v", err)
	}
}
