package votes

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// A description counts votes, ties, missing ones and true labels, by query and by teacher.
func TestDescribe(t *testing.T) {
	const file = "t1,t2,t3,t4,label\n1,1,0,1,1\n0,0,1,1,0\n,0,0,0,0\n1,1,1,1,1\n"
	r, err := Open(t.Context(), Options{KeepVotes: true, Missing: MissingCoin,
		Stdin: strings.NewReader(file)}, "-")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	d, err := Describe(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.Queries != 4 || d.K != 4 || d.Missing != 1 || d.Labelled != 4 || len(d.Teachers) != 4 {
		t.Errorf("%+v", d)
	}
	// The missing vote is a coin: the query has 0 or 1 votes for the second class.
	h := d.Histogram
	if h[0]+h[1] != 1 || h[2] != 1 || h[3] != 1 || h[4] != 1 {
		t.Errorf("histogram %v", h)
	}
	if d.Ties != 1 || d.Accuracy == nil || *d.Accuracy != 0.75 {
		t.Errorf("ties %d, accuracy %v", d.Ties, d.Accuracy)
	}
	// Of 15 votes that are there, 3 + 2 + 3 + 4 are for the most named class.
	if d.Agreement != 12.0/15 {
		t.Errorf("agreement %v", d.Agreement)
	}
	if d.Teachers[1].Name != "t2" {
		t.Errorf("teacher 2: %+v", d.Teachers[1])
	}
	first, third := d.Teachers[0], d.Teachers[2]
	if first.Rates[1] != 2.0/3 || first.Agreement != 1 || *first.Accuracy != 1 {
		t.Errorf("teacher 1: %+v", first)
	}
	if third.Rates[1] != 0.5 || third.Agreement != 2.0/3 || *third.Accuracy != 0.5 {
		t.Errorf("teacher 3: %+v", third)
	}
	b, err := json.Marshal(d)
	if err != nil || !strings.HasPrefix(string(b), `{"private":false,"queries":4,`) {
		t.Errorf("%s, %v", b, err)
	}
}

// The figures of a teacher have its name, in whatever order rows of single votes come.
func TestDescribeNamesTeachers(t *testing.T) {
	const file = "id,teacher,vote\nT1,zoe,1\nT1,ann,0\nT2,ann,0\nT2,zoe,1\n"
	r, err := Open(t.Context(), Options{KeepVotes: true, Layout: LayoutLong,
		Stdin: strings.NewReader(file)}, "-")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	d, err := Describe(r, nil)
	if err != nil || len(d.Teachers) != 2 {
		t.Fatalf("%+v, %v", d, err)
	}
	if a, z := d.Teachers[0], d.Teachers[1]; a.Name != "ann" || a.Rates[1] != 0 || z.Name != "zoe" ||
		z.Rates[1] != 1 {
		t.Errorf("%+v", d.Teachers)
	}
}

// Public votes, which move the threshold, are no part of a description.
func TestDescribeHasNoPublicVotes(t *testing.T) {
	for _, from := range []string{"", "1", "3"} {
		r, err := NewReader(t.Context(), strings.NewReader("query,t1,t2,t3\nq1,1,1,1\nq2,0,1,0\n"),
			Options{YesFrom: from, KeepVotes: true})
		if err != nil {
			t.Fatal(err)
		}
		d, err := Describe(r, nil)
		if err != nil || !slices.Equal(d.Histogram, []int64{0, 1, 0, 1}) || d.Agreement != 5./6 || d.Ties != 0 {
			t.Errorf("yes from %q: %+v, %v", from, d, err)
		}
		r.Close()
	}
}
