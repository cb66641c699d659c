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
	march := m.Labels(book, "march")
	march.Votes, march.Output.Path = []string{"votes.csv"}, "labels.csv"
	labels, err := march.Run(ctx)
	check(err)
	fmt.Println(labels.Queries, "labels cost", labels.Cost())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
