package plurality

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
)

// roundRounds bounds the attempts of Round; the first one succeeds unless ε is of the size of
// rounding errors.
const roundRounds = 8

// Round certifies the mechanism nearest to p, where p(i) is the probability of each class
// of variable i and may break rows a little, as a solver leaves it. With η the most by
// which a row is broken, p is mixed with the uniform distribution by
//
//	δ = 0:  λ = C(η + (1+E⁻)/D)/(E⁻-1)
//	δ > 0:  λ = min{η/(δ+η), Cη/(E⁻-1)} + C(1+E⁻)/(D(E⁻-1)),   η the excess over δ
//
// (C one larger with abstaining; λ = 1 where this is more) and rounded to masses by largest
// remainders: uniform has the slack (E⁻-1)/C in every row, and rounding moves p by less than 1/D.
// Where δ > 0 the slack lowers every term p - E⁻p' by (E⁻-1)λ/C, hence what is spent by at least
// that or to 0, and 1-λ scales it. Then every row is checked in integers. The error is a
// *constraints.ParameterError where p has other than finite values or ε is so small that uniform
// masses need not be private once rounded, or one of Certify. Cost: two passes over all pairs.
func Round(ctx context.Context, s *System, p []float64) (*Certified, error) {
	if s == nil {
		return nil, errNoSystem
	}
	q, err := s.normalise(p)
	if err != nil {
		return nil, err
	}
	eta, err := s.excess(ctx, q)
	if err != nil {
		return nil, err
	}
	// The excess is itself a float64 sum of a few numbers below 1.
	margin := 4.0
	for round := 0; ; round++ {
		if !(s.mixing(0, margin) <= 1) { // not even the uniform distribution survives rounding
			return nil, check.Want("label epsilon", s.problem.Epsilon,
				"so large that e^ε - 1 is far above 2^-53: masses are multiples of that")
		}
		c, err := Certify(ctx, s, s.masses(q, min(1, s.mixing(eta+margin*0x1p-52, margin))))
		var violation *ViolationError
		if !errors.As(err, &violation) || round == roundRounds {
			return c, err
		}
		margin *= 16
	}
}

// mixing returns λ, rounded up. margin multiplies what rounding may cost: 1 suffices for
// exact arithmetic, and what is here is in float64.
func (s *System) mixing(eta, margin float64) float64 {
	e, outputs := s.below, float64(s.problem.outputs())
	rounding := margin * outputs * (1 + e) / float64(One) / (e - 1)
	lambda := outputs * eta / (e - 1)
	if s.problem.Delta > 0 {
		lambda = min(lambda, eta/(s.problem.Delta+eta))
	}
	return (lambda + rounding) * (1 + 0x1p-40)
}

// normalise clips p at 0 and makes each histogram sum to 1.
func (s *System) normalise(p []float64) ([]float64, error) {
	if len(p) != s.Variables() {
		return nil, check.Wantf("number of probabilities", len(p), "%d, one for each variable",
			s.Variables())
	}
	q := slices.Clone(p)
	for h := range s.Histograms() {
		first, end := s.Range(h)
		sum := 0.0
		for i := first; i < end; i++ {
			q[i] = max(0, q[i]) // NaN stays
			sum += q[i] * float64(s.classesOf[i])
		}
		if !(sum > 0) || math.IsInf(sum, 1) {
			return nil, check.Want(fmt.Sprintf("sum of probabilities of %v", s.Histogram(h)), sum,
				"finite and > 0")
		}
		for i := first; i < end; i++ {
			q[i] /= sum
		}
	}
	return q, nil
}

// excess returns η, the most by which p breaks a row of the problem with E⁻, in float64:
// max (p_i - E⁻p_j)₊ where δ = 0, otherwise max (Σ n(p_i - E⁻p_j)₊ - δ)₊. The error is
// ctx.Err().
func (s *System) excess(ctx context.Context, p []float64) (float64, error) {
	eta := 0.0
	err := s.Pairs(ctx, func(pair *Pair) bool {
		sum := -s.problem.Delta
		for _, c := range pair.Columns {
			over := max(0, p[c.I]-s.below*p[c.J])
			if s.problem.Delta == 0 {
				eta = max(eta, over)
			} else {
				sum += float64(c.Classes) * over
			}
		}
		eta = max(eta, sum)
		return true
	})
	return eta, err
}

// masses mixes p, which is normalised, with the uniform distribution and rounds it.
func (s *System) masses(p []float64, lambda float64) []uint64 {
	mixed := make([]float64, len(p))
	uniform := lambda / float64(s.problem.outputs())
	for i, x := range p {
		mixed[i] = (1-lambda)*x + uniform
	}
	return s.Masses(mixed)
}

// Masses rounds p, where p(i) ≥ 0 is the probability of each class of variable i, to the groups'
// masses by largest remainders, so that they sum to One in each histogram. p sums to 1 there but
// for rounding errors, which the largest group takes.
func (s *Space) Masses(p []float64) []uint64 {
	s = handle.Made(s)
	out := make([]uint64, len(p))
	var rest []float64
	var order []int
	for h := range s.Histograms() {
		first, end := s.Range(h)
		rest, order = rest[:0], order[:0]
		left := int64(One)
		for i := first; i < end; i++ {
			g := p[i] * float64(s.classesOf[i]) * float64(One)
			whole := math.Floor(g)
			out[i] = uint64(whole)
			left -= int64(whole)
			rest, order = append(rest, g-whole), append(order, i-first)
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rest[b], rest[a]) })
		// Some units are left, fewer than there are groups.
		for _, k := range order {
			if left <= 0 {
				break
			}
			out[first+k]++
			left--
		}
		// But for the rounding of g, which may leave a few of either sign: the largest group takes them.
		largest := first
		for i := first; i < end; i++ {
			if out[i] > out[largest] {
				largest = i
			}
		}
		out[largest] = uint64(int64(out[largest]) + left)
	}
	return out
}
