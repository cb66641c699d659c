package ensemble

import (
	"fmt"
	"math"
	"math/big"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/randsrc"
)

// TellingOptions say how the cost of GNMax's answers at the votes that were cast is released to
// others. All of them are fixed before the votes, and none is computed from votes.
type TellingOptions struct {
	Queries int     `flag:"tell-queries" help:"number of queries, which is public and fixed before the votes"`     // N ≥ 1, how many queries are answered
	Order   float64 `flag:"tell-order" help:"order of the Rényi divergence that is told, chosen before the votes"` // λ > 1, of the Rényi divergence that is told
	// Steps is m between 1 and 1000: what the noise of neighbouring votes may differ by is
	// e^{2β} = 1+1/m in variance. It bounds the orders of the telling's own curve: below m+1.
	Steps int `flag:"tell-steps" help:"m: noise of neighbouring votes differs by 1+1/m in variance"`
	// Noise is σ, from 4 to 1024: the noise of the figure, in units of its smooth sensitivity.
	Noise float64 `flag:"tell-noise" help:"noise of the figure, in units of its smooth sensitivity"`
	// SizeNoise is τ, from 1/4 to 1024: the noise of the sensitivity's own size, in steps of β.
	SizeNoise float64 `flag:"tell-size-noise" help:"noise of the smooth sensitivity's size, in steps of ½·ln(1+1/m)"`
}

// Telling releases what answers cost at the votes that were cast, with noise by the smooth sensitivity
// of that cost. It is a mechanism of its own, with a Rényi curve of its own. The answers' own cost
// stays what it is: the figure is an estimate, and may lie below the truth.
//
// # What is released
//
//	f(g) = max over h ≥ g of D_λ(q̃(h)),  q̃(h) = (C-1)·(Pr[Z > h] + ½·Pr[Z = h]),
//	F    = Σ_j f(g_j),   g_j = the gap between the two largest counts of query j
//	LS_d = Σ_j max over |h-g_j| ≤ 2d of u(h),   u(h) = max over |i-h| ≤ 2 of |f(i)-f(h)|
//	J    = max(0, max over d ≥ 0 of L(⌈LS_d⌉)-d),   L(x) = min{k ≥ 0: (1+1/m)^k ≥ x²}
//	T    = ⌈F⌉ + N_Z(0, σ²·(1+1/m)^J),   I = J + N_Z(0, τ²)
//
// in a public unit. D_λ(q) is the source's Theorem 6 for GNMax's ρ. T and I are released. f is in
// fixed-point numbers, and all from there on is exact.
//
// # Why that is private
//
// Votes are neighbours if one teacher's votes differ (Affected = 1, replaced). Then each count
// moves by one at most and so each gap by two, whence |F-F'| ≤ LS_0, and LS_d(D) ≤ LS_{d+1}(D').
// L is monotone, so J changes by one at most, and (1+1/m)^J ≥ ⌈LS_0⌉² bounds the change of ⌈F⌉ by
// e^{βJ} and e^{βJ'}, β = ½·ln(1+1/m). With r = e^{-2β} and λ the order of the telling, T's
// divergence is at most that of two normal laws whose means differ by the smaller bound:
//
//	J' = J:    λ/(2σ²)
//	J' = J-1:  λr/(2σ²s) + (-2βλ - ln s)/(2(λ-1)),   s = 1-λ(1-r), which must be above 0
//	J' = J+1:  λ/(2σ²v) + (2βλ - ln v)/(2(λ-1)),     v = 1+λ(e^{2β}-1)
//
// Discrete normal laws of σ ≥ 4 exceed these by a factor below 1+1e-50: their sums are those of the
// densities up to e^{-2π²·8}, whatever the means, by Poisson's summation formula. I adds λ/(2τ²).
//
// Sources: Papernot et al., Scalable Private Learning with PATE (2018), appendix B, for f, gaps and
// the smooth sensitivity; its Theorem 23 and public code charge less than the divergence is
// (docs/errata.md). Nissim, Raskhodnikova and Smith (2007) for smooth sensitivity; Gil, Alajaji and
// Linder (2013) for the divergence of normal laws.
type Telling struct {
	o     TellingOptions
	k     int
	value []int64 // f(g) by gap g, in the fixed-point unit; it does not rise
	turn  []int64 // u(g) likewise
	shift uint    // ⌈F⌉ and ⌈LS⌉ are in 2^shift of it
	unit  float64 // a fixed-point unit in nats
	most  float64 // N·λ·ρ: F at any votes
	rho   float64
	ratio *big.Rat // 1+1/m
	noise *big.Rat // σ²
	size  noise.Gaussian
}

