package votes

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"reflect"
	"strings"
	"testing"
)

// Blanks around a cell are no part of votes, truth, names and ids, in every format.
func TestBlanksAroundCells(t *testing.T) {
	want := &all{K: 2, Classes: []string{"cat", "dog"}, Counts: []int{1, 1, 0, 2}, Votes: []int{0, 1, 1, 1},
		IDs: []string{"a", "b"}, Labels: []int{1, -1}, N: 2}
	archive := archiveOf(t, "votes.npy", npyFile("<U4", false, npyElements("<U4",
		[]string{" cat", "dog ", "dog", "dog"}), 2, 2), " query .npy", npyFile("<U3", false,
		npyElements("<U3", []string{" a ", "b"}), 2), "label.npy", npyFile("<U4", false,
		npyElements("<U4", []string{" dog", "  "}), 2))
	type row struct {
		Query string `parquet:" query"`
		A     string `parquet:"t1 "`
		B     string `parquet:" t2"`
		Truth string `parquet:" label "`
	}
	for name, tt := range map[string]struct {
		in   string
		opts Options
	}{
		"CSV":  {" query, t1 ,t2,label \n a , cat,dog ,dog \nb,dog,dog, NA\n", Options{}},
		"fast": {"query,t1,t2,label\n a ,cat,dog,dog\nb ,dog,dog,\n", Options{}},
		"quoted behind a blank": {"query, \"t1\", \"t2\", label\n\"a\", \"cat\", \"dog\", \"dog\"\n" +
			"b, \"dog\", \"dog \", \"\"\n", Options{}},
		"TSV": {"query\t t1\tt2 \tlabel\na\t cat\t dog\tdog\n b\tdog\tdog\t\n", Options{Format: FormatTSV}},
		"JSON Lines": {"{\" query\":\"a \",\"t1 \":\"cat\",\"t2\":\" dog\",\"label\":\" dog\"}\n" +
			"{\"query\":\"b\",\"t1\":\"dog\",\"t2\":\"dog\",\" label\":\" \"}\n", jsonl(Options{})},
		"npz": {string(archive), Options{Format: FormatNPZ, Layout: LayoutWide}},
		"Parquet": {string(parquetOf(t, []row{{" a", "cat ", " dog", " dog"}, {"b", "dog", "dog", " "}})),
			pq(Options{})},
	} {
		tt.opts.Classes, tt.opts.KeepVotes = want.Classes, true
		for _, chunk := range []int{0, 1} {
			tt.opts.chunkBytes = chunk
			got, err := readAll(strings.NewReader(tt.in), tt.opts)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v, error %v, want %+v", name, got, err, want)
			}
		}
	}
	counts, err := readAll(strings.NewReader("zeros, ones\n1, 2\n 2,1\n"), Options{Layout: LayoutCounts})
	if err != nil || !reflect.DeepEqual(counts.Counts, []int{1, 2, 2, 1}) {
		t.Errorf("counts: %+v, error %v", counts, err)
	}
}

// Ids, and names, that blanks alone tell apart are the same twice, and the error says where.
func TestIDsThatBecomeEqual(t *testing.T) {
	for in, want := range map[string]string{
		"id,t1\na,1\n a,0\n":     `f.csv:3: column 1 ("id"): query id "a" is already in line 2`,
		"id,t1\n\"a \",1\na,0\n": `f.csv:3: column 1 ("id"): query id "a" is already in line 2`,
		"id,t1\n7,1\n 7,0\n":     `f.csv:3: column 1 ("id"): query id "7" is already in line 2`,
		"id,t1\n  ,1\n":          `f.csv:2: column 1 ("id"): the query id is empty`,
		"t1, t1\n0,1\n":          `f.csv:1: column 2 ("t1"): the file has the name "t1" twice`,
	} {
		_, err := readAll(strings.NewReader(in), Options{Name: "f.csv"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
	in := "{\"id\":\" a\",\"t1\":1}\n{\"id\":\"a\",\"t1\":1}\n"
	if _, err := readAll(strings.NewReader(in), jsonl(Options{})); err == nil ||
		!strings.Contains(err.Error(), ":2: ") {
		t.Errorf("JSON Lines: %v", err)
	}
	if _, err := readAll(strings.NewReader(`{"t1":1," t1":0}`), jsonl(Options{})); err == nil {
		t.Error("one key twice was read")
	}
	ids, err := ReadQueryIDs(strings.NewReader("id , x\n a, 1\nb ,2\n"), "ids", "")
	if err != nil || !reflect.DeepEqual(ids, []string{"a", "b"}) {
		t.Errorf("%q, error %v", ids, err)
	}
}

// Ids of NumPy's archives may be points in time; what the archive holds beside the votes that are
// named is not looked at.
func TestArchiveBesideVotes(t *testing.T) {
	votes := npyFile("|u1", false, []byte{0, 1, 1, 1}, 2, 2)
	times := func(descr string, n ...int64) []byte {
		var b []byte
		for _, n := range n {
			b = binary.LittleEndian.AppendUint64(b, uint64(n))
		}
		return npyFile(descr, false, b, int64(len(n)))
	}
	for descr, want := range map[string][]string{
		"<M8[D]": {"1970-01-20", "1969-12-31"}, "<M8[h]": {"1970-01-01T19:00:00", "1969-12-31T23:00:00"},
		"<M8[ms]": {"1970-01-01T00:00:00.019", "1969-12-31T23:59:59.999"},
		"<M8[ns]": {"1970-01-01T00:00:00.000000019", "1969-12-31T23:59:59.999999999"},
	} {
		got, err := readAll(bytes.NewReader(archiveOf(t, "votes.npy", votes, "id.npy", times(descr, 19, -1))),
			Options{Format: FormatNPZ, Layout: LayoutWide})
		if err != nil || !reflect.DeepEqual(got.IDs, want) {
			t.Errorf("%s: %+v, error %v", descr, got, err)
		}
	}
	none := archiveOf(t, "votes.npy", votes, "id.npy", times("<M8[s]", 1, math.MinInt64))
	if _, err := readAll(bytes.NewReader(none), Options{Format: FormatNPZ, Layout: LayoutWide}); err == nil ||
		!strings.Contains(err.Error(), "row 1: the query id is missing") {
		t.Errorf("no time: %v", err)
	}
	objects := npyFile("|O", false, []byte("pickled"), 2)
	odd := archiveOf(t, "v.npy", votes, "meta.npy", objects, "label.npy", objects, "readme.txt", []byte("x"),
		"x.npy", votes, "x.npy", votes)
	r, err := NewReader(context.Background(), bytes.NewReader(odd), Options{Format: FormatNPZ,
		Layout: LayoutWide, VotesColumn: "v", NoTruth: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.Columns().Unused, []string{"label", "meta", "x"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q are not read, want %q", got, want)
	}
	if got, err := collect(r); err != nil || got.K != 2 || got.Labels != nil {
		t.Errorf("%+v, error %v", got, err)
	}
	if _, err := readAll(bytes.NewReader(odd), Options{Format: FormatNPZ, Layout: LayoutWide,
		VotesColumn: "x"}); err == nil || !strings.Contains(err.Error(), "Python objects") &&
		!strings.Contains(err.Error(), "twice") {
		t.Errorf("votes that appear twice: %v", err)
	}
}
