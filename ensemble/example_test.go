package ensemble_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma/solve"
)

// From the counts of a query's votes to a private label.
func Example() {
	// Each of 11 teachers is (0.13577, 1e-4)-private; a label may cost three times as much.
	problem, err := constraints.NewProblem(11, 3, 0.13577, 1e-4)
	check(err)
	optimal, err := solve.Optimal(context.Background(), problem, solve.Options{})
	check(err)
	mechanism, err := ensemble.DaRRM(optimal.Certified, accountant.ReplaceOne)
	check(err)
	// All vote for 1. Package release draws; this is a simulation.
	label, err := mechanism.Simulate(1, "query 1", []int{0, 11})
	check(err)

	fmt.Printf("label %d, %v-DP\n", label, mechanism.PerAnswer())
	// Output:
	// label 1, (0.40731, 0.000299970001)-DP
}

// Which mechanism serves these votes best, if the teachers themselves are not private but
// were trained on disjoint data? The optimal one would be among options.Tables: solve for
// ε = +Inf and affected = 1.
func ExampleCompare() {
	ballots, err := ensemble.NewBallots(100, 3)
	check(err)
	for _, counts := range [][]int{{60, 30, 10}, {45, 44, 11}, {5, 90, 5}} {
		check(ballots.Add(counts, ensemble.NoTruth))
	}
	c, err := ensemble.Compare(context.Background(), ballots, ensemble.CompareOptions{
		Target:     accountant.Cost{Epsilon: 0.5, Delta: 1e-5},
		Teachers:   accountant.Cost{Epsilon: math.Inf(1)},
		Affected:   1,
		Neighbours: accountant.ReplaceOne,
	})
	check(err)
	for _, row := range c.Rows {
		if row.Refused == nil {
			fmt.Printf("%-48s like the majority %.1f %%, abstains %.1f %%\n", row.Title,
				100*row.Score.Agreement, 100*row.Score.Abstained)
		}
	}
	// Output:
	// gnmax-renyi, σ = 13.72                           like the majority 81.7 %, abstains 0.0 %
	// gnmax, σ = 9.947                                 like the majority 83.7 %, abstains 0.0 %
	// confident-gnmax, 60 votes, σ = 40.4 and 10.1     like the majority 48.7 %, abstains 45.3 %
	// lnmax, b = 4                                     like the majority 85.4 %, abstains 0.0 %
	// permute-and-flip                                 like the majority 87.0 %, abstains 0.0 %
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