// fine is the number of bits of the fixed-point numbers' largest sum.
const fine = 44

// NewTelling checks the conditions under which m's cost can be released: m must be GNMax without
// a threshold, for votes of which none is missing, with one teacher affected by a record that
// is replaced. It takes some microseconds for each gap.
func (m *Mechanism) NewTelling(o TellingOptions) (*Telling, error) {
	m = handle.Made(m)
	s := m.setting
	switch {
	case m.gnmax == nil:
		return nil, fmt.Errorf("%s has no cost at given votes: gnmax has", m.Name())
	case s.Affected != 1:
		return nil, check.Want("affected", s.Affected, "1 to tell a cost at given votes")
	case s.Neighbours != accountant.ReplaceOne:
		return nil, fmt.Errorf("the cost at given votes is released for neighbours = %q alone", accountant.ReplaceOne)
	case s.Missing:
		return nil, fmt.Errorf("the cost at given votes is released only where no vote may be missing")
	case o.Queries < 1 || o.Queries > 1<<20:
		return nil, check.Want("queries", o.Queries, "between 1 and 2^20")
	case o.Steps < 1 || o.Steps > 1000:
		return nil, check.Want("steps", o.Steps, "between 1 and 1000")
	case !(o.Noise >= 4 && o.Noise <= 1024):
		return nil, check.Want("noise", o.Noise, "between 4 and 1024")
	case !(o.SizeNoise >= 0.25 && o.SizeNoise <= 1024):
		return nil, check.Want("size noise", o.SizeNoise, "between 0.25 and 1024")
	}
	if err := check.Order(o.Order); err != nil {
		return nil, err
	}
	t := &Telling{o: o, k: s.K, ratio: big.NewRat(int64(o.Steps)+1, int64(o.Steps))}
	rho := new(big.Rat).Inv(m.gnmax.Variance())
	t.rho = num.FromRat(rho).DecimalUp()
	t.noise = new(big.Rat).SetFloat64(o.Noise)
	t.noise.Mul(t.noise, t.noise)
	tau := new(big.Rat).SetFloat64(o.SizeNoise)
	var err error
	if t.size, err = noise.NewGaussian(tau.Mul(tau, tau)); err != nil {
		return nil, err
	}
	overtaking, err := m.gnmax.Overtaking(s.K)
	if err != nil {
		return nil, err
	}
	t.most = float64(o.Queries) * o.Order * t.rho * (1 + 2*num.SumMargin)
	t.unit = math.Ldexp(t.most, -fine)
	t.value = make([]int64, s.K+1)
	for gap := s.K; gap >= 0; gap-- {
		counts := make([]int, s.Classes)
		for c := 1; c < s.Classes; c++ {
			counts[c] = -gap // as many below 0
		}
		f := likelyRDP(o.Order, t.rho, -logMiss(overtaking, counts))
		t.value[gap] = int64(math.Ceil(f / t.unit * (1 + num.Margin))) // rounded up: a cost
		if gap < s.K {
			t.value[gap] = max(t.value[gap], t.value[gap+1])
		}
	}
	t.turn = make([]int64, s.K+1)
	var steepest int64
	for g := range t.turn {
		low, high := t.value[min(g+2, s.K)], t.value[max(g-2, 0)]
		t.turn[g] = max(high-t.value[g], t.value[g]-low)
		steepest = max(steepest, t.turn[g])
	}
	if steepest == 0 {
		return nil, fmt.Errorf("order %v: answers cost the same at all votes of %d teachers by this noise, "+
			"so there is nothing to release", o.Order, s.K)
	}
	// The widest noise must be one that can be drawn: σ·x·√(1+1/m) ≤ 2^17.
	widest := int64(0x1p17 / (o.Noise * math.Sqrt2))
	for ceilShift(steepest*int64(o.Queries), t.shift) > widest {
		t.shift++
	}
	return t, nil
}

// Options returns what is fixed before the votes.
func (t *Telling) Options() TellingOptions { return handle.Made(t).o }

// K returns the number of teachers.
func (t *Telling) K() int { return handle.Made(t).k }

