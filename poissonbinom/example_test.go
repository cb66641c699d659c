package poissonbinom_test

import (
	"fmt"

	"github.com/darrm/darrm/poissonbinom"
)

// The number of ones among three votes, with probabilities 1/4, 1/2 and 1/2.
func ExamplePMF() {
	pmf, err := poissonbinom.PMF([]float64{0.25, 0.5, 0.5})
	fmt.Println(pmf, err)
	_, err = poissonbinom.PMF([]float64{0.25, 1.5})
	fmt.Println(err)
	// Output:
	// [0.1875 0.4375 0.3125 0.0625] <nil>
	// probability p[1] = 1.5, must be in [0,1]
}

func ExampleGroupedPMF() {
	groups := []poissonbinom.Group{
		poissonbinom.Prob(0.5).Times(2),
		poissonbinom.Prob(1).Times(3), // certain ones only shift the law
	}
	fmt.Println(poissonbinom.GroupedPMF(groups, nil))
	// Output: [0 0 0 0.25 0.5 0.25]
}

// The expectation of the majority's sign, +1 or -1, under two laws that share their
// first two votes: the shared operators are applied once.
func ExampleAverage() {
	sign := []float64{-1, -1, 1, 1}
	shared := poissonbinom.Average(nil, sign, 0.75, 0.25)
	shared = poissonbinom.Average(shared, shared, 0.5, 0.5)
	fmt.Println(poissonbinom.Average(nil, shared, 0.5, 0.5),
		poissonbinom.Average(nil, shared, 0.25, 0.75))
	// Output: [-0.25] [0]
}

func ExampleAverageError() {
	fmt.Printf("%.3g\n", poissonbinom.AverageError(101))
	// Output: 3.36e-14
}

func ExampleBinomial() {
	fmt.Println(poissonbinom.Binomial(4, 0.5))
	fmt.Println(poissonbinom.Binomial(400, 0.5)[0] == 0x1p-400)
	// Output:
	// [0.0625 0.25 0.375 0.25 0.0625]
	// true
}

// Three of 11 votes are drawn, 4 of the 11 are ones.
func ExampleHypergeometric() {
	fmt.Printf("%.4f\n", poissonbinom.Hypergeometric(11, 4, 3))
	// Output: [0.2121 0.5091 0.2545 0.0242]
}
