package accountant

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"sort"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/memo"
	"github.com/darrm/darrm/internal/num"
)

// ErrDeltaTooSmall is the error where no finite ε goes with the δ that was asked for: the
// mechanisms' own δ already add up to more.
var ErrDeltaTooSmall = errors.New("no finite epsilon has so small a delta")

// MaxOptimalCount is the largest count that optimal composition takes.
const MaxOptimalCount = 10_000_000

// Optimal returns the smallest ε for which k mechanisms that are each (ε, δ)-DP, chosen
// adaptively, each with randomness of its own, are together (ε, delta)-DP, rounded up, with
// delta. No bound that knows only k, ε and δ can be lower, and some mechanisms reach it. The
// composition is (ε_i, δ_total,i)-DP for all
//
//	ε_i       = (k-2i)·ε,   i = 0..⌊k/2⌋
//	δ_total,i = 1 - (1-δ)^k·(1-δ_i)
//	δ_i       = Σ_{l<i} C(k,l)·(e^{(k-l)ε} - e^{(k-2i+l)ε}) / (1+e^ε)^k
//
// It takes k in [0, 10⁷], ε ≥ 0 finite, δ and delta in [0,1); the error names the parameter
// that is not, and is ErrDeltaTooSmall for delta below 1-(1-δ)^k, where no ε will do. Cost:
// about 0.4 µs for each of the k/2 counts, where k is large for those around the mean only:
// some 20 ms at k = 10⁶.
//
// Source: Kairouz, Oh and Viswanath, The Composition Theorem for Differential Privacy
// (2015), Theorem 3.3.
func Optimal(k int, each Cost, delta float64) (Cost, error) {
	return optimalCosts.Get(optimalQuestion{k, each, delta}, func() (Cost, error) {
		o, err := equalOptimal(k, each)
		if err != nil {
			return Cost{}, err
		}
		epsilon, err := o.epsilon(delta)
		if err != nil {
			return Cost{}, err
		}
		return Cost{epsilon, delta}, nil
	})
}

// optimalCosts remembers the answers of Optimal, for those who ask again: see lossAnswers.
var optimalCosts memo.Of[optimalQuestion, Cost]

type optimalQuestion struct {
	count int
	each  Cost
	delta float64
}

// optimalRegion is the exact privacy region of k mechanisms with one guarantee.
type optimalRegion struct {
	count       int
	each        Cost
	catastrophe num.Interval // 1-(1-δ)^k
	excess      []float64    // δ_i, rounded up, i = 0..⌈k/2⌉
}

// equalOptimal works out the region of Optimal. The sum is not evaluated as written, which
// cancels. With b_l the binomial probabilities C(k,l)·e^{(k-l)ε}/(1+e^ε)^k and A_i =
// Σ_{l<i} b_l,
//
//	δ_{i+1} = r·δ_i + (1-r)·A_{i+1},   r = e^{-2ε},
//
// where everything is positive and increasing in everything else, so rounding each
// operation up bounds the result from above.
func equalOptimal(k int, each Cost) (*optimalRegion, error) {
	if err := checkComposition(k, each); err != nil {
		return nil, err
	}
	if k > MaxOptimalCount {
		return nil, check.Wantf("number of mechanisms", k, "at most %d for optimal composition",
			MaxOptimalCount)
	}
	return &optimalRegion{k, each, catastrophe(k, each.Delta), excesses(k, each.Epsilon)}, nil
}

// binomial runs through the probabilities b_l = C(k,l)·e^{(k-l)ε}/(1+e^ε)^k, l = 0, 1, …,
// rounded up, for ε > 0.
type binomial struct {
	k, l  int
	b     *big.Float
	ratio *big.Float // e^-ε
	n     *big.Float
}

func newBinomial(k int, epsilon float64) *binomial {
	one := num.FromInt(1)
	decay := decayOf(epsilon)
	c := &binomial{k: k, b: upFloat(one.Quo(one.Add(decay))), ratio: upFloat(decay), n: upFloat(one)}
	if epsilon > maxPlainEpsilon {
		c.b.SetInt64(1)
	}
	powerUp(c.b, k) // b_0 = (1+e^-ε)^-k
	return c
}

