package votes

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Counts of votes for each class are asked about: each row has one sum, which no votes have but by
// chance.
func TestLookAtCounts(t *testing.T) {
	row := func(i int) (a, b, c int) { return i % 4, 5 - i%3, 4 - i%4 + i%3 } // of sum 9
	file := func(format string, rows int, last string) string {
		var b strings.Builder
		header, rest, _ := strings.Cut(format, "\n")
		b.WriteString(header + "\n")
		for i := range rows {
			x, y, z := row(i)
			fmt.Fprintf(&b, rest+"\n", i, x, y, z)
		}
		return b.String() + last
	}
	for _, tt := range []struct{ name, in, asked, want string }{
		{"names of classes", file("image,cat,dog,emu\ni%d,%d,%d,%d", 6, ""), "are these counts of votes for each class? " +
			"In each row they sum to 9", "cat,dog,emu"},
		{"no value in common", "image,cat,dog\na,1,8\nb,2,7\nc,3,6\n", "are these counts", "cat,dog"},
		{"before and behind a sign", file("id,votes_cat_n,votes_dog_n,votes_emu_n\ni%d,%d,%d,%d", 6, ""), "are these counts",
			"cat,dog,emu (votes_cat_n,votes_dog_n,votes_emu_n)"},
		{"numbers of classes", file("id,n0,n1,n2\ni%d,%d,%d,%d", 4, ""), "are these counts", "0,1,2"},
		{"numbered columns", file("id,t1,t2,t3\ni%d,%d,%d,%d", 6, ""), "are these counts", "t1,t2,t3"},
		{"few rows of numbered columns", file("id,t1,t2,t3\ni%d,%d,%d,%d", 4, ""), "", ""},
		{"other sums", file("id,t1,t2,t3\ni%d,%d,%d,%d", 6, "x,1,1,1\n"), "", ""},
		{"missing votes", file("id,n0,n1,n2\ni%d,%d,%d,%d", 6, "x,1,1,2\n"), "are these counts of votes for each class? " +
			"Their sums differ", ""},
		{"votes", "id,t1,t2\na,0,1\nb,1,0\nc,1,0\nd,1,0\ne,1,0\nf,1,0\n", "", ""},
	} {
		s, err := lookAt(t, tt.in, Options{})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		asked, got := strings.Join(s.Asked, "; "), ""
		for _, r := range s.Readings {
			if o := r.Options; o.Layout == LayoutCounts {
				if got = strings.Join(o.Classes, ","); o.VoteColumns != nil {
					got += " (" + strings.Join(o.VoteColumns, ",") + ")"
				}
				if r.Description.K != 9 {
					t.Errorf("%s: K = %d, want 9", tt.name, r.Description.K)
				}
			}
		}
		if !strings.Contains(asked, tt.asked) || tt.asked == "" && asked != "" || got != tt.want ||
			tt.want != "" && len(s.Readings) < 2 {
			t.Errorf("%s: asks %q, reads %q; want %q, %q", tt.name, asked, got, tt.asked, tt.want)
		}
	}
	var b strings.Builder // more values than votes can have
	for i := range 300 {
		fmt.Fprintf(&b, "i%d,%d,%d\n", i, i, 400-i)
	}
	s, err := lookAt(t, "id,cat,dog\n"+b.String(), Options{})
	if err != nil || len(s.Readings) != 1 || s.K != 400 || !strings.Contains(strings.Join(s.Asked, ""), "are these counts") {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = lookAt(t, `{"id": "a", "counts": [2, 3]}`+"\n"+`{"id": "b", "counts": [5, 0]}`+"\n",
		Options{Format: FormatJSONL, Layout: LayoutCounts, Classes: []string{"cat", "dog"}})
	if err != nil || s.K != 5 {
		t.Errorf("%+v, %v", s, err)
	}
}

// Rows that are no queries: what sums up the others is asked about, a header in between is an error.
func TestLookAtRowsThatAreNoQueries(t *testing.T) {
	s, err := lookAt(t, "query,t1,t2,t3\na,1,0,1\nb,1,1,0\nTotal,2,1,1\n", Options{})
	if err != nil || len(s.Asked) != 1 || !strings.HasPrefix(s.Asked[0], "is the last row, of id Total, a query?") {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := lookAt(t, "query,t1,t2,t3\nTotal,1,0,1\nb,1,1,0\n", Options{}); err != nil || len(s.Asked) > 0 {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = lookAt(t, "query,t1,t2,t3\na,1,0,1\nquery,t1,t2,t3\nb,1,1,0\n", Options{})
	if err == nil || !strings.Contains(err.Error(), ":3: the header stands here again") {
		t.Errorf("%+v, %v", s, err)
	}
}

// Lines that spreadsheets and programs add are named.
func TestLookAtLinesThatAreAdded(t *testing.T) {
	for in, want := range map[string]string{
		"# made in May\n# by hand\nquery,t1,t2\na,1,0\n": ":1: the row has one cell, but that on line 3 has 3",
		"query,t1,t2,,\na,1,0,,\nb,1,1,,\n,,,,\n,,,,\n":  ":4: every cell of the row is blank",
		"Raters of May\nquery;t1;t2\na;1;0\n":            "",
		"query,t1,t2\na,1,0\nb,1\n":                      ":3: the row has 2 columns",
		"query,t1,t2\na,1,0,\nb,1,1,\n":                  ":2: the row has 4 columns, but the header has 3: it ends with a separator",
		"t1,t2\nx,1,0\ny,1,1\n":                          "if rows begin with a name that the header leaves out",
		"\"t1\" \"t2\"\n\"x\" \"1\" \"0\"\n":             "are cells separated by blanks?",
		"query,t1,t2\na,d\xe9faut,ok\n":                  "convert the file to UTF-8",
		",site,site\nid,t1,t2\na,x,y\n":                  "give each column a name of its own, in one row of names",
	} {
		if s, err := lookAt(t, in, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v", in, s, err)
		}
	}
}

// Confidences beside votes are no votes.
func TestLookAtConfidences(t *testing.T) {
	var b strings.Builder
	for i := range 8 {
		fmt.Fprintf(&b, "q%d,%d,0.%d,%d,0.%d,1,0.%[3]d\n", i, i%2, 3+i%5, 1-i%3/2, 4+i%4)
	}
	s, err := lookAt(t, "query,a_label,a_conf,b_label,b_conf,c_label,c_conf\n"+b.String(), Options{})
	if err != nil || strings.Join(s.Columns.Votes, ",") != "a_label,b_label,c_label" || readings(s) != "0,1" {
		t.Errorf("%+v, %v", s, err)
	}
}

// Votes of a program for annotations, one in each row, are found by the names of its columns; a title is
// no header.
func TestLookAtAnnotations(t *testing.T) {
	in := "annotation_id,annotator,choice,created_at,id,text\n"
	for i := range 12 {
		in += fmt.Sprintf("%d,a%d,%s,2024-01-%02d,%d,\"Text, %[5]d\"\n", 100+i, i%3, []string{"ham", "spam"}[i%2], i+1, 7+i/3)
	}
	s, err := lookAt(t, in, Options{})
	if err != nil || len(s.Readings) != 1 || s.Queries != 4 || s.K != 3 {
		t.Fatalf("%+v, %v", s, err)
	}
	if o := s.Readings[0].Options; o.Layout != LayoutLong || o.IDColumn != "id" || o.TeacherColumn != "annotator" ||
		o.VoteColumn != "choice" {
		t.Errorf("%+v", o)
	}
	if s, err := lookAt(t, "Ratings,,\nid,t1,t2\na,x,y\nb,y,y\n", Options{}); err == nil ||
		!strings.Contains(err.Error(), "is the line a title?") {
		t.Errorf("%+v, %v", s, err)
	}
}

// Of an archive of several arrays the one that alone can be votes is proposed.
func TestLookAtArchives(t *testing.T) {
	bits := npyFile("|u1", false, []byte{0, 1, 1, 1, 0, 0}, 3, 2)
	floats := npyFile("<f4", false, make([]byte, 24), 3, 2)
	truth := npyFile("|u1", false, []byte{0, 1, 1}, 3)
	look := func(members ...any) (*Survey, error) {
		path := filepath.Join(t.TempDir(), "v.npz")
		if err := os.WriteFile(path, archiveOf(t, members...), 0o600); err != nil {
			t.Fatal(err)
		}
		return Look(t.Context(), Options{}, Known{}, func(o Options) (*Reader, error) {
			return Open(t.Context(), o, path)
		}, nil)
	}
	s, err := look("x.npy", floats, "preds.npy", bits, "truths.npy", truth)
	if err != nil || len(s.Readings) != 2 || s.Readings[0].Options.VotesColumn != "preds" ||
		strings.Join(s.Columns.Unused, ",") != "truths,x" {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := look("a.npy", bits, "b.npy", bits); err == nil || !strings.Contains(err.Error(), "(votes column)") {
		t.Errorf("%+v, %v", s, err)
	}
}

// A file that is in another format, or packed otherwise, than is stated by nobody is read as it begins,
// and its reading states that.
func TestLookAtFormat(t *testing.T) {
	lines := `{"query": "a", "votes": [0, 1, 1]}` + "\n" + `{"query": "b", "votes": [1, 1, 1]}` + "\n"
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(lines)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		in          string
		compression Compression
	}{"lines": {lines, CompressionAuto}, "packed lines": {packed.String(), CompressionGzip}} {
		s, err := lookAt(t, tt.in, Options{})
		if err != nil || len(s.Readings) != 1 || s.Readings[0].Options.Format != FormatJSONL ||
			s.Readings[0].Options.Compression != tt.compression || s.Queries != 2 {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	if s, err := lookAt(t, lines, Options{Format: FormatCSV}); err == nil {
		t.Errorf("%+v", s)
	}
	for in, want := range map[string]string{
		`[{"query": "a", "t1": 1}]`:                        "jq -c '.[]'",
		`{"query": "a", "votes": {"x": 1, "y": 0}}` + "\n": "jq -c '. + .votes | del(.votes)'",
	} {
		if s, err := lookAt(t, in, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v, %v", s, err)
		}
	}
}
