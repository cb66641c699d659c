package solve_test

import (
	"context"
	"fmt"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma/solve"
)

// Eleven teachers, each (0.1, 1e-5)-differentially private; the majority may cost three
// times that.
func Example() {
	problem, err := constraints.NewProblem(11, 3, 0.1, 1e-5)
	if err != nil {
		fmt.Println(err)
		return
	}
	table, err := solve.Optimal(context.Background(), problem, solve.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("γ =", table.Func())
	fmt.Printf("error %.6f, proved to be optimal within 1e-9: %v\n", table.ExpectedError,
		table.Gap < 1e-9)
	fmt.Printf("%v constraints hold\n", table.Certificate().Constraints)
	// Output:
	// γ = 1, 0.977696, 1, 1, 0.54234, 0.939241
	// error 0.041269, proved to be optimal within 1e-9: true
	// 31824 constraints hold
}
