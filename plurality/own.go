package plurality

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/num"
)

// HistogramLaw states what a mechanism answers to the votes of one histogram.
type HistogramLaw struct {
	Votes []int // of each class: descending, unless the classes are told apart
	// of each class, in their order, then of abstaining where that is an answer
	Probabilities []float64
}

// FromGiven returns the masses nearest to the laws that somebody worked out, one for each histogram
// of s in any order, and the largest change of a class's probability, rounded up. They are rounded
// by largest remainders (Space.Masses), after each law was divided by its sum, and nothing is mixed
// in: whether they are private is for CertifyDelta and CertifyEpsilon to tell.
//
// The errors name the histogram: one that is missing, there twice, of other votes or not in
// descending order, a probability outside [0,1] or no number, a sum that is not 1 to within
// 1e-9, and classes with the same votes whose probabilities differ by more
// than that, since such a mechanism treats classes alike. Where those of s are told apart, neither order nor equality is
// asked for.
func (s *Space) FromGiven(laws []HistogramLaw) (masses []uint64, change float64, err error) {
	s = handle.Made(s)
	p, given := make([]float64, s.Variables()), make([][]float64, s.Histograms())
	for _, law := range laws {
		if !s.named && !slices.IsSortedFunc(law.Votes, func(a, b int) int { return b - a }) {
			return nil, 0, check.Want("histogram", law.Votes, "in descending order, with "+
				"the probabilities in the same order: the names of the classes do not matter")
		}
		h, err := s.Index(law.Votes)
		if err != nil {
			return nil, 0, fmt.Errorf("histogram %v: %w", law.Votes, err)
		}
		if given[h] != nil {
			return nil, 0, check.Want("histogram", law.Votes, "there once")
		}
		given[h] = law.Probabilities
		if err := s.group(h, law.Probabilities, p); err != nil {
			return nil, 0, err
		}
	}
	for h := range given {
		if given[h] == nil {
			return nil, 0, check.Wantf("histogram", s.Histogram(h), "among those that are given, %d of %d",
				len(laws), s.Histograms())
		}
	}
	masses = s.Masses(p)
	for h, probabilities := range given {
		change = max(change, s.change(h, probabilities, masses))
	}
	return masses, change, nil
}

// group sets the variables of histogram h to the law's probabilities.
func (s *Space) group(h int, law, p []float64) error {
	votes := s.Histogram(h)
	bad := func(what string, value any, rule string) error {
		return check.Want(fmt.Sprintf("%s of histogram %v", what, votes), value, rule)
	}
	outputs := s.classes
	if s.abstain {
		outputs++
	}
	if len(law) != outputs {
		return bad("number of probabilities", len(law), fmt.Sprint(outputs))
	}
	sum, given := 0.0, law
	law = slices.Clone(law)
	for c, x := range given {
		var err error
		if law[c], err = check.Given(fmt.Sprintf("probability of histogram %v", votes), x); err != nil {
			return err
		}
		sum += law[c]
	}
	if !(math.Abs(sum-1) <= check.GivenTolerance) {
		return bad("sum of probabilities", sum, fmt.Sprintf("1, to within %g", check.GivenTolerance))
	}
	first, end := s.Range(h)
	for i, c := first, 0; i < end; i++ {
		alike := law[c : c+s.ClassesOf(i)]
		if slices.Max(alike)-slices.Min(alike) > check.GivenTolerance {
			return bad(fmt.Sprintf("probabilities of classes with %d votes", s.Votes(i)), alike,
				"equal: take their mean, which is as private")
		}
		for _, x := range alike {
			p[i] += x
		}
		p[i] /= sum * float64(len(alike))
		c += len(alike)
	}
	return nil
}

// change returns the largest |given - drawn| of a class in histogram h, rounded up.
func (s *Space) change(h int, law []float64, masses []uint64) float64 {
	most := new(big.Rat)
	first, end := s.Range(h)
	for i, c := first, 0; i < end; i++ {
		drawn := new(big.Rat).SetFrac(new(big.Int).SetUint64(masses[i]),
			new(big.Int).Mul(big.NewInt(int64(s.ClassesOf(i))), new(big.Int).SetUint64(One)))
		for range s.ClassesOf(i) {
			d := new(big.Rat).SetFloat64(law[c])
			if d.Sub(d, drawn).Abs(d).Cmp(most) > 0 {
				most = d
			}
			c++
		}
	}
	return num.FromRat(most).Upper()
}

