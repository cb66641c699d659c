package votes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// all is a whole stream, batches joined.
type all struct {
	K       int
	Classes []string
	Counts  []int
	Missing []int // nil if none is missing
	Votes   []int
	IDs     []string
	Labels  []int
	N       int
}

// collect reads a Reader to its end and closes it.
func collect(r *Reader) (*all, error) {
	a := &all{K: r.K(), Classes: r.Classes()}
	missing := false
	for b, err := range r.Batches() {
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		if b.First != int64(a.N) || b.Len() == 0 || b.K != a.K || len(b.Counts) != b.Len()*b.Classes {
			return nil, fmt.Errorf("batch of %d with %d counts begins at %d, want %d", b.Len(),
				len(b.Counts), b.First, a.N)
		}
		if (b.IDs != nil) != r.HasIDs() || (b.Labels != nil) != r.first.labels ||
			b.IDs != nil && len(b.IDs) != b.Len() || b.Labels != nil && len(b.Labels) != b.Len() ||
			b.Missing != nil && len(b.Missing) != b.Len() || b.Votes != nil && len(b.Votes) != b.Len()*b.K {
			return nil, fmt.Errorf("batch of %d has %d ids, %d labels, %d missing, %d votes", b.Len(),
				len(b.IDs), len(b.Labels), len(b.Missing), len(b.Votes))
		}
		a.N += b.Len()
		a.Counts = append(a.Counts, b.Counts...)
		a.Votes = append(a.Votes, b.Votes...)
		a.Labels = append(a.Labels, b.Labels...)
		for _, id := range b.IDs {
			a.IDs = append(a.IDs, strings.Clone(id))
		}
		for i := range b.Len() {
			n, sum := 0, 0
			if b.Missing != nil {
				n = b.Missing[i]
			}
			for _, c := range b.Row(i) {
				sum += c
			}
			if sum+n != b.K {
				return nil, fmt.Errorf("query %s: counts %v and %d missing votes, K = %d", b.ID(i), b.Row(i), n,
					b.K)
			}
			a.Missing = append(a.Missing, n)
			missing = missing || n > 0
		}
		b.Release()
	}
	if !missing {
		a.Missing = nil
	}
	return a, r.Close()
}

func readAll(in io.Reader, opts Options) (*all, error) {
	r, err := NewReader(context.Background(), in, opts)
	if err != nil {
		return nil, err
	}
	return collect(r)
}

// same fails unless two ways of reading agree, errors included.
func same(t interface{ Fatalf(string, ...any) }, what string, got *all, gotErr error, want *all,
	wantErr error) {
	if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
		t.Fatalf("%s: error %v, want %v", what, gotErr, wantErr)
	}
	if gotErr == nil && !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: got %+v, want %+v", what, got, want)
	}
}

// checkFast compares the fast parser, in chunks of all sizes and with several
// workers, with encoding/csv.
func checkFast(t interface{ Fatalf(string, ...any) }, data []byte, opts Options) {
	opts.slow = true
	want, wantErr := readAll(bytes.NewReader(data), opts)
	opts.slow = false
	for _, size := range []int{1, 3, 16, 61, 4096} {
		for _, workers := range []int{1, 3} {
			opts.chunkBytes, opts.Workers = size, workers
			got, err := readAll(bytes.NewReader(data), opts)
			same(t, fmt.Sprintf("%q in chunks of %d, %d workers", clip(data), size, workers), got, err, want,
				wantErr)
		}
	}
	opts.chunkBytes = 8
	got, err := readAll(iotest.OneByteReader(bytes.NewReader(data)), opts)
	same(t, fmt.Sprintf("%q byte by byte", clip(data)), got, err, want, wantErr)
}

func clip(data []byte) []byte { return data[:min(len(data), 400)] }

// Tables that are nearly right: rows of votes, ids and labels with, now and then,
// something unusual in them.
func TestFastIsEncodingCSV(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data, opts := drawCSV(t)
		checkFast(t, data, opts)
	})
}

