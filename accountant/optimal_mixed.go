package accountant

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sort"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// maxOptimalOutcomes bounds the outcomes that optimalOf enumerates.
const maxOptimalOutcomes = 1 << 18

// region is the exact privacy region of a composition.
type region interface {
	epsilon(delta float64) (float64, error)
	delta(epsilon float64) (float64, error)
	note() string // what was worked out, for people
}

// optimalMixture is optimalRegion for mechanisms with different ε.
type optimalMixture struct {
	sum         *big.Rat     // Σ k_jε_j, the largest loss
	catastrophe num.Interval // 1-Π(1-δ_j)
	losses      []float64    // of the outcomes, falling, rounded up
	above       []float64    // probability of losses[i] or more, rounded up
	excess      []float64    // δ at ε = losses[i], but for the catastrophe, rounded up
}

// optimalOf works out the composition of mechanisms that are (ε_j, δ_j)-DP,
// chosen adaptively, each with randomness of its own. It is (ε, δ)-DP if and only if
//
//	1-(1-δ)/Π(1-δ_j) ≥ Σ_S max(0, e^{Σ_{j∈S} ε_j} - e^ε·e^{Σ_{j∉S} ε_j}) / Π(1+e^{ε_j})
//
// over all sets S of mechanisms: how many of each ε_j are in S decides the summand, so
// k_j of each take Π(k_j+1) outcomes. In general this is #P-hard; beyond
// maxOptimalOutcomes it is refused with ErrUnsupported, and the accountant's privacy loss
// distributions give a bound from above.
//
// It takes counts ≥ 0 that add up to at most 10⁷, ε ≥ 0 finite and δ in [0,1); the error names the
// parameter that is not. The result is rounded up, by less than 1e-9 of it. Cost: about 0.1 s for
// 2¹⁸ outcomes.
//
// Source: Murtagh and Vadhan, The Complexity of Computing the Optimal Composition of
// Differential Privacy (2016), Theorem 1.5; for equal ε_j, Kairouz, Oh and Viswanath (2015),
// Theorem 3.3.
func optimalOf(parts []Repeated) (region, error) {
	if err := checkParts(parts); err != nil {
		return nil, err
	}
	groups := groupByEpsilon(parts)
	o := &optimalMixture{catastrophe: catastrophes(parts), sum: new(big.Rat)}
	total, outcomes := 0, 1
	for _, g := range groups {
		if g.Count > MaxOptimalCount-total {
			return nil, check.Wantf("number of mechanisms", fmt.Sprintf("%d + %d", total, g.Count),
				"at most %d for optimal composition", MaxOptimalCount)
		}
		total += g.Count
		o.sum.Add(o.sum, times(g.Count, g.Cost.Epsilon))
		if len(groups) > 1 && g.Count >= maxOptimalOutcomes/outcomes {
			return nil, fmt.Errorf(
				"exact composition of %d different epsilons, #P-hard in general, has more than %d outcomes: %w",
				len(groups), maxOptimalOutcomes, ErrUnsupported)
		}
		outcomes *= g.Count + 1
	}
	if len(groups) == 0 {
		return &optimalRegion{catastrophe: o.catastrophe, excess: excesses(0, 0)}, nil
	}
	if len(groups) == 1 {
		k, each := groups[0].Count, groups[0].Cost
		return &optimalRegion{k, each, o.catastrophe, excesses(k, each.Epsilon)}, nil
	}
	if _, err := finiteCost(Cost{Epsilon: num.FromRat(o.sum).DecimalUp()}); err != nil {
		return nil, err
	}
	o.accumulate(enumerate(groups, outcomes))
	return o, nil
}

// groupByEpsilon adds up the counts of each ε > 0, in rising order. With ε = 0 a mechanism
// reveals nothing but in its δ.
func groupByEpsilon(parts []Repeated) []Repeated {
	var groups []Repeated
	for _, p := range parts {
		if p.Count == 0 || p.Cost.Epsilon == 0 {
			continue
		}
		i := slices.IndexFunc(groups, func(g Repeated) bool { return g.Cost.Epsilon == p.Cost.Epsilon })
		if i < 0 {
			groups = append(groups, Repeated{Cost{Epsilon: p.Cost.Epsilon}, p.Count})
		} else {
			groups[i].Count = min(groups[i].Count, math.MaxInt-p.Count) + p.Count
		}
	}
	slices.SortFunc(groups, func(a, b Repeated) int {
		return cmp.Compare(a.Cost.Epsilon, b.Cost.Epsilon)
	})
	return groups
}

// outcome is a privacy loss and the probability of it, both rounded up.
type outcome struct{ loss, mass float64 }

