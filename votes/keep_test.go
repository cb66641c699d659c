package votes

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Stdin and files are read as often as they are opened, in every format; a fault names the path.
func TestKeptIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	parquet := parquetOf(t, []struct {
		A int64 `parquet:"t1"`
	}{{1}, {0}})
	for name, tt := range map[string]struct {
		stdin []byte
		opts  Options
	}{
		"CSV":     {[]byte("t1\n1\n0\n"), Options{}},
		"gzip":    {gzipped([]byte("t1\n1\n0\n")), Options{Compression: CompressionGzip}},
		"npy":     {npyFile("|u1", false, []byte{1, 0}, 2, 1), Options{Format: FormatNPY, Layout: LayoutWide}},
		"Parquet": {parquet, pq(Options{})},
	} {
		tt.opts.Stdin, tt.opts.TempDir = bytes.NewReader(tt.stdin), dir
		k, err := Keep(context.Background(), tt.opts, "-")
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			r, err := k.Open(context.Background(), tt.opts)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got, err := collect(r); err != nil || got.N != 2 || got.Counts[1] != 1 {
				t.Errorf("%s: %+v, error %v", name, got, err)
			}
		}
		if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
			t.Errorf("%s: names of temporary files %v, error %v", name, left, err)
		}
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	}
	k, err := Keep(context.Background(), Options{Stdin: strings.NewReader("t1\n7\n")}, "-",
		put(t, dir, "a.csv", "t1\n1\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if r, err := k.Open(context.Background(), Options{}); err == nil ||
		!strings.HasPrefix(err.Error(), "stdin:2: ") {
		t.Errorf("%v, error %v", r, err)
	}
}

// No more is kept than a place is for, and no file stays behind.
func TestKeptIsBounded(t *testing.T) {
	o := Options{Stdin: strings.NewReader("t1\n1\n0\n"), spoolBytes: 4}
	var parse *ParseError
	if k, err := Keep(context.Background(), o, "-"); !errors.As(err, &parse) ||
		!strings.Contains(err.Error(), "stdin: a temporary file of more than 4 bytes") {
		t.Errorf("%v, error %v", k, err)
	}
	o = Options{Stdin: strings.NewReader("t1\n1\n"), TempDir: filepath.Join(t.TempDir(), "none")}
	var place *PlaceError
	if k, err := Keep(context.Background(), o, "-"); !errors.As(err, &place) {
		t.Errorf("%v, error %v", k, err)
	}
	for path, want := range map[string]bool{"-": true, "/dev/fd/63": true, "/dev/null": true, "x.csv": false,
		t.TempDir(): false} {
		if got := ReadOnce(path); got != want {
			t.Errorf("%s is read once: %v", path, got)
		}
	}
}

// A reader that goes on for ever ends with the context.
func TestKeepIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	if k, err := Keep(ctx, Options{Stdin: r}, "-"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, error %v", k, err)
	}
}
