package darrmbeam

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/pgtest"
	"github.com/darrm/darrm/ledger"
	_ "github.com/darrm/darrm/ledger/postgres"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// aggregate releases a job's labels as darrm aggregate does.
func aggregate(ctx context.Context, job Job) error {
	table, err := certify(ctx, job.Table)
	if err != nil {
		return err
	}
	plan, err := table.Plan(job.Stated.Neighbours)
	if err != nil {
		return err
	}
	_, err = release.Labels{
		Votes: job.Votes, Read: votes.Options{K: 11}, Charge: job.Charge,
		Output: release.FileOutput{Path: job.Out},
		Plan:   plan,
	}.Run(ctx)
	return err
}

// postgresLedger makes a ledger in a database of its own.
func postgresLedger(t *testing.T, s *pgtest.Server, name string, eps float64) string {
	t.Helper()
	location := s.URL("ledger=" + name + "&secret=" + filepath.Join(t.TempDir(), "secret"))
	b := must.Get(ledger.NewBudget(eps, 0.999))(t)
	if _, err := ledger.Create(t.Context(), location, b, ledger.ReplaceOne); err != nil {
		t.Fatal(err)
	}
	return location
}

// race runs jobs at once, every other one by the core, and returns how they ended.
func race(ctx context.Context, jobs []Job) []error {
	ends := make([]error, len(jobs))
	var g errgroup.Group
	for i, job := range jobs {
		g.Go(func() error {
			if i%2 == 0 {
				ends[i] = aggregate(ctx, job)
			} else {
				_, ends[i] = Run(ctx, job)
			}
			return nil
		})
	}
	_ = g.Wait()
	return ends
}

// Of jobs and releases of the core that race for one name on one PostgreSQL, one is charged and
// releases; the others release nothing.
func TestPostgresOneName(t *testing.T) {
	s := pgtest.Start(t)
	rows := queries(200)
	for round := range 3 {
		location := postgresLedger(t, s, fmt.Sprint("one", round), 1e4)
		jobs := make([]Job, 6)
		for i := range jobs {
			jobs[i] = newJob(t, rows, true)
			jobs[i].Charge = Charge{Ledger: location, RequestID: "march", Teachers: "fresh",
				AcceptWeak: true}
			jobs[i].Stated.Neighbours = accountant.ReplaceOne
		}
		out := 0
		for i, err := range race(t.Context(), jobs) {
			b, absent := os.ReadFile(jobs[i].Out)
			switch {
			case err == nil:
				out++
				history := must.Get(openLedger(t, location).History(t.Context()))(t)
				if len(history) != 2 || history[1].Result != ledger.Digest(sha256.Sum256(b)) {
					t.Errorf("entries %q are not of what was released", entries(t, location))
				}
			case !errors.Is(err, ledger.ErrReplayed) || !errors.Is(absent, os.ErrNotExist):
				t.Errorf("job %d: %v, and %d bytes are there", i, err, len(b))
			}
			checkClean(t, jobs[i])
		}
		if out != 1 {
			t.Errorf("%d releases of one name, entries %q", out, entries(t, location))
		}
	}
}

// Of jobs and releases of the core that race for a budget, as many release as it allows.
func TestPostgresOneBudget(t *testing.T) {
	s := pgtest.Start(t)
	jobs := make([]Job, 6)
	var dearest float64
	for i := range jobs {
		jobs[i] = newJob(t, queries(100+i), true) // votes of their own
		jobs[i].Charge = Charge{RequestID: fmt.Sprint("month ", i), Teachers: "fresh", AcceptWeak: true}
		jobs[i].Stated.Neighbours = accountant.ReplaceOne
		unpaid := jobs[i]
		unpaid.Charge = Charge{Teachers: "fresh", AcceptWeak: true}
		dearest = max(dearest, must.Get(Quote(t.Context(), unpaid))(t).Totals.Fresh.Cost.Epsilon)
	}
	location := postgresLedger(t, s, "budget", 2.01*dearest) // 2 of 105 answers, not 3 of 100
	for i := range jobs {
		jobs[i].Charge.Ledger = location
	}
	out := 0
	for i, err := range race(t.Context(), jobs) {
		_, absent := os.Stat(jobs[i].Out)
		switch {
		case err == nil:
			out++
		case !errors.Is(err, ledger.ErrExceeded) || !errors.Is(absent, os.ErrNotExist):
			t.Errorf("job %d: %v, %v", i, err, absent)
		}
	}
	if spent := spentOf(t, Charge{Ledger: location}); out != 2 || spent > 2.01*dearest {
		t.Errorf("%d releases of 2, %v spent of %v", out, spent, 2.01*dearest)
	}
}
