package darrmbeam

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// What a job writes takes the place of nothing that it reads, of no ledger, and without a
// ledger of no labels: they stay as they are, and nothing is charged.
func TestOutputTakesNoPlace(t *testing.T) {
	ctx := t.Context()
	for _, tt := range []struct {
		name string
		edit func(t *testing.T, j *Job) (path string) // that must not change
		want string
	}{
		{"the votes", func(t *testing.T, j *Job) string { j.Out = j.Votes[0]; return j.Out },
			"a file of votes"},
		{"the votes, by a link", func(t *testing.T, j *Job) string {
			j.Out = filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(j.Votes[0], j.Out); err != nil {
				t.Fatal(err)
			}
			return j.Votes[0]
		}, "a file of votes"},
		{"the table", func(t *testing.T, j *Job) string {
			j.TableFile = filepath.Join(t.TempDir(), "table.json")
			if err := os.WriteFile(j.TableFile, j.Table, 0o600); err != nil {
				t.Fatal(err)
			}
			j.Out = j.TableFile
			return j.Out
		}, "--table"},
		{"the ledger", func(t *testing.T, j *Job) string {
			j.Charge = newCharge(t, 5, "fresh")
			j.Out = j.Charge.Ledger
			return j.Out
		}, "and ledger are the same file"},
		{"its anchor", func(t *testing.T, j *Job) string {
			j.Charge = newCharge(t, 5, "fresh")
			j.Out = j.Charge.Ledger + ledger.AnchorSuffix
			return j.Out
		}, "and ledger are the same file"},
		{"another ledger's secret", func(t *testing.T, j *Job) string {
			j.Out = newCharge(t, 5, "fresh").Ledger + ledger.SecretSuffix
			return j.Out
		}, "is a ledger"},
		{"earlier labels", func(t *testing.T, j *Job) string {
			if err := os.WriteFile(j.Out, []byte("query,label\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			return j.Out
		}, "force to replace it"},
		{"earlier labels elsewhere", func(t *testing.T, j *Job) string {
			j.Out = "memfs://TestOutputTakesNoPlace/labels.csv"
			if err := put(ctx, j.Out, []byte("query,label\n")); err != nil {
				t.Fatal(err)
			}
			return j.Out
		}, "force to replace it"},
		{"votes elsewhere", func(t *testing.T, j *Job) string {
			b, err := os.ReadFile(j.Votes[0])
			if err != nil {
				t.Fatal(err)
			}
			j.Out = "memfs://TestOutputTakesNoPlace/votes.csv"
			if err := put(ctx, j.Out, b); err != nil {
				t.Fatal(err)
			}
			j.Votes = []string{j.Out}
			j.Read.Format = "csv"
			j.Force = true
			return j.Out
		}, "a file of votes"},
	} {
		job := newJob(t, queries(3), true)
		var s spy
		s.wrap(t, &job)
		path := tt.edit(t, &job)
		before, err := get(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(ctx, job)
		var usage *release.UsageError
		if r != nil || !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %+v, %v, want %q", tt.name, r, err, tt.want)
		}
		if strings.HasPrefix(tt.name, "earlier") && !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if s.ran != 0 {
			t.Errorf("%s: %d pipelines ran", tt.name, s.ran)
		}
		if job.Charge.Ledger != "" {
			checkSpent(t, job.Charge, 0)
		}
		after, err := get(ctx, path)
		if err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s: it was replaced, %v", tt.name, err)
		}
	}
	job := newJob(t, queries(3), true)
	job.Out = job.Temp
	if r, err := Run(ctx, job); r != nil || err == nil ||
		!strings.Contains(err.Error(), "is a directory") {
		t.Errorf("a directory: %+v, %v", r, err)
	}
	// Whoever says so replaces labels.
	job = newJob(t, queries(3), true)
	if err := os.WriteFile(job.Out, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	job.Force = true
	if _, err := Run(ctx, job); err != nil {
		t.Errorf("forced: %v", err)
	}
	checkLabels(t, job.Out, queries(3), true, nil)
	// Nobody replaces labels that the ledger paid for.
	job = newJob(t, queries(3), true)
	job.Charge = newCharge(t, 5, "fresh")
	if _, err := Run(ctx, job); err != nil {
		t.Fatal(err)
	}
	labels, err := get(ctx, job.Out)
	if err != nil {
		t.Fatal(err)
	}
	first, spent := job.Charge.RequestID, spentOf(t, job.Charge)
	job.Charge.RequestID, job.Charge.Draw, job.Force = "another", "another", true
	job.Charge.VotesCastAnew = true
	r, err := Run(ctx, job)
	var usage *release.UsageError
	if r != nil || !errors.As(err, &usage) || !errors.Is(err, fs.ErrExist) ||
		!strings.Contains(err.Error(), fmt.Sprintf("request %q", first)) {
		t.Errorf("over paid labels: %+v, %v", r, err)
	}
	if after, err := get(ctx, job.Out); err != nil || !bytes.Equal(labels, after) ||
		spentOf(t, job.Charge) != spent {
		t.Errorf("paid labels were replaced, or another charge was made: %v", err)
	}
}

// A table for other teachers than those stated is refused before the votes are read.
func TestStatedTeachersAreCompared(t *testing.T) {
	eps, other, delta, all, one := 0.13577, 0.2, 1e-4, 11, 1
	for _, tt := range []struct {
		stated ensemble.Stated
		ok     bool
	}{
		{ensemble.Stated{}, true},
		{ensemble.Stated{Epsilon: &eps, TeacherDelta: &delta}, true},
		{ensemble.Stated{Epsilon: &eps, TeacherDelta: &delta, Affected: &all}, true},
		{ensemble.Stated{Epsilon: &eps, TeacherDelta: &delta, Affected: &one}, false},
		{ensemble.Stated{Epsilon: &other, TeacherDelta: &delta}, false},
		{ensemble.Stated{Epsilon: &eps}, false},
		{ensemble.Stated{Affected: &all}, false},
	} {
		job := newJob(t, queries(3), true)
		job.Stated = tt.stated
		r, err := Run(t.Context(), job)
		var usage *release.UsageError
		if tt.ok != (err == nil) || !tt.ok && (r != nil || !errors.As(err, &usage)) {
			t.Errorf("%+v: %+v, %v", tt.stated, r, err)
		}
		if _, err := os.Stat(job.Out); !tt.ok && err == nil {
			t.Errorf("%+v: there is an output", tt.stated)
		}
	}
}

// The votes of fresh teachers are recognised here as everywhere: the digest is that of one
// reading of the whole file, and a second answer is refused, or paid for by the draw.
func TestSameVotesAgain(t *testing.T) {
	job := newJob(t, queries(7), true)
	// The same rows in other files and in another order.
	var head string
	var rows []string
	for _, path := range job.Votes {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(b), "\n")
		head, rows = lines[0], append(lines[1:len(lines)-1], rows...)
	}
	again := newJob(t, nil, true)
	for i, part := range [][]string{rows[:5], rows[5:]} {
		if err := os.WriteFile(again.Votes[i], []byte(head+strings.Join(part, "")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	job.Charge = newCharge(t, 100, "fresh")
	again.Charge = job.Charge
	again.Charge.RequestID = "april"
	first, err := Run(t.Context(), job)
	if err != nil || first.Again {
		t.Fatalf("%+v, %v", first, err)
	}
	l, err := ledger.Open(t.Context(), job.Charge.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := l.VoteHash()
	if err != nil {
		t.Fatal(err)
	}
	r, err := votes.Open(t.Context(), release.Hashed(votes.Options{K: 11}, hash), job.Votes...)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		release.HashVotes(hash, b)
	}
	history, err := l.History(t.Context())
	if err != nil || history[0].Draw == nil || history[0].Draw.Votes != hash.Draw("", "march").Votes {
		t.Errorf("%+v, %v, want the digest %v", history[0], err, hash.Draw("", "march").Votes)
	}
	if r, err := Run(t.Context(), again); r != nil || !errors.Is(err, ledger.ErrSameVotes) {
		t.Errorf("the same votes under another name: %+v, %v", r, err)
	}
	again.Charge.Draw = "march"
	second, err := Run(t.Context(), again)
	if err != nil || !second.Again {
		t.Fatalf("%+v, %v", second, err)
	}
	want := first.Totals.Fresh.Cost.Epsilon + first.Totals.Again.Cost.Epsilon
	if got := spentOf(t, job.Charge); got < want || got > want+1e-9 {
		t.Errorf("%v is spent, want %v", got, want)
	}
}
