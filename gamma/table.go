package gamma

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
)

// Objective is the quantity that a noise function shall optimise, among the functions of a shape.
// Exactly one of PriorMean, Counts and WorstCase gives it. It decides what is useful and never what
// is private, as long as it does not depend on private data.
type Objective struct {
	// PriorMean μ in (0.5, 1) asks for the source's objective: the least expected distance
	// between the laws of label and majority (ExpectedError with Weights).
	PriorMean float64
	// Counts ask for agreement: the least Pr[label ≠ majority of the votes] where vote
	// counts 0 … K occur so often. They are UniformCounts, TwoSidedCounts, or of public data.
	Counts []float64
	// WorstCase asks for the least distance between the laws over all teachers: WorstError.
	WorstCase bool
	Shape     Shape
}

// Validate returns an error naming the first field that breaks its rule, for K
// teachers.
func (o Objective) Validate(k int) error {
	if _, err := ParseShape(string(o.Shape)); err != nil {
		return err
	}
	given := 0
	for _, is := range []bool{o.PriorMean != 0, o.Counts != nil, o.WorstCase} {
		if is {
			given++
		}
	}
	if given > 1 {
		return &check.Error{Name: "objective", Value: "several priors",
			Rule: "one of prior mean, counts and worst case"}
	}
	if o.Counts != nil {
		if err := checkCounts(o.Counts, k); err != nil {
			return err
		}
	}
	if o.WorstCase {
		return nil
	}
	_, err := o.Weights(k)
	return err
}

func checkCounts(counts []float64, k int) error {
	if len(counts) != k+1 {
		return &check.Error{Name: "number of counts", Value: len(counts),
			Rule: fmt.Sprintf("K+1 = %d", k+1)}
	}
	return nil
}

// Equal reports whether o and p are the same objective.
func (o Objective) Equal(p Objective) bool {
	return o.PriorMean == p.PriorMean && slices.Equal(o.Counts, p.Counts) &&
		o.WorstCase == p.WorstCase && o.Shape == p.Shape
}

// Lopsided reports whether the counts favour one label. The optimum and the bound are then of noise
// functions, which treat both labels alike and so take half of the counts and half of their mirror
// image; a mechanism that treats the labels differently may disagree less.
func (o Objective) Lopsided() bool {
	for l, c := range o.Counts {
		if c != o.Counts[len(o.Counts)-1-l] {
			return true
		}
	}
	return false
}

// Weights returns the weight of each free value of γ in the objective. The worst case has no
// weights of its own; the error says so.
func (o Objective) Weights(k int) ([]float64, error) {
	switch {
	case o.WorstCase:
		return nil, fmt.Errorf("the worst case has no weights")
	case o.Counts != nil:
		return countWeights(o.Counts)
	}
	return Weights(k, o.PriorMean)
}

// Error returns the error of f under the objective: ExpectedError, or WorstError in the worst case.
// It is +Inf where the objective is not valid for f's K.
func (o Objective) Error(f Func) float64 {
	if o.WorstCase {
		return WorstError(f)
	}
	weights, err := o.Weights(f.K())
	if err != nil {
		return math.Inf(1)
	}
	return expectedError(f, weights)
}

// Proof proves a lower bound on the error of every private noise function of the shape, by weak
// duality. What it shows is worked out and rounded down, whoever made it. The empty Proof is valid
// and shows that no error is negative.
type Proof struct {
	Multipliers []Multiplier
	// Weights serve the worst case only: ½λ(l), where λ ≥ 0 sums to at most 1. The
	// worst error is at least Σ ½λ(l)·(1-γ(l)), an expected error with these weights.
	Weights []float64
}

// lowerBound checks the proof and returns the bound that it shows.
func (o Objective) lowerBound(s *constraints.System, proof Proof) (float64, error) {
	k := s.Problem().K
	if !o.WorstCase {
		if len(proof.Weights) > 0 {
			return 0, fmt.Errorf("proof has weights, but only the worst case needs them")
		}
		weights, err := o.Weights(k)
		if err != nil {
			return 0, err
		}
		return lowerBound(s, weights, weightsError(k), o.Shape, proof.Multipliers)
	}
	if len(proof.Weights) == 0 {
		return 0, nil
	}
	sum := 0.0
	for l, w := range proof.Weights {
		if !(w >= 0 && w <= 0.5) {
			return 0, fmt.Errorf("proof's weight %d = %v, but it must be in [0, 0.5]", l, w)
		}
		sum += w
	}
	// Room for the rounding of the sum; what is above ½ is no proof.
	if sum > 0.5+float64(float64(k)*0x1p-53) {
		return 0, fmt.Errorf("proof's weights sum to %v, but they must sum to at most 0.5", sum)
	}
	bound, err := lowerBound(s, proof.Weights, 0, o.Shape, proof.Multipliers)
	return bound * (1 - float64(float64(k+4)*0x1p-51)), err
}

