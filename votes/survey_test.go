package votes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// lookAt surveys a text, of which nothing is known beside the options.
func lookAt(t *testing.T, in string, o Options) (*Survey, error) {
	t.Helper()
	return Look(t.Context(), o, Known{Classes: o.Classes != nil}, func(o Options) (*Reader, error) {
		return NewReader(t.Context(), strings.NewReader(in), o)
	}, nil)
}

// readings shows the readings of a survey as flags would state them.
func readings(s *Survey) string {
	var all []string
	for _, r := range s.Readings {
		o := r.Options
		text := strings.Join(o.Classes, ",")
		if len(o.Same) > 0 {
			text += fmt.Sprint(" ", o.Same)
		}
		if o.Missing != MissingError {
			text += " " + o.Missing.String()
		}
		all = append(all, text)
	}
	return strings.Join(all, " | ")
}

// What values are, and what is asked of them: docs/formats.md has the rules.
func TestLookAtValues(t *testing.T) {
	for _, tt := range []struct {
		values, asked, readings string
	}{
		{"0 1 1", "", "0,1"}, {"1 1 1", "", "0,1"}, {"0 0 0", "", "0,1"},
		{"2 3 2", "", "2,3"}, {"cat dog cat", "", "cat,dog"}, {"10 9 cat", "", "9,10,cat"},
		{"cat cat cat", "what can a vote be?", ""}, {"5 5 5", "what can a vote be?", ""},
		{"- - -", "what can a vote be?", ""}, {"NA NA NA", "what can a vote be?", ""},
		{"0 1 -", "", "0,1 abstain"}, {"0 nan 1", "", "0,1 abstain"}, {"0 NA None", "", "0,1 abstain"},
		{"0 <NA> #N/A", "", "0,1 abstain"}, {"cat ? dog", "", "cat,dog abstain"},
		{"1 -1 1", "is -1 a class", "-1,1 | 0,1 abstain"},
		{"1 -1.0 1", "is -1 a class", "-1,1 | 0,1 abstain"},
		{"0 -1 0", "is -1 a class", "-1,0 | 0,1 abstain"},
		{"-1 0 1", "are -1, 0 and 1 classes", "-1,0,1 | 0,1 abstain | -1,1 abstain"},
		{"-1 0 1 -", "are -1, 0 and 1 classes", "-1,0,1 abstain | 0,1 abstain | -1,1 abstain"},
		{"-1 0 2", "", "0,2 abstain"}, {"-1 cat dog", "", "cat,dog abstain"}, {"-2 -1 1", "", "-2,-1,1"},
		{"NA BW ZA", "is NA a class", "BW,ZA abstain | BW,NA,ZA"},
		{"None mild bad", "is None a class", "bad,mild abstain | None,bad,mild"},
		{"none mild bad", "is none a class", "bad,mild abstain | bad,mild,none"},
		{"NA BW ZA -", "", "BW,NA,ZA abstain"},
		{"Cat cat dog", "are these one class: cat = Cat", "cat,dog [cat=Cat]"},
		{"TRUE 1 0", "are these one class: 1 = TRUE", "0,1 [1=TRUE]"},
		{"FALSE 1 1", "are these one class: 0 = FALSE", "0,1 [0=FALSE]"},
		{"TRUE FALSE TRUE", "", "FALSE,TRUE"}, {"yes no yes", "", "no,yes"},
		{"01 1 0", "are these one class: 1 = 01", "0,1 [1=01]"}, {"01 02 01", "", "01,02"},
		{"1.0 1 0", "", "0,1"}, {"1.1 1.2 1.1", "", "1.1,1.2"},
		{"1.1 1.10 1.1", "are these one class", ""},
		{"0,0 1,0 0,0", "are these decimal commas", "0,1 [0=0,0 1=1,0]"}, {"0,5 1,5 0,5", "are these 2 numbers",
			"0,5,1,5"},
		{"1,5 2,5 1,5", "", "1,5,2,5"},
		{"0 1 999", "is 999 a class, or no answer?", "0,1 [=999] abstain | 0,1,999"},
		{"1 2 99 -9", "is -9 a class", "1,2 [=-9 =99] abstain | -9,1,2 [=99] abstain | 1,2,99 [=-9] abstain | -9,1,2,99"},
		{"0 1 9", "is 9 a class, or no answer?", "0,1 [=9] abstain | 0,1,9"}, {"1 9", "", "1,9"},
		{"1 7 9", "", "1,7,9"}, {"1 1.5 9", "", "1,9,1.5"},
		{"cat cat\u200b dog", "are these one class", "cat,dog [cat=cat\u200b]"},
		{"10% 25% 0.5% 7%", "are these 4 numbers the names of classes, or probabilities", "0.5%,10%,25%,7%"},
		{"cat dog #REF!", "is #REF! a class", "cat,dog [=#REF!] abstain | #REF!,cat,dog"},
		{"BW ZA NA -", "", "BW,NA,ZA abstain"},
		{"BW ZA NA n/a -", "is NA a class, or no answer?", "BW,ZA abstain | BW,NA,ZA abstain"},
		{"97 98 99", "", "97,98,99"}, {"-9 -8 -7", "", "-9,-8,-7"},
		{"cat dog 99", "is 99 a class", "cat,dog [=99] abstain | 99,cat,dog"},
		{"cat dog --", "is -- a class", "cat,dog [=--] abstain | --,cat,dog"},
		{"0 . 1", "is . a class", "0,1 [=.] abstain | 0,1,."},
		{"cat dog Unknown unknown", "is Unknown, unknown a class",
			"cat,dog [=Unknown =unknown] abstain | cat,dog,unknown [unknown=Unknown]"},
		{"cat dog unknown skip . 99", `is each of "."`, "cat,dog [=. =99 =skip =unknown] abstain | 99,.,cat,dog,skip,unknown"},
		{"+1 -1 +1", "is -1 a class", "-1,+1"}, {"+ -- +", "", "+,--"},
		{"+1 0 -1", "are -1, 0 and 1 classes", "-1,0,+1 | 0,+1 abstain | -1,+1 [=0] abstain"},
		{"0.137 0.92 0.5", "are these 3 numbers the names of classes, or probabilities", "0.137,0.5,0.92"},
		{"0 1 0.5", "are these 3 numbers", "0,1,0.5"},
	} {
		values := strings.Split(tt.values, " ")
		header := []string{"query"}
		for i, v := range values {
			header = append(header, fmt.Sprintf("t%d", i+1))
			if v == "-" {
				values[i] = ""
			}
			values[i] = `"` + values[i] + `"`
		}
		s, err := lookAt(t, strings.Join(header, ",")+"\na,"+strings.Join(values, ",")+"\n", Options{})
		if err != nil {
			t.Errorf("%s: %v", tt.values, err)
			continue
		}
		asked := strings.Join(s.Asked, "; ")
		if !strings.HasPrefix(asked, tt.asked) || tt.asked == "" && asked != "" ||
			tt.readings != readings(s) && tt.asked != "are these one class" {
			t.Errorf("%s: asks %q, reads %q, want %q and %q", tt.values, asked, readings(s), tt.asked, tt.readings)
		}
		for _, v := range s.Values {
			if v.Votes == 0 {
				t.Errorf("%s: %s does not occur", tt.values, v.Value)
			}
		}
	}
}

