package pairwise_test

import (
	"fmt"
	"log"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/pairwise"
)

// A method is priced before any record is read, with the other ways beside it.
func ExampleLocalized() {
	logistic, err := loss.ParsePair("logistic")
	if err != nil {
		log.Fatal(err)
	}
	plan, err := pairwise.Localized{Setting: pairwise.Setting{
		Base: pairwise.Base{Loss: logistic, Radius: 1, Target: accountant.Cost{Epsilon: 1, Delta: 1e-5}},
		Ball: 2,
	}}.Plan(4096, 8)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Price.Cost)
	rows, err := plan.Compare()
	if err != nil {
		log.Fatal(err)
	}
	inUse := 0.0
	for _, r := range rows {
		if r.InUse {
			inUse = r.Deviation
		}
	}
	for _, r := range rows {
		fmt.Printf("%6.2f times the noise: %s\n", r.Deviation/inUse, r.Reading)
	}
	// Output:
	// (1, 1e-05)
	//  10.61 times the noise: paper: 12Gη·ln(4/δ), the classical noise
	//   8.27 times the noise: paper: 12Gη·ln(4/δ)
	//   4.13 times the noise: chernoff: occurrences by Chernoff's bound
	//   3.42 times the noise: exact: the binomial quantile of the occurrences
	//   1.81 times the noise: mixture: each number of occurrences at its own price
	//   1.00 times the noise: averaged: each draw by the share of iterates that it moves
	//   0.10 times the noise: one pass in order: one-pass, with 0.0775 times the steps
	//   3.33 times the noise: 64 passes in order: cyclic, with 4.96 times the steps
}
