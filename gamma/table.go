package gamma

import (
	"context"
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/check"
)

// Table is a certified noise function with all that is known about it: for which
// objective it was made, how far from the optimum it can be at most, how the
// baselines do. It is what `darrm solve` writes and `darrm aggregate` reads.
type Table struct {
	*Certified
	Shape         Shape
	PriorMean     float64
	ExpectedError float64
	Baselines     []Baseline
	Proof         []Multiplier // of LowerBound
	LowerBound    float64      // no private γ of this shape has a smaller expected error
	Gap           float64      // ExpectedError - LowerBound ≥ 0: at most this far from the optimum
	Solver        string       // what proposed γ; nothing rests on it
	Version       string       // the program that wrote the table
}

// Objective is what a table is optimal for.
type Objective struct {
	PriorMean float64 // μ in (0.5, 1); see Weights
	Shape     Shape
}

// Validate returns an error naming the first field that breaks its rule.
func (o Objective) Validate() error {
	if err := check.PriorMean(o.PriorMean); err != nil {
		return err
	}
	_, err := ParseShape(string(o.Shape))
	return err
}

// NewTable works out everything about c that can be known: errors, baselines, and
// the optimality gap that proof shows. An empty proof is valid and proves only
// that no error is negative.
func NewTable(ctx context.Context, c *Certified, o Objective, proof []Multiplier) (*Table, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Shape == Monotone && !c.fn.Monotone() {
		return nil, fmt.Errorf("gamma increases towards the middle, but its shape must be %q", Monotone)
	}
	weights, err := Weights(c.problem.K, o.PriorMean)
	if err != nil {
		return nil, err
	}
	lower, err := LowerBound(c.problem, weights, o.Shape, proof)
	if err != nil {
		return nil, err
	}
	baselines, err := Baselines(ctx, c.problem)
	if err != nil {
		return nil, err
	}
	e := ExpectedError(c.fn, weights)
	return &Table{
		Certified:     c,
		Shape:         o.Shape,
		PriorMean:     o.PriorMean,
		ExpectedError: e,
		Baselines:     baselines,
		Proof:         proof,
		LowerBound:    math.Min(lower, e), // they may cross by a rounding error
		Gap:           math.Max(0, e-lower),
	}, nil
}

// BaselineError returns the expected error of a baseline under the table's prior.
func (t *Table) BaselineError(b Baseline) float64 {
	weights, err := Weights(t.problem.K, t.PriorMean)
	if err != nil {
		panic(err) // a Table has a valid K and prior
	}
	return ExpectedError(b.Certified.fn, weights)
}

// ExpectedErrorOfCoin returns the expected error of releasing nothing but fair
// coins, γ ≡ 0, under the table's prior: the scale on which gaps are judged.
func (t *Table) ExpectedErrorOfCoin() float64 {
	weights, err := Weights(t.problem.K, t.PriorMean)
	if err != nil {
		panic(err) // a Table has a valid K and prior
	}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	return sum
}
