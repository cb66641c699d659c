package data

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/check"
)

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
		"a,b\n1\n":     "record on line 2: wrong number of fields",
		"a,b\n1,\"2\n": "parse error on line 2",
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
