package release_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// The whole way: the best noise function for three teachers, each (0.1, 1e-5)-DP, and one
// private label for each query in a file of their votes, paid for in a ledger.
func Example() {
	ctx, dir := context.Background(), tempDir()
	defer os.RemoveAll(dir)

	problem, _ := constraints.NewProblem(3, 2, 0.1, 1e-5)
	table, _ := solve.Optimal(ctx, problem, solve.Options{})
	answers, _ := release.DaRRM(table.Certified, accountant.ReplaceOne)
	labels := release.Labels{
		Votes:  []string{filepath.Join(dir, "votes.csv")},
		Output: release.FileOutput{Path: filepath.Join(dir, "labels.csv")},
		Charge: release.Charge{Ledger: filepath.Join(dir, "patients.ledger"), RequestID: "march",
			Teachers: "fresh"},
		Plan: answers,
	}
	summary, err := labels.Run(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d labels for ε = %.2g\n", summary.Queries, summary.Totals.Fresh.Cost.Epsilon)
	// Output: 2 labels for ε = 0.4
}

// tempDir has two queries' votes and a ledger.
func tempDir() string {
	dir, err := os.MkdirTemp("", "darrm-example-")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "votes.csv"), []byte("t1,t2,t3\n1,1,0\n0,0,0\n"), 0o600)
	}
	budget, _ := ledger.NewBudget(1, 1e-3)
	if err == nil {
		_, err = ledger.Create(context.Background(), filepath.Join(dir, "patients.ledger"), budget,
			ledger.ReplaceOne)
	}
	if err != nil {
		panic(err)
	}
	return dir
}