// CertifyDelta certifies the masses of p's histograms with the smallest δ at the ε of p. p.Delta is
// not looked at. The masses themselves are certified, and nothing is mixed in. The sums that δ must
// cover are those of Certify, in integers, each term rounded up. The error is a *ViolationError
// where no δ below 1 suffices, a *constraints.ParameterError, or ctx.Err(). Cost: three passes over
// all pairs.
func CertifyDelta(ctx context.Context, p Problem, masses []uint64) (*Certified, error) {
	p.Delta = 0
	s, err := NewSystem(p)
	if err != nil {
		return nil, err
	}
	if err := s.CheckMasses(masses); err != nil {
		return nil, err
	}
	worst, err := s.worst(ctx, []factor{s.factor}, masses)
	if err != nil {
		return nil, err
	}
	if !(inUnits(worst[0]) < 1) {
		_, err := Certify(ctx, s, masses)
		return nil, fmt.Errorf("no delta below 1 is proved: %w", err)
	}
	// Where the shortest decimal of the float64 lies below it, the next one does not.
	for delta := inUnits(worst[0]); ; delta = math.Nextafter(delta, 1) {
		if s, err = s.with(p.Epsilon, delta); err != nil {
			return nil, err
		}
		if s.allowed() >= worst[0] {
			return Certify(ctx, s, masses)
		}
	}
}

// CertifyEpsilon certifies the masses of p's histograms with the smallest ε of ten digits at the δ
// of p, found by bisection. p.Epsilon is not looked at. The masses themselves are certified, and
// nothing is mixed in. The bisection ends on the private side, at an ε that Certify then shows. The
// error is a *ViolationError where no ε up to 700 suffices, a *constraints.ParameterError, or
// ctx.Err(). Cost: some fifty passes over all pairs.
func CertifyEpsilon(ctx context.Context, p Problem, masses []uint64) (*Certified, error) {
	p.Epsilon = check.MaxTotalEpsilon
	s, err := NewSystem(p)
	if err != nil {
		return nil, err
	}
	if _, err := Certify(ctx, s, masses); err != nil {
		return nil, fmt.Errorf("no epsilon is proved: %w", err)
	}
	epsilon, err := num.LeastTenDigits(0, p.Epsilon, leastEpsilon, func(x float64) (bool, error) {
		worst, err := s.worst(ctx, []factor{factorOf(x)}, masses)
		return err == nil && worst[0] <= s.allowed(), err
	})
	if err != nil {
		return nil, err
	}
	if s, err = s.with(epsilon, p.Delta); err != nil {
		return nil, err
	}
	return Certify(ctx, s, masses)
}

// leastEpsilon is the smallest ε that CertifyEpsilon tries.
const leastEpsilon = 1e-6

// with returns s for another (ε, δ): the histograms are the same.
func (s *System) with(epsilon, delta float64) (*System, error) {
	p := s.problem
	p.Epsilon, p.Delta = epsilon, delta
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return newSystem(s.Space, p), nil
}

// Profile returns, for each ε ≥ 0 of the grid, a δ such that one answer is (ε, δ)-differentially
// private when one record changes at most t votes:
//
//	δ(ε) = max Σ_c (p(h,c) - e^ε·p(h',c))₊
//
// over all ordered pairs of histograms at 1 to t moved votes, so that both directions are in
// it. It is worked out from the integer masses, with E⁻ ≤ e^ε in place of e^ε and every term
// rounded up, as Certify does with the promised ε. Each ε stands for its decimal and is at most
// 700; the error is a *constraints.ParameterError that names it, or ctx.Err().
//
// Cost: O(C) a pair and ε, of which Certificate has the numbers: a second for the rows of
// (25,10), 130,000, and 500 values of ε.
func (c *Certified) Profile(ctx context.Context, epsilons []float64) ([]float64, error) {
	if c.Problem().K < 1 {
		return nil, errUncertified
	}
	factors := make([]factor, len(epsilons))
	for k, epsilon := range epsilons {
		if err := check.ProfileEpsilon(epsilon); err != nil {
			return nil, err
		}
		factors[k] = factorOf(epsilon)
	}
	worst, err := c.system.worst(ctx, factors, c.masses)
	if err != nil {
		return nil, err
	}
	deltas := make([]float64, len(worst))
	for k, units := range worst {
		deltas[k] = inUnits(units)
	}
	return deltas, nil
}

// worst returns, for each factor in the place of e^ε, what the pair spends that spends most. The
// error is ctx.Err().
func (s *System) worst(ctx context.Context, factors []factor, masses []uint64) ([]uint64, error) {
	worst := make([]uint64, len(factors))
	err := s.Pairs(ctx, func(p *Pair) bool {
		for k, f := range factors {
			worst[k] = max(worst[k], s.spent(f, masses, p))
		}
		return true
	})
	return worst, err
}
