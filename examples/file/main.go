// A file of labels for a file of votes, which a ledger pays for.
//
//	go run ./examples/file
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/darrm/darrm"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

func main() {
	ctx := context.Background()
	clinics := darrm.Teachers{K: 9, Affected: 1, Neighbours: darrm.ReplaceOne}
	m, err := darrm.Optimal(ctx, clinics, darrm.PerLabel(1))
	check(err)
	budget, err := ledger.NewBudget(12, 1e-6)
	check(err)
	book, _, err := ledger.OpenOrCreate(ctx, "patients.ledger", budget, darrm.ReplaceOne)
	check(err)
	march, err := release.Labels{Votes: []string{"votes.csv"}, Plan: m.Plan,
		Charge: release.Charge{Ledger: book.Path(), RequestID: "march"},
		Output: release.FileOutput{Path: "labels.csv"}}.Run(ctx)
	check(err)
	fmt.Println(march.Queries, "labels cost", march.Totals.Fresh.Cost)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