// What columns are: which are proposed as the id and the votes, which are not read, and when it is
// asked. No truth, id or covariate is ever among the votes.
func TestLookAtColumns(t *testing.T) {
	const alone = "alone" // the id settles it
	for _, tt := range []struct {
		in    string
		opts  Options
		id    string
		want  string // as --vote-columns states it, "" where nothing can be read
		asked string
	}{
		{"patient,berlin,bonn,ulm\np1,1,0,1\np2,1,1,1\n", Options{}, "patient", "berlin,bonn,ulm",
			"are all 3 columns teachers"},
		{"patient,berlin,bonn,ulm,sex\np1,1,0,1,0\np2,1,1,1,1\n", Options{}, "patient", "berlin,bonn,ulm",
			"are all 3 columns teachers"},
		{"patient,berlin,bonn,ulm,stage\np1,1,0,1,4\np2,1,1,1,7\n", Options{}, "patient", "berlin,bonn,ulm",
			"are all 3 columns teachers"},
		{"t1,t2,t3,y\n1,1,0,1\n1,0,0,1\n", Options{}, "", alone, ""},
		{"t1,t10,t9,y\n1,1,0,1\n1,0,0,1\n", Options{}, "", alone, ""},
		{"tt,t1,t2,t3,y\nt9,1,1,0,1\nt8,1,0,0,1\n", Options{}, "tt", alone, ""},
		{"row,t1,t2,t3,gold\na,1,1,0,1\nb,1,0,0,1\n", Options{}, "row", alone, ""},
		{"row,t1,t2,t3,age\na,1,1,0,1\nb,1,0,0,1\n", Options{}, "row", "t*", ""},
		{"row,t1,t2,t3,gold,y\na,1,1,0,1,1\nb,1,0,0,1,1\n", Options{}, "row", "t*", ""},
		{"svm1,svm2,rf1,rf2\n1,1,0,1\n1,0,0,1\n", Options{}, "", "svm1,svm2,rf1,rf2",
			"are all 4 columns teachers"},
		{"ticket,prompt_1,prompt_2,prompt_3\na,bug,bug,spam\nb,spam,spam,bug\n", Options{}, "ticket", alone, ""},
		{"ticket,prompt_1,prompt_2,gold\na,bug,bug,bug\nb,spam,spam,bug\n", Options{}, "ticket",
			alone, ""},
		{"scan,site_1,site_2,site_3,site_4,truth\na,x,y,x,y,x\nb,y,y,x,x,\n", Options{}, "scan", alone, ""},
		{"patient,sex,ulm,bonn,berlin,outcome\np1,m,sick,well,sick,sick\np2,f,well,well,sick,well\n",
			Options{}, "patient", "ulm,bonn,berlin", "are all 3 columns teachers"},
		{"patient,ulm,bonn,berlin\np1,sick,well,sick\np2,well,well,sick\n",
			Options{Classes: []string{"well", "sick"}}, "patient", "ulm,bonn,berlin", "are all 3 columns teachers"},
		{"patient,note,ulm,bonn,berlin\np1,sick,sick,well,sick\np2,dead,well,well,sick\n",
			Options{Classes: []string{"well", "sick"}}, "patient", "ulm,bonn,berlin",
			"are all 3 columns teachers"},
		{"who,t1,t2,t3\na,1,1,0\na,1,0,1\n", Options{}, "", "t*", ""}, // equal ids are none
		{",age,x2,y\n0,18,-0.4,0\n1,77,-0.1,1\n2,18,0.3,1\n", Options{}, "", "", ""},
		{"q0,0,1,1\nq1,1,1,0\nq2,1,0,0\n", Options{}, "#1", "#2..#4", "are all 3 columns teachers"},
		{"q0,cat,dog,cat\nq1,dog,dog,cat\nq2,cat,cat,emu\n", Options{}, "#1", "#2..#4",
			"are all 3 columns teachers"},
		{"teacher,q1,q2,q3\nA,1,0,1\nB,0,0,1\n", Options{}, "teacher", alone, "is each row a query?"},
		{"q,t*,t1\na,1,0\nb,0,1\n", Options{}, "q", "t*,t1", "are all 2 columns teachers"},
	} {
		s, err := lookAt(t, tt.in, tt.opts)
		if tt.want == "" {
			if err == nil || !strings.Contains(err.Error(), "no two columns") {
				t.Errorf("%q: %v", tt.in, err)
			}
			continue
		}
		if err != nil || len(s.Readings) == 0 {
			t.Errorf("%q: %+v, %v", tt.in, s, err)
			continue
		}
		o, asked := s.Readings[0].Options, strings.Join(s.Asked, "; ")
		want := []string(nil)
		if tt.want != alone {
			want = strings.Split(tt.want, ",")
		}
		if o.IDColumn != tt.id || !slices.Equal(o.VoteColumns, want) || !strings.HasPrefix(asked, tt.asked) ||
			tt.asked == "" && asked != "" {
			t.Errorf("%q: id %q, votes %q, asks %q; want %q, %q, %q", tt.in, o.IDColumn, o.VoteColumns, asked,
				tt.id, want, tt.asked)
		}
		o.tally, o.found = nil, nil
		if _, err := readAll(strings.NewReader(tt.in), o); err != nil {
			t.Errorf("%q: what is proposed is refused: %v", tt.in, err)
		}
	}
}

