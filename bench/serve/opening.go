package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/darrm/darrm/ledger"
)

// opening prints how long the program takes to open a ledger of n answers to queries of fresh
// teachers, which `budget show` does: it reads every entry, and its hashes.
func (b *bench) opening(postgres string, n int) error {
	ctx := context.Background()
	fmt.Print("| store | entries | least, s | median, s | of the processor, s |\n",
		"|---|---:|---:|---:|---:|\n")
	locations := []struct{ store, at string }{{"file", filepath.Join(b.folder, "filled.ledger")}}
	if postgres != "" {
		db, err := startPostgres(postgres)
		if err != nil {
			return err
		}
		defer db.stop()
		locations = append(locations, struct{ store, at string }{"PostgreSQL",
			db.location + "ledger=filled&secret=" + filepath.Join(b.folder, "filled.secret")})
	}
	for _, location := range locations {
		if err := fill(ctx, location.at, n); err != nil {
			return err
		}
		var took, used []float64
		for range 7 {
			c := exec.CommandContext(ctx, b.program, "budget", "show", location.at)
			at := time.Now()
			if out, err := c.CombinedOutput(); err != nil {
				return fmt.Errorf("%s budget show: %w: %s", b.program, err, out)
			}
			took = append(took, time.Since(at).Seconds())
			s := c.ProcessState
			used = append(used, (s.UserTime() + s.SystemTime()).Seconds())
		}
		slices.Sort(took)
		fmt.Printf("| %s | %d | %.2f | %.2f | %.2f |\n", location.store, n, took[0], took[len(took)/2], slices.Min(used))
	}
	return nil
}

// fill makes a ledger of n answered queries, each a charge with a draw, a thousand to a write.
func fill(ctx context.Context, location string, n int) error {
	budget, err := ledger.NewBudget(1e6, 0)
	if err != nil {
		return err
	}
	l, err := ledger.Create(ctx, location, budget, ledger.ReplaceOne)
	if err != nil {
		return err
	}
	unit, err := ledger.NewCost(1e-6, 0)
	if err != nil {
		return err
	}
	for first := 0; first < n; first += 1000 {
		requests := make([]ledger.Request, min(1000, n-first))
		for i := range requests {
			name := "query-" + strconv.Itoa(first+i)
			requests[i] = ledger.Request{ID: name, Count: 1, Unit: unit, Ensemble: "bench",
				Draw:     &ledger.Draw{Name: name, Votes: sha256.Sum256([]byte(name)), Query: true},
				Relation: ledger.ReplaceOne, Event: []byte(`{"mechanism":"darrm","epsilon":0.1}`)}
		}
		if _, err := l.ChargeAll(ctx, requests); err != nil {
			return err
		}
	}
	return nil
}
