package data

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
)

// encode is the format written out a second time.
func encode(kind byte, values []byte, sizes ...uint32) []byte {
	b := []byte{0, 0, kind, byte(len(sizes))}
	for _, s := range sizes {
		b = binary.BigEndian.AppendUint32(b, s)
	}
	return append(b, values...)
}

func zip(t testing.TB, b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestReadImages(t *testing.T) {
	plain := encode(8, []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 2, 3, 2)
	for name, data := range map[string][]byte{"plain": plain, "gzip": zip(t, plain)} {
		// One byte at a time, as a pipe may deliver them.
		m, err := readImages(io.MultiReader(bytes.NewReader(data[:1]), bytes.NewReader(data[1:])))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if m.N != 2 || m.Rows != 3 || m.Columns != 2 ||
			!bytes.Equal(m.Image(1), []byte{7, 8, 9, 10, 11, 12}) {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	good := encode(8, []byte{1, 2, 3, 4}, 4)
	zipped := zip(t, good)
	damaged := bytes.Clone(zipped)
	damaged[len(damaged)-6] ^= 1 // the checksum
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "header"},
		{"short header", good[:7], "header: 7 of 8"},
		{"short values", good[:11], "values: 3 of 4"},
		{"too long", append(bytes.Clone(good), 0), "goes on after its 4 values"},
		{"no zeros", append([]byte{1}, good[1:]...), "two zeros"},
		{"one zero", append([]byte{0, 1}, good[2:]...), "two zeros"},
		{"other type", encode(9, []byte{1}, 1), "type 0x09"},
		{"images for labels", encode(8, []byte{1}, 1, 1, 1), "3 dimensions, but it must have 1"},
		{"claims 4 GiB", encode(8, []byte{1}, 1<<32-1), "more than"},
		{"gzip cut", zipped[:len(zipped)-9], "unexpected EOF"},
		{"gzip checksum", damaged, "checksum"},
		{"gzip header", []byte{0x1f, 0x8b, 0, 0}, "gzip"},
	}
	for _, tt := range tests {
		got, err := readLabels(bytes.NewReader(tt.data))
		if err == nil || got != nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %v; want an error with %q", tt.name, got, err, tt.want)
		}
	}
	for _, sizes := range [][]uint32{{1, 0, 1}, {1 << 16, 1 << 16, 1 << 16},
		{1 << 31, 1 << 31, 1 << 31}} {
		if _, err := readImages(bytes.NewReader(encode(8, nil, sizes...))); err == nil {
			t.Errorf("sizes %v are accepted", sizes)
		}
	}
}

func TestReadLabelledImages(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ReadLabelledImages(context.Background(), dir, "train"); !errors.Is(err,
		fs.ErrNotExist) {
		t.Errorf("empty folder: %v", err)
	}
	write("train-images-idx3-ubyte.gz", zip(t, encode(8, []byte{1, 2}, 2, 1, 1)))
	write("train-labels-idx1-ubyte", encode(8, []byte{5, 8}, 2))
	s, err := ReadLabelledImages(context.Background(), dir, "train")
	if err != nil || s.N != 2 || s.Labels[1] != 8 {
		t.Errorf("%+v, %v", s, err)
	}
	write("train-labels-idx1-ubyte", encode(8, []byte{5}, 1))
	if _, err := ReadLabelledImages(context.Background(), dir, "train"); err == nil ||
		!strings.Contains(err.Error(), "1 labels for 2 images") {
		t.Errorf("lengths that differ: %v", err)
	}
}

// FuzzRead: reading never panics, and every accepted text is as encode writes it.
func FuzzRead(f *testing.F) {
	f.Add(encode(8, []byte{1, 2, 3, 4, 5, 6}, 1, 2, 3))
	f.Add(encode(8, []byte{1}, 1))
	f.Add(zip(f, encode(8, nil, 0)))
	f.Add([]byte{0, 0, 8, 3, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		gzipped := bytes.HasPrefix(data, []byte{0x1f, 0x8b})
		if m, err := readImages(bytes.NewReader(data)); err == nil && !gzipped {
			if again := encode(8, m.Pixels, uint32(m.N), uint32(m.Rows),
				uint32(m.Columns)); !bytes.Equal(again, data) {
				t.Errorf("images: %x became %x", data, again)
			}
		}
		if l, err := readLabels(bytes.NewReader(data)); err == nil && !gzipped {
			if again := encode(8, l, uint32(len(l))); !bytes.Equal(again, data) {
				t.Errorf("labels: %x became %x", data, again)
			}
		}
	})
}

func newRecords(t testing.TB, rows [][]float64, y []float64) *Records {
	t.Helper()
	var x []float64
	for _, r := range rows {
		x = append(x, r...)
	}
	return must.Get(NewRecords(len(rows), len(rows[0]), x, y))(t)
}

// Rows whose squares overflow or underflow are shortened too, and no others are touched.
func TestShortenedBeyondSquares(t *testing.T) {
	for _, c := range []struct {
		feature, radius float64
		long            bool
	}{{1e-170, 1e-200, true}, {1e-170, 1e-160, false}, {1e-140, 1e-150, true}, {0, 1e-200, false},
		{1e49, 1, true}} {
		r, err := NewRecords(1, 3, []float64{c.feature, -c.feature, 0}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := r.Shortened(c.radius)
		if (s != r) != c.long {
			t.Errorf("%+v: changed %v", c, s != r)
		}
		if got := math.Hypot(s.Row(0)[0], s.Row(0)[1]); got > c.radius*(1+1e-12) || c.long &&
			got < c.radius*(1-1e-9) {
			t.Errorf("%+v: norm %g", c, got)
		}
	}
}