// The same file has the same proposal in every format.
func TestLookAtColumnsInEveryFormat(t *testing.T) {
	d := table{[]string{"query", "t1", "t2", "t3", "y"}, [][]int{{7, 1, 0, 1, 1}, {8, 0, 0, 1, 0}}}
	for format, file := range d.formats() {
		s, err := lookAt(t, string(file), Options{Format: format})
		if err != nil || len(s.Readings) != 1 || s.Readings[0].Options.VoteColumns != nil ||
			s.Readings[0].Options.LabelColumn != "y" || s.Columns.Truth != "y" {
			t.Errorf("%s: %+v, %v", format, s, err)
		}
	}
}

// A fault of the file comes before a question about its columns.
func TestLookAtTextThatIsNone(t *testing.T) {
	s, err := lookAt(t, "Frage,t1,t2\nq1,f\xfcr,wider\nq2,wider,f\xfcr\n", Options{})
	if err == nil || !strings.Contains(err.Error(), ":2: ") || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("%+v, %v", s, err)
	}
}

// Each row may be one vote where no two columns have a value in common, and names tell which is which.
func TestLookAtLong(t *testing.T) {
	for _, tt := range []struct{ in, id, teacher, vote string }{
		{"ticket,prompt,answer\nT-1,p1,bug\nT-1,p2,spam\nT-2,p1,bug\nT-2,p2,bug\n", "ticket", "prompt", "answer"},
		{"answer,ticket,model\n1,T-1,p1\n0,T-1,p2\n1,T-2,p1\n0,T-2,p2\n", "ticket", "model", "answer"},
		{"worker_id,task_id,response,at\nw1,a,spam,7:00\nw2,a,ham,7:01\nw1,b,ham,7:02\nw2,b,ham,7:03\n", "task_id",
			"worker_id", "response"},
		{"item,rater,score\ni1,r1,3\ni1,r2,4\ni2,r1,3\ni2,r2,3\n", "item", "rater", "score"},
		{"a,b,c\nT-1,p1,bug\nT-1,p2,spam\nT-2,p1,bug\nT-2,p2,bug\n", "", "", ""},
		{"text,prompt,model,answer\nT-1,p1,m,bug\nT-1,p2,m,spam\nT-2,p1,m,bug\n", "", "", ""},
		{"prompt,model,answer\nT-1,p1,bug\nT-1,p2,spam\nT-2,p1,bug\nT-2,p2,bug\n", "", "", ""},
	} {
		s, err := lookAt(t, tt.in, Options{})
		if tt.id == "" {
			if err == nil {
				t.Errorf("%q: %+v", tt.in, s)
			}
			continue
		}
		if err != nil || len(s.Readings) != 1 || len(s.Asked) != 1 {
			t.Errorf("%q: %+v, %v", tt.in, s, err)
			continue
		}
		if o := s.Readings[0].Options; o.Layout != LayoutLong || o.IDColumn != tt.id || o.TeacherColumn != tt.teacher ||
			o.VoteColumn != tt.vote || s.Queries != 2 || s.K != 2 {
			t.Errorf("%q: %+v", tt.in, s)
		}
	}
}

