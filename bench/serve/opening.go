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

// opening prints how long each program takes to open a ledger of n answers to queries of fresh
// teachers, which `budget show` does: it reads every entry, and its hashes.
func (b *bench) opening(postgres string, n int) error {
	ctx := context.Background()
	fmt.Print("| store | entries | program | least, s | median, s | of the processor, s |\n",
		"|---|---:|---|---:|---:|---:|\n")
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
		took, used := make([][]float64, len(b.programs)), make([][]float64, len(b.programs))
		for range 7 {
			for i, program := range b.programs {
				c := exec.CommandContext(ctx, program, "budget", "show", location.at)
				at := time.Now()
				if out, err := c.CombinedOutput(); err != nil {
					return fmt.Errorf("%s budget show: %w: %s", program, err, out)
				}
				took[i] = append(took[i], time.Since(at).Seconds())
				s := c.ProcessState
				used[i] = append(used[i], (s.UserTime() + s.SystemTime()).Seconds())
			}
		}
		for i := range b.programs {
			slices.Sort(took[i])
			fmt.Printf("| %s | %d | %s | %.2f | %.2f | %.2f |\n", location.store, n,
				[]string{"the first", "the second"}[i], took[i][0], took[i][len(took[i])/2],
				slices.Min(used[i]))
		}
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
