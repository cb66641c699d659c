package votes

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// A file that does not say which columns are votes has a proposal. No id, no truth and no covariate
// is proposed as a vote, even where all their cells are classes, and the proposal reads the file.
func TestProposedColumns(t *testing.T) {
	const k, alone = "K", "alone"
	for _, tt := range []struct {
		in   string
		opts Options
		id   string
		// The columns of votes, K where their number is asked for, "" where a list is; or alone, where
		// the id settles it.
		want string
	}{
		{"patient,berlin,bonn,ulm\np1,1,0,1\np2,1,1,1\n", Options{}, "patient", k},
		{"patient,berlin,bonn,ulm,sex\np1,1,0,1,0\np2,1,1,1,1\n", Options{}, "patient", ""},
		{"patient,berlin,bonn,ulm,sex\np1,1,0,1,0\np2,1,1,1,1\n", Options{K: 3}, "patient",
			"berlin,bonn,ulm"},
		{"patient,berlin,bonn,ulm,stage\np1,1,0,1,4\np2,1,1,1,7\n", Options{K: 3}, "patient",
			"berlin,bonn,ulm"},
		{"patient,berlin,bonn,ulm,stage\np1,1,0,1,1\np2,1,1,1,0\n", Options{K: 3}, "patient", ""},
		{"t1,t2,t3,y\n1,1,0,1\n1,0,0,1\n", Options{}, "", "t1,t2,t3"},
		{"t1,t10,t9,y\n1,1,0,1\n1,0,0,1\n", Options{}, "", "t1,t9,t10"},
		{"t1,t2,t3,y\n1,1,0,1\n1,0,0,1\n", Options{K: 4}, "", ""},
		{"row,t1,t2,t3,gold\na,1,1,0,1\nb,1,0,0,1\n", Options{}, "row", "t1,t2,t3"},
		{"svm1,svm2,rf1,rf2\n1,1,0,1\n1,0,0,1\n", Options{}, "", k},
		// Classes that are not stated are the values that the columns have in common.
		{"ticket,prompt_1,prompt_2,prompt_3\na,bug,bug,spam\nb,spam,spam,bug\n", Options{}, "ticket", alone},
		{"ticket,prompt_1,prompt_2,gold\na,bug,bug,bug\nb,spam,spam,bug\n", Options{}, "ticket",
			"prompt_1,prompt_2"},
		{"ticket,prompt_1,prompt_2,gold\na,bug,bug,bug\nb,ham,spam,bug\n", Options{Classes: []string{"bug",
			"spam"}}, "ticket", ""},
		{"ticket,p_1,p_2,p_3,gold\na,bug,bug,bug,bug\nb,ham,bug,spam,bug\n", Options{Classes: []string{"bug",
			"spam"}}, "ticket", ""},
		{"patient,ulm,bonn,berlin\np1,sick,well,sick\np2,well,well,sick\n", Options{}, "patient", k},
		{"patient,sex,ulm,bonn,berlin,outcome\np1,m,sick,well,sick,sick\np2,f,well,well,sick,well\n",
			Options{}, "patient", ""},
		{"patient,ward,ulm,bonn,berlin\np1,m,sick,well,sick\np2,m,well,well,sick\n", Options{K: 3},
			"patient", "ulm,bonn,berlin"},
		{"patient,ward,ulm,bonn,berlin\np1,m,sick,well,sick\np2,m,well,well,sick\n", Options{K: 4},
			"patient", ""},
		{"patient,note,ulm,bonn,berlin\np1,sick,sick,well,sick\np2,dead,well,well,sick\n", Options{K: 4},
			"patient", ""},
		// A first row is a first name: "a" stands there twice, so it is no id.
		{"who,berlin,bonn\na,1,1\na,1,0\n", Options{K: 2}, "", "berlin,bonn"},
	} {
		_, err := ReadCSV(strings.NewReader(tt.in), tt.opts)
		var e *ColumnsError
		if !errors.As(err, &e) || e.IDColumn != tt.id || e.K != (tt.want == k) ||
			e.IDAlone != (tt.want == alone) || e.Long {
			t.Errorf("%q: %v, proposed %+v", tt.in, err, e)
			continue
		}
		want := []string(nil)
		if tt.want != "" && tt.want != k && !e.IDAlone {
			want = strings.Split(tt.want, ",")
		}
		if !e.IDAlone && !slices.Equal(e.VoteColumns, want) {
			t.Errorf("%q: proposes %q, want %q", tt.in, e.VoteColumns, want)
		}
		o := tt.opts
		if o.IDColumn = e.IDColumn; !e.IDAlone {
			o.VoteColumns = e.VoteColumns
		}
		if strings.Contains(tt.in, "well") {
			o.Classes = []string{"well", "sick"}
		} else if strings.Contains(tt.in, "bug") {
			o.Classes = []string{"bug", "spam"}
		}
		if e.K {
			o.K = strings.Count(strings.SplitN(tt.in, "\n", 2)[0], ",") + 1
			if e.IDColumn != "" {
				o.K--
			}
		}
		if _, err := ReadCSV(strings.NewReader(tt.in), o); (want != nil || e.K || e.IDAlone) && err != nil {
			t.Errorf("%q: what was proposed is refused: %v", tt.in, err)
		}
	}
}