// enumerate returns every combination of how many mechanisms of each group lose +ε.
func enumerate(groups []Repeated, outcomes int) []outcome {
	const ulp = 0x1p-52
	all := append(make([]outcome, 0, outcomes), outcome{0, 1})
	for _, g := range groups {
		masses := binomialUp(g.Count, g.Cost.Epsilon)
		next := make([]outcome, 0, len(all)*len(masses))
		for l, m := range masses {
			loss := num.FromRat(times(g.Count-2*l, g.Cost.Epsilon)).Upper()
			for _, o := range all {
				next = append(next, outcome{
					loss: math.Nextafter(o.loss+loss, math.Inf(1)),
					mass: max(o.mass*m*(1+ulp), math.SmallestNonzeroFloat64),
				})
			}
		}
		all = next
	}
	slices.SortFunc(all, func(a, b outcome) int { return cmp.Compare(b.loss, a.loss) })
	return all
}

// accumulate works out δ at each loss from the one above it. With A the mass at losses of
// at least x', and x' > x next to each other,
//
//	δ(x) = e^{x-x'}·δ(x') + (1-e^{x-x'})·A
//
// where everything is positive and rising in δ(x') and A.
func (o *optimalMixture) accumulate(all []outcome) {
	const ulp = 0x1p-52
	above, d := 0.0, 0.0
	for i, x := range all {
		if i > 0 {
			d = between(all[i-1].loss-x.loss, d, above)
		}
		above = (above + x.mass) * (1 + ulp)
		if n := len(o.losses); n > 0 && o.losses[n-1] == x.loss {
			o.above[n-1] = above
			continue
		}
		o.losses, o.above, o.excess = append(o.losses, x.loss), append(o.above, above),
			append(o.excess, d)
	}
}

// between returns e^-gap·d + (1-e^-gap)·above, rounded up, for d ≤ above.
func between(gap, d, above float64) float64 {
	const ulp = 0x1p-52
	keep := min(1, math.Exp(-gap)*(1+8*ulp+2*ulp*gap))
	move := -math.Expm1(-gap) * (1 + 8*ulp)
	return (keep*d+move*above)*(1+4*ulp) + math.SmallestNonzeroFloat64
}

// binomialUp returns C(k,l)·e^{(k-l)ε}/(1+e^ε)^k for l = 0..k, rounded up: the probability
// of the loss (k-2l)ε.
func binomialUp(k int, epsilon float64) []float64 {
	c := newBinomial(k, epsilon)
	out := make([]float64, k+1)
	for l := range out {
		out[l] = min(1, floatUp(c.b))
		c.next()
	}
	return out
}

// delta returns the smallest δ for which the composition is (epsilon, δ)-DP, rounded
// up, for any finite epsilon ≥ 0.
func (o *optimalMixture) delta(epsilon float64) (float64, error) {
	if err := check.Epsilon("epsilon", epsilon); err != nil {
		return 0, err
	}
	if num.Decimal(epsilon).Cmp(o.sum) >= 0 {
		return withSlack(o.catastrophe, num.FromInt(0)), nil
	}
	return withSlack(o.catastrophe, binaryValue(o.finite(epsilon))), nil
}

// finite is delta but for the catastrophe.
func (o *optimalMixture) finite(epsilon float64) float64 {
	if epsilon > 0 {
		epsilon = math.Nextafter(epsilon, 0) // its decimal may be half a unit below
	}
	i := sort.Search(len(o.losses), func(i int) bool { return o.losses[i] <= epsilon }) - 1
	if i < 0 {
		return 0
	}
	return min(1, between(o.losses[i]-epsilon, o.excess[i], o.above[i]))
}

// epsilon returns the smallest ε ≥ 0 for which the composition is (ε, delta)-DP,
// rounded up, for delta in [0,1). Below 1-Π(1-δ_j) no ε will do and the error is
// ErrDeltaTooSmall.
func (o *optimalMixture) epsilon(delta float64) (float64, error) {
	if err := check.Delta("delta", delta); err != nil {
		return 0, err
	}
	if least := withSlack(o.catastrophe, num.FromInt(0)); delta < least {
		return 0, tooSmall(delta, least)
	}
	enough := func(epsilon float64) bool {
		d, err := o.delta(epsilon)
		return err == nil && d <= delta
	}
	if enough(0) {
		return 0, nil
	}
	return bisectDown(0, num.FromRat(o.sum).DecimalUp(), enough), nil
}

func (o *optimalMixture) note() string {
	return fmt.Sprintf("exact, over %d losses", len(o.losses))
}
