package votes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestFirstRows(t *testing.T) {
	long := "id,a,b\n"
	for i := range 1000 {
		long += fmt.Sprintf("%d,0,1\n", i)
	}
	for _, c := range []struct {
		name, in string
		format   Format
		most     int
		want     string // cells joined by |, rows by /
		wrong    string
	}{
		{"a table", "q,t1,t2\na,0,1\n", "", 9, "q|t1|t2/a|0|1", ""},
		{"its beginning", long, "", 3, "id|a|b/0|0|1/1|0|1", ""},
		{"many rows", long, "", 900, "id|a|b", ""},
		{"semicolons", "0;1\n1;1\n", FormatCSV, 9, "0|1/1|1", ""},
		{"separator that is stated", "sep=|\n0|1\n", FormatCSV, 9, "0|1", ""},
		{"quotes", "q,\"a,b\"\n\"x\ny\",1\n", FormatCSV, 9, "q|a,b/x\ny|1", ""},
		{"other widths are no fault", "a,b\n1,2,3\n", FormatCSV, 9, "a|b/1|2|3", ""},
		{"tabs", "a\tb\n1\t\n", FormatTSV, 9, "a|b/1|", ""},
		{"JSON Lines", `{"q":"a b","votes":[0, 1],"n":null}` + "\n" + `{"votes":[1],"q":"c"}` + "\n", FormatJSONL, 9,
			`q|votes|n/a b|[0, 1]|null/c|[1]|`, ""},
		{"keys alone", `{"q":1}` + "\n", FormatJSONL, 1, "q", ""},
		{"no object", "[1]\n", FormatJSONL, 9, "", "not a JSON object"},
		{"cut off", `{"q":1` + "\n", FormatJSONL, 9, "", "votes:1"},
		{"empty", "", FormatCSV, 9, "", "empty"},
		{"an array", "", FormatNPY, 9, "", "npy"},
	} {
		rows, err := FirstRows(t.Context(), strings.NewReader(c.in), Options{Format: c.format}, c.most)
		var got []string
		for _, row := range rows {
			got = append(got, strings.Join(row, "|"))
		}
		switch {
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%s: %v, want %q", c.name, err, c.wrong)
		case c.wrong == "" && (err != nil || c.most < 900 && strings.Join(got, "/") != c.want || c.most >= 900 && len(rows) < 100):
			t.Errorf("%s: %q, %v", c.name, got[:min(3, len(got))], err)
		}
	}
	if rows, err := FirstRows(t.Context(), nil, Options{}, 5); err == nil {
		t.Errorf("%q of no reader", rows)
	}
	// What FirstRows shows is what a reader reads.
	in := "query;t1;t2\nx;0;1\ny;1;1\n"
	rows, err := FirstRows(t.Context(), strings.NewReader(in), Options{}, 5)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(t.Context(), strings.NewReader(in), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if !slices.Equal(r.Columns().Votes, rows[0][1:]) || r.Columns().ID != rows[0][0] {
		t.Errorf("%q, read %+v", rows[0], r.Columns())
	}
}
