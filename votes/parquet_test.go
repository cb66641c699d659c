package votes

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/testing/raced"
)

func pq(opts Options) Options {
	opts.Format = FormatParquet
	return opts
}

func TestReadParquetRefuses(t *testing.T) {
	type wide struct {
		Query string `parquet:"query"`
		A     int64  `parquet:"t1"`
		B     int64  `parquet:"t2"`
	}
	type null struct {
		Query *string `parquet:"query"`
		A     *int64  `parquet:"t1"`
	}
	type counts struct {
		Zeros int64 `parquet:"zeros"`
		Ones  int64 `parquet:"ones"`
	}
	type floatIDs struct {
		Query float64 `parquet:"query"`
		A     int64   `parquet:"t1"`
	}
	type label struct {
		A     int64  `parquet:"t1"`
		Label *int64 `parquet:"label"`
	}
	type two struct {
		A     int64 `parquet:"t1"`
		ID    int64 `parquet:"id"`
		Query int64 `parquet:"query"`
	}
	type blob struct {
		A [4]byte `parquet:"t1"`
	}
	type decimal struct {
		A int64 `parquet:"t1,decimal(2:10)"`
	}
	type date struct {
		A int32 `parquet:"t1,date"`
	}
	q, one, three := "q", int64(1), int64(3)
	good := parquetOf(t, []wide{{"x", 0, 1}, {"y", 1, 1}})
	c := Options{Layout: LayoutCounts}
	for _, tt := range []struct {
		name string
		data []byte
		opts Options
		rule string
	}{
		{"empty", nil, Options{}, "0 bytes are too few"},
		{"CSV", []byte("query,a,b\nx,0,1\n"), Options{}, "does not begin as a Parquet file"},
		{"cut off", good[:len(good)-1], Options{}, "is it cut off?"},
		{"no rows", parquetOf(t, []wide{}), Options{}, "no rows"},
		{"vote 2", parquetOf(t, []wide{{"x", 0, 1}, {"y", 2, 1}}), Options{},
			`row 1: column 2 ("t1"): vote 2 is not 0 or 1`},
		{"first by row, then by column", parquetOf(t, []wide{{"x", 0, 1}, {"y", 0, 5}, {"z", 7, 1}}),
			Options{}, `row 1: column 3 ("t2"): vote 5`},
		{"votes before ids", parquetOf(t, []wide{{"x", 0, 1}, {"", 0, 5}}), Options{},
			`row 1: column 3 ("t2"): vote 5`},
		{"id empty", parquetOf(t, []wide{{"x", 0, 1}, {"", 0, 1}}), Options{},
			`row 1: column 1 ("query"): the query id is empty`},
		{"id twice", parquetOf(t, []wide{{"x", 0, 1}, {"y", 0, 1}, {"x", 0, 1}}), Options{},
			`row 2: column 1 ("query"): query id "x" is already in row 0`},
		{"id with NUL", parquetOf(t, []wide{{"x\x00", 0, 1}}), Options{}, "contains a NUL byte"},
		{"id null", parquetOf(t, []null{{nil, &one}}), Options{}, "the query id is missing (null)"},
		{"vote null", parquetOf(t, []null{{&q, nil}}), Options{}, `the vote is missing ("null")`},
		{"vote 3, optional", parquetOf(t, []null{{&q, &three}}), Options{}, "vote 3 is not 0 or 1"},
		{"label 3", parquetOf(t, []label{{1, &three}}), Options{}, "label 3 is not 0 or 1"},
		{"float ids", parquetOf(t, []floatIDs{{1, 1}}), Options{}, `query ids have the type DOUBLE`},
		{"two ids", parquetOf(t, []two{{1, 1, 1}}), Options{}, "could be the id too"},
		{"id not there", good, Options{IDColumn: "x"}, `no column "x" for the id`},
		{"position", good, Options{IDColumn: "1"}, `no column "1" for the id`},
		{"K", good, Options{K: 3}, "2 columns of votes, but K = 3"},
		{"only ids", parquetOf(t, []struct {
			Query string `parquet:"query"`
		}{{"x"}}), Options{}, "no column of votes"},
		{"teachers first", good, Options{Layout: LayoutTeachers}, "the layout teachers is for arrays"},
		{"fixed bytes", parquetOf(t, []blob{{}}), Options{},
			`column "t1" has the type FIXED_LEN_BYTE_ARRAY`},
		{"decimal", parquetOf(t, []decimal{{1}}), Options{}, `column "t1" has the type INT64 (DECIMAL`},
		{"date", parquetOf(t, []date{{1}}), Options{}, `vote "1970-01-02" is not 0 or 1`},
		{"counts differ", parquetOf(t, []counts{{1, 2}, {3, 1}}), c,
			"row 1: zeros and ones sum to K = 4, but to K = 3 in row 0"},
		{"counts 0", parquetOf(t, []counts{{1, 2}, {0, 0}}), c, "row 1: zeros and ones are all 0"},
		{"count -1", parquetOf(t, []counts{{1, 2}, {4, -1}}), c,
			`row 1: column 2 ("ones"): count -1 is not`},
		{"count huge", parquetOf(t, []counts{{1, 2002}}), c, "want at most 2001"},
		{"counts of other K", parquetOf(t, []counts{{1, 2}}), Options{Layout: LayoutCounts, K: 4},
			"sum to 3, but K = 4"},
		{"not counts", good, c, `no column with the zeros`},
		{"a class without counts", parquetOf(t, []struct {
			Zeros int64 `parquet:"zeros"`
		}{{1}}), c, `no column with the ones`},
		{"text counts", parquetOf(t, []struct {
			Zeros string `parquet:"zeros"`
			Ones  string `parquet:"ones"`
		}{{"1", "1"}}), c, `column "zeros": counts have the type BYTE_ARRAY`},
		{"codec that is read wrongly",
			(&data{classes: IntegerClasses(2), votes: [][]int{{0, 1}}}).writeParquet(
				parquetOptions{version: 1, codec: &parquet.Lz4Raw, kind: "int64", pageSize: 1 << 10,
					group: 10}), Options{}, "compressed with LZ4_RAW, which is not read yet"},
		{"checksum", corruptPage(t), Options{}, "crc32 checksum mismatch"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readAll(bytes.NewReader(tt.data), pq(tt.opts))
			var p *ParseError
			if !errors.As(err, &p) || !strings.Contains(err.Error(), tt.rule) ||
				!strings.HasPrefix(err.Error(), "votes: ") {
				t.Errorf("got %v, want %s", err, tt.rule)
			}
		})
	}
}

