package votes

import (
	"bytes"
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
)

// Ids may be dates, timestamps, UUIDs and numbers of 64 bits without a sign, each written in full.
func TestParquetIDs(t *testing.T) {
	type days struct {
		Query int32 `parquet:"query,date"`
		A     int64 `parquet:"t1"`
	}
	type millis struct {
		Query int64 `parquet:"query,timestamp(millisecond)"`
		A     int64 `parquet:"t1"`
	}
	type nanos struct {
		Query int64 `parquet:"query,timestamp(nanosecond:local)"`
		A     int64 `parquet:"t1"`
	}
	type old struct {
		Query deprecated.Int96 `parquet:"query"`
		A     int64            `parquet:"t1"`
	}
	type identifiers struct {
		Query uuid.UUID `parquet:"query,uuid"`
		A     int64     `parquet:"t1"`
	}
	type big struct {
		Query uint64 `parquet:"query"`
		A     int64  `parquet:"t1"`
	}
	at := time.Date(2024, 2, 29, 13, 0, 7, 120000000, time.UTC)
	for name, tt := range map[string]struct {
		file []byte
		want []string
	}{
		"dates": {parquetOf(t, []days{{0, 1}, {-1, 0}, {19782, 1}}),
			[]string{"1970-01-01", "1969-12-31", "2024-02-29"}},
		"milliseconds": {parquetOf(t, []millis{{at.UnixMilli(), 1}, {-1, 0}}),
			[]string{"2024-02-29T13:00:07.12Z", "1969-12-31T23:59:59.999Z"}},
		"nanoseconds": {parquetOf(t, []nanos{{at.UnixNano() + 1, 1}, {0, 1}}),
			[]string{"2024-02-29T13:00:07.120000001", "1970-01-01T00:00:00"}},
		"96 bits": {parquetOf(t, []old{{deprecated.Int96{7_120_000_000 & (1<<32 - 1), 7_120_000_000 >> 32,
			2440588 + 19782}, 1}, {deprecated.Int96{0, 0, 2440587}, 0}}),
			[]string{"2024-02-29T00:00:07.12", "1969-12-31T00:00:00"}},
		"UUIDs": {parquetOf(t, []identifiers{{uuid.MustParse("00112233-4455-6677-8899-aabbccddeeff"), 1}}),
			[]string{"00112233-4455-6677-8899-aabbccddeeff"}},
		"64 bits": {parquetOf(t, []big{{1<<64 - 1, 1}, {1 << 63, 1}, {1<<63 - 1, 1}, {0, 1}}),
			[]string{"18446744073709551615", "9223372036854775808", "9223372036854775807", "0"}},
	} {
		got, err := readAll(bytes.NewReader(tt.file), pq(Options{}))
		if err != nil || !reflect.DeepEqual(got.IDs, tt.want) {
			t.Errorf("%s: %+v, error %v, want %q", name, got, err, tt.want)
		}
	}
}

