package darrmbeam

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// pluralityTable is the JSON of a table: the mixture with the uniform distribution that makes
// permute-and-flip private in integers, with half a chance to abstain wherever that is an answer.
func pluralityTable(t testing.TB, p plurality.Problem) []byte {
	t.Helper()
	s, err := plurality.NewSystem(p)
	if err != nil {
		t.Fatal(err)
	}
	x := s.PermuteAndFlip()
	for i := range x {
		if !p.Abstain {
			break
		}
		if x[i] /= 2; s.Votes(i) == plurality.Abstained {
			x[i] = 0.5
		}
	}
	c, err := plurality.Round(context.Background(), s, x)
	if err != nil {
		t.Fatal(err)
	}
	table, err := plurality.NewTable(context.Background(), c, plurality.Objective{Accuracy: 0.6},
		plurality.Proof{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := table.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// petVotes are votes of five teachers for three classes, of n queries in two files.
func petVotes(t testing.TB, n int) (files []string, counts [][]int) {
	t.Helper()
	pets, dir := []string{"cat", "dog", "bird"}, t.TempDir()
	for part := range 2 {
		var b strings.Builder
		b.WriteString("query,t1,t2,t3,t4,t5\n")
		for i := part; i < n; i += 2 {
			row, votes := make([]int, 3), make([]string, 5)
			for k := range votes {
				class := (i / (1 + k*k)) % 3
				row[class]++
				votes[k] = pets[class]
			}
			counts = append(counts, row)
			fmt.Fprintf(&b, "q-%d-%d,%s\n", part, i, strings.Join(votes, ","))
		}
		path := filepath.Join(dir, fmt.Sprintf("votes-%d.csv", part))
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	return files, counts
}

// A table of many classes is released like a noise function: each label is that of the mechanism
// for the query's coins, by the class's name, an abstention among them; it costs what the table
// promises, and another vote count, number of classes or reach of a record than the table's is
// refused before anything is charged.
func TestPluralityOverThePipeline(t *testing.T) {
	p := plurality.Problem{K: 5, Classes: 3, Epsilon: 2, Affected: 2, Abstain: true}
	files, counts := petVotes(t, 600)
	charge := chargeIn(t, t.TempDir(), 1300, "")
	book, err := ledger.Open(context.Background(), charge.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	two := 2
	job := newJob(t, nil, true)
	job.Votes, job.Table, job.Read.Classes, job.ShardRows = files, pluralityTable(t, p),
		[]string{"cat", "dog", "bird"}, 130
	job.Stated = ensemble.Stated{Affected: &two}
	job.Charge = charge
	for name, change := range map[string]func(*Job){
		"two classes":   func(j *Job) { j.Read.Classes = nil },
		"four classes":  func(j *Job) { j.Read.Classes = []string{"cat", "dog", "bird", "fish"} },
		"other classes": func(j *Job) { j.Read.Classes = []string{"cat", "dog", "emu"} },
		"reach of 3":    func(j *Job) { three := 3; j.Stated.Affected = &three },
		"reach unsaid":  func(j *Job) { inf := math.Inf(1); j.Stated = ensemble.Stated{Epsilon: &inf} },
		"six teachers": func(j *Job) {
			other := p
			other.K = 6
			j.Table = pluralityTable(t, other)
		},
		"a table that breaks its promise": func(j *Job) {
			j.Table = bytes.Replace(j.Table, []byte(`"total_epsilon":2,`), []byte(`"total_epsilon":1,`), 1)
			if bytes.Equal(j.Table, job.Table) {
				t.Error("the table is as it was")
			}
		},
	} {
		wrong := job
		change(&wrong)
		if r, err := Run(context.Background(), wrong); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if spent, _ := book.Spent(context.Background()); spent != (ledger.Cost{}) {
		t.Errorf("refused jobs spent %v", spent)
	}
	var s spy
	s.wrap(t, &job)
	r, err := Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	if r.Queries != 600 || r.PerAnswer != (accountant.Cost{Epsilon: 2}) ||
		r.Totals.Fresh.Cost != (accountant.Cost{Epsilon: 1200}) ||
		r.Mechanism != ensemble.OtherTable { // which nobody proved to be the best
		t.Errorf("%+v", r)
	}
	if spent, _ := book.Spent(context.Background()); spent != mustCost(t, 1200, 0) {
		t.Errorf("spent %v", spent)
	}
	b, err := os.ReadFile(job.Out)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil || len(rows) != 601 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	c, err := certify(context.Background(), job.Table)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := c.Plan(accountant.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	names, seen := append([]string{"abstained"}, "cat", "dog", "bird"), map[string]int{}
	for i, row := range rows[1:] {
		class, err := plan.Mechanism().Answer(randsrc.KeyedCoins(s.key, ""), row[0], counts[i])
		if err != nil || row[1] != names[class+1] {
			t.Fatalf("row %d: %q, want %d, %v", i, row, class, err)
		}
		seen[row[1]]++
	}
	if len(seen) != 4 {
		t.Errorf("answers %v", seen)
	}
}

func mustCost(t testing.TB, epsilon, delta float64) ledger.Cost {
	t.Helper()
	return must.Get(ledger.NewCost(epsilon, delta))(t)
}

// The pin of what was checked covers the counts of every class: votes that differ in any of them
// are others.
func TestPinCoversEveryClass(t *testing.T) {
	sum := func(counts ...int) string {
		path := filepath.Join(t.TempDir(), "votes.csv")
		if err := os.WriteFile(path, fmt.Appendf(nil, "query,a,b,c\nq,%d,%d,%d\n", counts[0], counts[1],
			counts[2]), 0o600); err != nil {
			t.Fatal(err)
		}
		opts, err := ReadOptions{Layout: "counts", Classes: []string{"a", "b", "c"}}.resolve(5)
		if err != nil {
			t.Fatal(err)
		}
		p := sha256.New()
		if _, err := readFile(context.Background(), path, opts,
			func(_ fileInfo, b *votes.Batch) error {
				release.PinVotes(p, b)
				return nil
			}); err != nil {
			t.Fatal(err)
		}
		return string(p.Sum(nil))
	}
	seen := map[string][]int{}
	for _, counts := range [][]int{{5, 0, 0}, {4, 1, 0}, {4, 0, 1}, {3, 1, 1}, {3, 2, 0}, {3, 0, 2}} {
		pin := sum(counts...)
		if before := seen[pin]; before != nil {
			t.Errorf("%v and %v have one pin", before, counts)
		}
		seen[pin] = counts
	}
	if seen[sum(3, 1, 1)] == nil {
		t.Error("the same votes have two pins")
	}
}