// Table is a certified noise function with all that is known about it: for which
// objective it was made, how far from the optimum it can be at most, how the
// baselines do. It is what `darrm solve` writes and `darrm aggregate` reads.
type Table struct {
	*Certified
	Objective
	ExpectedError float64 // Objective.Error of the function
	Baselines     []Named
	Proof         Proof
	LowerBound    float64 // no private γ of this shape has a smaller error
	Gap           float64 // ExpectedError - LowerBound ≥ 0: at most this far from the optimum
	Solver        string  // what proposed γ; nothing rests on it
	Version       string  // the program that wrote the table
}

// Bounded reports whether it is proved how far the table is from the optimum: it has a proof, or none
// can be better.
func (t *Table) Bounded() bool {
	t = handle.Made(t)
	return len(t.Proof.Multipliers) > 0 || t.Gap == 0
}

// NewTable works out everything about c that can be known: errors, baselines, and
// the optimality gap that proof shows.
func NewTable(ctx context.Context, c *Certified, o Objective, proof Proof) (*Table, error) {
	if c == nil || c.Problem().K < 1 {
		return nil, errNotCertified
	}
	all, err := SystemBaselines(ctx, c.system)
	if err != nil {
		return nil, err
	}
	return newTable(c, o, proof, all, false)
}

// BestTable is NewTable for c or, where one of the baselines has the shape and a smaller
// error, for the best of those: its Certified is then that baseline's. So ExpectedError is
// never above the BaselineError of a baseline that has the shape. The bound that proof
// shows is one for every function of the shape, whichever is chosen. The baselines are those of
// c's system (SystemBaselines).
func BestTable(c *Certified, o Objective, proof Proof, baselines []Named) (*Table, error) {
	return newTable(c, o, proof, baselines, true)
}

var errNotCertified = errors.New("certified noise function must be given: use Certify")

func newTable(c *Certified, o Objective, proof Proof, all []Named, choose bool) (*Table, error) {
	if c == nil || c.Problem().K < 1 {
		return nil, errNotCertified
	}
	for _, b := range all {
		if b.Certified == nil || b.Certified.Problem() != c.Problem() {
			return nil, fmt.Errorf("baseline %s must be one of the problem of the function", b.Name)
		}
	}
	c = handle.Copy(c)
	k := c.fn.K()
	if err := o.Validate(k); err != nil {
		return nil, err
	}
	if err := o.Shape.check(c.fn); err != nil {
		return nil, err
	}
	lower, err := o.lowerBound(c.system, proof)
	if err != nil {
		return nil, err
	}
	e := o.Error(c.fn)
	if choose {
		if b := o.better(all, e); b != nil {
			c, e = b.Certified, o.Error(b.Certified.fn)
		}
	}
	// e is a sum of about K/2 products of non-negative numbers.
	rounding := float64(e * float64(k+16) * 0x1p-53)
	if lower > e+rounding+1e-12 {
		return nil, fmt.Errorf("the proof shows that the error is at least %v, but it is %v", lower, e)
	}
	return &Table{
		Certified:     c,
		Objective:     o,
		ExpectedError: e,
		Baselines:     all,
		Proof:         proof,
		LowerBound:    math.Min(lower, e), // they may cross by a rounding error
		Gap:           gap(e+rounding, lower),
	}, nil
}

// better returns the best of the baselines that have the shape and an error below e, or
// nil.
func (o Objective) better(baselines []Named, e float64) *Named {
	var best *Named
	for i, b := range baselines {
		if of := o.Error(b.Certified.Func()); of < e && o.Shape.check(b.Certified.Func()) == nil {
			best, e = &baselines[i], of
		}
	}
	return best
}

// BetterBaseline returns the best of the baselines that have the shape and a smaller error
// than the table's function, or nil where none has: always so after BestTable.
func (t *Table) BetterBaseline() *Named {
	t = handle.Made(t)
	return t.better(t.Baselines, t.ExpectedError)
}

// gap returns above - lower, rounded up, and at least 0.
func gap(above, lower float64) float64 {
	if above <= lower {
		return 0
	}
	return math.Nextafter(above-lower, math.Inf(1))
}

// BaselineError returns the error of a baseline under the table's objective.
func (t *Table) BaselineError(b Named) float64 { return handle.Made(t).Error(b.Certified.Func()) }

// ErrorOfCoin returns the error of releasing nothing but fair coins, γ ≡ 0, under
// the table's objective: the scale on which gaps are judged.
func (t *Table) ErrorOfCoin() float64 {
	t = handle.Made(t)
	return t.Error(Func{make([]int64, t.Func().K()+1)})
}