func drawCSV(t *rapid.T) ([]byte, Options) {
	var opts Options
	comma := ","
	if rapid.IntRange(0, 4).Draw(t, "tsv") == 0 {
		opts.Format, comma = FormatTSV, "\t"
	}
	names := rapid.SampledFrom([][]string{nil, {"0", "1", "2"}, {"cat", "dog"}, {"5", "8"},
		{"ä", "b c", "id"}}).Draw(t, "classes")
	opts.Classes = names
	if names == nil {
		names = []string{"0", "1"}
	}
	counts := rapid.IntRange(0, 3).Draw(t, "counts") == 0
	k := rapid.IntRange(1, 12).Draw(t, "K")
	cols := k
	if counts {
		opts.Layout = LayoutCounts
		cols = len(names)
	} else {
		opts.KeepVotes = rapid.Bool().Draw(t, "keep")
		opts.Missing = MissingPolicy(rapid.IntRange(0, 1).Draw(t, "missing"))
	}
	header := rapid.Bool().Draw(t, "header")
	id, label := rapid.IntRange(-1, cols).Draw(t, "id"), rapid.IntRange(-1, cols).Draw(t, "label")
	eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
	odd := rapid.Bool().Draw(t, "odd")
	oddCells := rapid.SampledFrom([]string{"", " ", "NA", "2", "01", "\"1\"", "1\"", "\"a\nb\"", "x",
		"é", "\xff", "\x00", "\ufeff", "1,0", "\r", "10000000", "-1", "\"", "a\tb"})
	stride := rapid.IntRange(1, 2).Draw(t, "stride")
	teachers := make([]string, k)
	for i := range teachers {
		teachers[i] = fmt.Sprintf("t%d", i)
	}
	teachers = rapid.Permutation(teachers).Draw(t, "teachers")
	var b strings.Builder
	if rapid.IntRange(0, 9).Draw(t, "bom") == 0 {
		b.WriteString("\ufeff")
	}
	row := func(i int) {
		var cells []string
		left := k
		for c := range cols {
			var cell string
			switch {
			case i < 0 && counts:
				cell = "n" + names[c]
				if opts.Classes == nil {
					cell = []string{"zeros", "ones"}[c]
				}
			case i < 0:
				cell = teachers[c]
			case counts && c == cols-1:
				cell = fmt.Sprint(left)
			case counts:
				n := rapid.IntRange(0, left).Draw(t, "n")
				left -= n
				cell = fmt.Sprint(n)
			default:
				cell = rapid.SampledFrom(names).Draw(t, "vote")
			}
			cells = append(cells, cell)
		}
		at := func(pos int, cell string) {
			pos = min(pos, len(cells))
			cells = append(cells[:pos:pos], append([]string{cell}, cells[pos:]...)...)
		}
		if label >= 0 {
			cell := "label"
			if i >= 0 {
				cell = rapid.SampledFrom(names).Draw(t, "label")
			}
			at(label, cell)
		}
		if id >= 0 {
			cell := "query"
			if i >= 0 {
				cell = fmt.Sprint(i * stride)
			}
			at(id, cell)
		}
		if i >= 0 && odd && rapid.IntRange(0, 7).Draw(t, "here") == 0 {
			cells[rapid.IntRange(0, len(cells)-1).Draw(t, "cell")] = oddCells.Draw(t, "odd cell")
		}
		end := eol
		if odd && rapid.IntRange(0, 9).Draw(t, "end") == 0 {
			end = rapid.SampledFrom([]string{"", "\n", "\r\n", "\n\n", "\r", "\r\n\r\n\r\n"}).Draw(t,
				"odd end")
		}
		b.WriteString(strings.Join(cells, comma) + end)
	}
	if header {
		row(-1)
		if !counts && rapid.IntRange(0, 2).Draw(t, "listed") == 0 {
			opts.VoteColumns = rapid.Permutation(teachers).Draw(t,
				"columns")[:rapid.IntRange(1, k).Draw(t, "how many")]
		}
	} else {
		opts.Header, opts.K = HeaderNo, k
		// Positions as they come out after both insertions.
		if label >= 0 {
			pos := min(label, cols)
			if id >= 0 && min(id, cols+1) <= pos {
				pos++
			}
			opts.LabelColumn = fmt.Sprint(pos + 1)
		}
		if id >= 0 {
			n := cols
			if label >= 0 {
				n++
			}
			opts.IDColumn = fmt.Sprint(min(id, n) + 1)
		}
	}
	for i := range rapid.IntRange(0, 20).Draw(t, "rows") {
		row(i)
	}
	return []byte(b.String()), opts
}

