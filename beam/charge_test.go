package darrmbeam

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
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
	c := Charge{Ledger: filepath.Join(dir, "ledger"), RequestID: "march",
		AcceptWeak: true, Teachers: ensemble.TeacherRandomness(teachers)}
	if teachers == "frozen" {
		c.Ensemble = "first"
	}
	if _, err := ledger.Create(context.Background(), c.Ledger, b, ledger.ReplaceOne); err != nil {
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
		out = append(out, fmt.Sprintf("%s %s %d×%v paid by %q: %s", e.Kind, e.ID, e.Count, e.Unit,
			e.PaidBy, e.Event))
	}
	return out
}

func openLedger(t *testing.T, path string) *ledger.Ledger {
	t.Helper()
	return must.Get(ledger.Open(t.Context(), path))(t)
}

// votesOf has the votes as the core reads them.
func votesOf(t *testing.T, book string, paths []string) *ledger.VoteHash {
	t.Helper()
	hash, err := openLedger(t, book).VoteHash()
	if err != nil {
		t.Fatal(err)
	}
	r, err := votes.Open(t.Context(), votes.Options{KeepVotes: true, K: 11}, paths...)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for b, err := range r.Batches() {
		if err != nil {
			t.Fatal(err)
		}
		release.HashVotes(hash, b)
	}
	return hash
}

// The entries of a job are those that the core's plan has for the same answers, whoever pays:
// so one ledger serves darrm aggregate and this. That the bytes are the right ones is shown by
// package release.
func TestEntriesAreTheCores(t *testing.T) {
	rows := queries(500)
	for _, tt := range []struct {
		name, table string
		charge      Charge
	}{
		{"fresh", "table.json", Charge{Teachers: "fresh", AcceptWeak: true}},
		{"fresh with slack", "table.json", Charge{Teachers: "fresh", Slack: new(1e-3), AcceptWeak: true}},
		{"frozen", "table.json", Charge{Teachers: "frozen", Ensemble: "first"}},
		{"without promise", "lone.json", Charge{AcceptWeak: true}}, // K = 11, affected = 1, release (0.5, 1e-6)
	} {
		t.Run(tt.name, func(t *testing.T) {
			job := newJob(t, rows, true)
			b, err := os.ReadFile(filepath.Join("testdata", tt.table))
			if err != nil {
				t.Fatal(err)
			}
			job.Table = b
			made := newCharge(t, 1e4, "fresh")
			job.Charge = tt.charge
			job.Charge.Ledger, job.Charge.RequestID = made.Ledger, made.RequestID
			r, err := Run(context.Background(), job)
			if err != nil {
				t.Fatal(err)
			}
			checkClean(t, job)

			table := must.Get(release.ReadTable(t.Context(), bytes.NewReader(b)))(t)
			priced := must.Get(table.Plan(accountant.ReplaceOne))(t).WithQueries(len(rows))
			terms := job.Charge
			totals, err := priced.Totals(tt.charge.Slack)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(r.Totals, totals) {
				t.Errorf("totals %+v, want %+v", r.Totals, totals)
			}
			if terms.NeedsVotes() {
				terms.Votes = votesOf(t, job.Charge.Ledger, job.Votes)
				again := terms
				again.RequestID = "again"
				bill, err := priced.Bill(again)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := bill.Check(t.Context(), openLedger(t, job.Charge.Ledger)); !errors.Is(err,
					ledger.ErrSameVotes) {
					t.Errorf("the core does not know the votes again: %v", err)
				}
			}
			bill, err := priced.Bill(terms)
			if err != nil {
				t.Fatal(err)
			}
			core := newCharge(t, 1e4, "fresh").Ledger
			l := openLedger(t, core)
			receipt, err := bill.Pay(t.Context(), l, false)
			if err == nil {
				_, err = l.RecordResult(t.Context(), receipt, r.Digest)
			}
			if err != nil {
				t.Fatal(err)
			}
			want, got := entries(t, core), entries(t, job.Charge.Ledger)
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("the pipeline's ledger:\n%s\nthe core's:\n%s", strings.Join(got, "\n"),
					strings.Join(want, "\n"))
			}
		})
	}
}

// Jobs of one table and number of labels take them of one charge, until too few are left.
func TestQueriesOfOneCharge(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "lone.json")) // teachers that promise nothing
	if err != nil {
		t.Fatal(err)
	}
	charge := newCharge(t, 1e4, "fresh")
	charge.Teachers, charge.AcceptWeak = "", true
	month := func(name string, n int) error {
		job := newJob(t, queries(n), true)
		job.Table, job.Charge, job.Queries = b, charge, 25
		job.Charge.RequestID = name
		_, err := Run(t.Context(), job)
		return err
	}
	state := func() (taken uint64, spent ledger.Cost) {
		l := openLedger(t, charge.Ledger)
		all := must.Get(l.Quotas(t.Context()))(t)
		if len(all) != 1 {
			t.Fatalf("%d charges", len(all))
		}
		return all[0].Taken, must.Get(l.Spent(t.Context()))(t)
	}
	if err := month("march", 10); err != nil {
		t.Fatal(err)
	}
	_, march := state()
	if err := month("april", 10); err != nil {
		t.Fatal(err)
	}
	if taken, spent := state(); taken != 20 || spent != march {
		t.Errorf("%d labels are taken, and %v is spent after %v", taken, spent, march)
	}
	if err := month("may", 10); !errors.Is(err, ledger.ErrAnswers) {
		t.Errorf("10 labels of 5 that are left: %v", err)
	}
}

