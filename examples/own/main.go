// A noise function of one's own: proved, and then released by like any other.
//
//	go run ./examples/own
package main

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/darrm/darrm"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

func main() {
	ctx := context.Background()
	// γ(l) is how often the majority of l votes of 5 is answered, and not a coin.
	f, err := gamma.New([]float64{0.7, 0.3, 0.1, 0.1, 0.3, 0.7})
	check(err)
	problem := constraints.Problem{K: 5, Epsilon: math.Inf(1), TotalEpsilon: 1, Affected: 1}
	proved, err := gamma.Certify(ctx, problem, f) // an error, unless every label is (1, 0)-private
	check(err)
	plan, err := release.DaRRM(proved, darrm.ReplaceOne)
	check(err)
	m, err := darrm.Use(darrm.Teachers{K: 5, Affected: 1, Neighbours: darrm.ReplaceOne}, plan)
	check(err)

	budget, err := ledger.NewBudget(2, 0)
	check(err)
	book, _, err := ledger.OpenOrCreate(ctx, "patients.ledger", budget, darrm.ReplaceOne)
	check(err)
	r, err := darrm.NewReleaser(ctx, m, book, darrm.KeyFile("service.key"))
	check(err)
	a, err := r.Answer(ctx, "image-1", []int{0, 1, 1, 1, 1})
	check(err)
	fmt.Println("a label of", m.PerLabel(), "is entry", a.Charge.Seq)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