// An index without a name is a header's where votes may be missing, too.
func TestIndexWithoutANameBesideMissingVotes(t *testing.T) {
	const in = ",t1,t2,t3,label\np1,9,10,,10\np2,10,,9,\n"
	s, err := lookAt(t, in, Options{})
	if err != nil || len(s.Asked) > 0 || len(s.Readings) != 1 || s.Readings[0].Options.Header != HeaderAuto {
		t.Fatalf("%+v, %v", s, err)
	}
	for in, queries := range map[string]int{in: 2, ",9,10\n9,9,10\n": 2, ",9,9\n9,9,10\n": 2} {
		got, err := readAll(strings.NewReader(in), Options{Classes: []string{"9", "10"}, Missing: MissingAbstain,
			KeepVotes: true, K: 3})
		if strings.HasPrefix(in, ",9,10") { // votes, or names
			if err == nil || !strings.Contains(err.Error(), "cannot tell whether this row is a header") {
				t.Errorf("%q: %v", in, err)
			}
			continue
		}
		if err != nil || len(got.Votes) != 3*queries {
			t.Errorf("%q: %+v, %v", in, got, err)
		}
	}
}

// What the first rows suggest is tried on all rows: an id that repeats later is not proposed, nor is
// a header that would be read as votes left unsaid.
func TestProposalsAreTried(t *testing.T) {
	var b strings.Builder
	b.WriteString("scan,t1,t2,t3\n")
	for i := range 300 {
		fmt.Fprintf(&b, "s%d,%d,1,0\n", i%250, i%2)
	}
	s, err := lookAt(t, b.String(), Options{})
	if err != nil || len(s.Readings) != 1 || s.Readings[0].Options.IDColumn != "" || s.Queries != 300 ||
		!slices.Equal(s.Readings[0].Options.VoteColumns, []string{"t*"}) {
		t.Fatalf("%+v, %v", s, err)
	}
	s, err = lookAt(t, ",0,1,2,3\na,0,1,1,0\nb,0,1,1,1\n", Options{})
	if err != nil || len(s.Readings) != 1 || s.Readings[0].Options.Header != HeaderYes || s.Queries != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
}