// The same numbers of 64 bits are ids of JSON Lines and of NumPy's arrays, digit by digit; what is no
// whole number in its only spelling is none.
func TestLargeIDs(t *testing.T) {
	in := "{\"id\":18446744073709551615,\"t1\":1}\n{\"id\":-9223372036854775808,\"t1\":0}\n" +
		"{\"id\":1234567890123456789,\"t1\":0}\n"
	got, err := readAll(strings.NewReader(in), jsonl(Options{}))
	if want := []string{"18446744073709551615", "-9223372036854775808", "1234567890123456789"}; err != nil ||
		!reflect.DeepEqual(got.IDs, want) {
		t.Errorf("%+v, error %v", got, err)
	}
	for _, id := range []string{"18446744073709551616", "1.0", "1e3", "-0", "-9223372036854775809"} {
		_, err := readAll(strings.NewReader(`{"id":`+id+`,"t1":1}`), jsonl(Options{}))
		if err == nil || !strings.Contains(err.Error(), "neither a string nor a whole number") {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// A list of all votes is read as in JSON Lines, in every way that writers have of lists.
func TestParquetLists(t *testing.T) {
	type plain struct {
		Query string  `parquet:"query"`
		Votes []int64 `parquet:"votes"`
		Truth *int64  `parquet:"truth,optional"`
	}
	type list struct {
		Query string  `parquet:"query"`
		Votes []int64 `parquet:"votes,list"`
	}
	type null struct {
		Query string   `parquet:"query"`
		Votes []*int64 `parquet:"votes,optional,list"`
	}
	type texts struct {
		V []string `parquet:"answers,list"`
		X int64    `parquet:"x"`
	}
	one, zero := int64(1), int64(0)
	for name, tt := range map[string]struct {
		file []byte
		opts Options
		want *all
	}{
		"repeated": {parquetOf(t, []plain{{"a", []int64{0, 1, 1}, &one}, {"b", []int64{1, 1, 0}, nil}}),
			Options{KeepVotes: true}, &all{K: 3, Votes: []int{0, 1, 1, 1, 1, 0}, Counts: []int{1, 2, 1, 2},
				IDs: []string{"a", "b"}, Labels: []int{1, -1}}},
		"list": {parquetOf(t, []list{{"a", []int64{0, 1, 1}}, {"b", []int64{1, 1, 0}}}),
			Options{KeepVotes: true}, &all{K: 3, Votes: []int{0, 1, 1, 1, 1, 0}, Counts: []int{1, 2, 1, 2},
				IDs: []string{"a", "b"}}},
		"list with nulls": {parquetOf(t, []null{{"a", []*int64{&zero, nil}}, {"b", []*int64{nil, &one}}}),
			Options{KeepVotes: true, Missing: MissingAbstain}, &all{K: 2, Votes: []int{0, -1, -1, 1},
				Counts: []int{1, 0, 0, 1}, Missing: []int{1, 1}, IDs: []string{"a", "b"}}},
		"counts": {parquetOf(t, []list{{"a", []int64{3, 1}}}), Options{Layout: LayoutCounts,
			VotesColumn: "votes"}, &all{K: 4, Counts: []int{3, 1}, IDs: []string{"a"}}},
		"named": {parquetOf(t, []texts{{[]string{"1", "0"}, 9}}), Options{VotesColumn: "answers"},
			&all{K: 2, Counts: []int{1, 1}}},
	} {
		tt.want.Classes, tt.want.N = IntegerClasses(2), len(tt.want.Counts)/2
		for _, chunk := range []int{0, 1} {
			opts := pq(tt.opts)
			opts.chunkBytes = chunk
			if got, err := readAll(bytes.NewReader(tt.file), opts); err != nil ||
				!reflect.DeepEqual(got, tt.want) {
				t.Errorf("%s: %+v, error %v, want %+v", name, got, err, tt.want)
			}
		}
	}
	wide := parquetOf(t, []struct {
		A []int64 `parquet:"t1"`
	}{{[]int64{1}}})
	for name, tt := range map[string]struct {
		file []byte
		opts Options
		want string
	}{
		"a list beside": {parquetOf(t, []texts{{[]string{"1"}, 9}}), Options{VoteColumns: []string{"x"}},
			"vote 9"},
		"which list":   {parquetOf(t, []texts{{[]string{"1"}, 9}}), Options{}, `"answers" holds a list; which`},
		"listed":       {wide, Options{VoteColumns: []string{"t1"}}, "it holds a list in every row"},
		"no votes":     {parquetOf(t, []list{{"a", nil}}), Options{}, "there is no vote"},
		"fewer":        {parquetOf(t, []list{{"a", []int64{1, 1}}, {"b", nil}}), Options{}, "row 1: column 2 (\"votes\"): 0 votes, but the first row has 2"},
		"item":         {parquetOf(t, []list{{"a", []int64{1, 2}}}), Options{}, `row 0: column 2 ("votes"): item 2: vote 2`},
		"no such list": {parquetOf(t, []texts{{[]string{"1"}, 9}}), Options{VotesColumn: "x"}, "not a list"},
	} {
		if got, err := readAll(bytes.NewReader(tt.file), pq(tt.opts)); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %+v, error %v, want %s", name, got, err, tt.want)
		}
	}
}

// Long lists over many pages and row groups are put together again.
func TestParquetListsOverPages(t *testing.T) {
	type row struct {
		Votes []int64 `parquet:"votes,list"`
	}
	var rows []row
	want := &all{K: 1000, Classes: IntegerClasses(2), N: 50}
	for i := range want.N {
		r := row{}
		for j := range want.K {
			r.Votes = append(r.Votes, int64((i*j+j)%2))
			want.Votes = append(want.Votes, (i*j+j)%2)
		}
		rows = append(rows, r)
		want.Counts = append(want.Counts, want.K, 0)
		for _, v := range r.Votes {
			want.Counts[2*i], want.Counts[2*i+1] = want.Counts[2*i]-int(v), want.Counts[2*i+1]+int(v)
		}
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, parquet.PageBufferSize(256), parquet.MaxRowsPerRowGroup(7))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 3} {
		got, err := readAll(bytes.NewReader(b.Bytes()), pq(Options{KeepVotes: true, Workers: workers}))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers: K = %d, N = %d, error %v", workers, got.K, got.N, err)
		}
	}
}

// Columns that nobody reads may have types that are not read, or one name; one that is read may not.
func TestParquetListedAlone(t *testing.T) {
	type odd struct {
		A     int64           `parquet:"t1"`
		Price int64           `parquet:"price,decimal(2:10)"`
		In    struct{ Y int } `parquet:"in"`
		B     int64           `parquet:"t2"`
		L     []int64         `parquet:"l,list"`
		M     map[string]int  `parquet:"m"`
	}
	file := parquetOf(t, []odd{{A: 0, B: 1, L: []int64{1, 2}, M: map[string]int{"a": 1}}, {A: 1, B: 1}})
	opts := pq(Options{VoteColumns: []string{"t2", "t1"}, KeepVotes: true})
	r, err := NewReader(context.Background(), bytes.NewReader(file), opts)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.Columns().Unused, []string{"price", "in", "l", "m"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q are not read, want %q", got, want)
	}
	if got, err := collect(r); err != nil || !reflect.DeepEqual(got.Votes, []int{1, 0, 1, 1}) {
		t.Errorf("%+v, error %v", got, err)
	}
	for column, want := range map[string]string{"price": "has the type INT64 (DECIMAL",
		"in": "is nested", "m": "is nested", "l": "holds a list"} {
		opts.VoteColumns = []string{"t1", column}
		if got, err := readAll(bytes.NewReader(file), opts); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, error %v", column, got, err)
		}
	}
	if _, err := readAll(bytes.NewReader(file), pq(Options{})); err == nil {
		t.Error("columns of which nothing is said were read")
	}
}