func (c *binomial) next() {
	c.b.Mul(c.b, c.ratio)
	c.b.Mul(c.b, c.n.SetInt64(int64(c.k-c.l)))
	c.l++
	c.b.Quo(c.b, c.n.SetInt64(int64(c.l)))
}

// jump goes to l by way of logarithms, for l and k-l of at least minStirling.
func (c *binomial) jump(l int, epsilon float64) { c.l, c.b = l, binomialAt(c.k, l, epsilon) }

// binomialAt returns b_l, rounded up: ln b_l = ln C(k,l) - lε - k·ln(1+e^-ε).
func binomialAt(k, l int, epsilon float64) *big.Float {
	base := num.Log(num.FromInt(1).Add(decayOf(epsilon)))
	log := logFactorial(k, true).Sub(logFactorial(l, false)).Sub(logFactorial(k-l, false)).
		Sub(num.FromRat(times(l, epsilon))).Sub(base.Mul(num.FromInt(int64(k))))
	return upFloat(num.ExpReal(log))
}

// skipTail returns an l so far below the mean count k/(1+e^ε) that Σ_{i<l} b_i is beneath
// every float64, and a bound on that sum; 0 where k is too small for it to save time.
// The sum is below b_l·ρ/(1-ρ) with ρ = b_{l-1}/b_l, since these ratios fall with l.
func skipTail(k int, epsilon float64) (l int, tail *big.Float) {
	if epsilon > 30 {
		return 0, nil // the mean is near 0 but for billions of mechanisms
	}
	mean := float64(k) / (1 + math.Exp(epsilon))
	for deviations := 41.0; deviations < 60; deviations += 3 {
		l = int(mean - deviations*math.Sqrt(mean))
		if l < 4*minStirling {
			return 0, nil
		}
		one := num.FromInt(1)
		ratio := num.FromInt(int64(l)).Quo(num.FromInt(int64(k - l + 1)).Mul(decayOf(epsilon)))
		if ratio.Upper() >= 1 {
			continue
		}
		tail = upFloat(ratio.Quo(one.Sub(ratio)))
		tail.Mul(tail, binomialAt(k, l, epsilon))
		if tail.MantExp(nil) < -1080 { // 2⁻¹⁰⁷⁴ is the smallest float64
			return l, tail
		}
	}
	return 0, nil
}

// decayOf returns e^-ε. Beyond maxPlainEpsilon the smaller ε stands in, which rounds up.
func decayOf(epsilon float64) num.Interval {
	return num.ExpReal(num.FromInt(0).Sub(num.FromRat(num.Decimal(min(epsilon, maxPlainEpsilon)))))
}

// upFloat returns the upper end of x at the precision of the recurrences.
func upFloat(x num.Interval) *big.Float {
	return new(big.Float).SetPrec(128).SetMode(big.ToPositiveInf).Set(x.Hi())
}

// excesses returns δ_0..δ_⌈k/2⌉, rounded up. The last one of an odd k belongs to ε_i =
// -ε and serves to interpolate below ε.
func excesses(k int, epsilon float64) []float64 {
	out := make([]float64, (k+1)/2+1)
	if epsilon == 0 {
		return out // ε = 0 promises equality outside the δ
	}
	eps := num.FromRat(num.Decimal(min(epsilon, maxPlainEpsilon)))
	one := num.FromInt(1)
	decay := decayOf(epsilon)
	shrink := num.Expm1(eps.Add(eps))
	var (
		r        = upFloat(decay.Mul(decay))
		oneLessR = upFloat(shrink.Quo(shrink.Add(one))) // 1-e^-2ε
		a, d     = upFloat(num.FromInt(0)), upFloat(num.FromInt(0))
		term     = upFloat(num.FromInt(0))
		c        = newBinomial(k, epsilon)
	)
	if epsilon > maxPlainEpsilon {
		oneLessR.SetInt64(1)
	}
	first := 1
	if l, tail := skipTail(k, epsilon); l > 0 && l < len(out)-1 {
		// What lies below the first l counts stays below tail, which no float64 is.
		for i := 1; i <= l; i++ {
			out[i] = floatUp(tail)
		}
		a.Set(tail)
		d.Set(tail)
		c.jump(l, epsilon)
		first = l + 1
	}
	for i := first; i < len(out); i++ {
		addUp(a, c.b)
		d.Mul(d, r)
		addUp(d, term.Mul(oneLessR, a))
		if out[i] = min(1, floatUp(d)); out[i] == 1 {
			for j := range out[i:] {
				out[i+j] = 1 // they never fall
			}
			break
		}
		c.next()
	}
	return out
}