// The digest is in the ledger before the labels can be seen, here or on another file
// system; if it cannot be, they never are, and what was there stays.
func TestNotedBeforeTheOutput(t *testing.T) {
	for _, remote := range []bool{false, true} {
		for _, fails := range []bool{false, true} {
			job := newJob(t, queries(500), true)
			job.Charge = newCharge(t, 1e4, "fresh")
			if remote {
				job.Out = fmt.Sprintf("memfs://%s-%t/labels.csv", t.Name(), fails)
			}
			noted := ledger.Digest{}
			setFault(t, func(shard int64, _ bool) error {
				if shard != outputShard {
					if fails { // another file in its place: the charge cannot be shown any more
						os.Remove(job.Charge.Ledger)
					}
					return nil
				}
				l, err := ledger.Open(context.Background(), job.Charge.Ledger)
				if err != nil {
					return err
				}
				h, err := l.History(context.Background())
				if err != nil {
					return err
				}
				noted = h[len(h)-1].Result
				if b, err := get(context.Background(), job.Out); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("remote %t: the output is there too early: %d bytes, %v", remote, len(b), err)
				}
				return nil
			})
			r, err := Run(context.Background(), job)
			b, absent := get(context.Background(), job.Out)
			if fails {
				if err == nil || r != nil || !strings.Contains(err.Error(),
					"nothing was released, but request \"march\" is charged") ||
					!errors.Is(absent, os.ErrNotExist) {
					t.Errorf("remote %t: %v, and %d bytes, %v", remote, err, len(b), absent)
				}
			} else if err != nil || absent != nil || noted != ledger.Digest(sha256.Sum256(b)) ||
				noted != ledger.Digest(r.Digest) {
				t.Errorf("remote %t: noted %v, %v, %v", remote, noted, err, absent)
			}
			checkClean(t, job)
		}
	}
}

// One entry for the job, whatever the number of attempts; the entry is there before
// anything is answered.
func TestOneChargePerJobBeforeAnyAnswer(t *testing.T) {
	rows := queries(500)
	job := newJob(t, rows, true)
	job.Charge = newCharge(t, 1e4, "fresh")
	job.ShardRows = 100
	var mu sync.Mutex
	before := -1
	failed := false
	setFault(t, func(shard int64, behind bool) error {
		mu.Lock()
		defer mu.Unlock()
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
	mu.Lock() // an attempt that failed may not be over
	defer mu.Unlock()
	if before != 1 {
		t.Errorf("%d entries when the first answer was drawn, want 1", before)
	}
	got := entries(t, job.Charge.Ledger)
	if r.Attempts != 2 || len(got) != 2 || !strings.HasPrefix(got[0], "charge march 1×") ||
		!strings.HasPrefix(got[1], "result march") {
		t.Errorf("%d attempts, entries %q", r.Attempts, got)
	}
	var event release.Event
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
	job.Charge = newCharge(t, 80, "fresh") // 500 answers cost 81.827
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
	if err == nil || !strings.Contains(err.Error(),
		"nothing was released, but request \"march\" is charged") ||
		!strings.Contains(err.Error(), "attempt 2") {
		t.Errorf("error %v", err)
	}
	if spentOf(t, job.Charge) == 0 {
		t.Error("nothing was charged")
	}
	checkNoOutput(t, job)
}

// What is said of the teachers reaches the ledger: the relation of their promise, and the
// digest that their name is tied to.
func TestChargeIsPassedOn(t *testing.T) {
	job := newJob(t, queries(3), true)
	job.Charge = newCharge(t, 1e4, "frozen")
	job.Stated.Neighbours = accountant.AddOrRemoveOne
	if r, err := Run(t.Context(), job); r != nil || !errors.Is(err, ledger.ErrRelation) {
		t.Errorf("another relation: %+v, %v", r, err)
	}
	job.Stated.Neighbours = accountant.ReplaceOne
	job.Charge.EnsembleDigest = "v1"
	if _, err := Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	job.Charge.RequestID, job.Out = "april", filepath.Join(t.TempDir(), "labels.csv")
	for _, digest := range []string{"", "v2"} {
		job.Charge.EnsembleDigest = digest
		if r, err := Run(t.Context(), job); r != nil || !errors.Is(err, ledger.ErrEnsemble) {
			t.Errorf("digest %q: %+v, %v", digest, r, err)
		}
	}
}
