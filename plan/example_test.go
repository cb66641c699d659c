package plan_test

import (
	"context"
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/plan"
)

func ExampleNew() {
	votes, _ := plan.Prior(31, 2, 0.75)
	p, err := plan.New(context.Background(), plan.Request{
		Stated: ensemble.Stated{K: 31, Classes: 2, Affected: new(1), Neighbours: accountant.ReplaceOne},
		Budget: accountant.Cost{Epsilon: 2, Delta: 1e-5}, Queries: 20, Votes: votes,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	best := p.Choices[0]
	fmt.Printf("%s: %.1f %% agree, all cost %v\n", best.Name, 100*best.Agreement.Expected, best.Total)
	// Output: many-answers: 84.1 % agree, all cost (2, 1e-05)
}
