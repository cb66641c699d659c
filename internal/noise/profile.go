package noise

import (
	"fmt"
	"math"
	"math/big"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// maxExactVariance is above every σ² that VotesDelta and CheckedDelta take; the time they
// need grows with σ.
const maxExactVariance = 1 << 22

// VotesDelta returns an interval around the smallest δ for which releasing vote counts
// with independent noise of law g on each is (ε, δ)-DP when t ≥ 1 votes move from one
// class to another, ε ≥ 0:
//
//	δ(ε) = S(m) - e^ε·S(m+2t),   m = ⌊εσ²/t⌋ - t + 1,   S(m) = Pr[Z ≥ m]
//
// where Z is the difference of two independent draws of g. Anything that is worked out
// from the noisy counts, such as which is largest, is covered too.
//
// The votes shift one count by t and another by -t. The privacy loss is then t(t+Z)/σ²,
// so δ(ε) = Σ_{z > εσ²/t-t} (Pr[z] - e^ε·e^{-t(t+z)/σ²}·Pr[z]), and in the second term the
// factor makes Pr[z+2t] of Pr[z] because
//
//	Pr[z] = e^{-z²/(4σ²)}·T_{z mod 2}/(T_0² + T_1²),   T_i = Σ_{k ≡ i mod 2} e^{-k²/(4σ²)}
//
// The noise is symmetric, so the other direction reveals as much. Fewer votes between the
// same two classes reveal less: on each count, the likelihood ratio of two shifts rises
// with the outcome, so every best test is a threshold, and a smaller shift puts less
// beyond it. The continuous normal law of the same σ may have a smaller or a larger δ.
// Cost: some milliseconds at σ = 20, and in proportion to σ. It fails if σ² is not below
// maxExactVariance.
//
// Source: Canonne, Kamath and Steinke (2020), Theorem 7, for one count.
func (g Gaussian) VotesDelta(t int, epsilon *big.Rat) (num.Interval, error) {
	if err := g.exactRange(t); err != nil {
		return num.Interval{}, err
	}
	shift := int64(t)
	x := new(big.Rat).Mul(epsilon, g.variance)
	m := floor(x.Quo(x, big.NewRat(shift, 1))) - shift + 1
	d := g.difference(max(m+2*shift, 1-m))
	s, further := d.tail(m), d.tail(m+2*shift)
	return s.Sub(num.ExpReal(num.FromRat(epsilon)).Mul(further)), nil
}

// CheckedDelta is VotesDelta where the largest count is released too, with noise of law
// check, as in a check against a threshold:
//
//	δ(ε) = Σ_x Pr[X = x]·S(m_x) - e^ε·Pr[X = x-t]·S(m_x + 2t)
//
// with X of law first, m_x = ⌊(ε - (t²-2tx)/(2σ₁²))·σ²/t⌋ - t + 1 and σ₁² its parameter.
// Moving t votes shifts the largest count by at most t, and for t the loss of the check is
// (t²-2tx)/(2σ₁²), which the sum above adds to that of the counts. A smaller shift reveals
// less.
func (g Gaussian) CheckedDelta(first Gaussian, t int, epsilon *big.Rat) (num.Interval, error) {
	if err := g.exactRange(t); err != nil {
		return num.Interval{}, err
	}
	if err := first.exactRange(t); err != nil {
		return num.Interval{}, err
	}
	law := first.Law(0) // as many numbers as matter
	reach := len(law.mass) - 1
	shift := int64(t)
	// m_x = ⌊base + slope·x⌋ - t + 1
	slope := new(big.Rat).Quo(g.variance, first.variance)
	base := new(big.Rat).Mul(epsilon, g.variance)
	base.Quo(base, big.NewRat(shift, 1)).Sub(base, new(big.Rat).Mul(slope, big.NewRat(shift, 2)))
	at := func(x int) int64 {
		y := new(big.Rat).Mul(slope, big.NewRat(int64(x), 1))
		return floor(y.Add(y, base)) - shift + 1
	}
	d := g.difference(max(at(reach)+2*shift, 1-at(-reach)))
	sum, lost := num.FromInt(0), num.FromInt(0)
	for x := -reach; x <= reach; x++ {
		m := at(x)
		shifted := law.Mass(reach).Mul(unit) // beyond the reach masses are smaller yet
		if x-t >= -reach {
			shifted = law.Mass(x - t)
		}
		sum = sum.Add(law.Mass(x).Mul(d.tail(m)))
		lost = lost.Add(shifted.Mul(d.tail(m + 2*shift)))
	}
	// Each x adds something between 0 and its probability, the others too.
	sum = sum.Add(law.Tail(reach).Mul(unit)).Add(law.Tail(reach).Mul(unit))
	return sum.Sub(num.ExpReal(num.FromRat(epsilon)).Mul(lost)), nil
}

func (g Gaussian) exactRange(t int) error {
	if g.variance == nil || g.variance.Cmp(big.NewRat(maxExactVariance, 1)) >= 0 {
		return check.Want("gaussian variance", fmt.Sprint(g.variance), "below 2^22 for its exact privacy")
	}
	if t < 1 || t > check.MaxTeachers {
		return check.Wantf("votes that move", t, "between 1 and %d", check.MaxTeachers)
	}
	return nil
}

// difference is the law of the difference Z of two independent draws.
type difference struct {
	above []num.Interval // Pr[Z ≥ k], k = 0, 1, …
	last  int64          // up to where these are accurate
}

// outermost is the multiple of σ beyond which Pr[Z ≥ k] is below 2⁻¹²⁰⁰: such
// probabilities are only known to lie between 0 and that.
const outermost = 60

// difference returns the law with Pr[Z ≥ k] for |k| up to reach.
func (g Gaussian) difference(reach int64) *difference {
	reach = min(max(reach, 1), outermost*int64(g.proposal.num)) // the proposal's scale is above σ
	v := g.Variance()
	numbers, rest := decayFrom(new(big.Rat).Inv(v.Mul(v, big.NewRat(4, 1))), 0).until(int(reach))
	sums := [2]num.Interval{rest, rest} // of the even and of the odd j > 0
	for j := len(numbers) - 1; j > 0; j-- {
		sums[j%2] = sums[j%2].Add(numbers[j])
	}
	t := [2]num.Interval{numbers[0].Add(sums[0]).Add(sums[0]), sums[1].Add(sums[1])}
	norm := t[0].Mul(t[0]).Add(t[1].Mul(t[1]))
	weight := [2]num.Interval{t[0].Quo(norm), t[1].Quo(norm)}
	sum := rest.Mul(weight[0].Hull(weight[1]))
	for j := len(numbers) - 1; j >= 0; j-- {
		sum = sum.Add(numbers[j].Mul(weight[j%2]))
		numbers[j] = sum // in place: from here on it is the sum
	}
	return &difference{numbers, reach}
}

// tail returns Pr[Z ≥ m].
func (d *difference) tail(m int64) num.Interval {
	switch {
	case m <= 0: // Z is symmetric
		return num.FromInt(1).Sub(d.tail(1 - m))
	case m > d.last:
		return d.above[d.last].Mul(unit)
	}
	return d.above[m]
}

// floor returns ⌊x⌋ for |x| < 2⁶².
func floor(x *big.Rat) int64 {
	return new(big.Int).Div(x.Num(), x.Denom()).Int64() // Euclidean: down for negatives too
}

// Overtaking returns, for each gap from 0 to largest, an interval around the probability
// that a count which is lower by gap comes out above a larger one once noise of law g is on
// both, a tie counting half:
//
//	Pr[Z > gap] + ½·Pr[Z = gap] = (Pr[Z ≥ gap] + Pr[Z ≥ gap+1])/2
//
// where Z is the difference of two independent draws. Summed over the other counts it
// bounds the probability that the largest count is not the one released: among n that tie it
// loses with probability (n-1)/n ≤ (n-1)/2. Cost and error as VotesDelta's.
func (g Gaussian) Overtaking(largest int) ([]num.Interval, error) {
	if err := g.exactRange(1); err != nil {
		return nil, err
	}
	d := g.difference(int64(largest) + 1)
	half := num.FromInt(1).Quo(num.FromInt(2))
	out := make([]num.Interval, largest+1)
	for gap := range out {
		out[gap] = d.tail(int64(gap)).Add(d.tail(int64(gap) + 1)).Mul(half)
	}
	return out, nil
}

// Suggest returns a σ near the smallest at which δ(ε) of t moved votes is at most delta,
// without any promise: it is what VotesDelta (for ratio = 0) or CheckedDelta (for first
// noise of ratio·σ) should be asked about. It is NaN where no σ within the exact range
// will do. Cost: some ten milliseconds.
func Suggest(t int, epsilon, delta, ratio float64) float64 {
	fits := func(variance float64) bool {
		return roughDelta(float64(t), variance, ratio*ratio*variance, epsilon) <= delta
	}
	low, high := 1e-4, float64(maxExactVariance)/max(1, ratio*ratio)*(1-1e-6)
	if fits(low) {
		return math.Sqrt(low)
	}
	if !fits(high) {
		return math.NaN()
	}
	for high/low > 1+1e-12 {
		if mid := math.Sqrt(low * high); fits(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return math.Sqrt(high)
}

// roughDelta is VotesDelta, or CheckedDelta where first > 0, in float64.
func roughDelta(shift, variance, first, epsilon float64) float64 {
	weight := func(k float64) float64 { return math.Exp(-k * k / (4 * variance)) }
	n := int(56*math.Sqrt(variance)) + 3 // e^-784 is no float64
	var t [2]float64
	for k := n; k > 0; k-- {
		t[k%2] += 2 * weight(float64(k))
	}
	t[0]++
	norm := t[0]*t[0] + t[1]*t[1]
	above := make([]float64, n+2) // Pr[Z ≥ k]
	for k := n; k >= 0; k-- {
		above[k] = above[k+1] + weight(float64(k))*t[k%2]/norm
	}
	tail := func(m float64) float64 {
		switch {
		case m > float64(n):
			return 0
		case m > 0:
			return above[int(m)]
		case 1-m > float64(n):
			return 1
		}
		return 1 - above[int(1-m)]
	}
	if first == 0 {
		m := math.Floor(epsilon*variance/shift) - shift + 1
		return tail(m) - math.Exp(epsilon)*tail(m+2*shift)
	}
	law := newTable(math.Sqrt(1500*first), func(k float64) float64 {
		return math.Exp(-k * k / (2 * first))
	})
	sum, lost := 0.0, 0.0
	for x := -law.reach; x <= law.reach; x++ {
		m := math.Floor((epsilon/shift-(shift-2*float64(x))/(2*first))*variance) - shift + 1
		_, p, _ := law.at(x)
		_, q, _ := law.at(x - int(shift))
		sum += p * tail(m)
		lost += q * tail(m+2*shift)
	}
	return sum - math.Exp(epsilon)*lost
}
