package amplification_test

import (
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/federated/amplification"
)

// Ten silos with 1,651 records in all train for 50 rounds; every record answers in every round, in
// two streams after the first. Which ε₀ may a report have for (0.8, 1e-5)-DP of every record?
func ExampleCalibrate() {
	target := accountant.Cost{Epsilon: 0.8, Delta: 1e-5}
	run := func(epsilon float64) (float64, error) {
		round := amplification.Round{Streams: 1, Reports: 1651, Epsilon: epsilon, OneBit: true}
		first, err := round.Event()
		if err != nil {
			return 0, err
		}
		round.Streams = 2
		later, err := round.Event()
		if err != nil {
			return 0, err
		}
		central, _, err := amplification.Epsilon(target.Delta, amplification.Classical,
			accountant.Charge{Event: first, Count: 1}, accountant.Charge{Event: later, Count: 49})
		return central, err
	}
	local, cost, err := amplification.Calibrate(target, run)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("a report of epsilon %.3f costs (%.3f, %g)\n", local, cost.Epsilon, cost.Delta)

	// The published constants need a local epsilon of 1, and the whole run then costs more than 500.
	paper := amplification.Round{Mode: amplification.Paper, Streams: 2, Reports: 1651, Epsilon: local,
		OneBit: true}
	_, err = paper.Event()
	fmt.Println(err)
	// Output:
	// a report of epsilon 0.582 costs (0.800, 1e-05)
	// mode paper, local epsilon 0.5819: the mode does not apply: it needs a local epsilon of 1 or more
}
