package data

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/testing/raced"
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

// lines gives the line for ever.
type lines string

func (l lines) Read(p []byte) (int, error) {
	return copy(p, strings.Repeat(string(l), len(p)/len(l)+1)), nil
}

// A quote that is not closed makes all lines one field, which encoding/csv keeps in memory:
// the test takes all of it where such lines are counted one by one.
func TestQuotedLinesAreOne(t *testing.T) {
	endless := io.MultiReader(strings.NewReader("1,\"2"), io.LimitReader(lines("3,4\n"), 4*MaxLine))
	if err := rows(endless, false, nil); err == nil ||
		!strings.Contains(err.Error(), "longer than 16777216 bytes") {
		t.Errorf("got %v", err)
	}
	// Closed quotes change nothing, doubled ones in them neither.
	n := 0
	err := rows(strings.NewReader("\"1\",2\n\"3\",\"4\"\n"), false, func([]string, int) { n++ })
	if err != nil || n != 2 {
		t.Errorf("%d rows, %v", n, err)
	}
	g := &lineGuard{r: strings.NewReader("\"a\"\"b\"\n" + strings.Repeat("x", 10) + "\n"), line: 1}
	if _, err := io.ReadAll(g); err != nil || g.length != 0 || g.line != 3 {
		t.Errorf("%v, length %d in line %d", err, g.length, g.line)
	}
}

// rows reads a CSV file to its end and calls visit for each row.
func rows(r io.Reader, header bool, visit func(cells []string, line int)) error {
	t, err := NewCSV(r, header)
	for err == nil {
		var cells []string
		var line int
		if cells, line, err = t.Next(); err == nil && visit != nil {
			visit(cells, line)
		}
	}
	if err == io.EOF {
		return nil
	}
	return err
}

func TestTable(t *testing.T) {
	var got []string
	err := rows(strings.NewReader("\ufeffa, b\n1,\" x,\"\"y\"\n\n\"2\n3\",\n4,5\n"), true,
		func(cells []string, line int) { got = append(got, fmt.Sprintf("%d%q", line, cells)) })
	want := []string{`2["1" " x,\"y"]`, `4["2\n3" ""]`, `6["4" "5"]`}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	table, err := NewCSV(strings.NewReader("\ufeff7,8\n"), false)
	if err != nil || !slices.Equal(table.Columns, []string{"1", "2"}) || table.Named {
		t.Errorf("%+v, %v", table, err)
	}
	cells, line, err := table.Next()
	if err != nil || line != 1 || cells[0] != "7" {
		t.Errorf("%q, %d, %v", cells, line, err)
	}
	for in, want := range map[string]string{
		"": "no records", "a,a\n1,2\n": `line 1: column "a" occurs twice`,
		"a,b\n1\n":                    "line 2: cells = 1, but they must be 2, as in the first row",
		"a,b\n1,\"2\n":                "parse error on line 2",
		"a,b\n\"1\n\",2\n1,\"2\",3\n": "line 4: cells = 3, but they must be 2, as in the first row",
	} {
		if err := rows(strings.NewReader(in), true, nil); err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// The first row of a CSV decides what is between its cells. Empty cells stay where tabs are.
func TestTableSeparators(t *testing.T) {
	for _, text := range []string{"a,b,c\n1,,x\n", "a;b;c\n1;;x\n", "a\tb\tc\n1\t\tx\n"} {
		table, err := NewCSV(strings.NewReader(text), true)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		cells, _, err := table.Next()
		if err != nil || !slices.Equal(table.Columns, []string{"a", "b", "c"}) ||
			!slices.Equal(cells, []string{"1", "", "x"}) {
			t.Errorf("%q: columns %q, cells %q, error %v", text, table.Columns, cells, err)
		}
	}
}

// A first line of numbers is a record that would be published as names. Numbered columns, which
// some programs write, are names.
func TestHeaderThatIsARecord(t *testing.T) {
	for in, names := range map[string]bool{
		"1,0.12,0.5\n0,1,2\n": false, "0,1\n1,0\n": false, "1,2\n1,0\n": false,
		" 1, 2e3,7\n0,1,2\n": false,
		"0,1,2,3\n1,1,1,1\n": true, "1,2,3\n1,1,1\n": true, "1,y\n1,1\n": true,
		"2019,2020,y\n1,1,1\n": true, "2019,2020,2021\n1,1,1\n": false,
	} {
		_, err := NewCSV(strings.NewReader(in), true)
		if refused := err != nil && slices.Contains(check.Settling(err), "header"); refused == names {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// The parts of a table are its rows, however the text is cut and whatever is in quotes; and what is wrong with one is
// wrong with the other.
func TestPartsAreTheRows(t *testing.T) {
	piece := rapid.SampledFrom([]string{"1", "2.5", "x", " ", "\"", ",", ",", ",", "\n", "\n", "\r\n", "\"a,\n\"\"\"", "\r", "é"})
	long := 9 // one in ten is long
	if raced.Enabled {
		long = 39
	}
	rapid.Check(t, func(t *rapid.T) {
		text := "a,b\n"
		for _, p := range rapid.SliceOfN(piece, 0, 60).Draw(t, "pieces") {
			text += p
		}
		if rapid.IntRange(0, long).Draw(t, "long") == 0 { // of many parts
			text = "a,b\n" + strings.Repeat("1,\"2\n\"\n", partBytes/4) + text
		}
		var want, got []string
		wantErr := rows(strings.NewReader(text), true, func(cells []string, line int) {
			want = append(want, fmt.Sprintf("%d%q", line, cells))
		})
		table, err := NewCSV(strings.NewReader(text), true)
		if err == nil {
			err = Parts(table, func(part *Table) (read []string, err error) {
				for {
					cells, line, err := part.Next()
					if err != nil {
						if err == io.EOF {
							err = nil
						}
						return read, err
					}
					read = append(read, fmt.Sprintf("%d%q", line, cells))
				}
			}, func(read []string) error { got = append(got, read...); return nil })
		}
		// A quote that is never closed has its beginning and the end of the text, either of which is named.
		open := func(err error) bool { return errors.Is(err, csv.ErrQuote) }
		if fmt.Sprint(err) != fmt.Sprint(wantErr) && !(open(err) && open(wantErr)) || err == nil && !slices.Equal(got, want) {
			t.Fatalf("%q: %v, want %v; %d rows, want %d", text[max(0, len(text)-200):], err, wantErr, len(got), len(want))
		}
	})
}
