package darrmbeam

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// The pipeline has the rules of package release about files: its output is no ledger, nothing
// that belongs to one, and no file of votes, and without a ledger it replaces nothing. No
// pipeline runs before that is known.
func TestOutputReplacesNothing(t *testing.T) {
	other := newCharge(t, 1, "frozen").Ledger
	for _, tt := range []struct {
		name string
		out  func(Job) string
		want string // in the error
	}{
		{"its ledger", func(j Job) string { return j.Charge.Ledger }, "--ledger"},
		{"its anchor", func(j Job) string { return j.Charge.Ledger + ledger.AnchorSuffix }, "--ledger"},
		{"its secret", func(j Job) string { return j.Charge.Ledger + ledger.SecretSuffix }, "--ledger"},
		{"another ledger", func(Job) string { return other }, "is a ledger"},
		{"another's anchor", func(Job) string { return other + ledger.AnchorSuffix }, "is a ledger"},
		{"the votes", func(j Job) string { return j.Votes[1] }, "a file of votes"},
		{"a directory", func(j Job) string { return j.Temp }, "is a directory"},
	} {
		job := newJob(t, queries(20), true)
		job.Charge = newCharge(t, 1e4, "frozen")
		job.Out = tt.out(job)
		var s spy
		s.wrap(t, &job)
		before, _ := os.ReadFile(job.Out)
		if _, err := Run(context.Background(), job); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		if s.ran != 0 {
			t.Errorf("%s: %d pipelines ran", tt.name, s.ran)
		}
		if after, _ := os.ReadFile(job.Out); string(after) != string(before) {
			t.Errorf("%s: the file has changed", tt.name)
		}
		checkSpent(t, job.Charge, 0)
	}

	job := newJob(t, queries(20), true)
	if err := os.WriteFile(job.Out, []byte("released before"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(context.Background(), job); !errors.Is(err, os.ErrExist) {
		t.Errorf("labels that are there: %v", err)
	}
	job.Force = true
	if _, err := Run(context.Background(), job); err != nil {
		t.Errorf("forced: %v", err)
	}
	if b, err := os.ReadFile(filepath.Clean(job.Out)); err != nil || !strings.HasPrefix(string(b), "query,label") {
		t.Errorf("forced: %q, %v", b, err)
	}
}

// A table is compared with what is stated of the teachers; what was left out means the worst.
func TestTableMustMatchWhatIsStated(t *testing.T) {
	eps, delta, reach, all := 0.13577, 1e-4, 1, release.AllTeachers
	for _, tt := range []struct {
		name   string
		stated release.Stated
		want   string // in the error; "" for none
	}{
		{"nothing", release.Stated{}, ""},
		{"the table's", release.Stated{Epsilon: &eps, TeacherDelta: &delta}, ""},
		{"all reached", release.Stated{Epsilon: &eps, TeacherDelta: &delta, Affected: &all}, ""},
		{"one reached", release.Stated{Epsilon: &eps, TeacherDelta: &delta, Affected: &reach}, "affected = 1"},
		{"another ε", release.Stated{Epsilon: &delta, TeacherDelta: &delta}, "eps = 0.0001"},
		{"the reach alone", release.Stated{Affected: &all}, "--eps was not given"},
	} {
		job := newJob(t, queries(20), true)
		job.Stated = tt.stated
		_, err := Run(context.Background(), job)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// A ledger of another neighbouring relation refuses the job, and the same votes of fresh
// teachers are not answered again as if cast anew.
func TestLedgerRulesHoldHere(t *testing.T) {
	job := newJob(t, queries(20), true)
	job.Charge = newCharge(t, 1e4, "fresh")
	if _, err := Run(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	again := job
	again.Charge.RequestID, again.Out = "april", job.Out+"-april"
	spent := spentOf(t, job.Charge)
	if _, err := Run(context.Background(), again); !errors.Is(err, ledger.ErrSameVotes) {
		t.Errorf("the same votes: %v", err)
	}
	if now := spentOf(t, job.Charge); now != spent {
		t.Errorf("refused, and %v became %v", spent, now)
	}
	again.Charge.Draw = job.Charge.RequestID
	if _, err := Run(context.Background(), again); err != nil {
		t.Errorf("the same draw: %v", err)
	}
	twice := spentOf(t, job.Charge)
	if twice <= spent {
		t.Errorf("the votes themselves cost nothing: %v", twice)
	}
	again.Charge.RequestID, again.Out = "may", job.Out+"-may"
	if _, err := Run(context.Background(), again); err != nil {
		t.Errorf("the same draw a third time: %v", err)
	}
	if now := spentOf(t, job.Charge); now != twice {
		t.Errorf("a third answer costs %v", now-twice)
	}
}
