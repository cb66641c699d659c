package ledger_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/darrm/darrm/ledger"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	budget, err := ledger.NewBudget(1, 1e-5)
	if err != nil {
		panic(err)
	}
	l, err := ledger.Create(ctx, filepath.Join(dir, "votes.ledger"), budget, ledger.ReplaceOne)
	if err != nil {
		panic(err)
	}
	unit, err := ledger.NewCost(0.125, 1e-6)
	if err != nil {
		panic(err)
	}

	request := ledger.Request{Relation: ledger.ReplaceOne, ID: "batch 1", Count: 3, Unit: unit,
		Event: []byte(`{"mechanism":"darrm","K":11}`)}
	receipt, err := l.Charge(ctx, request)
	if err != nil {
		panic(err) // no receipt, no release
	}
	if err := receipt.Redeem(); err != nil {
		panic(err)
	}
	// Here the mechanism draws its three answers.

	_, err = l.Charge(ctx, request)
	fmt.Println(errors.Is(err, ledger.ErrReplayed))
	_, err = l.Charge(ctx, ledger.Request{Relation: ledger.ReplaceOne, ID: "batch 2", Count: 6,
		Unit: unit})
	fmt.Println(err)
	left, err := l.Remaining(ctx)
	fmt.Println(left, err)
	// Output:
	// true
	// privacy budget exceeded: the charge asks for (ε, δ) = (0.75, 6e-6), (0.375, 3e-6) of (1, 1e-5) is spent
	// (0.625, 7e-6) <nil>
}

// One charge pays for up to 100 answers of a table, of which files and queries on line take theirs.
func ExampleLedger_Quota() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	budget, err := ledger.NewBudget(1, 1e-5)
	if err != nil {
		panic(err)
	}
	l, err := ledger.Create(ctx, filepath.Join(dir, "votes.ledger"), budget, ledger.ReplaceOne)
	if err != nil {
		panic(err)
	}
	price, err := ledger.NewCost(0.5, 1e-6) // of 100 answers together
	if err != nil {
		panic(err)
	}
	table := ledger.Digest(sha256.Sum256([]byte("the bytes of the table")))
	_, err = l.Charge(ctx, ledger.Request{Relation: ledger.ReplaceOne, ID: "summer", Count: 1,
		Unit: price, Quota: &ledger.Quota{Table: table, Answers: 100}})
	fmt.Println(err)

	file := ledger.Request{Relation: ledger.ReplaceOne, ID: "july", Count: 98, PaidBy: "summer",
		Quota: &ledger.Quota{Table: table}}
	receipt, err := l.Charge(ctx, file)
	if err != nil {
		panic(err) // no receipt, no answers
	}
	fmt.Println(receipt.Redeem())
	// Here the mechanism draws its 98 answers.

	file.ID, file.Count = "august", 3
	_, err = l.Charge(ctx, file)
	fmt.Println(err)
	use, err := l.Quota(ctx, "summer", "")
	fmt.Println(use.Taken, use.Left(), err)
	spent, err := l.Spent(ctx)
	fmt.Println(spent, err)
	// Output:
	// <nil>
	// <nil>
	// request "august": too few labels left of a charge: the charge "summer" paid for 100 answers, 2 are left, and the request asks for 3
	// 98 2 <nil>
	// (0.5, 1e-6) <nil>
}
