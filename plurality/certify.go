package plurality

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/meter"
)

// One is D, the sum of each histogram's group masses.
const One = uint64(1) << 53

// Certificate counts the checks that were made, all of them in integers.
type Certificate struct {
	Pairs int64 `json:"pairs"` // ordered pairs of neighbouring histograms, up to the names of the classes
	Rows  int64 `json:"rows"`  // their columns: one inequality each, or one term each where δ > 0
	// Spent is the largest Σ (p - E⁻p')₊ of a pair, rounded up: at most δ. It is 0 where δ is.
	Spent float64 `json:"spent"`
}

// ViolationError is the error for masses that do not keep the promise. It names a place where they
// fail.
type ViolationError struct {
	Problem  Problem
	From, To []int // two neighbouring histograms; classes do not correspond
	Votes    int   // of the class in From that shows it, where δ = 0
	P, Q     float64
}

func (e *ViolationError) Error() string {
	if e.Problem.Delta > 0 {
		return fmt.Sprintf("the masses are not certified (%g, %g)-differentially private: from votes "+
			"%v to %v the sum over answers of p - e^ε·p' reaches %.17g",
			e.Problem.Epsilon, e.Problem.Delta, e.From, e.To, e.P)
	}
	return fmt.Sprintf("the masses are not certified %g-differentially private: with votes %v a "+
		"class with %d votes is the answer with probability %.17g, with votes %v it is so with %.17g",
		e.Problem.Epsilon, e.From, e.Votes, e.P, e.To, e.Q)
}

// Certified is a mechanism with the proof of what it promises: integer masses of which
// every privacy row has been checked. It can only be made by certifying, so whoever holds
// one may release with it. It is immutable and safe for concurrent use.
type Certified struct {
	system      *System
	masses      []uint64
	certificate Certificate
}

// System returns a copy of what the mechanism is one for, nil of the zero Certified.
func (c *Certified) System() *System {
	if c == nil {
		return nil
	}
	return c.system.copy()
}

// Same reports whether both are one mechanism: the same numbers, for the same problem.
func (c *Certified) Same(d *Certified) bool {
	return c != nil && d != nil && c.Problem() == d.Problem() && slices.Equal(c.masses, d.masses)
}

// Problem returns what is promised. The zero Certified promises nothing: K = 0.
func (c *Certified) Problem() Problem {
	if c == nil || c.system == nil {
		return Problem{}
	}
	return c.system.problem
}

// Certificate returns what was checked.
func (c *Certified) Certificate() Certificate { return handle.Made(c).certificate }

// Mass returns g(λ,v) of variable i: with probability g/D the answer is one of the classes
// with v votes, each equally likely.
func (c *Certified) Mass(i int) uint64 {
	if handle.Made(c).masses == nil {
		return 0
	}
	return c.masses[i]
}

// Certify checks that the masses, one for each variable of s, sum to One in each
// histogram, and that every privacy row holds:
//
//	δ = 0:  g_i·m_j ≤ E⁻·g_j·m_i                        for each column of each pair
//	δ > 0:  Σ_columns n·(g_i/m_i - E⁻·g_j/m_j)₊ ≤ δ·D   for each ordered pair
//
// in integers, the sum rounded up. The error is a *ViolationError, a *constraints.ParameterError
// for masses that are none, or ctx.Err(). Cost: O(C) a pair.
func Certify(ctx context.Context, s *System, masses []uint64) (*Certified, error) {
	if s == nil || s.Space == nil {
		return nil, errNoSystem
	}
	if err := s.CheckMasses(masses); err != nil {
		return nil, err
	}
	c := &Certified{system: s.copy(), masses: append([]uint64(nil), masses...)}
	allowed, worst, from := s.allowed(), uint64(0), -1
	var violation *ViolationError
	err := s.Pairs(ctx, func(p *Pair) bool {
		if p.From != from { // they come in order
			meter.Share(ctx, float64(from+1), float64(s.Histograms()))
			from = p.From
		}
		c.certificate.Pairs++
		c.certificate.Rows += int64(len(p.Columns))
		if s.problem.Delta == 0 {
			violation = s.checkRows(masses, p)
		} else {
			spent := s.spent(s.factor, masses, p)
			worst = max(worst, spent)
			if spent > allowed {
				violation = &ViolationError{Problem: s.problem, From: s.Histogram(p.From),
					To: s.Histogram(p.To), P: float64(spent) / unitsPerOne}
			}
		}
		return violation == nil
	})
	if err != nil {
		return nil, err // pairs may have been left out
	}
	if violation != nil {
		return nil, violation
	}
	c.certificate.Spent = inUnits(worst)
	return c, nil
}

// CheckMasses returns a *constraints.ParameterError unless there is one mass for each variable and
// they sum to One in each histogram.
func (s *Space) CheckMasses(masses []uint64) error {
	s = handle.Made(s)
	if len(masses) != s.Variables() {
		return check.Wantf("number of masses", len(masses), "%d, one for each variable", s.Variables())
	}
	for h := range s.Histograms() {
		sum := uint64(0)
		for i := s.start[h]; i < s.start[h+1]; i++ {
			if masses[i] > One {
				return check.Want(fmt.Sprintf("mass of %v", s.Histogram(h)), masses[i], "at most 2^53")
			}
			sum += masses[i]
		}
		if sum != One {
			return check.Want(fmt.Sprintf("sum of masses of %v", s.Histogram(h)), sum, "2^53")
		}
	}
	return nil
}

