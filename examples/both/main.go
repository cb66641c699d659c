// A model and labels from the same people's records: one ledger adds up what both cost.
//
//	go run ./examples/both
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"

	"github.com/darrm/darrm"
	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/convex"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

func main() {
	ctx := context.Background()
	budget, err := ledger.NewBudget(3, 1e-5)
	check(err)
	book, _, err := ledger.OpenOrCreate(ctx, "patients.ledger", budget, darrm.ReplaceOne)
	check(err)

	// Train a model in a ball of radius 10, on features that are clipped to norm 1.
	x, y := []float64{}, []float64{}
	for i := range 400 {
		x, y = append(x, float64(i%2)-0.5), append(y, float64(i%2))
	}
	records, err := data.NewRecords(len(y), 1, x, y)
	check(err)
	plan, err := convex.OutputPerturbation{Ball: 10, Setting: convex.Setting{Loss: loss.Logistic{},
		Radius: 1, Target: accountant.Cost{Epsilon: 1, Delta: 1e-6}}}.Plan(len(y), 1)
	check(err)
	algorithm, err := plan.Train(records)
	check(err)
	price := plan.Price
	_, err = release.Model{Ledger: book.Path(), RequestID: "model", Relation: price.Relation,
		Output: release.FileOutput{Path: "model.json"},
		Event: release.ModelEvent{Mechanism: convex.Mechanism, Method: price.Method, Task: "logistic",
			Epochs: algorithm.Rounds, Unit: "rounds", Mode: string(price.Bound)},
		Begin: func([]byte) (release.Training, error) {
			r, err := train.NewRelease(algorithm)
			if err != nil {
				return release.Training{}, err
			}
			return release.Training{ID: r.ID(), Cost: r.Cost(), State: r.Checkpoint,
				Run: func(ctx context.Context, _ func() error) (func(io.Writer) error, error) {
					w, err := r.Run(ctx, nil)
					return func(to io.Writer) error { return json.NewEncoder(to).Encode(w) }, err
				}}, nil
		}}.Run(ctx)
	check(err)

	// Release labels by nine teachers, each trained on a part of the same records; these are their
	// votes for two queries.
	teachers := darrm.Teachers{K: 9, Affected: 1, Neighbours: darrm.ReplaceOne}
	m, err := darrm.Optimal(ctx, teachers, darrm.PerLabel(1))
	check(err)
	r, err := darrm.NewReleaser(ctx, m, book, darrm.KeyFile("service.key"))
	check(err)
	labels, err := r.Batch(ctx, "labels", darrm.Counts{{1, 8}, {7, 2}})
	check(err)
	spent, err := book.Spent(ctx)
	check(err)
	fmt.Println("labels:", labels.Labels)
	fmt.Println("a model and two labels cost", spent)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