// addUp adds x to z, both ≥ 0, rounding up. big.Float aligns its operands exactly,
// which takes gigabits where their exponents are far apart; the smaller one is then
// raised to what still rounds the sum up by one unit.
func addUp(z, x *big.Float) {
	small, large := x, z
	if small.Cmp(large) > 0 {
		small, large = large, small
	}
	gap := large.MantExp(nil) - 2*int(large.Prec())
	if small.Sign() > 0 && small.MantExp(nil) < gap {
		small = new(big.Float).SetMantExp(big.NewFloat(1), gap)
	}
	z.Add(large, small)
}

// powerUp sets x to x^k, each multiplication rounded as x's mode says.
func powerUp(x *big.Float, k int) {
	base := new(big.Float).Copy(x)
	x.SetInt64(1)
	for ; k > 0; k >>= 1 {
		if k&1 == 1 {
			x.Mul(x, base)
		}
		base.Mul(base, base)
	}
}

// floatUp returns the smallest float64 that is at least x.
func floatUp(x *big.Float) float64 {
	f, accuracy := x.Float64()
	if accuracy == big.Below {
		f = math.Nextafter(f, math.Inf(1))
	}
	return f
}

// pair returns (ε_i, δ_total,i), both rounded up: ε falls from kε in steps of 2ε while δ
// grows.
func (o *optimalRegion) pair(i int) Cost {
	return Cost{num.FromRat(times(o.count-2*i, o.each.Epsilon)).DecimalUp(), o.total(o.excess[i])}
}

func (o *optimalRegion) total(excess float64) float64 {
	return withSlack(o.catastrophe, binaryValue(excess))
}

// binaryValue is the interval of the binary value of f, unlike num.Decimal's reading.
func binaryValue(f float64) num.Interval { return num.FromRat(new(big.Rat).SetFloat64(f)) }

// delta returns the smallest δ for which the composition is (epsilon, δ)-DP, rounded
// up, for any finite epsilon ≥ 0. Between ε_i and ε_{i-1} it is linear in e^epsilon.
func (o *optimalRegion) delta(epsilon float64) (float64, error) {
	if err := check.Epsilon("epsilon", epsilon); err != nil {
		return 0, err
	}
	target := num.Decimal(epsilon)
	if o.each.Epsilon == 0 || target.Cmp(times(o.count, o.each.Epsilon)) >= 0 {
		return o.total(0), nil
	}
	// The i with ε_i ≤ epsilon < ε_{i-1}: ⌈(k - epsilon/ε)/2⌉, at least 1.
	each := num.Decimal(o.each.Epsilon)
	half := new(big.Rat).Quo(target, each)
	half.Sub(big.NewRat(int64(o.count), 1), half).Mul(half, big.NewRat(1, 2))
	i := ceil(half)
	above, below := o.excess[i-1], o.excess[i]
	if below <= above {
		return o.total(above), nil
	}
	s := new(big.Rat).Sub(target, times(o.count-2*i, o.each.Epsilon))
	if s.Sign() == 0 {
		return o.total(below), nil
	}
	weight := num.FromInt(1)
	if o.each.Epsilon <= maxPlainEpsilon/2 {
		// (e^{2ε} - e^s)/(e^{2ε} - 1) with s = epsilon - ε_i, as e^s·(e^{2ε-s} -
		// 1)/(e^{2ε} - 1).
		double := new(big.Rat).Add(each, each)
		weight = num.ExpReal(num.FromRat(s)).
			Mul(num.Expm1(num.FromRat(new(big.Rat).Sub(double, s)))).
			Quo(num.Expm1(num.FromRat(double)))
	}
	between := binaryValue(above).Add(weight.Mul(binaryValue(below).Sub(binaryValue(above))))
	return withSlack(o.catastrophe, between), nil
}

