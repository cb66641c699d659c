package votes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/parquet-go/parquet-go"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/npy"
	"github.com/darrm/darrm/internal/testing/raced"
)

func put(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Several files of several formats are one stream; numbers go on across files.
func TestOpenSeveral(t *testing.T) {
	dir := t.TempDir()
	a := put(t, dir, "a.csv", "t1,t2\n0,1\n1,1\n")
	b := put(t, dir, "b.jsonl", "{\"votes\":[0,0]}\n")
	put(t, dir, "c.tsv", "t1\tt2\n0\t1\n")
	want := &all{K: 2, Classes: IntegerClasses(2), Counts: []int{1, 1, 0, 2, 2, 0, 1, 1, 2, 0}, N: 5}
	r, err := Open(context.Background(), Options{Stdin: strings.NewReader("0,0\n"), K: 2}, a, b,
		filepath.Join(dir, "c*"), "-")
	if err != nil {
		t.Fatal(err)
	}
	got, err := collect(r)
	same(t, "four files", got, err, want, nil)
	// A pattern's files come in order.
	put(t, dir, "b.csv", "t2,t1\n1,1\n")
	r, err = Open(context.Background(), Options{}, filepath.Join(dir, "?.csv"))
	if err != nil {
		t.Fatal(err)
	}
	got, err = collect(r)
	same(t, "a pattern", got, err, &all{K: 2, Classes: IntegerClasses(2),
		Counts: []int{1, 1, 0, 2, 0, 2}, N: 3}, nil)
	// A name that is there is no pattern.
	odd := put(t, dir, "[x].csv", "t1,t2\n0,0\n")
	r, err = Open(context.Background(), Options{}, odd)
	if err != nil {
		t.Fatal(err)
	}
	got, err = collect(r)
	same(t, "a name with brackets", got, err, &all{K: 2, Classes: IntegerClasses(2),
		Counts: []int{2, 0}, N: 1}, nil)
}

// Very many files: each is open only while it is read.
func TestOpenMany(t *testing.T) {
	dir := t.TempDir()
	const n = 1200 // above the usual limit of open files, 1024
	for i := range n {
		put(t, dir, "f"+strings.Repeat("0", i/1000)+string(rune('a'+i%1000/100))+
			string(rune('a'+i%100/10))+string(rune('a'+i%10))+".csv", "t1,t2\n0,1\n")
	}
	r, err := Open(context.Background(), Options{}, filepath.Join(dir, "*.csv"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := collect(r)
	if err != nil || got.N != n {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	a := put(t, dir, "a.csv", "t1,t2\n0,1\n")
	link := filepath.Join(dir, "link.csv")
	if err := os.Symlink(a, link); err != nil {
		t.Fatal(err)
	}
	three := put(t, dir, "three.csv", "t1,t2,t3\n0,1,1\n")
	ids := put(t, dir, "ids.csv", "query,t1,t2\nx,0,1\n")
	more := put(t, dir, "more.csv", "query,t1,t2\ny,0,1\nx,0,1\n")
	bad := put(t, dir, "bad.csv", "t1,t2\n0,2\n")
	for name, tt := range map[string]struct {
		opts  Options
		paths []string
		want  string
	}{
		"no file":             {Options{}, nil, "no file"},
		"not there":           {Options{}, []string{filepath.Join(dir, "none.csv")}, "no such file"},
		"pattern of nothing":  {Options{}, []string{filepath.Join(dir, "*.x")}, "matches no file"},
		"bad pattern":         {Options{}, []string{filepath.Join(dir, "[")}, "pattern"},
		"directory":           {Options{}, []string{dir}, "is a directory"},
		"twice":               {Options{}, []string{a, a}, "are the same file"},
		"twice, by a link":    {Options{}, []string{a, link}, "are the same file"},
		"twice, by a pattern": {Options{}, []string{a, filepath.Join(dir, "a*")}, "are the same file"},
		"stdin twice": {Options{Stdin: strings.NewReader("0,1\n")}, []string{"-", "-"},
			"are the same file"},
		"other K": {Options{}, []string{a, three}, "three.csv: K = 3 teachers, but " + a +
			" has K = 2"},
		"ids in one": {Options{}, []string{a, ids}, "ids.csv: the file has query ids, but " + a +
			" has no"},
		"id in both": {Options{}, []string{ids, more},
			more + `:3: column 1 ("query"): query id "x" is already in ` + ids + ", line 2"},
		"second is bad": {Options{}, []string{a, bad}, "bad.csv:2"},
		"first is bad":  {Options{}, []string{bad, a}, "bad.csv:2"},
		"packed parquet": {Options{}, []string{put(t, dir, "v.parquet.gz", "x")},
			"compressed inside"},
		"format":      {Options{Format: "yaml"}, []string{a}, `format = "yaml"`},
		"compression": {Options{Compression: 9}, []string{a}, "compression = 9"},
		"missing":     {Options{Missing: 9}, []string{a}, "missing = 9"},
		"votes of counts": {Options{Layout: LayoutCounts, KeepVotes: true}, []string{a},
			"layout counts has none"},
		"missing counts": {Options{Layout: LayoutCounts, Missing: MissingCoin}, []string{a},
			"cannot tell a missing vote"},
		"teachers first": {Options{Layout: LayoutTeachers}, []string{a}, "is for arrays"},
		"one class":      {Options{Classes: []string{"a"}}, []string{a}, "number of classes = 1"},
		"class twice": {Options{Classes: []string{"a", "b", "a"}}, []string{a},
			"in the list once: it is number 0 and 2"},
		"empty class": {Options{Classes: []string{"a", ""}}, []string{a}, "bytes long"},
		"class with NUL": {Options{Classes: []string{"a", "\x00"}}, []string{a},
			"valid UTF-8 without"},
		"class with spaces": {Options{Classes: []string{"a", " b"}}, []string{a}, "without spaces"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Open(ctx, tt.opts, tt.paths...)
			if err == nil {
				_, err = collect(r)
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	var parameter *check.Error
	if _, err := Open(ctx, Options{Workers: 5000}, a); !errors.As(err, &parameter) ||
		parameter.Name != "workers" {
		t.Errorf("5000 workers: %v", err)
	}
}

func TestNames(t *testing.T) {
	for path, want := range map[string]struct {
		f Format
		c Compression
	}{
		"v.csv": {FormatCSV, CompressionNone}, "V.TSV": {FormatTSV, CompressionNone},
		"v.tab":        {FormatTSV, CompressionNone},
		"a/v.jsonl.gz": {FormatJSONL, CompressionGzip}, "v.ndjson": {FormatJSONL, CompressionNone},
		"v.npy.zst": {FormatNPY, CompressionZstd},
		"v.npz":     {FormatNPZ, CompressionNone}, "v.pq": {FormatParquet, CompressionNone},
		"v.parquet": {FormatParquet, CompressionNone},
		"v":         {FormatCSV, CompressionNone}, "v.gz": {FormatCSV, CompressionGzip},
		"v.zstd": {FormatCSV, CompressionZstd}, "-": {FormatCSV, CompressionNone},
		"/dev/fd/63": {FormatCSV, CompressionNone}, ".csv": {FormatCSV, CompressionNone},
	} {
		f, c, err := byName(path, FormatAuto, CompressionAuto)
		if f != want.f || c != want.c || err != nil {
			t.Errorf("%s: %s, %s, %v", path, f, c, err)
		}
	}
	for _, path := range []string{"v.json", "v.XLSX", "a/v.ods"} {
		if _, _, err := byName(path, FormatAuto, CompressionAuto); err == nil {
			t.Errorf("%s is taken for CSV", path)
		}
		if f, _, err := byName(path, FormatCSV, CompressionAuto); f != FormatCSV || err != nil {
			t.Errorf("%s, stated to be CSV: %s, %v", path, f, err)
		}
	}
}

// Ids are searched for repetitions up to a limit, and not if they are trusted.
func TestTrustIDs(t *testing.T) {
	raced.Elsewhere(t, "TestWorkers")
	in := "query,t1\nx,1\nx,0\n"
	if _, err := readAll(strings.NewReader(in), Options{}); err == nil {
		t.Error("repeated id accepted")
	}
	got, err := readAll(strings.NewReader(in), Options{TrustIDs: true})
	same(t, "trusted", got, err, &all{K: 1, Classes: IntegerClasses(2), Counts: []int{0, 1, 1, 0},
		IDs: []string{"x", "x"}, N: 2}, nil)
	if testing.Short() || raced.Enabled {
		t.Skip("a million ids")
	}
	var b bytes.Buffer
	b.WriteString("query,t1\n")
	for i := range maxTrackedIDs + 5 {
		b.WriteString("q")
		b.WriteString(strings.Repeat("x", i&1))
		b.Write([]byte{byte('a' + i>>20&15), byte('a' + i>>16&15), byte('a' + i>>12&15),
			byte('a' + i>>8&15), byte('a' + i>>4&15), byte('a' + i&15), ',', '1', '\n'})
	}
	if _, err := readAll(bytes.NewReader(b.Bytes()), Options{}); err == nil ||
		!strings.Contains(err.Error(), "more than 1048576 ids") {
		t.Errorf("a million ids: %v", err)
	}
	for _, opts := range []Options{{TrustIDs: true}, {allIDs: true}} {
		if got, err := readAll(bytes.NewReader(b.Bytes()), opts); err != nil || got.N != maxTrackedIDs+5 {
			t.Errorf("%+v: %v", opts, err)
		}
	}
}

// A table is made of two classes, and of queries without missing votes.
func TestTable(t *testing.T) {
	if _, err := ReadCSV(strings.NewReader("t1,t2,label\n0,1,1\n,1,0\n"),
		Options{Missing: MissingCoin}); err == nil ||
		!strings.Contains(err.Error(), `query "1": 1 votes are missing`) {
		t.Errorf("missing: %v", err)
	}
	if _, err := ReadCSV(strings.NewReader("0,1\n"),
		Options{K: 2, Header: HeaderNo, Classes: IntegerClasses(3)}); err == nil ||
		!strings.Contains(err.Error(), "two classes, not of 3") {
		t.Errorf("three classes: %v", err)
	}
}

// Counts sum to K in every row of every format and size of chunks: a mechanism that is
// given the ones takes the rest for zeros.
func TestCountsSumToK(t *testing.T) {
	for _, last := range [][]int{{1, 1}, {0, 2}, {2, 0}, {2, 2}, {3, 1}, {0, 4}, {0, 0}} {
		rows := table{names: []string{"zeros", "ones"}}
		var elements []byte
		for _, row := range [][]int{{1, 2}, {3, 0}, {0, 3}, {2, 1}, last} {
			rows.rows = append(rows.rows, row)
			elements = append(elements, byte(row[0]), byte(row[1]))
		}
		files := rows.formats()
		files[FormatNPY] = npyFile("|u1", false, elements, 5, 2)
		files[FormatNPZ] = archiveOf(t, "counts.npy", files[FormatNPY])
		for format, data := range files {
			for _, chunk := range []int{0, 1, 6} {
				for _, k := range []int{0, 3} {
					r, err := NewReader(context.Background(), bytes.NewReader(data),
						Options{Format: format, Layout: LayoutCounts, K: k, chunkBytes: chunk})
					n := 0
					for err == nil {
						var b *Batch
						if b, err = r.Next(); err == nil {
							for i := range b.Len() {
								b.Ones(i)
								n++
							}
						}
					}
					var p *ParseError
					if !errors.As(err, &p) || n > 4 || format != FormatParquet && format != FormatNPY &&
						format != FormatNPZ && p.Line == 0 {
						t.Errorf("%s, chunks of %d, K = %d, last row %v: %d rows, %v", format, chunk, k, last, n, err)
					}
				}
			}
		}
	}
}

// Ones of a query without K votes has no meaning.
func TestOnesNeedsAllVotes(t *testing.T) {
	b := &Batch{K: 3, Classes: 2, Counts: []int{1, 2, 1, 1, 2, 2}}
	if b.Ones(0) != 2 {
		t.Errorf("ones %d, want 2", b.Ones(0))
	}
	for i := 1; i < 3; i++ {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Ones of counts %v with K = 3", b.Row(i))
				}
			}()
			b.Ones(i)
		}()
	}
}

func TestBatchMajority(t *testing.T) {
	b := &Batch{K: 5, Classes: 3, Counts: []int{2, 2, 1, 0, 4, 1, 5, 0, 0, 1, 1, 3}}
	for i, want := range []int{-1, 1, 0, 2} {
		if got := b.Majority(i); got != want {
			t.Errorf("query %d: %d, want %d", i, got, want)
		}
	}
	if b.ID(2) != "2" {
		t.Errorf("id %s", b.ID(2))
	}
}

func writeFile(t interface{ Fatal(...any) }, path string, data []byte) {
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A name cannot change what a terminal shows, nor put a line of its own into a message.
func TestNamesAreQuoted(t *testing.T) {
	dir := t.TempDir()
	const odd = "a\x1b2J\nerror\u202e.csv"
	shown := func(s string) bool {
		return !strings.ContainsAny(s, "\x1b\n\u202e") && strings.Contains(s, `a\x1b2J\nerror\u202e.`)
	}
	good := put(t, dir, "good.csv", "query,t1,t2\n1,0,1\n")
	ctx := context.Background()
	for name, paths := range map[string][]string{
		"bad vote":  {put(t, dir, odd, "t1,t2\n0,2\n")},
		"not there": {filepath.Join(dir, "no", odd)},
		"second file": {put(t, dir, "2"+odd, "query,t1,t2\n1,0,1\n"),
			put(t, dir, "3.csv", "query,t1,t2\n1,0,1\n")},
		"fewer": {put(t, dir, "4"+odd, "query,t1,t2\n7,0,1\n"),
			put(t, dir, "5.csv", "query,t1\n8,0\n")},
		"other names": {put(t, dir, "6"+odd, "query,t3,t4\n7,0,1\n"),
			put(t, dir, "7.csv", "query,t1,t2\n8,0,1\n")},
		"compressed": {put(t, dir, odd+".parquet.gz", "")},
		"twice":      {put(t, dir, "8"+odd, "t1\n1\n"), filepath.Join(dir, ".", "8"+odd)},
		"array":      {put(t, dir, odd+".npy", "")},
		"Parquet":    {put(t, dir, odd+".parquet", "x")},
		"JSON":       {put(t, dir, odd+".jsonl", "x")},
		"pattern":    {filepath.Join(dir, odd+"*.none")},
	} {
		r, err := Open(ctx, Options{}, paths...)
		if err == nil {
			_, err = collect(r)
		}
		if err == nil || !shown(err.Error()) {
			t.Errorf("%s: %q", name, fmt.Sprint(err))
		}
	}
	if _, err := Open(ctx, Options{}, filepath.Join(dir, odd+".d")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want os.ErrNotExist", err)
	}
	if err := os.Mkdir(filepath.Join(dir, odd+".d"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, Options{}, good, filepath.Join(dir, odd+".d")); err == nil ||
		!shown(err.Error()) {
		r, _ := Open(ctx, Options{}, good, filepath.Join(dir, odd+".d"))
		if _, err = collect(r); err == nil || !shown(err.Error()) {
			t.Errorf("directory: %v", err)
		}
	}
	boom := iotest.ErrReader(errors.New("boom"))
	for name, err := range map[string]error{
		"name":    func() error { _, err := readAll(boom, Options{Name: odd}); return err }(),
		"options": func() error { _, err := readAll(boom, Options{Name: odd, K: -1}); return err }(),
		"histogram": func() error {
			_, err := ReadHistogram(strings.NewReader("x\n"), odd, 3)
			return err
		}(),
	} {
		if err == nil || !shown(err.Error()) {
			t.Errorf("%s: %q", name, fmt.Sprint(err))
		}
	}
	if got := shownName("Straße/é 1.csv"); got != "Straße/é 1.csv" {
		t.Errorf("a plain name is shown as %s", got)
	}
}

// endless is a stream that never ends.
type endless struct {
	head string
	n    int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.head)
	e.head = e.head[n:]
	if n == 0 {
		clear(p)
		n = len(p)
	}
	e.n += n
	return n, nil
}

// A stream that must be sought in is copied to a temporary file only if it begins as its
// format does, and only up to a limit.
func TestSpoolIsBounded(t *testing.T) {
	for _, tt := range []struct {
		head   string
		format Format
		layout Layout
		limit  int
		want   string
	}{
		{"query,a\n", FormatParquet, LayoutWide, 1 << 10,
			`does not begin as a Parquet file does: "quer"`},
		{"PARE", FormatParquet, LayoutWide, 1 << 10, "encrypted"},
		{"query,a\n", FormatNPZ, LayoutWide, 1 << 10,
			`not an archive of arrays as numpy.savez writes it: it begins with "quer"`},
		{"PAR1", FormatParquet, LayoutWide, 2 << 20, "more than 1048576 bytes"},
		{"PK\x03\x04", FormatNPZ, LayoutWide, 2 << 20, "more than 1048576 bytes"},
		{string(npy.Head("'|u1'", 2, 1<<30)), FormatNPY, LayoutTeachers, 2 << 20,
			"more than 1048576 bytes"},
	} {
		in := &endless{head: tt.head}
		_, err := readAll(in, Options{Format: tt.format, Layout: tt.layout, spoolBytes: 1 << 20})
		var p *ParseError
		if !errors.As(err, &p) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s, %q: %v, want %s", tt.format, tt.head, err, tt.want)
		}
		if in.n > tt.limit {
			t.Errorf("%s, %q: %d bytes were read", tt.format, tt.head, in.n)
		}
	}
	// Up to the limit all is well, and what is too short says so as before.
	d := &data{classes: IntegerClasses(2), votes: [][]int{{0, 1}}}
	file := d.writeParquet(parquetOptions{version: 1, codec: &parquet.Uncompressed, kind: "int64",
		pageSize: 1 << 10, group: 10})
	if _, err := readAll(bytes.NewReader(file), pq(Options{spoolBytes: int64(len(file))})); err !=
		nil {
		t.Error(err)
	}
	if _, err := readAll(bytes.NewReader(file), pq(Options{spoolBytes: int64(len(file)) - 1})); err ==
		nil {
		t.Error("one byte above the limit accepted")
	}
	if _, err := readAll(strings.NewReader("PAR"), pq(Options{})); err == nil ||
		!strings.Contains(err.Error(), "too few") {
		t.Errorf("three bytes: %v", err)
	}
	boom := errors.New("boom")
	if _, err := readAll(io.MultiReader(strings.NewReader("PA"), iotest.ErrReader(boom)),
		pq(Options{})); !errors.Is(err, boom) {
		t.Errorf("a failing stream: %v", err)
	}
}