// inUnits returns so many units as a probability, rounded up.
func inUnits(n uint64) float64 {
	if n == 0 {
		return 0
	}
	return min(1, math.Nextafter(float64(n)/unitsPerOne, 1)) // n may have more than 53 bits
}

// checkRows checks one pair where δ = 0 (plurality_private in proofs/Plurality.v).
func (s *System) checkRows(g []uint64, p *Pair) *ViolationError {
	for _, c := range p.Columns {
		mi, mj := uint64(s.classesOf[c.I]), uint64(s.classesOf[c.J])
		if !s.factor.atMost(g[c.I]*mj, g[c.J]*mi) {
			return &ViolationError{
				Problem: s.problem, From: s.Histogram(p.From), To: s.Histogram(p.To), Votes: s.Votes(c.I),
				P: float64(g[c.I]) / float64(One) / float64(mi),
				Q: float64(g[c.J]) / float64(One) / float64(mj),
			}
		}
	}
	return nil
}

// What a pair spends of δ is counted in units of 2⁻⁶¹, each term rounded up.
const (
	unitBits    = 8 // of a mass
	unitsPerOne = float64(One << unitBits)
)

// allowed returns δ in units, rounded down.
func (s *System) allowed() uint64 {
	x := new(big.Rat).Mul(s.delta, new(big.Rat).SetInt(new(big.Int).SetUint64(One<<unitBits)))
	return new(big.Int).Quo(x.Num(), x.Denom()).Uint64()
}

// spent returns Σ_columns n·(p_i - f·p_j)₊ of a pair, in units, each term rounded up.
func (s *System) spent(f factor, g []uint64, p *Pair) uint64 {
	sum := uint64(0)
	for _, c := range p.Columns {
		mi, mj := uint64(s.classesOf[c.I]), uint64(s.classesOf[c.J])
		sum += f.excess(g[c.I]*mj, g[c.J]*mi, uint64(c.Classes), mi*mj)
	}
	return sum // at most Σ p_i and one unit for each column: no overflow
}

// factor is E⁻ = n/2^shift, exactly the float64 that it was made from.
//
// Masses are at most 2⁵³ and classes fewer than 2¹⁰, so that the products a and b below
// are at most 2⁶³. E⁻ = 2⁶³ lets any b ≥ 1 through, as every larger factor does.
type factor struct {
	n     uint64
	shift uint // at most 52
}

// newFactor returns e as a fraction, 1 ≤ e ≤ 2⁶³.
func newFactor(e float64) factor {
	if !(e >= 1 && e <= 0x1p63) {
		panic(fmt.Sprintf("plurality: factor %v", e))
	}
	_, exp := math.Frexp(e) // e = f·2^exp, f in [1/2, 1)
	shift := max(0, 53-exp)
	return factor{uint64(math.Ldexp(e, shift)), uint(shift)}
}

// atMost reports whether a ≤ E⁻·b, exactly, for a and b up to 2⁶³.
func (f factor) atMost(a, b uint64) bool {
	hi, lo := bits.Mul64(f.n, b)
	ahi, alo := shiftLeft(a, f.shift)
	return ahi < hi || ahi == hi && alo <= lo
}

// excess returns n·(a - E⁻b)₊/m in units, rounded up: a = g_i·m_j, b = g_j·m_i, m = m_i·m_j.
func (f factor) excess(a, b, n, m uint64) uint64 {
	if f.atMost(a, b) {
		return 0
	}
	hi, lo := bits.Mul64(f.n, b)
	ahi, alo := shiftLeft(a, f.shift) // < 2¹¹⁵
	lo, borrow := bits.Sub64(alo, lo, 0)
	hi, _ = bits.Sub64(ahi, hi, borrow)
	// times n < 2¹⁰
	h1, l1 := bits.Mul64(lo, n)
	h1 += hi * n
	// to units: times 2^unitBits / 2^shift
	switch down := int(f.shift) - unitBits; {
	case down > 0:
		rest := l1 & (1<<down - 1)
		l1, h1 = l1>>down|h1<<(64-down), h1>>down
		if rest != 0 {
			var carry uint64
			l1, carry = bits.Add64(l1, 1, 0)
			h1 += carry
		}
	case down < 0:
		up := -down
		h1, l1 = h1<<up|l1>>(64-up), l1<<up
	}
	q, r := bits.Div64(h1, l1, m) // the quotient is at most p_i·n in units: below 2⁶²
	if r > 0 {
		q++
	}
	return q
}

// shiftLeft returns a·2^n in two words, n < 64.
func shiftLeft(a uint64, n uint) (hi, lo uint64) {
	return a >> (64 - n), a << n // a shift by 64 gives 0
}
