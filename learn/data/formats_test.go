package data

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/parquet-go/parquet-go"

	_ "github.com/darrm/darrm/votes/compress"
	"github.com/darrm/darrm/votes/format"
	_ "github.com/darrm/darrm/votes/parquet"
)

// cellsOf reads a table to its end.
func cellsOf(t *Table) (rows [][]string, err error) {
	for {
		cells, _, err := t.Next()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows = append(rows, slices.Clone(cells))
	}
}

func equalRows(a, b [][]string) bool {
	return slices.EqualFunc(a, b, func(x, y []string) bool { return slices.Equal(x, y) })
}

func TestTSV(t *testing.T) {
	table, err := NewTSV(strings.NewReader("a\tb c\n1\t\"x\ty\"\n\tz, w\n"), true)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := cellsOf(table)
	if want := [][]string{{"1", "x\ty"}, {"", "z, w"}}; err != nil || !equalRows(rows, want) ||
		!slices.Equal(table.Columns, []string{"a", "b c"}) {
		t.Errorf("%q, %q, %v", table.Columns, rows, err)
	}
}

func TestJSONL(t *testing.T) {
	table, err := NewJSONL(strings.NewReader("\ufeff{\"a\": 1.50, \"b\": \"x, \\\"y\\\"\", \"c\": true}\n\n" +
		"{\"c\": false, \"a\": null}\n{\"b\": \"\", \"c\": null, \"a\": -2e-3}"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := cellsOf(table)
	want := [][]string{{"1.50", `x, "y"`, "1"}, {"", "", "0"}, {"-2e-3", "", ""}}
	if err != nil || !equalRows(rows, want) || !slices.Equal(table.Columns, []string{"a", "b", "c"}) {
		t.Errorf("%q, %q, %v", table.Columns, rows, err)
	}
	for in, want := range map[string]string{
		"":                       "no records",
		"1\n":                    "line 1: no JSON object",
		"{\"a\": [1]}\n":         `line 1: column "a": a value within a value`,
		"{\"a\": 1}\n{\"b\": 1}": `line 2: column "b" is not in the first line`,
		"{\"a\": 1}\n{\"a\": ":   `line 2: `,
		"{\"a\": 1} {\"a\": 2}":  "line 1: more than one JSON object",
		"{\"a\": 1, \"a\": 2}":   "line 1: ",
		"{\"a\": NaN}":           `line 1: column "a": no JSON`,
		"{\"a\": \"" + strings.Repeat("x", MaxLine) + "\"}": "line 1 is longer than",
	} {
		table, err := NewJSONL(strings.NewReader(in))
		if err == nil {
			_, err = cellsOf(table)
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: %v", in, err)
		}
	}
}

func FuzzJSONL(f *testing.F) {
	f.Add([]byte("{\"a\": 1, \"b\": \"x\"}\n{\"b\": null}\n"))
	f.Add([]byte("{\"a\": {}}\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		table, err := NewJSONL(bytes.NewReader(in))
		if err != nil {
			return
		}
		rows, _ := cellsOf(table)
		for _, row := range rows {
			if len(row) != len(table.Columns) {
				t.Fatalf("%d cells in %d columns", len(row), len(table.Columns))
			}
		}
	})
}

// What was packed comes out; what is damaged, cut off or something else has an error that says so,
// and an error of the source is passed on.
func TestUnpack(t *testing.T) {
	text := strings.Repeat("0.25,0.5,1\n", 5000)
	boom := errors.New("boom")
	unpacked := func(r io.Reader, kind string) (string, error) {
		u, err := Unpack(r, kind)
		if err != nil {
			return "", err
		}
		b, err := io.ReadAll(u)
		return string(b), err
	}
	for _, kind := range []string{"gzip", "zstd"} {
		var b bytes.Buffer
		w, err := format.FindCompression(kind).NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		packed := b.Bytes()
		if got, err := unpacked(bytes.NewReader(packed), kind); err != nil || got != text {
			t.Errorf("%s: %d bytes, %v", kind, len(got), err)
		}
		damaged := bytes.Clone(packed)
		damaged[len(packed)/2] ^= 0x55
		for want, in := range map[string][]byte{"are cut off": packed[:len(packed)-3], "data": damaged,
			"are not in " + kind: []byte(text)} {
			if _, err := unpacked(bytes.NewReader(in), kind); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", kind, err, want)
			}
		}
		broken := io.MultiReader(bytes.NewReader(packed[:len(packed)/2]), iotest.ErrReader(boom))
		if _, err := unpacked(broken, kind); !errors.Is(err, boom) {
			t.Errorf("%s: an error of the source became %v", kind, err)
		}
	}
	if _, err := Unpack(strings.NewReader(""), "lzma"); err == nil {
		t.Error("an unknown compression is taken")
	}
}

type parquetRow struct {
	Age    *int32  `parquet:"age"`
	Income float64 `parquet:"income"`
	Sex    string  `parquet:"sex"`
	Active bool    `parquet:"active"`
	Count  uint64  `parquet:"count"`
}

// Typed columns become cells of text, in more rows than are held at once.
func TestColumns(t *testing.T) {
	age := int32(-7)
	rows := []parquetRow{{&age, 0.25, "Male", true, 1<<64 - 1}, {nil, 1e300, "x,y", false, 0}}
	var want [][]string
	for range 1500 {
		want = append(want, []string{"-7", "0.25", "Male", "1", "18446744073709551615"},
			[]string{"", "1e+300", "x,y", "0", "0"})
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[parquetRow](&b)
	for range 1500 {
		if _, err := w.Write(rows); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(format.Registered(),
		func(f *format.Format) bool { return f.Name == "parquet" })
	file, err := format.Registered()[i].Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	table, err := NewColumns(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := cellsOf(table)
	if err != nil || !equalRows(got, want) {
		t.Errorf("%d rows, %v", len(got), err)
	}
	if table.Kinds["age"] != format.Integer || table.Kinds["sex"] != format.Text ||
		table.Kinds["active"] != format.Boolean {
		t.Errorf("%v", table.Kinds)
	}
}
