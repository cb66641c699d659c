// Labels for two classes, the whole way: solve, release, charge.
//
//	go run ./examples/labels [VOTES]
//
// Eleven teachers, each trained once and (0.13577, 1e-4)-differentially private, vote on 1,866
// images. The program finds the best noise function for them, opens a ledger, and releases one
// private label for each image. The ledger is charged before the first label is drawn. Then it asks
// for more: the same request gives the same file and costs nothing, other labels of the same frozen
// teachers are covered by their training, and other teachers are refused when the budget is spent.
//
// Privacy rests on what is stated here: the teachers' (ε, Δ), and that they are frozen.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

func main() {
	ctx := context.Background()
	file := "testdata/mnist-5v8/votes.csv"
	if len(os.Args) > 1 {
		file = os.Args[1]
	}
	folder, err := os.MkdirTemp("", "darrm-labels-")
	check(err)
	defer os.RemoveAll(folder)

	// The optimum for K = 11, m = 3, ε = 0.13577, Δ = 1e-4: certified, or an error.
	problem, err := constraints.NewProblem(11, 3, 0.13577, 1e-4)
	check(err)
	table, err := solve.Optimal(ctx, problem, solve.Options{})
	check(err)
	epsilon, delta := problem.Total()
	fmt.Printf("solved:   one label is (%.5g, %.3g)-DP and errs with probability %.4f\n",
		epsilon, delta, table.ExpectedError)

	book := filepath.Join(folder, "patients.ledger")
	budget, err := ledger.NewBudget(2, 1e-2)
	check(err)
	account, err := ledger.Create(ctx, book, budget, ledger.ReplaceOne)
	check(err)

	answers, err := release.DaRRM(table.Certified, accountant.ReplaceOne)
	check(err)
	labels := release.Labels{
		Votes:  []string{file},
		Output: release.FileOutput{Path: filepath.Join(folder, "march.csv")},
		Charge: release.Charge{Ledger: book, RequestID: "march", Teachers: "frozen", Ensemble: "clinics"},
		Plan:   answers,
	}
	// What is released, beside the truth that these public images have.
	right := 0
	labels.Truth = true
	labels.Each = func(b *votes.Batch, answers []int) error {
		for i, a := range answers {
			if a == b.Labels[i] {
				right++
			}
		}
		return nil
	}
	summary, err := labels.Run(ctx)
	check(err)
	left, err := account.Remaining(ctx)
	check(err)
	fmt.Printf("released: %d labels, %.1f %% of them right\n", summary.Queries,
		100*float64(right)/float64(summary.Queries))
	fmt.Printf("charged:  %v for the teachers' training, whatever they are asked; %v is left\n",
		summary.Cost(), left)

	again, err := labels.Run(ctx)
	check(err)
	fmt.Printf("again:    answered before: %v\n", again.Before)

	labels.Output.Path, labels.Charge.RequestID = filepath.Join(folder, "april.csv"), "april"
	april, err := labels.Run(ctx)
	check(err)
	fmt.Printf("april:    paid for by %q\n", april.PaidBy)

	labels.Output.Path, labels.Charge.RequestID, labels.Charge.Ensemble = filepath.Join(folder,
		"may.csv"), "may", "other clinics"
	if _, err = labels.Run(ctx); !errors.Is(err, ledger.ErrRefused) {
		log.Fatalf("the ledger paid twice: %v", err)
	}
	fmt.Println("may:     ", err)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