// One cell that is no vote is found, wherever it is and whatever the encoding.
func TestParquetFindsTheBadVote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(1, 60).Draw(t, "N"), rapid.IntRange(1, 6).Draw(t, "K")
		d := &data{classes: []string{"0", "1", "2"}}
		for range n {
			d.votes = append(d.votes, rapid.SliceOfN(rapid.IntRange(0, 1), k, k).Draw(t, "votes"))
		}
		row, col := rapid.IntRange(0, n-1).Draw(t, "row"), rapid.IntRange(0, k-1).Draw(t, "column")
		d.votes[row][col] = rapid.SampledFrom([]int{2, -1}).Draw(t, "bad")
		file := d.writeParquet(parquetOptions{
			version: rapid.IntRange(1, 2).Draw(t, "page version"), codec: &parquet.Uncompressed,
			optional: true,
			kind: rapid.SampledFrom([]string{"int64", "int32", "uint32", "double", "text", "textdelta",
				"dict", "dictint", "delta"}).Draw(t, "kind"),
			pageSize: rapid.SampledFrom([]int{32, 1 << 18}).Draw(t, "page size"),
			group:    rapid.SampledFrom([]int64{9, 1000}).Draw(t, "group"),
		})
		_, err := readAll(bytes.NewReader(file),
			pq(Options{chunkBytes: rapid.SampledFrom([]int{0, 7, 40}).Draw(t, "chunk")}))
		var p *ParseError
		if !errors.As(err, &p) || p.Row != int64(row) || p.Column != col+1 {
			t.Fatalf("row %d, column %d: %v", row, col+1, err)
		}
	})
}

// corruptPage is a file with checksums, one bit of whose page is wrong.
func corruptPage(t *testing.T) []byte {
	d := &data{classes: IntegerClasses(2), votes: [][]int{{0, 1}, {1, 1}}}
	good := d.writeParquet(parquetOptions{version: 1, codec: &parquet.Uncompressed, kind: "int64",
		pageSize: 1 << 10, group: 10})
	return editParquet(t, good, func(m *format.FileMetaData, body []byte) []byte {
		body = replacePage(t, m, body, func(h *format.PageHeader) {
			h.CRC = int32(crc32.ChecksumIEEE([]byte("something else")))
		})
		return body
	})
}

