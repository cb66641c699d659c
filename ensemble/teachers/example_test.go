package teachers_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/ensemble/teachers"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
)

// From private records to private labels: teachers on disjoint parts of them, trained by
// the interleaved shuffled gradient method with the help of public records, and the best
// private majority of their votes. Everything costs what one teacher does.
func ExampleTrain() {
	ctx := context.Background()
	set, err := datasets.Standin(datasets.COMPAS, 1)
	check(err)
	queries, err := set.Public.Select([]int{2000, 2001, 2002, 2003, 2004})
	check(err)
	parts, err := teachers.DisjointParts(set.Private.Len(), 11)
	check(err)

	trained, err := teachers.Train(ctx, teachers.Config{
		Parts: parts,
		Teacher: shuffled.Config{
			Task: set.Task, Regularizer: geometry.L2{Lambda: 0.01},
			Method: shuffled.Interleaved, Fraction: 0.5, Epochs: 20, Order: iteration.Reshuffled,
			StepSize: 0.005, Clip: 1, Radius: 5, // longer records are shortened to it
			Target: accountant.Cost{Epsilon: 2, Delta: 1e-6},
		},
	}, set.Private, set.Public, func(_ string, total accountant.Cost) error {
		fmt.Println("charged", total) // here a ledger is written to
		return nil
	})
	check(err)

	// The best mechanism at the cost of one teacher: with disjoint parts it needs no noise.
	problem, err := trained.Plan().Problem(1)
	check(err)
	optimal, err := solve.Optimal(ctx, problem, solve.Options{})
	check(err)
	votes, err := trained.Votes(queries)
	check(err)
	mechanism, err := ensemble.DaRRM(optimal.Certified, accountant.ReplaceOne)
	check(err)
	labels := make([]int, len(votes))
	for i, counts := range votes {
		labels[i], err = mechanism.Simulate(1, fmt.Sprint(i), counts) // package release draws
		check(err)
	}
	total, err := trained.Plan().Answers(len(labels), accountant.Cost{Epsilon: 2, Delta: 1e-6}).Total()
	check(err)
	fmt.Printf("%d teachers, one record reaches %d of them\n", trained.Plan().K(),
		trained.Plan().Affected())
	fmt.Printf("γ of a majority of 6 of 11: %g\n", math.Round(1e6*optimal.Func().Values()[6])/1e6)
	fmt.Printf("%d labels cost %v: %s\n", len(labels), total.Cost, total.Rule)
	// Output:
	// charged (2, 1e-06)
	// 11 teachers, one record reaches 1 of them
	// γ of a majority of 6 of 11: 1
	// 5 labels cost (2, 1e-06): one of the teachers
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