// Rule names what the cost of a Draw follows from.
func (t *Telling) Rule() string {
	t = handle.Made(t)
	return fmt.Sprintf("Rényi curve of a smooth sensitivity: order %v told, steps %d, noise %v, size noise %v",
		t.o.Order, t.o.Steps, t.o.Noise, t.o.SizeNoise)
}

// Check refuses votes that a Draw is not for: of another number of teachers, or of queries.
func (t *Telling) Check(b *Ballots) error {
	t = handle.Made(t)
	_, err := t.gaps(b)
	return err
}

func ceilShift(x int64, shift uint) int64 { return (x + 1<<shift - 1) >> shift }

// steps returns L(x), x ≥ 1: a guess, and then comparisons of integers, which decide.
func (t *Telling) steps(x int64) int {
	square := new(big.Int).Mul(big.NewInt(x), big.NewInt(x))
	enough := func(k int) bool {
		up := new(big.Int).Exp(t.ratio.Num(), big.NewInt(int64(k)), nil)
		down := new(big.Int).Exp(t.ratio.Denom(), big.NewInt(int64(k)), nil)
		return up.Cmp(down.Mul(down, square)) >= 0
	}
	k := int(2 * math.Log(float64(x)) / math.Log1p(1/float64(t.o.Steps)))
	for !enough(k) {
		k++
	}
	for k > 0 && enough(k-1) {
		k--
	}
	return k
}

// figure returns ⌈F⌉ and J of how many queries have each gap.
func (t *Telling) figure(gaps []int) (total int64, size int) {
	for g, n := range gaps {
		total += int64(n) * t.value[g]
	}
	reach := append([]int64(nil), t.turn...)
	for d := 0; ; d++ {
		var sum int64
		for g, n := range gaps {
			sum += int64(n) * reach[g]
		}
		if sum > 0 {
			size = max(size, t.steps(ceilShift(sum, t.shift))-d)
		}
		if 2*d > t.k {
			return ceilShift(total, t.shift), size // no vote is farther
		}
		next := make([]int64, len(reach))
		for g := range next {
			for h := max(0, g-2); h <= min(t.k, g+2); h++ {
				next[g] = max(next[g], reach[h])
			}
		}
		reach = next
	}
}

// gaps returns how many queries have each gap between their two largest counts.
func (t *Telling) gaps(b *Ballots) ([]int, error) {
	if b = handle.Made(b); b.k != t.k || b.missing {
		return nil, fmt.Errorf("the votes are those of %d teachers, or may be missing, and what is told is "+
			"for %d", b.k, t.k)
	}
	if b.queries != t.o.Queries {
		return nil, check.Wantf("queries", b.queries, "%d, as was stated before the votes", t.o.Queries)
	}
	out := make([]int, t.k+1)
	for _, kind := range b.kinds {
		first, second := 0, 0
		for _, n := range kind.counts {
			if n > first {
				first, second = n, first
			} else {
				second = max(second, n)
			}
		}
		out[first-second] += kind.queries
	}
	return out, nil
}

// scale returns σ²·(1+1/m)^J.
func (t *Telling) scale(size int) *big.Rat {
	k := big.NewInt(int64(size))
	r := new(big.Rat).SetFrac(new(big.Int).Exp(t.ratio.Num(), k, nil),
		new(big.Int).Exp(t.ratio.Denom(), k, nil))
	return r.Mul(r, t.noise)
}

// DrawnCost is the released cost of answers at the votes that were cast. All of it
// follows from the two numbers that were drawn with noise, and from what was public before.
type DrawnCost struct {
	Queries int     `json:"queries"`
	Order   float64 `json:"order"` // λ of Divergence
	// Divergence is the figure that was drawn, in nats. It may lie below the truth, which is in
	// Interval with a probability of at least 95 %; both are cut to what is possible.
	Divergence float64    `json:"divergence"`
	Interval   [2]float64 `json:"interval"`
	Delta      float64    `json:"delta"`
	Epsilon    float64    `json:"epsilon"` // of Divergence at Delta, and of Interval's ends
	Between    [2]float64 `json:"epsilon_interval"`
	AnyVotes   float64    `json:"epsilon_at_any_votes"` // what the answers cost, which is to be charged
}

