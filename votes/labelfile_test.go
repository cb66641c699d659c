package votes

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// idText draws ids that need quotes, escapes or nothing.
var idText = rapid.StringOfN(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune(",\t\"\n\\<é 0a"))),
	1, 12, -1).
	Filter(func(s string) bool { return idRule(s) == "" })

// Labels written in any format are read back equal, as votes of one teacher.
func TestLabelsRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		classes := rapid.SampledFrom([][]string{nil, {"cat", "dog"}, {"5", "8", "300"}, {"-1", "1"},
			{"ä,b", "c\"d", "日本"}}).Draw(t, "classes")
		want := &all{K: 1, Classes: classes}
		if classes == nil {
			want.Classes = IntegerClasses(2)
		}
		want.N = rapid.IntRange(1, 40).Draw(t, "N")
		ids := rapid.SliceOfNDistinct(idText, want.N, want.N, rapid.ID[string]).Draw(t, "ids")
		answers := rapid.SliceOfN(rapid.IntRange(0, len(want.Classes)-1), want.N, want.N).Draw(t,
			"answers")
		for _, c := range answers {
			row := make([]int, len(want.Classes))
			row[c] = 1
			want.Counts = append(want.Counts, row...)
		}
		for _, name := range []string{"l.csv", "l.tsv", "l.jsonl", "l.npy", "l.parquet", "l.csv.gz",
			"l.jsonl.zst", "l.npy.gz", "-"} {
			if !long() && rapid.IntRange(0, 3).Draw(t, "skip") > 0 {
				continue
			}
			path := name
			opts := LabelOptions{Classes: classes}
			var stdout bytes.Buffer
			if name == "-" {
				opts.Stdout, opts.Format = &stdout, rapid.SampledFrom([]Format{FormatCSV, FormatJSONL,
					FormatNPY, FormatParquet}).Draw(t, "format")
			} else {
				path = filepath.Join(dir, name)
			}
			f, err := CreateLabels(path, opts)
			if err != nil {
				t.Fatal(err)
			}
			for i, id := range ids {
				if err := f.Write(id, answers[i]); err != nil {
					t.Fatal(err)
				}
			}
			if f.Rows() != int64(want.N) || stdout.Len() > 0 {
				t.Fatalf("%d rows before Commit, %d bytes in stdout", f.Rows(), stdout.Len())
			}
			if err := f.Commit(); err != nil {
				t.Fatal(err)
			}
			read := Options{Classes: classes, LabelColumn: NoColumn, K: 1, Format: opts.Format,
				Header: HeaderYes, Stdin: &stdout}
			expect := *want
			expect.IDs = ids
			if strings.Contains(name, ".npy") || opts.Format == FormatNPY {
				// One dimension: not votes. Look at it as a label of the same queries.
				got := readNPYLabels(t, path, &stdout)
				var texts []string
				for _, c := range answers {
					texts = append(texts, want.Classes[c])
				}
				if !reflect.DeepEqual(got, texts) {
					t.Fatalf("%s: got %q, want %q", name, got, texts)
				}
				continue
			}
			r, err := Open(context.Background(), read, path)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := collect(r)
			same(t, name, got, err, &expect, nil)
		}
	})
	if left, err := filepath.Glob(filepath.Join(dir, "*tmp*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// More labels than a writer holds at once, and than a row group of Parquet has, are read back in their
// order, each once.
func TestManyLabelsRoundTrip(t *testing.T) {
	const n = 1<<17 + 1<<10 + 1
	for _, name := range []string{"l.parquet", "l.csv", "l.jsonl"} {
		path := filepath.Join(t.TempDir(), name)
		f, err := CreateLabels(path, LabelOptions{})
		if err != nil {
			t.Fatal(err)
		}
		class := func(i int) int { return (i>>10 + i) & 1 }
		for i := range n {
			if err := f.Write(fmt.Sprint(i), class(i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
		r, err := Open(t.Context(), Options{LabelColumn: NoColumn, K: 1, Header: HeaderYes}, path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := collect(r)
		if err != nil || got.N != n {
			t.Fatalf("%s: %d labels, %v", name, got.N, err)
		}
		for i := range n {
			if got.IDs[i] != fmt.Sprint(i) || got.Counts[2*i+class(i)] != 1 {
				t.Fatalf("%s: label %d of %s is %v", name, i, got.IDs[i], got.Counts[2*i:2*i+2])
			}
		}
	}
}

// readNPYLabels reads a one-dimensional array by its header.
func readNPYLabels(t *rapid.T, path string, stdout io.Reader) (out []string) {
	in := stdout
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		in = f
		if strings.HasSuffix(path, ".gz") {
			if in, err = gzip.NewReader(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	h, err := readNPYHeader(in)
	if err != nil || len(h.Shape) != 1 || h.Fortran {
		t.Fatalf("header %+v, %v", h, err)
	}
	if (h.Size)%64 != 0 {
		t.Fatalf("the elements begin at %d", h.Size)
	}
	data, err := io.ReadAll(in)
	if err != nil || int64(len(data)) != h.data {
		t.Fatalf("%d bytes of elements, want %d, %v", len(data), h.data, err)
	}
	for i := range int(h.Shape[0]) {
		var c cell
		h.dtype.read(data[i*h.dtype.Size:(i+1)*h.dtype.Size], &c)
		if c.kind == brokenCell {
			t.Fatal("no text")
		}
		out = append(out, c.plain())
	}
	return out
}

// Labels that are not private carry it in their file, whatever the format.
func TestSimulatedLabelsAreMarked(t *testing.T) {
	for format, want := range map[Format]string{
		FormatCSV: "query,simulated_label\nq,1\n", FormatTSV: "query\tsimulated_label\nq\t1\n",
		FormatJSONL: "{\"query\":\"q\",\"simulated_label\":1}\n",
		FormatNPY:   "[('simulated_label', '|u1')]", FormatParquet: "simulated_label",
	} {
		var b bytes.Buffer
		f, err := CreateLabels("-", LabelOptions{Format: format, Simulated: true, Stdout: &b})
		if err != nil {
			t.Fatal(err)
		}
		f.Write("q", 1)
		if err := f.Commit(); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%s: %v, %q, want %q", format, err, b.String(), want)
		}
	}
}

func TestLabelFileFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "l.csv")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"l.csv", "l.tsv", "l.jsonl", "l.npy", "l.parquet", "l.csv.gz",
		"l.npy.zst", "-"} {
		for what, fail := range map[string]func(*LabelFile) error{
			"class 2":    func(f *LabelFile) error { return f.Write("x", 2) },
			"class -1":   func(f *LabelFile) error { return f.Write("x", -1) },
			"empty id":   func(f *LabelFile) error { return f.Write("", 1) },
			"invalid id": func(f *LabelFile) error { return f.Write("\xff", 1) },
			"few answers": func(f *LabelFile) error {
				return f.WriteBatch(&Batch{places: make([]int, 2)}, []int{1})
			},
			"aborted": func(f *LabelFile) error { f.Abort(); return f.Write("x", 1) },
			"batch of two": func(f *LabelFile) error {
				return f.WriteBatch(&Batch{places: make([]int, 2)}, []int{1, 7})
			},
		} {
			var stdout bytes.Buffer
			target := name
			if name != "-" {
				target = filepath.Join(dir, name)
			}
			f, err := CreateLabels(target, LabelOptions{Stdout: &stdout})
			if err != nil {
				t.Fatal(err)
			}
			f.Write("good", 1)
			first := fail(f)
			if first == nil {
				t.Errorf("%s, %s: accepted", name, what)
			}
			if again := f.Write("good", 1); again == nil {
				t.Errorf("%s, %s: goes on after %v", name, what, first)
			}
			if err := f.Commit(); err == nil {
				t.Errorf("%s, %s: committed after %v", name, what, first)
			}
			if err := f.Abort(); err != nil {
				t.Errorf("%s, %s: abort: %v", name, what, err)
			}
			if stdout.Len() > 0 {
				t.Errorf("%s, %s: wrote %q", name, what, stdout.String())
			}
		}
	}
	left, err := os.ReadDir(dir)
	if old, _ := os.ReadFile(path); err != nil || len(left) != 1 || string(old) != "old" {
		t.Errorf("left behind: %v, %v, the old file holds %q", left, err, old)
	}
	boom := errors.New("boom")
	f, err := CreateLabels("-", LabelOptions{Stdout: failingWriter{boom}})
	if err != nil {
		t.Fatal(err)
	}
	f.Write("q", 1)
	if err := f.Commit(); !errors.Is(err, boom) {
		t.Errorf("stdout that fails: %v", err)
	}
	if err := f.Commit(); err == nil {
		t.Error("committed twice")
	}
	for name, opts := range map[string]LabelOptions{
		"l.npz":        {},
		"l.parquet.gz": {},
		"l.csv":        {Classes: []string{"a"}},
		"none/l.csv":   {},
	} {
		f, err := CreateLabels(filepath.Join(dir, name), opts)
		if err == nil {
			f.Abort()
			t.Errorf("%s %+v: accepted", name, opts)
			continue
		}
		// The folder may be one that only the program knows.
		if name != "none/l.csv" && strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Without a folder for what is not yet certain, nothing is written.
func TestLabelsWithoutATemporaryFolder(t *testing.T) {
	dir := t.TempDir()
	opts := LabelOptions{Stdout: new(bytes.Buffer), TempDir: filepath.Join(dir, "none")}
	for _, path := range []string{"-", filepath.Join(dir, "l.npy")} {
		if f, err := CreateLabels(path, opts); f != nil || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, %v", path, f, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Numbers of queries are their ids where the file has none.
func TestWriteBatch(t *testing.T) {
	var b bytes.Buffer
	f, err := CreateLabels("-", LabelOptions{Stdout: &b})
	if err != nil {
		t.Fatal(err)
	}
	f.WriteBatch(&Batch{First: 9, places: make([]int, 2)}, []int{0, 1})
	f.WriteBatch(&Batch{First: 11, places: make([]int, 3), IDs: []string{"a,b", "c", "d"}},
		[]int{1, 0, 1})
	if err := f.Commit(); err != nil || b.String() != "query,label\n9,0\n10,1\n\"a,b\",1\nc,0\nd,1\n" {
		t.Errorf("%v, %q", err, b.String())
	}
}

// A file without a row still has its header.
func TestNoLabels(t *testing.T) {
	for format, want := range map[Format]string{FormatCSV: "query,label\n",
		FormatTSV: "query\tlabel\n", FormatJSONL: "", FormatNPY: "'shape': (0,)", FormatParquet: "PAR1"} {
		var b bytes.Buffer
		f, err := CreateLabels("-", LabelOptions{Format: format, Stdout: &b})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Commit(); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%s: %v, %q", format, err, b.String())
		}
	}
}

// Concatenated compressed members are what a tool would read.
func TestCompressedLabels(t *testing.T) {
	for _, c := range []Compression{CompressionGzip, CompressionZstd} {
		var b bytes.Buffer
		f, err := CreateLabels("-", LabelOptions{Compression: c, Stdout: &b})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10_000 {
			f.Write(fmt.Sprint(i), i&1)
		}
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
		var r io.Reader
		if c == CompressionGzip {
			r, err = gzip.NewReader(&b)
		} else {
			r, err = zstd.NewReader(&b)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil || !strings.HasPrefix(string(got), "query,label\n0,0\n1,1\n") ||
			strings.Count(string(got), "\n") != 10_001 {
			t.Errorf("%s: %d bytes, %v", c, len(got), err)
		}
	}
}