// The generator must reach the fast path, and the paths away from it.
func TestFastIsTaken(t *testing.T) {
	opened := func(in string, opts Options) *csvDecoder {
		t.Helper()
		opts, classes, err := opts.resolve()
		if err != nil {
			t.Fatal(err)
		}
		info := &fileInfo{name: "v", opts: &opts, classes: classes, layout: opts.Layout}
		d, err := openCSV(info, strings.NewReader(in), ',')
		if err != nil {
			t.Fatal(err)
		}
		if first, err := d.next(); err != nil {
			t.Fatal(err)
		} else if err := first(newBatch(info)); err != nil {
			t.Fatal(err)
		}
		return d.(*csvDecoder)
	}
	for _, tt := range []struct {
		head string
		opts Options
		in   string
		want bool
	}{
		{"query,t1,t2,t3,label\nq,0,1,1,0\n", Options{Layout: LayoutWide}, "1,0,0,1,1\nx y,1,1,1,0\n",
			true},
		{"query,t1,t2,t3,label\r\nq,0,1,1,0\r\n", Options{Layout: LayoutWide},
			"1,0,0,1,1\r\n2,1,1,1,0\r\n", true},
		{"query,t1,t2,t3,label\nq,0,1,1,0\n", Options{Layout: LayoutWide}, "1,0,0,1,1\r\n", false},
		{"0,1,1\n", Options{Layout: LayoutWide, K: 3}, "0,0,1\n1,1,1\n", true},
		{"0,1,1\n", Options{Layout: LayoutWide, K: 3}, "0,0,1\n1,1,1", false},
		{"0,1,1\n", Options{Layout: LayoutWide, K: 3}, "0,0,1\n\n1,1,1\n", false},
		{"0,1,1\n", Options{Layout: LayoutWide, K: 3}, "0,0,2\n", false},
		{"0,1,1\n", Options{Layout: LayoutWide, K: 3}, "0,0,1,\n", false},
		{"0,1,1\n", Options{Layout: LayoutWide, K: 3}, "0,0,,\n", false},
		{"0,1,1\n", Options{Layout: LayoutWide, K: 3}, "0,0,1;1,1,1\n", false},
		{"0,1,1\n", Options{Layout: LayoutWide, K: 3}, "0,0,1\r1,1,1\n", false},
		{"0,1,1\n", Options{Layout: LayoutWide, K: 3}, "0;0,1\n1,1,1\n", false},
		{"0,1,1\r\n", Options{Layout: LayoutWide, K: 3}, "0,0,1\n\n1,1,1\r\n", false},
		{"0,1,1,0,1,0,1,1,1\n", Options{Layout: LayoutWide, K: 9}, "0,0,1,1,1,0,1,1,1\n", true},
		{"0,1,1,0,1,0,1,1,1\n", Options{Layout: LayoutWide, K: 9}, "0,0,2,1,1,0,1,1,1\n", false},
		{"0,1,1,0,1,0,1,1,1\n", Options{Layout: LayoutWide, K: 9}, "0,0,1;1,1,0,1,1,1\n", false},
		{"0,1,1,0,1,0,1,1,1\n", Options{Layout: LayoutWide, K: 9}, "0,0,1,1,1,0;1,1,1\n", false},
		{"query,t1\nq,0\n", Options{Layout: LayoutWide}, "\xff,1\n", false},
		{"query,t1\nq,0\n", Options{Layout: LayoutWide}, "x\x00,1\n", false},
		{"query,t1\nq,0\n", Options{Layout: LayoutWide}, "\ufeffx,1\n", false},
		{"query,t1\nq,0\n", Options{Layout: LayoutWide}, ",1\n", false},
		{"query,t1\nq,0\n", Options{Layout: LayoutWide}, strings.Repeat("x", maxIDBytes+1) + ",1\n",
			false},
		{"cat,dog\n", Options{Layout: LayoutWide, Header: HeaderNo, K: 2,
			Classes: []string{"cat", "dog"}}, "dog,cat\n", true},
		{"cat,dog\n", Options{Layout: LayoutWide, Header: HeaderNo, K: 2,
			Classes: []string{"cat", "dog"}}, "dog,cat\rdog,cat\n", false},
		{"cat,dog\n", Options{Layout: LayoutWide, Header: HeaderNo, K: 2,
			Classes: []string{"cat", "dog"}}, "dog,cow\n", false},
		{"query,no,t1,t2,label\nq,x,0,1,0\n", Options{Layout: LayoutWide,
			VoteColumns: []string{"t2", "t1"}}, "1,,0,1,1\n2,a b,1,1,0\n", true},
		{"query,no,t1,t2,label\nq,x,0,1,0\n", Options{Layout: LayoutWide,
			VoteColumns: []string{"t2", "t1"}}, "1,\xc3\xa4,0,1,1\n", false},
		{"3,8\n", Options{Layout: LayoutCounts, K: 11}, "11,0\n", true},
		{"3,8\n", Options{Layout: LayoutCounts, K: 11}, "11,1\n", false},
	} {
		d := opened(tt.head, tt.opts)
		b := newBatch(d.fileInfo)
		if got := d.parseFast(chunk{Data: []byte(tt.in), Line: 5}, b); got != tt.want {
			t.Errorf("after %q, %q is fast: %t, want %t", tt.head, tt.in, got, tt.want)
		}
		if tt.want && (b.Len() != strings.Count(tt.in, "\n") || b.places[b.Len()-1] != 4+b.Len()) {
			t.Errorf("%q: rows at %v", tt.in, b.places)
		}
		if d.parseFast(chunk{Data: []byte("\n" + tt.in), Line: 5}, newBatch(d.fileInfo)) {
			t.Errorf("after %q and a blank line, %q is fast", tt.head, tt.in)
		}
	}
}