// A file of three columns or more, no two of which have a value in common, may have a row for each
// vote. Its proposal reads it.
func TestProposedLong(t *testing.T) {
	for _, tt := range []struct{ in, id, teacher, vote string }{
		{"ticket,prompt,answer\nT-1,p1,bug\nT-1,p2,spam\nT-2,p1,bug\nT-2,p2,bug\n", "ticket", "prompt", "answer"},
		{"answer,ticket,model\n1,T-1,p1\n0,T-1,p2\n1,T-2,p1\n0,T-2,p2\n", "ticket", "model", "answer"},
		{"a,b,c\nT-1,p1,bug\nT-1,p2,spam\nT-2,p1,bug\nT-2,p2,bug\n", "", "", ""},
		{"text,prompt,model,answer\nT-1,p1,m,bug\nT-1,p2,m,spam\nT-2,p1,m,bug\n", "", "", ""},
		{"prompt,model,answer\nT-1,p1,bug\nT-1,p2,spam\nT-2,p1,bug\nT-2,p2,bug\n", "", "", ""},
	} {
		_, err := ReadCSV(strings.NewReader(tt.in), Options{})
		var e *ColumnsError
		if !errors.As(err, &e) || !e.Long || e.IDColumn != tt.id || e.TeacherColumn != tt.teacher ||
			e.VoteColumn != tt.vote {
			t.Errorf("%q: %v, proposed %+v", tt.in, err, e)
			continue
		}
		if tt.id == "" {
			continue
		}
		o := Options{Layout: LayoutLong, IDColumn: e.IDColumn, TeacherColumn: e.TeacherColumn,
			VoteColumn: e.VoteColumn}
		if strings.Contains(tt.in, "bug") {
			o.Classes = []string{"bug", "spam"}
		}
		if b, err := ReadCSV(strings.NewReader(tt.in), o); err != nil || len(b.IDs) != 2 {
			t.Errorf("%q: what was proposed is refused: %v", tt.in, err)
		}
	}
}

// The same file has the same proposal in every format that shows its first rows.
func TestProposedColumnsInEveryFormat(t *testing.T) {
	d := table{[]string{"query", "t1", "t2", "y"}, [][]int{{7, 1, 0, 1}, {8, 0, 0, 1}}}
	for format, file := range d.formats() {
		_, err := readAll(strings.NewReader(string(file)), Options{Format: format})
		var e *ColumnsError
		if !errors.As(err, &e) || !slices.Equal(e.VoteColumns, []string{"t1", "t2"}) {
			t.Errorf("%s: %v, proposed %+v", format, err, e)
		}
	}
}

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