// A page of a file with a right checksum is read.
func TestParquetChecksum(t *testing.T) {
	d := &data{classes: IntegerClasses(2), votes: [][]int{{0, 1}, {1, 1}}}
	good := d.writeParquet(parquetOptions{version: 1, codec: &parquet.Uncompressed, kind: "int64",
		pageSize: 1 << 10, group: 10})
	file := editParquet(t, good, func(m *format.FileMetaData, body []byte) []byte {
		return replacePage(t, m, body, func(h *format.PageHeader) {
			content := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 0), 1)
			h.CRC = int32(crc32.ChecksumIEEE(content))
		})
	})
	got, err := readAll(bytes.NewReader(file), pq(Options{}))
	same(t, "with a checksum", got, err, d.want(false), nil)
}

// Every byte of a file changed, and every length: an error or a result, and if a
// result, one of the right size. Nothing panics.
func TestParquetDamage(t *testing.T) {
	raced.Elsewhere(t, "TestWorkers")
	rng := rand.New(rand.NewPCG(1, 1))
	d := &data{classes: IntegerClasses(2)}
	for i := range 50 {
		d.votes = append(d.votes, []int{i & 1, i >> 1 & 1, 1})
		d.ids = append(d.ids, fmt.Sprint("q", i))
	}
	step := 7
	if long() {
		step = 1
	}
	for _, o := range []parquetOptions{
		{version: 1, codec: &parquet.Snappy, kind: "int64", pageSize: 100, group: 30},
		{version: 2, codec: &parquet.Zstd, kind: "dict", optional: true, pageSize: 1 << 10, group: 30},
		{version: 2, codec: &parquet.Uncompressed, kind: "delta", optional: true, pageSize: 64,
			group: 100},
		{version: 1, codec: &parquet.Gzip, kind: "boolrle", pageSize: 1 << 10, group: 100},
	} {
		good := d.writeParquet(o)
		check := func(data []byte) {
			got, err := readAll(bytes.NewReader(data), pq(Options{IDColumn: "a_query", Workers: 1}))
			if err == nil && (got.K != 3 && got.K != 2 && got.K != 4 || got.N > 1<<20) {
				t.Fatalf("%+v: accepted K = %d, %d rows", o, got.K, got.N)
			}
		}
		for at := rng.IntN(step); at < len(good); at += step {
			bad := bytes.Clone(good)
			bad[at] ^= byte(1 + rng.IntN(255))
			check(bad)
			check(good[:at])
		}
	}
}

func FuzzParquet(f *testing.F) {
	d := &data{classes: IntegerClasses(2), votes: [][]int{{0, 1, 1}, {1, 1, 0}, {1, 1, 1}},
		ids: []string{"a", "b", "c"}}
	for i, o := range []parquetOptions{
		{version: 1, codec: &parquet.Snappy, kind: "int64", pageSize: 100, group: 2},
		{version: 2, codec: &parquet.Zstd, kind: "dict", optional: true, pageSize: 1 << 10, group: 30},
		{version: 2, codec: &parquet.Uncompressed, kind: "delta", optional: true, pageSize: 64,
			group: 100},
		{version: 1, codec: &parquet.Gzip, kind: "boolrle", pageSize: 1 << 10, group: 100},
		{version: 1, codec: &parquet.Uncompressed, kind: "textdelta", pageSize: 1 << 10, group: 100},
		{version: 2, codec: &parquet.Uncompressed, kind: "double", pageSize: 1 << 10, group: 100},
	} {
		f.Add(d.writeParquet(o), uint8(i))
	}
	f.Fuzz(func(t *testing.T, data []byte, mode uint8) {
		opts := pq(Options{TempDir: t.TempDir(), Workers: 1})
		if mode&1 == 1 {
			opts.Missing, opts.KeepVotes = MissingCoin, true
		}
		if mode&2 == 2 {
			opts.IDColumn = "a_query"
		}
		got, err := readAll(bytes.NewReader(data), opts)
		opts.chunkBytes = 2
		again, againErr := readAll(bytes.NewReader(data), opts)
		// Which fault of a damaged file is met first depends on the pieces; what is
		// accepted does not.
		if (err == nil) != (againErr == nil) || err == nil && !reflect.DeepEqual(again, got) {
			t.Fatalf("in small pieces %+v, %v; got %+v, %v", again, againErr, got, err)
		}
	})
}
