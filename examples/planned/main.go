// From a budget to labels: what it would give is seen before anything is released.
//
//	go run ./examples/planned
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/darrm/darrm"
	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/plan"
)

func main() {
	ctx := context.Background()
	letters := darrm.Counts{{14, 3, 2, 1}, {2, 15, 2, 1}, {1, 1, 17, 1}, {1, 2, 1, 16}}
	p, err := plan.New(ctx, plan.Request{
		Stated: ensemble.Stated{K: 20, Classes: 4, Affected: new(1), Neighbours: darrm.ReplaceOne},
		Budget: accountant.Cost{Epsilon: 6}, Queries: len(letters)})
	check(err)
	for _, c := range p.Choices {
		fmt.Printf("%-17s %.0f %% are expected to agree\n", c.Name+":", 100*c.Agreement.Expected)
	}

	budget, err := ledger.NewBudget(6, 0)
	check(err)
	book, _, err := ledger.OpenOrCreate(ctx, "customers.ledger", budget, darrm.ReplaceOne)
	check(err)
	prompts := darrm.Teachers{K: 20, Classes: 4, Affected: 1, Neighbours: darrm.ReplaceOne}
	aim := darrm.Within(budget, len(letters)).From(book) // the first of these or, later, what was paid for
	m, err := darrm.Optimal(ctx, prompts, aim)
	check(err)
	r, err := darrm.NewReleaser(ctx, m, book, darrm.KeyFile("service.key"))
	check(err)
	a, err := r.Batch(ctx, "letters", letters)
	check(err)
	left, err := book.Remaining(ctx)
	check(err)
	fmt.Println(len(a.Labels), "labels, each", m.PerLabel(), "and", left, "is left")
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
