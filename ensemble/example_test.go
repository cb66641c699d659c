package ensemble_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/votes"
)

// From a file of votes to private labels.
func Example() {
	ctx := context.Background()
	file, err := os.Open("../testdata/mnist-5v8/votes.csv")
	check(err)
	defer file.Close()
	table, err := votes.ReadCSV(file, votes.CSVOptions{})
	check(err)

	// Each teacher is (0.13577, 1e-4)-private; a label may cost three times as much.
	problem, err := constraints.NewProblem(table.K, 3, 0.13577, 1e-4)
	check(err)
	optimal, err := solve.Optimal(ctx, problem, solve.Options{})
	check(err)
	mechanism := ensemble.New(optimal.Certified)
	labels, err := mechanism.Aggregate(ctx, table)
	check(err)

	fmt.Printf("%d private labels, each %v-DP\n", len(labels), mechanism.PerAnswer())
	score := ensemble.Evaluate(optimal.Func(), table)
	fmt.Printf("expected agreement with the majority (not private): %.1f %%\n", 100*score.Agreement)
	// Output:
	// 1866 private labels, each (0.40731, 0.000299970001)-DP
	// expected agreement with the majority (not private): 94.5 %
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
			fmt.Printf("%-48s like the majority %.1f %%, abstains %.1f %%\n", row.Title, 100*row.Score.Agreement, 100*row.Score.Abstained)
		}
	}
	// Output:
	// GNMax, σ = 13.72, Rényi                          like the majority 81.7 %, abstains 0.0 %
	// GNMax, σ = 9.947, exact                          like the majority 83.7 %, abstains 0.0 %
	// Confident-GNMax, 60 votes, σ = 40.4 and 10.1     like the majority 48.7 %, abstains 45.3 %
	// LNMax, b = 4                                     like the majority 85.4 %, abstains 0.0 %
	// permute-and-flip                                 like the majority 87.0 %, abstains 0.0 %
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
