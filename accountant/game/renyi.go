package game

import (
	"context"
	"math"
	"math/big"
	"sync"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/num"
)

// orders are whole numbers, so that powers are products and have the same bytes everywhere.
var orders = [...]int{2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64, 96, 128, 256}

// exactOrder is the index in orders of the divergence that keeps pairs out of groups.
const exactOrder = 6

// Renyi is the largest Rényi divergences of a table's pairs, in both orders, at a fixed list of
// orders.
type Renyi struct {
	divergences [len(orders)]float64 // D_α, rounded up
	finite      [len(orders)]float64 // the same of outcomes that both laws have
	read        bool                 // else it is of no pairs, and bounds nothing
	infinite    float64              // the largest probability that one law alone has, rounded up
}

// NewRenyi reads the pairs once. Cost: some 100 ns an outcome.
func NewRenyi(ctx context.Context, pairs Pairs) (*Renyi, error) {
	s := survey{ratio: 1}
	if err := s.read(ctx, pairs); err != nil {
		return nil, err
	}
	return newRenyi(s.moments, s.infinite), nil
}

// moments returns Σ P^α·P'^{1-α} at each order, rounded up, over the outcomes that both laws have,
// and the probability of those that only the first has, rounded up.
func (p Pair) moments(second bool, sums *[len(orders)]float64) (infinite float64) {
	*sums = [len(orders)]float64{}
	for i := range p {
		o := &p[i]
		if o.law(second).Mass == 0 {
			continue
		}
		mass := o.mass(second)
		if o.law(!second).Mass == 0 {
			infinite = (infinite + mass) * dearer
			continue
		}
		r := o.ratio(!second)     // P/P', rounded down
		r *= dearer * dearer      // and now up
		power, exponent := 1.0, 0 // r^exponent, up to exponent roundings
		for j, order := range orders {
			power = float64(power * num.Power(r, order-1-exponent))
			exponent = order - 1
			sums[j] += float64(mass * power)
		}
	}
	for j, order := range orders {
		sums[j] *= 1 + float64(float64(2*order+len(p)+8)*0x1p-52)
	}
	return infinite
}

func newRenyi(sums [len(orders)]float64, infinite float64) *Renyi {
	r := &Renyi{read: true, infinite: infinite}
	for j, order := range orders {
		before := num.FromInt(int64(order - 1))
		r.finite[j] = math.Inf(1)
		if !math.IsInf(sums[j], 1) {
			r.finite[j] = max(0, num.Log(rational(max(1, sums[j]))).Quo(before).Upper())
		}
		r.divergences[j] = r.finite[j]
		if infinite > 0 {
			r.divergences[j] = math.Inf(1)
		}
	}
	return r
}

// conversions are ln(1 - 1/α) - ln(α)/(α-1) at each order, rounded up.
var conversions = sync.OnceValue(func() (up [len(orders)]float64) {
	for j, order := range orders {
		a, before := num.FromInt(int64(order)), num.FromInt(int64(order-1))
		up[j] = num.Log(before.Quo(a)).Sub(num.Log(a).Quo(before)).Upper()
	}
	return up
})

func rational(x float64) num.Interval { return num.FromRat(new(big.Rat).SetFloat64(x)) }

// Epsilon returns an ε such that all answers together are (ε, delta)-DP, delta in (0,1), by
// Rényi composition: an upper bound, some 5 to 7 % above the exact price. +Inf where the bound
// shows nothing, as at any other delta. Cost: a fraction of a millisecond.
//
//	ε = min over α of  Q·D_α + ln(1 - 1/α) - (ln δ + ln α)/(α-1)
//
// Source: Canonne, Kamath and Steinke, The Discrete Gaussian for Differential Privacy (2020),
// Proposition 12.
func (r *Renyi) Epsilon(delta float64, answers int) float64 {
	r = handle.Made(r)
	if !(delta > 0 && delta < 1) || !r.read {
		return math.Inf(1)
	}
	log := num.FromInt(0).Sub(num.Log(rational(delta))).Upper()
	best, conversion := math.Inf(1), conversions()
	for j, order := range orders {
		e := float64(float64(answers)*r.divergences[j]) + log/float64(order-1)
		best = min(best, (e+conversion[j])+float64((e+1)*0x1p-50))
	}
	return max(0, best)
}

// Delta is the inverse of Epsilon: a δ such that all answers together are (epsilon, δ)-DP,
// at most 1.
func (r *Renyi) Delta(epsilon float64, answers int) float64 {
	if r == nil || !r.read {
		return 1
	}
	best, conversion := 0.0, conversions()
	for j, order := range orders {
		e := float64(float64(answers) * r.divergences[j])
		e = (e - epsilon) + conversion[j] + float64((e+epsilon+1)*0x1p-50)
		best = min(best, float64(float64(order-1)*e)*(1-0x1p-50))
	}
	return min(1, num.ExpReal(rational(max(best, -700))).Upper())
}

// fall returns ln of a factor that products of P/P' over n answers exceed with probability of about
// tiny at most, and rise the same of P'/P; log is ln(1/tiny). The mass at ratio 0 is apart. Windows
// rest on them, and no promise does.
//
//	Pr_P(∏ P/P' ≥ e^y) ≤ e^{(α-1)(n·D_α - y)},   Pr_P(∏ P'/P ≥ e^y) ≤ e^{(α-1)·n·D_α - α·y}
func (r *Renyi) fall(n int, log float64) float64 {
	if n == 0 {
		return 0
	}
	best := math.Inf(1)
	for j, order := range orders {
		best = min(best, float64(float64(n)*r.finite[j])+log/float64(order-1))
	}
	return best
}

func (r *Renyi) rise(n int, log float64) float64 {
	if n == 0 {
		return 0
	}
	best := log // E_P ∏ P'/P ≤ 1
	for j, order := range orders {
		best = min(best, (float64(float64(order-1)*float64(float64(n)*r.finite[j]))+log)/float64(order))
	}
	return best
}

// finiteDelta is Delta without the mass at ratio 0.
func (r *Renyi) finiteDelta(epsilon float64, answers int) float64 {
	f := *r
	f.divergences = f.finite
	return f.Delta(epsilon, answers)
}

// sure returns the probability of at least one outcome that one law alone has, rounded down: no ε
// has a smaller δ.
func (r *Renyi) sure(answers int) float64 {
	if r.infinite == 0 {
		return 0
	}
	p := new(big.Rat).SetFloat64(min(1, r.infinite) * (1 - 0x1p-36)) // by more than it was rounded up
	return num.OneMinusPow(p, new(big.Rat).SetInt64(int64(answers))).Lower()
}
