package votes

import (
	"context"
	"reflect"
	"strings"
	"testing"
)

// A first line that says what is between the cells is no row, and lines are numbered with it.
func TestSeparatorLine(t *testing.T) {
	want := &all{K: 2, Classes: IntegerClasses(2), Counts: []int{1, 1, 0, 2}, IDs: []string{"a", "b;c"}, N: 2}
	for _, separator := range []string{";", ",", "\t", "|", ":"} {
		for _, end := range []string{"\n", "\r\n"} {
			in := strings.ReplaceAll("sep=; id;t1;t2 a;0;1 \"b;c\";1;1 ", ";", separator)
			in = strings.ReplaceAll(in, " ", end)
			want.IDs[1] = "b" + separator + "c"
			for _, chunk := range []int{0, 1, 9} {
				r, err := NewReader(context.Background(), strings.NewReader(in), Options{chunkBytes: chunk})
				if err != nil {
					t.Fatalf("%q: %v", in, err)
				}
				told := r.first.told
				if got, err := collect(r); err != nil || !reflect.DeepEqual(got, want) || len(told) != 1 {
					t.Errorf("%q: %+v, error %v, told %q", in, got, err, told)
				}
			}
		}
	}
	for in, want := range map[string]string{
		"sep=;\nt1;t2\n0;7\n":     `votes:3: column 2 ("t2"): vote "7"`,
		"sep=;\n":                 "says what is between its cells",
		"sep=;;\nt1;t2\n0;1\n":    "columns",
		"sep=a\nt1at2\n0a1\n":     "sep=a",
		"sep=;\nt1,t2\n0,1\n":     `vote "0,1"`,
		"\ufeffsep=;\nt1;t2\n0\n": "votes:3: the row has 1 columns",
	} {
		if got, err := readAll(strings.NewReader(in), Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, error %v, want %s", in, got, err, want)
		}
	}
}

// A file of one column is told from one whose cells are separated by a sign that is not read, or by
// blanks.
func TestOneColumn(t *testing.T) {
	for in, want := range map[string]string{
		"id|t1|t2\na|0|1\nb|1|1\n":  "one column only; are cells separated by '|'?",
		"id t1 t2\na 0 1\nb  1 1\n": "one column only; are cells separated by blanks?",
		"id:t1\na:0\n":              "one column only; are cells separated by ':'?",
		"t1|t2\n0|1\n":              "one column only; are cells separated by '|'?",
	} {
		if got, err := readAll(strings.NewReader(in), Options{}); err == nil ||
			!strings.Contains(err.Error(), ":1: "+want) {
			t.Errorf("%q: %+v, error %v, want %s", in, got, err, want)
		}
	}
	for _, tt := range []struct {
		in   string
		opts Options
	}{
		{"prompt 1\n0\n1\n", Options{}}, {"t1\n0\n", Options{}},
		{"prompt 1\nnot sure\nall right\n", Options{Classes: []string{"not sure", "all right"}}},
		{"prompt 1\n\"a|b\"\n", Options{Classes: []string{"a|b", "c"}}},
	} {
		if got, err := readAll(strings.NewReader(tt.in), tt.opts); err != nil || got.K != 1 {
			t.Errorf("%q: %+v, error %v", tt.in, got, err)
		}
	}
}
