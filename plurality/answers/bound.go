package answers

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/big"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plurality"
)

// HasChains reports whether the laws chain and coins are for p: two classes, t = 1, and never the
// answer no class.
func (p Problem) HasChains() bool { return p.Classes == 2 && p.Affected == 1 && !p.Abstain }

// Chain returns, for leads 0 to k of one of two classes, the probability that the leading one is
// the answer. From a tie, where it is ½, next leads to lead 2, 4, …. The odd leads begin with
// first, which is the largest probability at lead 1 beside one minus it at lead -1. Both chains
// stop growing at 1. Where every teacher votes, k and the lead have one parity, and the others are
// not used.
func Chain(k int, first float64, next func(p float64) float64) []float64 {
	a := make([]float64, k+1)
	for lead := range a {
		switch {
		case lead == 0:
			a[lead] = 0.5
		case lead == 1:
			a[lead] = first
		case a[lead-2] == 1:
			a[lead] = 1
		default:
			a[lead] = next(a[lead-2])
		}
	}
	return a
}

// boundSlack is added to the stated bound of two classes, which is made from logarithms: another
// processor may find it in the last digit.
const boundSlack = 0x1p-30

// twoClassBound returns an upper bound on the agreement of any table for two classes that is used
// for all Q answers. Q coins of bias p against Q of bias q are (ε, δ)-indistinguishable for the
// biases of neighbouring leads, since the same histogram may be asked Q times. Let every a_k be the
// largest bias that this allows beside the one before. No table has a larger one anywhere: where p
// ≤ p' ≤ q, the coins of p' and q are a post-processing of those of p and q. Votes that a table
// treats differently by the classes' names are averaged, which neither the price nor a prior
// without names notices.
//
// Each bias and each sum is rounded up. Neighbours at two votes' distance only are used: for t > 1
// this is a bound still, and not a close one.
func (s *System) twoClassBound(w plurality.Weights) float64 {
	p := s.problem
	if p.Classes != 2 || p.Abstain {
		return 1
	}
	return p.LeadBound(func(yield func(lead int, weight float64) bool) {
		for h, weight := range w.High {
			if !yield(s.Lead(h), weight) {
				return
			}
		}
	})
}

// LeadBound returns an upper bound, at most 1, on the agreement of any table of a Problem of two
// classes that is used for all Q answers and treats the classes alike: Σ weight·a_lead, a the
// CoinChain, over the leads of votes and their weights, and 1 for a_lead where both classes have
// the most votes. Every step is rounded up.
func (p Problem) LeadBound(leads iter.Seq2[int, float64]) float64 {
	a := p.CoinChain(p.Epsilon)
	sum := 0.0
	if leads == nil {
		return 1 // which bounds every table
	}
	for lead, weight := range leads {
		if lead == 0 { // both classes have the most votes
			sum = up(sum + weight)
			continue
		}
		sum = up(sum + up(weight*a[lead]))
	}
	return min(1, sum+boundSlack)
}

// CoinChain returns the Chain of a Problem of two classes of which each link is the largest that Q
// coins allow: those of neighbouring leads are (ε, δ)-indistinguishable, at this ε in (0, 700] and
// at the problem's δ. Each probability is rounded up. Cost: some 100 µs a lead for 1,000 answers.
func (p Problem) CoinChain(epsilon float64) []float64 {
	c := newCoins(p.Answers, epsilon, p.Delta)
	first := c.above(0.5, func(q float64) bool { return c.apart(q, 1-q) })
	return Chain(p.K, first, func(p float64) float64 {
		return c.above(p, func(q float64) bool { return c.apart(q, p) || c.apart(1-p, 1-q) })
	})
}

// coins judges whether Q coins of one bias and of another are told apart beyond (ε, δ).
type coins struct {
	q             int
	epsilon       float64
	factor, delta float64 // ≥ e^ε and ≥ δ
	all           float64 // ln Q!
}

