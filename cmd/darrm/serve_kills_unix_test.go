//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/darrm/darrm/internal/testing/lineartest"
	"github.com/darrm/darrm/internal/testing/lineartest/served"
	"github.com/darrm/darrm/internal/testing/pgtest"
	"github.com/darrm/darrm/internal/testing/servetest"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/serve"
)

// servers returns servers of one ledger with a budget of so many answers at ε = 1/8, as processes
// of this binary, with the clients of a configuration.
func servers(t *testing.T, location string, budget int, n int,
	clients string) (all []*servetest.Server, sockets []string) {
	t.Helper()
	granted, err := ledger.NewBudget(float64(budget)/8, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Create(t.Context(), location, granted, ledger.ReplaceOne); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Not t.TempDir: the name of a socket has little room.
	folder, err := os.MkdirTemp("", "serve")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	darrm := filepath.Join(folder, "darrm") // TestMain goes by the name
	if err := os.Symlink(self, darrm); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(folder, "serve.toml")
	if err := os.WriteFile(config, []byte(clients), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		socket := filepath.Join(folder, fmt.Sprintf("%d.sock", i))
		s := &servetest.Server{Program: darrm, Socket: socket,
			Env: []string{"GORACE=atexit_sleep_ms=0", "DARRM_CACHE=" + folder}, Args: []string{
				"serve", "--config", config, "--ledger", location, "--key",
				filepath.Join(folder, "service.key"),
				"--listen", "unix:" + socket,
				"--mechanism", "permute-and-flip", "--K", "11", "--label-eps", "0.125", "--affected", "1",
				"--accept-weak", // more answers than anybody should pay for
			}}
		start(t, s)
		t.Cleanup(s.Kill)
		all, sockets = append(all, s), append(sockets, socket)
	}
	return all, sockets
}

func start(t *testing.T, s *servetest.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
}

// some is short, or whole where the long runs are wanted.
func some(short, whole int) int {
	if os.Getenv("DARRM_LONG") == "1" {
		return whole
	}
	return short
}

func counts(i int) []int { return []int{i % 12, 11 - i%12} }

// checkSpent compares what the ledger spent with the answers: each is paid for, once, by the entry
// that its receipt names, and what more was spent is of queries that were asked.
func checkSpent(t *testing.T, location string, k *servetest.Killed) {
	t.Helper()
	for _, what := range k.Violated {
		t.Error(what)
	}
	l, err := ledger.Open(t.Context(), location) // verifies all of it
	if err != nil {
		t.Fatal(err)
	}
	entries, err := l.History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	unit, err := ledger.NewCost(0.125, 0)
	if err != nil {
		t.Fatal(err)
	}
	charged, noted := map[string]ledger.Entry{}, map[string]bool{}
	for _, e := range entries {
		switch {
		case e.Kind == ledger.KindResult:
			noted[e.ID] = true
		case e.Total() != unit:
			t.Errorf("%s cost %v", e.ID, e.Total())
		default:
			charged[e.ID] = e
		}
	}
	for id, a := range k.Answers {
		if e, ok := charged[id]; !ok || e.Seq != a.Receipt.Seq || e.Hash.String() != a.Receipt.Hash ||
			!noted[id] {
			t.Errorf("%s was answered, and the ledger has another entry than its receipt says, or none, "+
				"or no digest", id)
		}
	}
	if len(charged) > k.Asked {
		t.Errorf("%d queries were charged, %d asked", len(charged), k.Asked)
	}
	t.Logf("%d queries asked, %d charged, %d answered; %d answers given again, %d retries, in %.0f s",
		k.Asked, len(charged), len(k.Answers), k.Replays, k.Retries, k.Elapsed.Seconds())
}

// Clients ask again while their server is killed again and again: no answer leaves that is not
// paid for, no query has two answers or two charges, and none is lost.
func TestServeKilled(t *testing.T) {
	location := filepath.Join(t.TempDir(), "l.ledger")
	all, sockets := servers(t, location, 1_000_000, 1, "")
	k, err := servetest.Kills{
		Sockets: sockets, Clients: 4, Kills: some(12, 500), MaxPause: 60 * time.Millisecond,
		Least: 2, Counts: counts,
		Kill: func(ctx context.Context, _ int) error {
			all[0].Kill()
			return all[0].Start(ctx)
		},
	}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Again(t.Context(), sockets[0], counts); err != nil {
		t.Error(err)
	}
	if len(k.Answers) < 20 || k.Retries == 0 || k.Replays == 0 {
		t.Errorf("%d answers, %d retries, %d answers again: nothing was interrupted", len(k.Answers),
			k.Retries, k.Replays)
	}
	checkSpent(t, location, k)
}

// Two servers of one file are killed again and again: each history of what clients asked and were
// told has an order, in which one answer after the other was charged.
func TestServeLinearisable(t *testing.T) {
	lineartest.Judge(t, some(2, 50), 25, func(t *testing.T, _ int) lineartest.Store {
		all, sockets := servers(t, filepath.Join(t.TempDir(), "l.ledger"), lineartest.Room, 2, "")
		asked := make([]*served.Server, len(sockets))
		for i, socket := range sockets {
			client := servetest.NewClient(socket)
			t.Cleanup(client.Close)
			asked[i] = &served.Server{Client: client, Unit: 0.125, Votes: func(other bool) []int {
				if other {
					return counts(3)
				}
				return counts(6)
			}}
		}
		return lineartest.Store{
			Plain: true,
			Ask: func(ctx context.Context, client int, a lineartest.Ask) (lineartest.Told, error) {
				return asked[client%len(asked)].Ask(ctx, a)
			},
			Kill: func(ctx context.Context) error {
				s := all[rand.IntN(len(all))]
				s.Kill()
				return s.Start(ctx)
			},
		}
	})
}

// TestServeKilled with three servers of one PostgreSQL, of which at times one, at times the
// database is killed.
func TestPostgresServeKilled(t *testing.T) {
	db := pgtest.Start(t)
	location := db.URL("ledger=l&secret=" + filepath.Join(t.TempDir(), "secret"))
	all, sockets := servers(t, location, 1_000_000, 3, "")
	k, err := servetest.Kills{
		Sockets: sockets, Clients: 6, Kills: some(9, 500), MaxPause: 300 * time.Millisecond,
		Least: 2, Counts: counts,
		Kill: func(ctx context.Context, i int) error {
			if i%3 == 0 {
				db.Kill()
				db.Restart(t)
				return nil
			}
			s := all[rand.IntN(len(all))]
			s.Kill()
			return s.Start(ctx)
		},
	}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, socket := range sockets {
		if err := k.Again(t.Context(), socket, counts); err != nil {
			t.Error(err)
		}
	}
	checkSpent(t, location, k)
}

// Three servers of one PostgreSQL database, with a budget for n answers, give exactly n answers. A
// client that comes too late gets the remaining budget in its error.
func TestPostgresThreeServers(t *testing.T) {
	db := pgtest.Start(t)
	threeServers(t, db.URL("ledger=l&secret="+filepath.Join(t.TempDir(), "secret")), 100)
	threeServers(t, db.URL("ledger=shared&secret="+filepath.Join(t.TempDir(), "secret")), 130)
}

// The same of a file.
func TestThreeServersOneFile(t *testing.T) {
	threeServers(t, filepath.Join(t.TempDir(), "l.ledger"), 100)
	threeServers(t, filepath.Join(t.TempDir(), "shared.ledger"), 130)
}

// threeServers demands that three servers answer 100 of 180 queries: since the budget is for so
// many, or the client's share of it.
func threeServers(t *testing.T, location string, budget int) {
	const share, asked = 100, 180
	clients, token := "", ""
	if budget > share {
		var hash string
		token, hash = serve.NewToken()
		clients = fmt.Sprintf(
			"[[client]]\nname = \"ward\"\ntoken_sha256 = [%q]\nepsilon = %v\ndelta = 0\n", hash, share/8.)
	}
	_, sockets := servers(t, location, budget, 3, clients)
	type outcome struct {
		answered bool
		err      error
	}
	out := make(chan outcome)
	next := make(chan int)
	for n := range 12 {
		c := servetest.NewClient(sockets[n%len(sockets)])
		c.Token = token
		defer c.Close()
		go func() {
			for i := range next {
				_, _, err := c.Ask(t.Context(), fmt.Sprintf("query-%d", i), counts(i))
				var refused *servetest.Refusal
				if r, ok := err.(*servetest.Refusal); ok && r.Kind == "budget" && r.Status == 429 &&
					r.Remaining != nil {
					refused, err = r, nil
				}
				out <- outcome{err == nil && refused == nil, err}
			}
		}()
	}
	go func() {
		for i := range asked {
			next <- i
		}
		close(next)
	}()
	answered := 0
	for range asked {
		o := <-out
		if o.err != nil {
			t.Error(o.err)
		}
		if o.answered {
			answered++
		}
	}
	if answered != share {
		t.Errorf("%d answers were given, the share is for %d of %d", answered, share, budget)
	}
	var shown bytes.Buffer
	c := process(t, t.TempDir(), "budget", "show", "--json", location)
	c.Stdout, c.Stderr = &shown, os.Stderr
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	var state struct{ Remaining struct{ Epsilon json.Number } }
	if err := json.Unmarshal(shown.Bytes(), &state); err != nil ||
		state.Remaining.Epsilon.String() != fmt.Sprint(float64(budget-share)/8) {
		t.Errorf("%v remains of %d answers, %v", state.Remaining.Epsilon, budget, err)
	}
}
