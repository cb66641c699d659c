package shuffled_test

import (
	"context"
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// The mean of private records with the help of public ones: what it costs, a release, and
// an experiment.
func Example() {
	set, err := datasets.Standin(datasets.CreditCard, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := shuffled.NewPlan(context.Background(), shuffled.Config{
		Task: set.Task, Regularizer: set.Regularizer, Start: set.Start,
		Method: shuffled.Interleaved, Fraction: 0.5, Epochs: 50, Order: iteration.Reshuffled,
		StepSize: 1e-3, Clip: 10, Radius: 8,
		Target: accountant.Cost{Epsilon: 10, Delta: 1e-6},
	}, set.Private, set.Public)
	if err != nil {
		fmt.Println(err)
		return
	}
	r := plan.Report()
	fmt.Printf("noise %.3f, amplified %.0f times, epsilon at most %.3f; may be released: %v\n",
		r.Noise, r.Amplification, plan.Cost().Epsilon, r.Released)

	release, err := train.NewRelease(plan.Algorithm()) // charge release.Cost() under release.ID() first
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := release.Run(context.Background(), nil)
	fmt.Println(len(model), "coordinates,", err)

	simulated, err := train.Simulate(plan.Algorithm(), 1).Run(context.Background(), nil) // not private
	fmt.Println(len(simulated), "coordinates,", err)
	// Output:
	// noise 4.765, amplified 101 times, epsilon at most 10.000; may be released: the iterate after each epoch
	// 21 coordinates, <nil>
	// 21 coordinates, <nil>
}
