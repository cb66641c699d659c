package darrm_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/darrm/darrm"
	"github.com/darrm/darrm/ledger"
)

// Labels for three queries of 25 teachers who promise nothing, each trained on its own part of the
// records. The ledger is charged once.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "darrm-example-")
	check(err)
	defer os.RemoveAll(dir)
	budget, err := ledger.NewBudget(5, 0)
	check(err)

	teachers := darrm.Teachers{K: 25, Affected: 1, Neighbours: darrm.ReplaceOne}
	m, err := darrm.Optimal(ctx, teachers, darrm.PerLabel(1))
	check(err)
	book, _, err := ledger.OpenOrCreate(ctx, filepath.Join(dir, "patients.ledger"), budget,
		darrm.ReplaceOne)
	check(err)
	r, err := darrm.NewReleaser(ctx, m, book, darrm.KeyFile(filepath.Join(dir, "service.key")))
	check(err)

	votes := darrm.Counts{{1, 24}, {23, 2}, {0, 25}}
	march, err := r.Batch(ctx, "march", votes)
	check(err)
	again, err := r.Batch(ctx, "march", votes)
	check(err)
	fmt.Println(len(march.Labels), "labels cost", march.Totals.Fresh.Cost)
	fmt.Println("again:", again.Replayed)
	left, err := book.Remaining(ctx)
	check(err)
	fmt.Println(left, "is left")
	// Output:
	// 3 labels cost (3, 0)
	// again: true
	// (2, 0) is left
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
