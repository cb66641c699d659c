package votes

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// IDColumn and K settle that the columns left are votes, unless most of them are numbered alike:
// then LabelColumn says whether one of the others is the truth.
func TestIDColumnAndKSettleTheColumns(t *testing.T) {
	const hospitals = "patient,berlin,munich1,munich2,bonn,ulm\np1,1,0,1,1,0\n"
	for _, tt := range []struct {
		in   string
		opts Options
		ok   bool
	}{
		{hospitals, Options{K: 5}, false},
		{hospitals, Options{IDColumn: "patient"}, false},
		{hospitals, Options{IDColumn: "patient", K: 4}, false},
		{hospitals, Options{IDColumn: "patient", K: 5}, true},
		{"id,t1,t2,t3,y\n1,1,0,1,1\n", Options{IDColumn: "id", K: 4}, false},
		{"id,t1,t2,t3,y\n1,1,0,1,1\n", Options{IDColumn: "id", K: 4, LabelColumn: NoColumn}, true},
		{"id,t1,t2,t3,y\n1,1,0,1,1\n", Options{IDColumn: "id", K: 3, LabelColumn: "y"}, true},
		{"id,t1,t2,t3,y\n1,1,0,1,1\n", Options{LabelColumn: NoColumn, IDColumn: "id"}, false},
		{"id,t1,t2,\n1,1,0,1\n", Options{IDColumn: "id", K: 3, LabelColumn: NoColumn,
			Header: HeaderYes}, false},
		{"patient,berlin,bonn,age\np1,1,0,47\n", Options{IDColumn: "patient", K: 3}, false},
	} {
		_, err := ReadCSV(strings.NewReader(tt.in), tt.opts)
		if (err == nil) != tt.ok {
			t.Errorf("%q, %+v: %v", tt.in, tt.opts, err)
		}
	}
}

// Columns are listed as they are read.
func TestFormatColumns(t *testing.T) {
	for _, columns := range [][]string{{"a"}, {"a", "b c"}, {"a,b", `"c"`}} {
		list := FormatColumns(columns)
		if got, err := ParseColumns(list); err != nil || !slices.Equal(got, columns) {
			t.Errorf("%q: %s: %q, %v", columns, list, got, err)
		}
	}
}

// The labels' file has the name of the ids' column, unless it is that of the labels.
func TestLabelsKeepTheIDColumnsName(t *testing.T) {
	for id, want := range map[string][2]string{
		"":        {"query,label\n", `{"query":"a","label":1}`},
		"patient": {"patient,label\n", `{"patient":"a","label":1}`},
		"a,b":     {"\"a,b\",label\n", `{"a,b":"a","label":1}`},
		"Label":   {"query,label\n", `{"query":"a","label":1}`},
	} {
		for i, format := range []Format{FormatCSV, FormatJSONL} {
			var out strings.Builder
			f, err := CreateLabels("-", LabelOptions{Format: format, IDColumn: id, Stdout: &out})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(f.Write("a", 1), f.Commit()); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(out.String(), want[i]) {
				t.Errorf("%q: %s", id, out.String())
			}
		}
	}
}
