package darrmbeam

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/ledger"
)

// newCharge makes a ledger with the given ε, and δ = 0.999.
func newCharge(t testing.TB, eps float64, teachers string) Charge {
	return chargeIn(t, t.TempDir(), eps, teachers)
}

func chargeIn(t testing.TB, dir string, eps float64, teachers string) Charge {
	t.Helper()
	b, err := ledger.NewBudget(eps, 0.999)
	if err != nil {
		t.Fatal(err)
	}
	c := Charge{Ledger: filepath.Join(dir, "ledger"), RequestID: "march", Teachers: teachers}
	if teachers == "frozen" {
		c.Ensemble = "first"
	}
	if _, err := ledger.Create(context.Background(), c.Ledger, b); err != nil {
		t.Fatal(err)
	}
	return c
}

func spentOf(t testing.TB, c Charge) float64 {
	t.Helper()
	l, err := ledger.Open(context.Background(), c.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	spent, err := l.Spent(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	eps, _ := spent.Ceil()
	return eps
}

func checkSpent(t testing.TB, c Charge, want float64) {
	t.Helper()
	if got := spentOf(t, c); got != want {
		t.Errorf("the ledger has spent ε = %v, want %v", got, want)
	}
}

func isReplay(err error) bool { return errors.Is(err, ledger.ErrReplayed) }

// entries are a ledger's, without what differs from run to run.
func entries(t testing.TB, path string) (out []string) {
	t.Helper()
	l, err := ledger.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	history, err := l.History(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range history {
		out = append(out, fmt.Sprintf("%s %s %d×%v paid by %q: %s", e.Kind, e.ID, e.Count, e.Unit, e.PaidBy, e.Event))
	}
	return out
}

// darrm builds the command line of the core.
func darrm(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "darrm")
	cmd := exec.Command("go", "build", "-tags", "nohighs", "-o", bin, "./cmd/darrm")
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return bin
}

// The same votes cost the same, and leave the same entries in a ledger, whether darrm
// aggregate answers them or a pipeline does.
func TestSameAccountingAsTheCore(t *testing.T) {
	bin := darrm(t)
	rows := queries(500)
	source := newJob(t, rows, true)
	dir := filepath.Dir(source.Out)
	votes := writeVotes(t, filepath.Join(dir, "all.csv"), rows, true)
	lone := filepath.Join(dir, "lone.json") // teachers that promise nothing
	if out, err := exec.Command(bin, "solve", "--K", "11", "--eps", "inf", "--affected", "1", "--total-eps", "0.5", "--no-cache", "--out", lone).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, tt := range []struct {
		name, table string
		charge      Charge
	}{
		{"fresh", "testdata/table.json", Charge{Teachers: "fresh"}},
		{"fresh with slack", "testdata/table.json", Charge{Teachers: "fresh", Slack: 1e-3}},
		{"frozen", "testdata/table.json", Charge{Teachers: "frozen", Ensemble: "first"}},
		{"without promise", lone, Charge{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := tt.charge
			made := newCharge(t, 1e4, "fresh")
			c.Ledger, c.RequestID = made.Ledger, made.RequestID
			core := newCharge(t, 1e4, "fresh").Ledger
			args := []string{"aggregate", votes, "--table", tt.table, "--ledger", core, "--request-id", c.RequestID, "--out", filepath.Join(dir, "core.csv"), "--quiet"}
			for flag, v := range map[string]string{"--teachers": c.Teachers, "--ensemble": c.Ensemble} {
				if v != "" {
					args = append(args, flag, v)
				}
			}
			if c.Slack != 0 {
				args = append(args, "--slack", fmt.Sprint(c.Slack))
			}
			if out, err := exec.Command(bin, args...).CombinedOutput(); err != nil {
				t.Fatalf("darrm %s: %v: %s", strings.Join(args, " "), err, out)
			}
			job := source
			job.Charge, job.Out = c, filepath.Join(t.TempDir(), "labels.csv")
			b, err := os.ReadFile(tt.table)
			if err != nil {
				t.Fatal(err)
			}
			job.Table = b
			if _, err := Run(context.Background(), job); err != nil {
				t.Fatal(err)
			}
			want, got := entries(t, core), entries(t, c.Ledger)
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("the pipeline's ledger:\n%s\nthe core's:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			checkClean(t, job)
		})
	}
}

// One entry for the job, whatever the number of attempts; the entry is there before
// anything is answered.
func TestOneChargePerJobBeforeAnyAnswer(t *testing.T) {
	rows := queries(500)
	job := newJob(t, rows, true)
	job.Charge = newCharge(t, 1e4, "fresh")
	job.ShardRows = 100
	before := -1
	failed := false
	setFault(t, func(shard int64, behind bool) error {
		if before < 0 {
			before = len(entries(t, job.Charge.Ledger))
		}
		if behind && !failed {
			failed = true
			return errors.New("fails once")
		}
		return nil
	})
	r, err := Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	if before != 1 {
		t.Errorf("%d entries when the first answer was drawn, want 1", before)
	}
	got := entries(t, job.Charge.Ledger)
	if r.Attempts != 2 || len(got) != 2 || !strings.HasPrefix(got[0], "charge march 1×") || !strings.HasPrefix(got[1], "result march") {
		t.Errorf("%d attempts, entries %q", r.Attempts, got)
	}
	var event releaseEvent
	l, err := ledger.Open(context.Background(), job.Charge.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	h, err := l.History(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(h[0].Event, &event); err != nil || event.Queries != 500 {
		t.Errorf("event %s, %v", h[0].Event, err)
	}
	if h[1].Result != ledger.Digest(r.Digest) {
		t.Error("the result is not the output's digest")
	}
	checkLabels(t, job.Out, rows, true, nil)

	// The same request again answers nothing: its labels are there.
	old, err := os.ReadFile(job.Out)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Run(context.Background(), job)
	if err != nil || !again.Before {
		t.Errorf("again: %+v, %v", again, err)
	}
	if b, err := os.ReadFile(job.Out); err != nil || string(b) != string(old) {
		t.Error("the output changed")
	}
	// Where they are not, it is refused; and with other votes it is another request.
	other := job
	other.Out = filepath.Join(t.TempDir(), "labels.csv")
	if _, err := Run(context.Background(), other); !isReplay(err) {
		t.Errorf("replay: %v", err)
	}
	checkNoOutput(t, other)
	other.Votes = job.Votes[:1]
	if _, err := Run(context.Background(), other); !errors.Is(err, ledger.ErrConflict) {
		t.Errorf("conflict: %v", err)
	}
	checkNoOutput(t, other)
	if got := entries(t, job.Charge.Ledger); len(got) != 2 {
		t.Errorf("entries %q", got)
	}
}

// A release beyond the budget is refused before anything is drawn.
func TestBudgetIsRefusedBeforeTheAnswers(t *testing.T) {
	job := newJob(t, queries(500), true)
	job.Charge = newCharge(t, 200, "fresh") // 500 answers cost 203.655
	setFault(t, func(int64, bool) error { t.Error("a shard was answered"); return nil })
	var s spy
	s.wrap(t, &job)
	if _, err := Run(context.Background(), job); !errors.Is(err, ledger.ErrExceeded) {
		t.Errorf("error %v", err)
	}
	if s.ran != 1 {
		t.Errorf("%d pipelines ran, want the first only", s.ran)
	}
	checkSpent(t, job.Charge, 0)
	checkNoOutput(t, job)
}

// When all attempts fail the budget is spent, the error says so, and there is no output.
func TestChargedAndFailed(t *testing.T) {
	job := newJob(t, queries(500), true)
	job.Charge = newCharge(t, 1e4, "fresh")
	job.Attempts = 2
	setFault(t, func(int64, bool) error { return errors.New("always fails") })
	_, err := Run(context.Background(), job)
	if err == nil || !strings.Contains(err.Error(), "nothing was released, but request \"march\" is charged") || !strings.Contains(err.Error(), "attempt 2") {
		t.Errorf("error %v", err)
	}
	if spentOf(t, job.Charge) == 0 {
		t.Error("nothing was charged")
	}
	checkNoOutput(t, job)
}

func TestChargeCheck(t *testing.T) {
	for _, tt := range []struct {
		charge  Charge
		promise bool
		want    string // "": accepted
	}{
		{Charge{}, true, ""},
		{Charge{Teachers: "fresh", Slack: 0.1}, true, ""},
		{Charge{Teachers: "thawed"}, true, "teachers"},
		{Charge{Teachers: "fresh"}, false, "teachers"},
		{Charge{Teachers: "frozen", Slack: 0.1}, true, "slack"},
		{Charge{RequestID: "a"}, true, "go with a ledger"},
		{Charge{Ensemble: "a"}, true, "go with a ledger"},
		{Charge{Ledger: "l"}, true, "request id"},
		{Charge{Ledger: "l", RequestID: "a"}, true, "fresh"},
		{Charge{Ledger: "l", RequestID: "a"}, false, ""},
		{Charge{Ledger: "l", RequestID: "teachers:a", Teachers: "fresh"}, true, "teachers:"},
		{Charge{Ledger: "l", RequestID: "a", Teachers: "frozen"}, true, "ensemble"},
		{Charge{Ledger: "l", RequestID: "a", Teachers: "fresh", Ensemble: "e"}, true, "frozen"},
		{Charge{Ledger: "l", RequestID: "a", Teachers: "frozen", Ensemble: "e"}, true, ""},
	} {
		err := tt.charge.check(tt.promise)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v, promise %t: %v, want %q", tt.charge, tt.promise, err, tt.want)
		}
	}
}
