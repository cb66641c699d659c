package darrmbeam

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/plurality/answers/solve"
)

// Votes that are none stay none: each label is that of the mechanism for the counts that are there,
// and not for a vote of the first class in the place of each that is missing. A table that was made
// for K votes refuses them.
func TestVotesThatMayBeNoneOverThePipeline(t *testing.T) {
	tableOf := func(missing bool) []byte {
		p := answers.Problem{K: 5, Classes: 3, Affected: 1, Answers: 100, Epsilon: 100, Delta: 1e-5,
			Missing: missing}
		var b bytes.Buffer
		table := must.Get(solve.Best(t.Context(), p, answers.DefaultPrior(p), solve.Options{
			Law: answers.NormalLaw, Price: game.Options{Step: 1}}))(t)
		if err := table.Encode(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	pets := []string{"cat", "dog", "bird"}
	var b strings.Builder
	b.WriteString("query,t1,t2,t3,t4,t5\n")
	var counts [][]int
	for i := range 100 {
		row, votes := make([]int, 3), make([]string, 5)
		for k := range votes {
			if class := (i / (1 + k)) % 4; class < 3 {
				row[class]++
				votes[k] = pets[class]
			}
		}
		counts = append(counts, row)
		fmt.Fprintf(&b, "q-%d,%s\n", i, strings.Join(votes, ","))
	}
	job := newJob(t, nil, true)
	job.Votes, job.Read.Classes, job.ShardRows = []string{filepath.Join(t.TempDir(), "votes.csv")},
		[]string{"cat", "dog", "bird"}, 30
	if err := os.WriteFile(job.Votes[0], []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	job.Table, job.Read.Missing = tableOf(false), "abstain"
	if _, err := Run(t.Context(), job); !errors.Is(err, ensemble.ErrMissing) {
		t.Errorf("a table for K votes: %v", err)
	}
	job.Table, job.Read.Missing = tableOf(true), "coin"
	if _, err := Run(t.Context(), job); err == nil {
		t.Error("coins in the place of votes")
	}
	job.Read.Missing = ""
	if _, err := Run(t.Context(), job); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("missing votes were read without a word: %v", err)
	}
	job.Read.Missing, job.Read.Layout = "abstain", "long"
	if _, err := Run(t.Context(), job); err == nil || !strings.Contains(err.Error(), "layout") {
		t.Errorf("rows of single votes: %v", err)
	}
	job.Read.Layout = ""
	var s spy
	s.wrap(t, &job)
	if _, err := Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	rows := must.Get(csv.NewReader(bytes.NewReader(must.Get(os.ReadFile(job.Out))(t))).ReadAll())(t)
	plan := must.Get(
		must.Get(certify(context.Background(), job.Table))(t).Plan(accountant.ReplaceOne))(t)
	if len(rows) != 101 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, row := range rows[1:] {
		class, err := plan.Mechanism().Answer(randsrc.KeyedCoins(s.key, ""), row[0], counts[i])
		if err != nil || row[1] != pets[class] {
			t.Fatalf("row %d: %q, want %d, %v", i, row, class, err)
		}
	}
}
