package plan_test

import (
	"context"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/plan"
)

func ExampleNew() {
	votes, _ := plan.Prior(101, 2, 0.75)
	p, err := plan.New(context.Background(), plan.Request{
		K: 101, Classes: 2, Affected: 1, Neighbours: accountant.ReplaceOne, Votes: votes,
		Teachers: accountant.Cost{Epsilon: math.Inf(1)}, // they promise nothing
		Budget:   accountant.Cost{Epsilon: 2, Delta: 1e-5}, Queries: 20,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	best := p.Choices[0]
	fmt.Printf("%s with labels of ε = %v: %.1f %% agree, all cost ε = %.4f\n",
		best.Name, best.Mechanism.PerAnswer().Epsilon, 100*best.Agreement.Expected, best.Total.Epsilon)
	// Output: gnmax with labels of ε = 0.483: 99.4 % agree, all cost ε = 1.9996
}
