package ensemble_test

import (
	"context"
	"fmt"
	"log"
	"os"

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

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
