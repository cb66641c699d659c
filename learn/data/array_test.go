package data

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/npy"
)

// array is a file of NumPy with the numbers row by row.
func array(descr string, x []float64, shape ...int64) io.Reader {
	b := npy.Head(descr, shape...)
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return bytes.NewReader(b)
}

// A number's text is read as the number, a missing one is blank, and whole numbers have no point.
func TestNumberText(t *testing.T) {
	for x, want := range map[float64]string{0: "0", math.Copysign(0, -1): "0", 1: "1", -12: "-12", 0.1: "0.1", 1e14: "100000000000000",
		999999999999999: "999999999999999", 1e15: "1e+15", -1e15: "-1e+15", 1.5e-300: "1.5e-300", 123456.5: "123456.5",
		math.Inf(1): "+Inf", math.Inf(-1): "-Inf"} {
		if got := NumberText(x); got != want {
			t.Errorf("%v is %q, want %q", x, got, want)
		}
	}
	if got := NumberText(math.NaN()); got != "" {
		t.Errorf("a missing number is %q", got)
	}
}

// The rows of an array are its numbers in their order, as numbers and as text, alone and in parts.
func TestArrayRows(t *testing.T) {
	for name, n := range map[string]int{"one row": 1, "a few": 5, "many parts": 5*partBytes/16 + 3} {
		x := make([]float64, 2*n)
		for i := range x {
			x[i] = float64(i) / 4
		}
		x[1] = math.NaN()
		open := func() *Table {
			t.Helper()
			table, err := NewNPY(array("'<f8'", x, int64(n), 2))
			if err != nil {
				t.Fatal(err)
			}
			if table.Named || !slices.Equal(table.Columns, []string{"1", "2"}) || !table.HasNumbers() {
				t.Fatalf("%s: columns %q, named %v, of numbers %v", name, table.Columns, table.Named, table.HasNumbers())
			}
			return table
		}
		// read adds what a table of a part has to the rows, and the numbers of the records.
		type part struct {
			x       []float64
			records []int
		}
		read := func(table *Table) (p part, err error) {
			for {
				row, record, err := table.Numbers()
				if err == io.EOF {
					return p, nil
				}
				if err != nil {
					return p, err
				}
				p.x, p.records = append(p.x, row...), append(p.records, record)
			}
		}
		check := func(how string, p part, err error) {
			t.Helper()
			if err != nil || len(p.records) != n || len(p.x) != 2*n {
				t.Fatalf("%s %s: %d records, %v", name, how, len(p.records), err)
			}
			for i, v := range p.x {
				if math.Float64bits(v) != math.Float64bits(x[i]) || p.records[i/2] != i/2+1 {
					t.Fatalf("%s %s: number %d of record %d is %v, want %v", name, how, i, p.records[i/2], v, x[i])
				}
			}
		}
		p, err := read(open())
		check("alone", p, err)
		var all part
		parts := 0
		err = Parts(open(), read, func(p part) error {
			all.x, all.records, parts = append(all.x, p.x...), append(all.records, p.records...), parts+1
			return nil
		})
		check("in parts", all, err)
		if parts != (n+partBytes/16-1)/(partBytes/16) {
			t.Errorf("%s: %d parts", name, parts)
		}
		table := open()
		for i := range n {
			cells, record, err := table.Next()
			if err != nil || record != i+1 || cells[0] != NumberText(x[2*i]) || cells[1] != NumberText(x[2*i+1]) {
				t.Fatalf("%s: record %d is %q, %v", name, record, cells, err)
			}
		}
		if cells, _, err := table.Next(); err != io.EOF {
			t.Errorf("%s: %q behind the last row, %v", name, cells, err)
		}
	}
}

// An array's names are those of its fields, each of them once. It has columns and records.
func TestArraysThatAreTables(t *testing.T) {
	table, err := NewNPY(array("[('b', '<f8'), ('a', '<f8')]", []float64{1, 2}, 1))
	if err != nil || !table.Named || !slices.Equal(table.Columns, []string{"b", "a"}) {
		t.Errorf("%+v, %v", table, err)
	}
	for name, c := range map[string]struct {
		in   io.Reader
		want string
	}{
		"a name twice": {array("[('a', '<f8'), ('b', '<f8'), ('a', '<f8')]", []float64{1, 2, 3}, 1), `column "a" occurs twice`},
		"no records":   {array("'<f8'", nil, 0, 2), "no records"},
		"no columns":   {array("'<f8'", nil, 2, 0), "no columns"},
		"cut off":      {io.LimitReader(array("'<f8'", []float64{1, 2}, 1, 2), 128+12), "cut off"},
		"no reader":    {nil, "reader must be given"},
	} {
		table, err := NewNPY(c.in)
		if err == nil {
			_, _, err = table.Numbers()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	csv, err := NewCSV(strings.NewReader("a\n1\n"), true)
	if err != nil || csv.HasNumbers() {
		t.Errorf("a text has numbers: %v", err)
	}
	if row, _, err := csv.Numbers(); err == nil {
		t.Errorf("numbers of a text: %v", row)
	}
}
