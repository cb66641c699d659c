package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
)

// inMemory serves from a ledger in memory, whose commits tests watch.
func inMemory(t *testing.T, w way, budget float64) (*stepped, *Online) {
	t.Helper()
	s, l, _ := newStepped(t, budget)
	w.charge.AcceptWeak = true
	return s, openOnline(t, OnlineOptions{Plan: w.plan, Stated: saidOf(w.plan), Charge: w.charge, Book: l,
		Key: filepath.Join(t.TempDir(), "key")})
}

// An answer is one commit of the ledger, with what pays for it, where that is not charged yet, its
// charge and its result. One that is given again writes nothing.
func TestOnlineIsOneCommit(t *testing.T) {
	for name, w := range ways(t) {
		t.Run(name, func(t *testing.T) {
			s, o := inMemory(t, w, 100)
			commits := 0
			s.commits = func() error { commits++; return nil }
			for i := range 3 {
				for again := range 2 {
					a := mustAnswer(t, o, Query{ID: fmt.Sprint(i), ReplayKey: myKey, Votes: w.votes})
					if commits != i+1 || a.Replayed != (again > 0) {
						t.Errorf("answer %d: %d commits, %+v", i, commits, a)
					}
					if now := must.Get(o.book.State(t.Context()))(t); a.After != now {
						t.Errorf("after: %+v, want %+v", a.After, now)
					}
				}
			}
			entries := must.Get(o.book.History(t.Context()))(t)
			results := 0
			for i, e := range entries {
				if e.Kind != ledger.KindResult {
					continue
				}
				results++
				if charge := entries[i-1]; charge.ID != e.ID || charge.Commit != e.Commit ||
					e.Commit != uint64(results) {
					t.Errorf("the result of %s is of commit %d, after %s of commit %d", e.ID, e.Commit, charge.ID,
						charge.Commit)
				}
			}
			if payer := o.covered.Load() && entries[0].ID != "0"; results != 3 ||
				payer && entries[0].Commit != 1 {
				t.Errorf("%d results; %+v", results, entries[0])
			}
		})
	}
}

// When its commit begins an answer is drawn and has not left. It leaves after the commit, and where
// that fails it does not, whether anything was stored or not. The same query then has the same
// answer, charged once. The error is the same whatever was drawn.
func TestOnlineLeavesAfterItsCommit(t *testing.T) {
	w := ways(t)["none"]
	s, o := inMemory(t, w, 100)
	refused, open := errors.New("refused"), errors.New("open")
	said := map[string]string{}
	for i := range 12 {
		q := Query{ID: fmt.Sprintf("%02d", i), ReplayKey: myKey, Votes: w.votes}
		var want *Answered
		for _, fails := range []string{"unavailable", "refused", "open", ""} {
			o.mu.Lock()
			o.broken, o.tried = nil, time.Time{}
			if fails != "unavailable" {
				o.book = must.Get(o.book.Reopen(t.Context()))(t)
			}
			o.mu.Unlock()
			tr, a, err := o.transaction(o.book, q)
			if err != nil {
				t.Fatal(err)
			}
			draw, draws, shown := tr.Draw, 0, 0
			tr.Draw = func(ctx context.Context, paid *ledger.Receipt) (func(io.Writer) error, error) {
				if draws++; (paid != nil) != (fails == "") { // at last it is of the charge of before
					t.Errorf("%q: drawn for the receipt %v", fails, paid)
				}
				return draw(ctx, paid)
			}
			tr.Output = watched{tr.Output, func() { shown++ }}
			s.outcome = nil
			s.commits = func() error {
				if draws != 1 || shown != 0 {
					t.Errorf("%q: %d draws, shown %d times at the commit", fails, draws, shown)
				}
				switch fails {
				case "unavailable":
					return fmt.Errorf("%w: gone", ledger.ErrUnavailable)
				case "refused":
					return refused
				}
				return nil
			}
			if fails == "open" {
				s.outcome = open // and stored
			}
			out, err := tr.Run(t.Context())
			if (err == nil) != (fails == "") || out.Done() != (err == nil) || (shown == 1) != (err == nil) {
				t.Fatalf("%q: %+v, %v, shown %d times", fails, out, err, shown)
			}
			if err == nil {
				if tr.paid.Charge.Seq == 0 { // "open" was stored
					t.Error("charged twice")
				}
			} else if before, ok := said[fails]; ok && before != err.Error() {
				t.Errorf("%q, and before %q", err, before)
			} else {
				said[fails] = err.Error()
			}
			if want == nil {
				want = a
			} else if a.Class != want.Class {
				t.Errorf("%q: drawn %d, before %d", fails, a.Class, want.Class)
			}
		}
	}
	checkSpent(t, o.book, w.cost(12))
}

// What the ledger refuses is not drawn: how long a refusal takes tells nothing of the votes.
func TestOnlineRefusalsDrawNothing(t *testing.T) {
	for name, w := range ways(t) {
		budget := w.cost(2)
		if name == "together" {
			w.plan = together(t, 2)
		}
		o, _ := newOnline(t, w.plan, w.charge, budget)
		mustAnswer(t, o, Query{ID: "a", ReplayKey: myKey, Votes: w.votes})
		mustAnswer(t, o, Query{ID: "b", ReplayKey: myKey, Votes: w.votes})
		queries := []Query{{ID: "a", ReplayKey: myKey, Votes: w.more}, {ID: "a", ReplayKey: otherKey,
			Votes: w.votes}, {ID: "a", Votes: w.votes}, {ID: "b", ReplayKey: myKey, Votes: w.votes, Client: "x"}}
		if name != "frozen" { // whose answers cost nothing more
			queries = append(queries, Query{ID: "c", Votes: w.votes})
		}
		for _, q := range queries {
			tr, _, err := o.transaction(o.book, q)
			if err != nil {
				t.Fatal(err)
			}
			var draws atomic.Int32
			draw := tr.Draw
			tr.Draw = func(ctx context.Context, paid *ledger.Receipt) (func(io.Writer) error, error) {
				draws.Add(1)
				return draw(ctx, paid)
			}
			if out, err := tr.Run(t.Context()); out.Done() || !errors.Is(err, ledger.ErrRefused) ||
				draws.Load() != 0 {
				t.Errorf("%s, %s: %+v, %v, %d draws", name, q.ID, out, err, draws.Load())
			}
		}
	}
}

// The time in the ledger has no draw in it, neither of an answer nor of one that is given again.
func TestOnlineTimeHasNoDraw(t *testing.T) {
	w := ways(t)["none"]
	_, o := inMemory(t, w, 100)
	for again := range 2 {
		tr, a, err := o.transaction(o.book, Query{ID: "a", ReplayKey: myKey, Votes: w.votes})
		if err != nil {
			t.Fatal(err)
		}
		draw := tr.Draw
		var during time.Duration
		tr.Draw = func(ctx context.Context, paid *ledger.Receipt) (func(io.Writer) error, error) {
			start := o.book.Clock()
			defer func() { during = o.book.Clock() - start }()
			return draw(ctx, paid)
		}
		if _, err := tr.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		// With its charge the clock stood still; given again the draw took its time off.
		if (during == 0) != (again == 0) || (a.InLedger < 0) != (again == 1) || -a.InLedger > during {
			t.Errorf("again %d: %v of %v", again, a.InLedger, during)
		}
	}
}
