package amplification

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// tcdp returns the bound of a batch by truncated concentrated privacy: with ρ* at least ε_RDP(α)/α
// of the shuffled streams that share a batch, for orders up to ω = ln(1/γ)/(2ρ*), the batch costs
// 13γ²·α·ρ* for α ≤ ln(1/γ)/(4ρ*), if γ ≤ 0.1, ρ* ≤ 0.1 and ln(1/γ) ≥ 3ρ*·(2 + log₂(1/ρ*)).
//
// Source: Bun, Dwork, Rothblum and Steinke, Composable and Versatile Privacy via Truncated CDP
// (2018), Theorem 12.
func (r Round) tcdp() (linear, error) {
	if r.rate() > 0.1 {
		return linear{}, fmt.Errorf("mode %s, rate %g: %w", TCDP, r.rate(), errRate)
	}
	log := -math.Log(r.Rate)
	together := float64(r.together())
	b := r.blanket()
	// ω falls as ρ* grows: the orders up to the ω of a ρ* that is too small are enough.
	start := exactRDP(b, r.Epsilon, []float64{2})[0] / 2
	one := steepest(b, r.Epsilon, log/(2*start*together)*(1+num.Margin))
	rho := one * together * (1 + num.Margin)
	switch {
	case rho > 0.1:
		return linear{}, fmt.Errorf("mode %s, rho %.4g: %w", TCDP, rho, errRho)
	case log < 3*rho*(2+math.Log2(1/rho)):
		return linear{}, fmt.Errorf("mode %s, rho %.4g: %w", TCDP, rho, errConstant)
	}
	l := linear{13 * r.Rate * r.Rate * rho * float64(r.Streams) / together * (1 + num.Margin), 1,
		log / (4 * rho) * (1 - num.Margin)}
	if l.high <= 2 {
		return linear{}, fmt.Errorf("mode %s, orders up to %.4g: %w", TCDP, l.high, errOrders)
	}
	return l, nil
}

// steepest returns a bound on sup ε_RDP(α)/α over orders in (1, high]. Between two orders
// (α-1)·ε_RDP(α) is at most its chord, being convex; intervals whose bound stands out are halved
// until it does by less than 2e-4.
func steepest(b blanket, epsilon, high float64) float64 {
	orders := []float64{1}
	for a := 1e-3; 1+a < high; a *= 1.6 {
		orders = append(orders, 1+a)
	}
	orders = append(orders, high)
	type point struct{ alpha, f float64 } // f = (α-1)·ε_RDP, 0 at 1
	points := []point{{1, 0}}
	for i, rho := range exactRDP(b, epsilon, orders[1:]) {
		a := orders[i+1]
		points = append(points, point{a, (a - 1) * rho * (1 + num.Margin)})
	}
	// chord returns the largest value of (chord of f)/(α(α-1)) between two points.
	chord := func(p, q point) float64 {
		// The chord is slope·(α-1) + c, with c ≤ 0 as f is convex and 0 at 1.
		slope := (q.f - p.f) / (q.alpha - p.alpha)
		c := p.f - slope*(p.alpha-1)
		at := func(a float64) float64 { return (slope*(a-1) + c) / (a * (a - 1)) }
		if p.alpha == 1 {
			return slope // at α = 1
		}
		best := max(at(p.alpha), at(q.alpha))
		// The derivative is 0 where slope·x² + 2cx + c = 0, x = α-1.
		if root := c*c - slope*c; root >= 0 {
			if x := (-c + math.Sqrt(root)) / slope; 1+x > p.alpha && 1+x < q.alpha {
				best = max(best, at(1+x))
			}
		}
		return best * (1 + num.SumMargin)
	}
	for range 40 {
		worst, where, reached := 0.0, 0, 0.0
		for i := range points[1:] {
			reached = max(reached, points[i+1].f/((points[i+1].alpha-1)*points[i+1].alpha))
			if c := chord(points[i], points[i+1]); c > worst {
				worst, where = c, i
			}
		}
		if worst <= reached*(1+2e-4) {
			break
		}
		a := math.Sqrt((points[where].alpha-1)*(points[where+1].alpha-1)) + 1
		if where == 0 {
			a = 1 + (points[1].alpha-1)/2
		}
		f := (a - 1) * exactRDP(b, epsilon, []float64{a})[0] * (1 + num.Margin)
		points = slices.Insert(points, where+1, point{a, f})
	}
	worst := 0.0
	for i := range points[1:] {
		worst = max(worst, chord(points[i], points[i+1]))
	}
	return worst
}

// LocalStep is one step of a silo's local phase: the mean over a batch, drawn uniformly without
// replacement from its n records, of gradient differences of norm at most c, and c·σ·N(0, I) added.
// It costs the records of this silo alone. A replaced record moves the mean by at most 2c/B, so the
// noise multiplier is σB/2. The first step of a phase starts where it stands, has c = 0 and touches
// no data.
//
// Noise is drawn in floating point; what that may reveal is in internal/randsrc/stream.
type LocalStep struct {
	Noise   float64 // σ > 0
	Batch   int     // B ≥ 1
	Records int     // n ≥ B
}

func (s LocalStep) check() error {
	return cmp.Or(
		check.Positive("noise of a local step", s.Noise),
		check.Whole("records of a silo", s.Records, 1, 0),
		check.Whole("batch of a local step", s.Batch, 1, s.Records),
	)
}

// RDP returns the divergence at integer order α: accountant.FixedBatchRDP.
func (s LocalStep) RDP(alpha int) (float64, error) {
	if err := s.check(); err != nil {
		return 0, err
	}
	b := float64(s.Batch)
	return accountant.FixedBatchRDP(s.Noise*b/2*(1-num.Margin),
		b/float64(s.Records)*(1+num.Margin*min(1, float64(s.Records-s.Batch))), alpha)
}

// Event returns one step as an event for an accountant.Accountant.
func (s LocalStep) Event() (accountant.Event, error) {
	var orders, rho []float64
	for a := 2; a <= accountant.MaxFixedBatchOrder; a += max(1, a/16) {
		r, err := s.RDP(a)
		if err != nil {
			return nil, err
		}
		if math.IsInf(r, 1) {
			break // little noise; lower orders are enough
		}
		orders, rho = append(orders, float64(a)), append(rho, r)
	}
	if len(orders) == 0 {
		return nil, fmt.Errorf("local step with noise %g: %w", s.Noise, accountant.ErrUnsupported)
	}
	return curve(fmt.Sprintf("a local step, noise %g, batch %d of %d", s.Noise, s.Batch, s.Records),
		orders, rho)
}

func checkTarget(target accountant.Cost) error {
	return cmp.Or(check.Positive("epsilon", target.Epsilon), check.Within("delta", target.Delta))
}
