package darrmbeam

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/plurality/answers/solve"
	"github.com/darrm/darrm/release"
)

// namedTable is the JSON of a table of two classes that are told apart, for 5 votes and up to 2 answers.
func namedTable(t testing.TB, epsilon float64, shares plurality.Shares, yes []float64) []byte {
	t.Helper()
	p := answers.Problem{K: 5, Classes: 2, Affected: 1, Answers: 2, Epsilon: epsilon, Delta: 1e-5, Named: true, Labels: len(yes)}
	var b bytes.Buffer
	table := must.Get(solve.Best(t.Context(), p, answers.Prior{Objective: plurality.Objective{Accuracy: .75}, Shares: shares,
		Yes: yes}, solve.Options{}))(t)
	if err := table.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A table for stated shares is taken, and the report says how it treats the classes and which has which share. One
// whose labels tell nothing is refused before anything is read or paid for, unless that is accepted, and so is one with
// masses for each label of a question, whatever is accepted.
func TestTablesForStatedShares(t *testing.T) {
	job := newJob(t, nil, true)
	job.Votes, job.Read.Classes = job.Votes[:1], []string{"no", "yes"}
	write(t, job.Votes[0], []byte("query,t1,t2,t3,t4,t5\na,no,no,no,no,no\nb,yes,yes,yes,yes,no\n"))
	lopsided := plurality.Shares{.9, .1}
	silent := namedTable(t, .05, lopsided, nil)
	for _, tt := range []struct {
		name    string
		table   []byte
		accept  bool
		refused string
		says    string
	}{
		{"shares", namedTable(t, 10, lopsided, nil), false, "", "The table tells them apart, by the order in which they are stated: shares no 0.9, yes 0.1."},
		{"constant", silent, false, "its labels tell nothing: raise the budget, or state", ""},
		{"constant, accepted", silent, true, "", "its labels tell nothing."},
		{"labels", namedTable(t, 10, nil, []float64{.1, .4}), true, "masses for each of 2 labels of a question", ""},
	} {
		job.Table, job.AcceptConstant = tt.table, tt.accept
		r, err := Run(t.Context(), job)
		if tt.refused != "" {
			var usage *release.UsageError
			if !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.refused) || r != nil {
				t.Errorf("%s: %v, %v", tt.name, r, err)
			}
			if _, err := Quote(t.Context(), job); !errors.As(err, &usage) {
				t.Errorf("%s: a quote: %v", tt.name, err)
			}
			continue
		}
		if err != nil || !slices.ContainsFunc(r.Apart, func(note string) bool { return strings.HasSuffix(note, tt.says) }) {
			t.Fatalf("%s: %v, %+v", tt.name, err, r)
		}
		if err := os.Remove(job.Out); err != nil {
			t.Fatal(err)
		}
	}
}
