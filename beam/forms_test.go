package darrmbeam

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// The labels have the form that their name says, by the table of package votes, on this machine and
// elsewhere.
func TestLabelsHaveTheFormOfTheirName(t *testing.T) {
	rows := queries(50)
	for name, begins := range map[string]string{
		"labels.csv": "query,label\nq-0,", "labels": "query,label\nq-0,",
		"labels.tsv":    "query\tlabel\nq-0\t",
		"labels.csv.gz": "\x1f\x8b", "labels.jsonl.zst": "\x28\xb5\x2f\xfd", "labels.parquet": "PAR1",
	} {
		for _, remote := range []bool{false, true} {
			job := newJob(t, rows, true)
			dir := filepath.Dir(job.Out)
			job.Out = filepath.Join(dir, name)
			if remote {
				job.Out = "memfs://" + t.Name() + "/" + name
			}
			if _, err := Run(t.Context(), job); err != nil {
				t.Errorf("%s: %v", job.Out, err)
				continue
			}
			b := must.Get(get(t.Context(), job.Out))(t)
			checkClean(t, job)
			if !strings.HasPrefix(string(b), begins) {
				t.Errorf("%s begins %.20q", job.Out, b)
			}
			if name == "labels.jsonl.zst" { // which is no form of votes
				continue
			}
			local := filepath.Join(dir, "copy", name) // whose name says the form to the reader
			if err := os.Mkdir(filepath.Dir(local), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, local, b)
			// As many rows come back as were answered, with their ids, as the votes of one teacher.
			r, err := votes.Open(t.Context(), votes.Options{K: 1, IDColumn: "query",
				LabelColumn: votes.NoColumn, VoteColumns: []string{"label"}}, local)
			if err != nil {
				t.Errorf("%s: %v", job.Out, err)
				continue
			}
			n := 0
			for b, err := range r.Batches() {
				if err != nil {
					t.Fatal(err)
				}
				for i := range b.Len() {
					if b.ID(i) != rows[n].id {
						t.Errorf("%s: query %q is number %d", job.Out, b.ID(i), n)
					}
					n++
				}
			}
			if err := r.Close(); err != nil || n != len(rows) {
				t.Errorf("%s: %d rows, %v", job.Out, n, err)
			}
		}
	}
}

// A name of a form that is not written is refused before anything is read or charged, with the
// rule.
func TestFormsThatAreRefused(t *testing.T) {
	for name, want := range map[string]string{
		"labels.xlsx": "neither read nor written", "labels.json": "neither read nor written",
		"labels.parquet.gz": "compressed inside",
	} {
		for _, folder := range []string{"", "memfs://" + t.Name()} {
			job := newJob(t, queries(9), true)
			job.Charge = newCharge(t, 1e4, "fresh")
			if job.Out = filepath.Join(filepath.Dir(job.Out), name); folder != "" {
				job.Out = folder + "/" + name
			}
			var s spy
			s.wrap(t, &job)
			r, err := Run(t.Context(), job)
			var usage *release.UsageError
			if r != nil || !errors.As(err, &usage) || !strings.Contains(err.Error(), want) || s.ran != 0 {
				t.Errorf("%s: %+v, %v, %d pipelines", job.Out, r, err, s.ran)
			}
			checkSpent(t, job.Charge, 0)
			checkClean(t, job)
		}
	}
}

// A pipe among the votes or the reports is refused at once, by name or by a pattern: they are read
// twice.
func TestPipeAsInput(t *testing.T) {
	if err := syscall.Mkfifo(filepath.Join(t.TempDir(), "x"), 0o600); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var input *release.InputError
	for _, pattern := range []string{"votes-c.csv", "votes-*.csv"} {
		job := newJob(t, queries(9), true)
		dir := filepath.Dir(job.Out)
		if err := syscall.Mkfifo(filepath.Join(dir, "votes-c.csv"), 0o600); err != nil {
			t.Fatal(err)
		}
		job.Votes = []string{filepath.Join(dir, pattern)}
		if _, err := Run(ctx, job); !errors.As(err, &input) ||
			!strings.Contains(err.Error(), "no regular file") {
			t.Errorf("%s: %v", pattern, err)
		}
		checkNoOutput(t, job)
	}
	x := newRound(t, func(c *federated.PSGM) { c.Silos = []int{30, 20, 25, 5} })
	if err := syscall.Mkfifo(filepath.Join(filepath.Dir(x.job.Reports[0]), "pipe.reports"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := RunRound(ctx, x.job); !errors.As(err, &input) ||
		!strings.Contains(err.Error(), "no regular file") {
		t.Errorf("%v", err)
	}
	x.checkNothing(t)
}