// What is read of each file of the folder, and what is asked: the table of testdata/strange/README.md.
func TestStrangeVotes(t *testing.T) {
	for _, tt := range []struct {
		file     string
		queries  int64
		k        int
		id       string // the column, then the first
		values   string
		missing  string
		truth    string
		labelled int64
		asked    string // how the only question begins
		told     string // among what is told; "" where nothing is
		readings string
	}{
		{"all_missing.csv", 2, 9, "query a", "", "blank (18)", "", 0, "what can a vote be?", "", ""},
		{"allsame.csv", 6, 9, "query q0", "1 (54)", "", "", 0, "", "0 does not occur", "0,1"},
		{"bigid.jsonl", 8, 9, "query 18446744073709551614", "0 (32) 1 (40)", "", "", 0, "", "", "0,1"},
		{"class_NA.csv", 8, 9, "query q0", "BW (21) NA (23) ZA (28)", "", "", 0, "is NA a class", "",
			"BW,ZA abstain | BW,NA,ZA"},
		{"class_None.csv", 8, 9, "query q0", "None (29) mild (26) severe (17)", "", "", 0, "is None a class", "",
			"mild,severe abstain | None,mild,severe"},
		{"class_comma.csv", 6, 5, "query q0", `Books (15) "Toys, Games" (15)`, "", "", 0, "", "", "Books,Toys, Games"},
		{"dateid.parquet", 3000, 9, "query 2010-01-02", "0 (13557) 1 (13443)", "", "", 0, "", "", "0,1"},
		{"extra_ts.parquet", 300, 9, "query q0", "0 (1343) 1 (1357)", "", "", 0, "", "", "0,1"},
		{"floats_blank.csv", 8, 9, "query q0", "0 (28, spelled 0.0) 1 (36, spelled 1.0)", "blank (8)", "", 0, "",
			"0.0 is read as 0", "0,1 abstain"},
		{"inthead.csv", 8, 9, Nameless + " 0", "0 (32) 1 (40)", "", "", 0, "", "", "0,1"},
		{"labelled_some.csv", 40, 7, "query q0", "0 (141) 1 (139)", "", "0 (10)", 10, "", "", "0,1"},
		{"list.parquet", 3000, 9, "query q0", "0 (13557) 1 (13443)", "", "", 0, "", "", "0,1"},
		{"mix_TF.csv", 2, 5, "query a",
			"0 (2) 1 (2) FALSE (1) False (1) TRUE (1) True (1) false (1) true (1)", "", "", 0,
			"are these one class: 0 = FALSE, False, false; 1 = TRUE, True, true?", "",
			"0,1 [0=FALSE 0=False 0=false 1=TRUE 1=True 1=true]"},
		{"mix_demo.csv", 30, 9, "query one0", "0 (110) 1 (160: 90 spelled 1, 70 spelled 1.0)", "", "", 0, "",
			"1.0 is read as 1", "0,1"},
		{"nfd.csv", 8, 9, "query q0", "d\u00e9faut (32: 19 spelled de\u0301faut, 13 spelled d\u00e9faut) ok (40)", "",
			"", 0, "", "d\u00e9faut is one class in all spellings", "d\u00e9faut,ok"},
		{"october.csv", 59, 24, "scan_id id0", "a (521) b (565) c (330)", "", "a (10) b (7) c (3)", 20, "",
			"id scan_id is proposed", "a,b,c"},
		{"pandas_index.csv", 8, 9, Nameless + " 0", "0 (32) 1 (40)", "", "", 0, "", "", "0,1"},
		{"pandas_index_names.csv", 8, 9, Nameless + " pat0", "0 (32) 1 (40)", "", "", 0, "", "", "0,1"},
		{"pm1_demo.csv", 20, 9, "query neg0", "-1 (160) 1 (20)", "", "", 0, "is -1 a class", "",
			"-1,1 | 0,1 abstain"},
		{"semicolon_decimalcomma.csv", 8, 9, "query q0", `"0,0" (32) "1,0" (40)`, "", "", 0,
			"are these decimal commas", "", "0,1 [0=0,0 1=1,0]"},
		{"sep_line.csv", 8, 9, "query q0", "0 (32) 1 (40)", "", "", 0, "", "cells are separated by ';', as the first",
			"0,1"},
		{"space_after_comma.csv", 8, 9, "query 00000", "0 (32) 1 (40)", "", "", 0, "",
			"blanks around votes and names are no part of them", "0,1"},
		{"spaces.csv", 8, 9, "query q0", "cat (32) dog (40)", "", "", 0, "",
			"blanks around votes and names are no part of them", "cat,dog"},
		{"truth_m1l.csv", 2, 5, "query a", "0 (5) 1 (5)", "", "0 (1)", 1, "", "-1 in label is an unknown truth",
			"0,1"},
	} {
		s, err := lookAtFile(t, tt.file)
		if err != nil {
			t.Errorf("%s: %v", tt.file, err)
			continue
		}
		asked, told := strings.Join(s.Asked, "; "), strings.Join(s.Told, "; ")
		if s.Queries != tt.queries || s.K != tt.k || s.Columns.ID+" "+s.FirstID != tt.id ||
			shown(s.Values) != tt.values || shown(s.Missing) != tt.missing || shown(s.Truth) != tt.truth ||
			s.Labelled != tt.labelled || !strings.HasPrefix(asked, tt.asked) || tt.asked == "" && asked != "" ||
			!strings.Contains(told, tt.told) || tt.told == "" && told != "" || readings(s) != tt.readings {
			t.Errorf("%s: %v %+v\nvalues %s, missing %s, truth %s, asks %q, tells %q, reads %q", tt.file, s, s,
				shown(s.Values), shown(s.Missing), shown(s.Truth), s.Asked, s.Told, readings(s))
		}
	}
	for file, want := range map[string]string{
		"pipe.csv":            "one column only; are cells separated by '|'?",
		"trailgarbage.csv.gz": "8 bytes after the end of the gzip data",
		"training-index.csv":  "has the votes of one teacher, put them side by side",
	} {
		if s, err := lookAtFile(t, file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", file, s, err)
		}
	}
}

// The columns that nobody reads are named, and the command lists those that are read.
func TestStrangeVotesHaveOtherColumns(t *testing.T) {
	s, err := lookAtFile(t, "extra_ts.parquet")
	if err != nil || strings.Join(s.Columns.Unused, " ") != "created day u lst st price iv b" ||
		!slices.Equal(s.Readings[0].Options.VoteColumns, []string{"t*"}) {
		t.Errorf("%+v, %v", s, err)
	}
}

func lookAtFile(t *testing.T, file string) (*Survey, error) {
	t.Helper()
	return Look(t.Context(), Options{}, Known{}, func(o Options) (*Reader, error) {
		return Open(t.Context(), o, "testdata/strange/"+file)
	}, nil)
}

func shown[T fmt.Stringer](of []T) string {
	var all []string
	for _, x := range of {
		all = append(all, x.String())
	}
	return strings.Join(all, " ")
}
