// The README's program: two labels, which a ledger pays for.
//
//	go run ./examples/first
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/darrm/darrm"
	"github.com/darrm/darrm/ledger"
)

func main() {
	ctx := context.Background()
	m, err := darrm.Optimal(ctx, darrm.Teachers{K: 9, Affected: 1, Neighbours: darrm.ReplaceOne}, darrm.PerLabel(1))
	check(err)
	budget, err := ledger.NewBudget(10, 1e-6)
	check(err)
	book, _, err := ledger.OpenOrCreate(ctx, "patients.ledger", budget, darrm.ReplaceOne)
	check(err)
	r, err := darrm.NewReleaser(ctx, m, book, darrm.KeyFile("service.key"))
	check(err)
	march, err := r.Batch(ctx, "march", darrm.Counts{{1, 8}, {7, 2}}) // charged once; again: the same, free
	check(err)
	fmt.Println(march.Labels, march.Cost)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
