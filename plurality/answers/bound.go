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

// HasChains reports whether the laws chain and coins are for p: two classes, and never the answer no
// class.
func (p Problem) HasChains() bool { return p.Classes == 2 && !p.Abstain }

// boundSlack is added to the stated bound of two classes, which is made from logarithms: another
// processor may find it in the last digit.
const boundSlack = 0x1p-30

// twoClassBound returns an upper bound on the agreement of any table for two classes that is used
// for all Q answers. Q coins of bias p against Q of bias q are (ε, δ)-indistinguishable for the
// biases of histograms that 1 to t teachers lead between, since the same histogram may be asked Q
// times: a table obeys CoinLink. So it does not agree more often than the best of the window.
// Votes that a table treats differently by the classes' names are averaged, which neither the price
// nor a prior without names notices.
//
// Each bias and each sum is rounded up, and what lies in a cell is taken at its better ends.
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
// classes that is used for all Q answers and treats the classes alike, over the leads of votes, 0 to K,
// and their weights. At a tie both classes are right. Every step is rounded up. Cost: some
// hundredth of a second, a second of thousands of answers at t > 1.
func (p Problem) LeadBound(leads iter.Seq2[int, float64]) float64 {
	if leads == nil {
		return 1 // which bounds every table
	}
	weight := make([]float64, p.K+1)
	for lead, x := range leads {
		if lead < 0 || lead > p.K {
			return 1
		}
		// A lead of the other parity is one of votes of which some are missing.
		p.Missing = p.Missing || x > 0 && (p.K-lead)%2 != 0
		weight[lead] = up(weight[lead] + x)
	}
	p.Affected = max(1, p.Affected)
	bound := p.newWindow(weight, p.CoinLink(p.Epsilon)).bound(p.boundLinks())
	return min(1, bound+boundSlack)
}

// boundLinks is about the number of links that a bound may take: a count, so that a bound is the same
// wherever it is worked out.
func (p Problem) boundLinks() int { return int(400_000 / math.Sqrt(float64(p.Answers+60))) }

// CoinLink returns the Link that Q coins allow: those of neighbours' biases are
// (ε, δ)-indistinguishable, at this ε in (0, 700] and at the problem's δ. Cost: some
// microseconds a link, 100 of 1,000 answers.
func (p Problem) CoinLink(epsilon float64) *Link {
	c := newCoins(p.Answers, epsilon, p.Delta)
	return NewLink(func(p, q float64) float64 {
		price := max(c.price(q, p), c.price(1-p, 1-q))
		// Where it is not above δ, the quotient is at most 1.
		if gap := math.Log(price / c.delta); price > c.delta {
			return max(gap, 0x1p-1000)
		} else if price > 0 {
			return min(gap, 0)
		}
		return math.Inf(-1)
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

// price returns a number that Pr_a[J ≥ j] - e^ε·Pr_b[J ≥ j] is not below, close to it, at the j from
// which the likelihood ratio is e^ε. Above δ, Q coins of bias a > b break the bound: every j would prove
// it, so that j need not be exact.
func (c coins) price(a, b float64) float64 {
	if !(a > b) || !(a < 1) || !(b >= 0) {
		return 0
	}
	if b == 0 { // one of the heads tells
		low, _ := c.tail(a, 1)
		return low
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
	From    int                `json:"from"`
	Changes []plurality.Change `json:"changes"`
	Ratios  []float64          `json:"ratios"`
	Value   float64            `json:"value"`
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