func newBatch(f *fileInfo) *Batch {
	b := new(Batch)
	b.reset(f)
	return b
}

func FuzzFastCSV(f *testing.F) {
	for _, s := range []string{
		"query,t1,t2,label\n0,1,0,1\n1,1,1,0\n2,0,0,1\n", "0,1,1\r\n1,1,1\r\n0,0,0\r\n",
		"zeros,ones\n3,8\n11,0\n4,7\n",
		"\ufeffid,a\n\"x,\"\"y\"\"\nz\",1\nq,0\n", "t1\n0\n\n1\n", "a;b\n", "1,0\n1,0\nx\"y,1\n",
		"q,1,0,1\nr,0,1,1\n",
		"\"a,b\"\n1,0\n0,1\n", "\"a\tb\"\n1\t0\n", "sep=;\na\nb;c\n",
		"0,1\n1,1\n\n\n", "0,1\n1,1\r\n", "0,1\n1,1\n,1\n", "\n\n0,1\n", "0,1\n1,\xc3\xa4\n",
		"a,query\n0,1\n1,1\n0,1\n",
		"0,1,0,1,1,0,1,0,0,1,1\n1,0,0,1,1,0,1,0,1,1,1\n1,1,1,1,1,1,1,1,1,1,1\n",
	} {
		for mode := range uint8(48) {
			f.Add([]byte(s), mode, "", "", uint8(3))
		}
		f.Add([]byte(s), uint8(0), "1", "-", uint8(0))
		f.Add([]byte(s), uint8(2), "1", "-", uint8(12))
	}
	f.Fuzz(func(t *testing.T, data []byte, mode uint8, id, label string, teachers uint8) {
		opts := Options{
			K:      int(teachers % 5),
			Header: HeaderMode(mode % 3), Layout: []Layout{LayoutWide, LayoutCounts}[mode/3%2], IDColumn: id,
			LabelColumn: label,
			Format:      []Format{FormatCSV, FormatTSV}[mode/6%2],
			Classes:     [][]string{nil, {"0", "1", "b"}}[mode/12%2],
		}
		if opts.Layout == LayoutWide {
			opts.Missing = MissingPolicy(mode / 24 % 2)
			opts.KeepVotes = mode/48%2 == 1
		}
		for i := range teachers / 5 % 4 { // the last columns, backwards
			opts.VoteColumns = append(opts.VoteColumns, strconv.Itoa(4-int(i)))
		}
		opts.slow = true
		want, wantErr := readAll(bytes.NewReader(data), opts)
		opts.slow = false
		for _, size := range []int{1, 7, 64} {
			opts.chunkBytes, opts.Workers = size, 1+size%2
			got, err := readAll(bytes.NewReader(data), opts)
			same(t, fmt.Sprintf("chunks of %d", size), got, err, want, wantErr)
		}
	})
}
