package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
)

// The rows that docs/plan.md shows are what the program prints. Its six tables take 13 s of a processor.
func TestRowsOfTheGuide(t *testing.T) {
	if os.Getenv("DARRM_LONG") == "" {
		t.Skip("needs DARRM_LONG=1")
	}
	var out bytes.Buffer
	args := []string{"-votes", "../../testdata/mnist-5v8-disjoint/votes.csv"}
	if err := run(t.Context(), args, &out); err != nil {
		t.Fatal(err)
	}
	page := string(must.Get(os.ReadFile("../../docs/plan.md"))(t))
	for row := range strings.Lines(out.String()) {
		if !strings.Contains(page, row) {
			t.Errorf("docs/plan.md lacks %s", row)
		}
	}
}

// Scores are counted by hand: of three queries the second is a tie, in which both classes lead.
func TestScores(t *testing.T) {
	queries := []query{{[]int{3, 1}, 0}, {[]int{2, 2}, 1}, {[]int{1, 3}, 0}}
	s, err := scored(queries, func(counts []int) (float64, error) { return float64(counts[1]) / 4, nil })
	if err != nil {
		t.Fatal(err)
	}
	want := score{agrees: (.75 + 1 + .75) / 3, right: (.75 + .5 + .25) / 3, recall: [2]float64{(.75 + .5) / 2, (.5 + .75) / 2},
		trueClass: [2]float64{(.75 + .25) / 2, .5}}
	if s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
	if _, err := read(t.Context(), strings.NewReader("query,t1,label\n0,0,0\n1,1,1\n"), 2, .5); err == nil {
		t.Error("a file of one teacher has two")
	}
	some, err := read(t.Context(), strings.NewReader("query,t1,label\n0,0,0\n1,1,0\n2,0,0\n3,1,1\n4,1,1\n"), 1, .25)
	if err != nil || len(some) != 4 || some[3].truth != 1 {
		t.Errorf("%v, %v", some, err)
	}
}