// ceil returns ⌈x⌉ for x > 0 that fits an int.
func ceil(x *big.Rat) int {
	q, rest := new(big.Int).QuoRem(x.Num(), x.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return int(q.Int64())
}

// epsilon returns the smallest ε ≥ 0 for which the composition is (ε, delta)-DP,
// rounded up, for delta in [0,1). Below 1-(1-δ)^k no ε will do and the error is
// ErrDeltaTooSmall.
func (o *optimalRegion) epsilon(delta float64) (float64, error) {
	if err := check.Delta("delta", delta); err != nil {
		return 0, err
	}
	if least := o.total(0); delta < least {
		return 0, tooSmall(delta, least)
	}
	fits := func(epsilon float64) bool {
		d, err := o.delta(epsilon)
		return err == nil && d <= delta
	}
	// The first pair that is too much, then bisection below the pair before it.
	last := o.count / 2
	i := sort.Search(last, func(i int) bool { return o.total(o.excess[i+1]) > delta })
	hi := o.pair(i).Epsilon
	lo := 0.0
	if i < last {
		lo = num.FromRat(times(o.count-2*i-2, o.each.Epsilon)).DecimalDown()
	} else if fits(0) {
		return 0, nil
	}
	if math.IsInf(hi, 1) {
		return 0, fmt.Errorf("%d times epsilon = %g does not fit a float64: %w", o.count, o.each.Epsilon,
			ErrUnsupported)
	}
	return bisectNear(o.guess(i, delta), lo, hi, fits), nil
}

func (o *optimalRegion) note() string { return "exact" }

func tooSmall(delta, least float64) error {
	return fmt.Errorf("delta = %g, but the mechanisms' own add up to %g: %w", delta, least,
		ErrDeltaTooSmall)
}

// guess returns about the epsilon between ε_i and ε_{i+1} at which the total is delta, by
// solving delta's interpolation for e^epsilon in float64. epsilon checks it.
func (o *optimalRegion) guess(i int, delta float64) float64 {
	if i+1 >= len(o.excess) {
		return math.NaN()
	}
	x := o.catastrophe.Nearest()
	between := (delta - x) / (1 - x)
	weight := (between - o.excess[i]) / (o.excess[i+1] - o.excess[i])
	// e^s = e^{2ε} - weight·(e^{2ε}-1), as 1 + (1-weight)·(e^{2ε}-1)
	s := math.Log1p((1 - weight) * math.Expm1(2*o.each.Epsilon))
	return float64(o.count-2*i-2)*o.each.Epsilon + s
}

// bisectDown returns the smallest float64 in (lo, hi] that fits, where hi fits, whatever is above
// a fitting x fits, and 0 ≤ lo < hi. It halves the number of float64s between the ends, so that
// ends may be orders of magnitude apart: at most 63 calls.
func bisectDown(lo, hi float64, fits func(float64) bool) float64 {
	for l, h := math.Float64bits(lo), math.Float64bits(hi); ; {
		mid := l + (h-l)/2
		if mid == l {
			return math.Float64frombits(h)
		}
		if fits(math.Float64frombits(mid)) {
			h = mid
		} else {
			l = mid
		}
	}
}

// bisectNear is bisectDown that begins around a guess, which may be wrong or NaN.
func bisectNear(guess, lo, hi float64, fits func(float64) bool) float64 {
	if !(guess > lo && guess < hi) {
		return bisectDown(lo, hi, fits)
	}
	// At least one unit in the last place, or guesses near 0 would not move.
	first := max(guess*0x1p-50, math.SmallestNonzeroFloat64)
	for step := first; ; step *= 32 {
		if x := guess + step; x >= hi {
			break
		} else if fits(x) {
			hi = x
			break
		} else {
			lo = x
		}
	}
	for step := first; ; step *= 32 {
		if x := min(guess, hi) - step; x <= lo {
			break
		} else if !fits(x) {
			lo = x
			break
		} else {
			hi = x
		}
	}
	return bisectDown(lo, hi, fits)
}