func newCoins(q int, epsilon, delta float64) coins {
	l, _ := math.Lgamma(float64(q + 1))
	return coins{q: q, epsilon: epsilon, factor: num.Exp(num.Decimal(epsilon)).Upper(),
		delta: num.FromRat(num.Decimal(delta)).Upper(), all: l}
}

// CoinDelta returns about the δ of the dearest pair of a table of two classes that is never without
// an answer: of Q coins of its one bias beside Q of its other, at the problem's ε. It is a lower
// bound of the price, since an adversary may ask for one pair always. The error is ctx.Err().
// Cost: some microseconds a pair.
func (s *System) CoinDelta(ctx context.Context, masses []uint64) (float64, error) {
	s = handle.Made(s)
	c := newCoins(s.problem.Answers, s.problem.Epsilon, s.problem.Delta)
	most := 0.0
	for pair, err := range s.Laws(ctx, masses) {
		if err != nil {
			return 0, err
		}
		first := pair[0]
		a := float64(first.P.Mass) / float64(first.P.Classes) * 0x1p-53
		b := float64(first.PPrime.Mass) / float64(first.PPrime.Classes) * 0x1p-53
		a, b = max(a, b), min(a, b)
		most = max(most, c.price(a, b), c.price(1-b, 1-a))
	}
	return most, nil
}

