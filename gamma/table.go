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
	// Costs of Shape ByName: of answering 0 where 1 has more votes, and of answering 1 where 0 has. Both are
	// 1 where the pair is the zero value.
	Costs [2]float64
}

// Validate returns an error naming the first field that breaks its rule, for K
// teachers.
func (o Objective) Validate(k int) error {
	if err := check.Known("shape", o.Shape, Shapes()); err != nil {
		return err
	}
	if o.Shape == ByName && o.Counts == nil {
		return check.Want("shape", fmt.Sprintf("%q", o.Shape), "another without counts: a prior mean treats the labels alike")
	}
	if o.Costs != [2]float64{} {
		if o.Shape != ByName {
			return check.Want("costs", o.Costs, fmt.Sprintf("left out but for shape %q", ByName))
		}
		for answer, x := range o.Costs {
			if !(x >= 0 && x <= MaxCost) || o.Costs[0]+o.Costs[1] == 0 {
				return check.Wantf(fmt.Sprintf("cost of answering %d wrongly", answer), x, "between 0 and %g, one of both above 0", MaxCost)
			}
		}
	}
	given := 0
	for _, is := range []bool{o.PriorMean != 0, o.Counts != nil, o.WorstCase} {
		if is {
			given++
		}
	}
	if given > 1 {
		return check.Want("objective", "several priors", "one of prior mean, counts and worst case")
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
		return check.Wantf("number of counts", len(counts), "K+1 = %d", k+1)
	}
	return nil
}

// Equal reports whether o and p are the same objective.
func (o Objective) Equal(p Objective) bool {
	return o.PriorMean == p.PriorMean && slices.Equal(o.Counts, p.Counts) &&
		o.WorstCase == p.WorstCase && o.Shape == p.Shape && o.Costs == p.Costs
}

// MaxCost bounds a stated cost.
const MaxCost = 1e6

// costs is Costs with its default.
func (o Objective) costs() [2]float64 {
	if o.Costs == [2]float64{} {
		return [2]float64{1, 1}
	}
	return o.Costs
}

// Lopsided reports whether the counts favour one label, by more than formulas round. Shapes but ByName treat both labels alike: their
// optimum and their bound take half of the counts and half of their mirror image, and a mechanism that
// treats the labels differently may disagree less.
func (o Objective) Lopsided() bool {
	for l, c := range o.Counts {
		if other := o.Counts[len(o.Counts)-1-l]; math.Abs(c-other) > rounded*(c+other) {
			return true
		}
	}
	return false
}

// rounded is how far counts of both labels may be apart, relative to their sum, that a formula gave: an optimum of
// such counts is one of their mirror image but for rounding errors.
const rounded = 1e-12

// Weights returns the weight of each free value of γ in the objective, of each value for ByName. The worst case has no
// weights of its own; the error says so.
func (o Objective) Weights(k int) ([]float64, error) {
	switch {
	case o.WorstCase:
		return nil, fmt.Errorf("the worst case has no weights")
	case o.Shape == ByName:
		return weightsByName(o.Counts, o.costs())
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
		off := weightsError(k)
		if o.Shape == ByName {
			off *= max(1, o.Costs[0], o.Costs[1])
		}
		return lowerBound(s, weights, off, o.Shape, proof.Multipliers)
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

// OptimalGap is the largest gap, relative to the error of releasing nothing but coins, of a table that is
// called optimal.
const OptimalGap = 1e-6

// Optimal reports whether it is proved that the table is optimal, within OptimalGap: not so where the solve
// ended early. An empty proof is enough where the error is next to 0, as no error is negative.
func (t *Table) Optimal() bool {
	t = handle.Made(t)
	return t.Certified != nil && t.Gap <= OptimalGap*t.ErrorOfCoin()
}

// Bounded reports whether it is proved how far the table is from the optimum: it has a proof, or none
// can be better by more than OptimalGap.
func (t *Table) Bounded() bool {
	t = handle.Made(t)
	return len(t.Proof.Multipliers) > 0 || t.Optimal()
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

// ByLabel says how a function treats the labels, under an objective of shape ByName.
type ByLabel struct {
	// Leads is how often each label has the most votes, a tie included, and Recall how often it is released
	// there: 0 of a label that never leads.
	Leads, Recall [2]float64
	// Constant is the label that is worth most where it is always released, and ConstantError its error.
	Constant      int
	ConstantError float64
}

// ByLabel returns how f treats the labels: the zero value where the objective is of another shape or of
// another number of teachers.
func (o Objective) ByLabel(f Func) ByLabel {
	weights, err := o.Weights(f.K())
	if o.Shape != ByName || err != nil || len(weights) != f.K()+1 {
		return ByLabel{}
	}
	var out ByLabel
	var always [2]float64
	total := 0.0
	for l, phi := range f.Phi() {
		one := float64((1 + phi) / 2) // by itself: no processor may take it into a sum
		total += o.Counts[l]
		if 2*l <= f.K() {
			out.Leads[0] += o.Counts[l]
			out.Recall[0] += float64(o.Counts[l] * (1 - one))
		}
		if 2*l >= f.K() {
			out.Leads[1] += o.Counts[l]
			out.Recall[1] += float64(o.Counts[l] * one)
		}
		if 2*l < f.K() {
			always[1] += 2 * weights[l]
		} else {
			always[0] += 2 * weights[l]
		}
	}
	for label, leads := range out.Leads {
		if leads > 0 {
			out.Recall[label] /= leads
			out.Leads[label] /= total
		}
	}
	if always[1] < always[0] {
		out.Constant = 1
	}
	out.ConstantError = always[out.Constant]
	return out
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