// Draw draws the figure for these votes, at a δ in (0,1) that is public. Each call is a release of
// its own, at the cost of Curve.
func (t *Telling) Draw(coins randsrc.Coins, b *Ballots, delta float64) (out DrawnCost, err error) {
	if err := check.Within("delta", delta); err != nil {
		return out, err
	}
	gaps, err := t.gaps(b)
	if err != nil {
		return out, err
	}
	total, size := t.figure(gaps)
	law, err := noise.NewGaussian(t.scale(size))
	if err != nil {
		return out, err
	}
	src, err := coins.Of("cost at votes", nil, 0)
	if err != nil {
		return out, err
	}
	first, err := law.Sample(src)
	if err != nil {
		return out, err
	}
	second, err := t.size.Sample(src)
	if err != nil {
		return out, err
	}
	return t.read(total+first, int64(size)+second, delta), nil
}

// Normal quantiles of 1-0.0125 and 1-0.025: the figure's noise is within the first on both sides,
// and the size's on one, with 97.5 % each.
const (
	twoSided = 2.2415
	oneSided = 1.96
)

// read works out what follows from the numbers that were drawn.
func (t *Telling) read(total, size int64, delta float64) DrawnCost {
	coarse := math.Ldexp(t.unit, int(t.shift))
	// Both laws are of integers: with one unit more they are no less often within the quantile.
	top := math.Max(0, float64(size)+1+oneSided*t.o.SizeNoise)
	spread := 1 + twoSided*t.o.Noise*math.Exp(top/2*math.Log1p(1/float64(t.o.Steps)))
	within := func(x float64) float64 { return math.Min(math.Max(x*coarse, 0), t.most) }
	x := float64(total)
	out := DrawnCost{Queries: t.o.Queries, Order: t.o.Order, Delta: delta, Divergence: within(x),
		Interval: [2]float64{within(x - 1 - spread), within(x + spread)}}
	n := float64(t.o.Queries)
	_, out.AnyVotes = num.BestOrder(1e10, func(lambda float64) float64 {
		return epsilonAt(lambda, n*lambda*t.rho*(1+num.SumMargin), delta)
	})
	out.Epsilon = min(out.AnyVotes, epsilonAt(t.o.Order, out.Divergence, delta))
	for i, at := range out.Interval {
		out.Between[i] = min(out.AnyVotes, epsilonAt(t.o.Order, at, delta))
	}
	return out
}

// Curve is the price of one Draw: the Rényi divergence at orders below m+1.
func (t *Telling) Curve() (accountant.Curve, error) {
	t = handle.Made(t)
	var points []accountant.CurvePoint
	const orders = 96
	m := float64(t.o.Steps)
	last := 0.0
	for i := range orders {
		// More of them near 1, and the last one below m+1.
		x := float64(i+1) / (orders + 1)
		alpha := 1 + m*x*x
		last = max(last, tellingRDP(alpha, float64(t.o.Steps), t.o.Noise)+
			alpha/(2*t.o.SizeNoise*t.o.SizeNoise)*(1+num.SumMargin))
		points = append(points, accountant.CurvePoint{Alpha: alpha, Rho: last})
	}
	return accountant.NewCurve(accountant.ReplaceOne, "smooth sensitivity of a cost at votes", points)
}

// tellingRDP is the divergence of T at an order α below m+1, rounded up: the largest of the three
// cases of Telling.
func tellingRDP(alpha, m, sigma float64) float64 {
	twoBeta := math.Log1p(1 / m)
	r, s, v := m/(m+1), (m+1-alpha)/(m+1), 1+alpha/m
	mean := alpha / (2 * sigma * sigma)
	narrower := mean*r/s + (-twoBeta*alpha-math.Log(s))/(2*(alpha-1))
	wider := mean/v + (twoBeta*alpha-math.Log(v))/(2*(alpha-1))
	// Both logarithms cancel: their errors are those of twoBeta·α, not of the difference.
	margin := num.Margin * (1 + twoBeta*alpha + math.Abs(math.Log(s))) / (alpha - 1)
	return max(mean, narrower, wider)*(1+num.SumMargin) + margin + num.Tiny
}

// Cost returns the charge of a Draw at δ: its Curve's (ε, δ).
func (t *Telling) Cost(delta float64) (accountant.Cost, error) {
	t = handle.Made(t)
	curve, err := t.Curve()
	if err != nil {
		return accountant.Cost{}, err
	}
	a, err := accountant.New(accountant.ReplaceOne)
	if err != nil {
		return accountant.Cost{}, err
	}
	if a, err = a.Charge(curve, 1); err != nil {
		return accountant.Cost{}, err
	}
	epsilon, err := a.Epsilon(delta)
	return accountant.Cost{Epsilon: epsilon, Delta: delta}, err
}