// above returns a number such that far holds for it and so for every larger one, found by bisection
// from low: at most 1, where nothing is judged.
func (c coins) above(low float64, far func(float64) bool) float64 {
	high := 1.0
	for range 60 {
		mid := float64((low + high) / 2)
		if mid <= low || mid >= high {
			break
		}
		if far(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// apart reports whether Q coins of bias a > b break the bound for certain: whether
//
//	Pr_a[J ≥ j] - e^ε·Pr_b[J ≥ j] > δ
//
// at the j from which the likelihood ratio is e^ε. Every j would prove it, so that j need not be
// exact.
func (c coins) apart(a, b float64) bool { return c.price(a, b) > c.delta }

// price returns a number that Pr_a[J ≥ j] - e^ε·Pr_b[J ≥ j] is not below, close to it.
func (c coins) price(a, b float64) float64 {
	if !(a > b) || !(a < 1) || !(b > 0) {
		return 0
	}
	n := float64(c.q)
	heads, tails := math.Log(a/b), math.Log1p(-b)-math.Log1p(-a)
	j := math.Ceil((c.epsilon + float64(n*tails)) / (heads + tails))
	if !(j <= n) {
		return 0
	}
	from := max(0, int(j))
	low, _ := c.tail(a, from)
	_, high := c.tail(b, from)
	return down(low - up(c.factor*high))
}

// tail returns bounds of Pr[J ≥ from] of a binomial J of Q coins of bias p.
func (c coins) tail(p float64, from int) (low, high float64) {
	if from <= 0 {
		return 1, 1
	}
	if float64(from) > p*float64(c.q) {
		return c.sum(p, 1-p, from)
	}
	low, high = c.sum(1-p, p, c.q-from+1)
	return max(0, down(1-high)), min(1, up(1-low))
}

// sum returns bounds of Σ_{j ≥ from} B(j) for p of heads and q of tails, from above the mean, where
// each term is smaller than the one before it.
func (c coins) sum(p, q float64, from int) (low, high float64) {
	n := float64(c.q)
	j := float64(from)
	a, _ := math.Lgamma(j + 1)
	b, _ := math.Lgamma(n - j + 1)
	lp, lq := math.Log(p), math.Log(q)
	term := math.Exp(c.all - a - b + float64(j*lp) + float64((n-j)*lq))
	// Each of the exponent's parts is off by some units in its last place; each term by the
	// three roundings of its quotient more than the one before.
	size := c.all + math.Abs(a) + math.Abs(b) + float64(j*math.Abs(lp)) + float64((n-j)*math.Abs(lq)) +
		16
	odds, sum, terms := p/q, 0.0, 0
	for ; j <= n; j++ {
		sum += term
		terms++
		ratio := (n - j) / (j + 1) * odds
		term *= ratio
		if term < sum*0x1p-60 && ratio < 0.999 {
			break
		}
	}
	margin := float64(8*0x1p-53*size) + float64(8*0x1p-53*float64(terms))
	// What is left out is below a geometric series of ratio .999.
	return sum * (1 - margin), (sum + float64(1000*term)) * (1 + float64(2*margin))
}

// Proof proves an upper bound on the agreement of every table whose neighbours keep to the Law's
// Moment: multipliers y ≥ 0 of tangents. Let f(p, p') = p^α·p'^(1-α), which is convex, and ρ ≥ 0.
// Then
//
//	f(p, p') ≥ α·ρ^(α-1)·p - (α-1)·ρ^α·p'
//
// with equality at p = ρ·p', so that Σ over a pair's outcomes of the right side is at most 1 + R.
// The empty Proof is valid and proves nothing.
type Proof []Tangent

// Tangent is a pair of neighbouring histograms of the Space, ρ of each of its columns in the order
// of plurality.Pair.Columns, and the multiplier of their sum.
type Tangent struct {
	From    int
	Changes []plurality.Change
	Ratios  []float64
	Value   float64
}

// lawBound returns
//
//	U = Σ_λ max_v r(λ,v)/m(λ,v) + (1+R)·Σ y,   r = w·m·[plurality class] - Σ y·tangent
//
// rounded up, at most 1: no table under l's Moment agrees more often. The error names a multiplier
// that is not finite and ≥ 0 or that is of no pair of neighbours.
func (s *System) lawBound(w plurality.Weights, abstainValue float64, l Law,
	proof Proof) (float64, error) {
	if len(proof) == 0 {
		return 1, nil
	}
	if l.Name != ProgramLaw {
		return 0, fmt.Errorf("the proof has multipliers, but the law is %q", l.Name)
	}
	order := int(l.Order)
	n := s.space.Variables()
	gain, loss, terms := make([]float64, n), make([]float64, n), make([]int32, n)
	sum := new(big.Float).SetPrec(128).SetMode(big.ToPositiveInf)
	for k, m := range proof {
		pair, ok := s.space.Between(m.From, s.reach(), m.Changes)
		if !ok || len(m.Ratios) != len(pair.Columns) {
			return 0, fmt.Errorf("multiplier %d is of no pair of neighbouring histograms", k)
		}
		if !(m.Value >= 0) || math.IsInf(m.Value, 1) {
			return 0, fmt.Errorf("multiplier %d = %v, but it must be finite and ≥ 0", k, m.Value)
		}
		sum.Add(sum, big.NewFloat(m.Value))
		for i, c := range pair.Columns {
			rho := m.Ratios[i]
			if !(rho >= 0) || math.IsInf(rho, 1) {
				return 0, fmt.Errorf("a ratio of multiplier %d = %v, but it must be finite and ≥ 0", k, rho)
			}
			// A tangent whose first coefficient is smaller and second one larger is weaker.
			scale := m.Value
			first, second := 1.0, 1.0
			for range order - 1 {
				first, second = max(0, down(first*rho)), up(second*rho)
			}
			second = up(second * rho)
			first = max(0, down(float64(order)*float64(c.Classes)*first))
			second = up(float64(order-1) * float64(c.Classes) * second)
			loss[c.I] += max(0, down(first*scale))
			gain[c.J] += up(second * scale)
			terms[c.I]++
			terms[c.J]++
		}
	}
	one := num.FromInt(1).Add(num.FromRat(num.Decimal(l.Moment)))
	total, _ := sum.Float64()
	return s.space.Ceiling(w, abstainValue, gain, loss, terms, up(up(total)*one.Upper())), nil
}
