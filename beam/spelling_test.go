package darrmbeam

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/must"
)

// Spellings that are stated are votes for their classes, a class may have a comma in its name, and both
// stand in what is charged.
func TestSpellingsOverThePipeline(t *testing.T) {
	classes := []string{"Toys, Games", "Books"}
	spelled := []struct {
		text  string
		class int
	}{{`"Toys, Games"`, 0}, {"books", 1}, {"Books", 1}, {"toys", 0}, {"BOOKS", 1}}
	var b strings.Builder
	b.WriteString("query,t1,t2,t3,t4,t5,t6,t7,t8,t9,t10,t11\n")
	var counts [][]int
	for i := range 60 {
		row := make([]int, 2)
		fmt.Fprintf(&b, "q-%d", i)
		for k := range 11 {
			s := spelled[(i*k+i/(k+1))%len(spelled)]
			row[s.class]++
			b.WriteString("," + s.text)
		}
		b.WriteString("\n")
		counts = append(counts, row)
	}
	job := newJob(t, nil, true)
	job.Votes, job.ShardRows = []string{filepath.Join(t.TempDir(), "votes.csv")}, 25
	if err := os.WriteFile(job.Votes[0], []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	job.Read.Classes, job.Read.Same = classes, []string{"Toys, Games=toys", "Books=books"}
	job.Charge = newCharge(t, 1000, "fresh")
	if _, err := Run(t.Context(), job); err == nil || !strings.Contains(err.Error(), `"BOOKS" is not one of the classes`) {
		t.Errorf("a spelling that nobody stated: %v", err)
	}
	job.Read.Same = append(job.Read.Same, "Books=BOOKS")
	var s spy
	s.wrap(t, &job)
	report, err := Run(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Summary.Same) != 3 {
		t.Errorf("the report states %v", report.Summary.Same)
	}
	if text := must.Get(os.ReadFile(job.Charge.Ledger))(t); !bytes.Contains(text,
		[]byte(`"same":["Books=BOOKS","Books=books","Toys, Games=toys"]`)) {
		t.Errorf("the ledger states no spellings: %s", text)
	}
	rows := must.Get(csv.NewReader(bytes.NewReader(must.Get(os.ReadFile(job.Out))(t))).ReadAll())(t)
	plan := must.Get(
		must.Get(certify(context.Background(), job.Table))(t).Plan(accountant.ReplaceOne))(t)
	if len(rows) != len(counts)+1 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, row := range rows[1:] {
		class, err := plan.Mechanism().Answer(randsrc.KeyedCoins(s.key, ""), row[0], counts[i])
		if err != nil || row[1] != classes[class] {
			t.Fatalf("row %d: %q, want %d, %v", i, row, class, err)
		}
	}
	for _, same := range [][]string{{"Books"}, {"Book=books"}, {"Books=Toys, Games"}} {
		job.Read.Same = same
		if _, err := Quote(t.Context(), job); err == nil {
			t.Errorf("%q are taken", same)
		}
	}
	opts, err := ReadOptions{Classes: classes, Same: []string{"=999"}}.resolve(11)
	if err != nil || !slices.Equal(opts.Classes, classes) || opts.Same[0].Class != "" || opts.Same[0].Text != "999" {
		t.Errorf("%+v, %v", opts, err)
	}
}
