package amplification

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/num"
)

// paperConstant is c of the published theorem: ε_RDP(α) ≤ α·c·e^ε₀/N_r.
const paperConstant = 1536

// linear is a divergence of slope·α for orders in [low, high].
type linear struct{ slope, low, high float64 }

// paper returns the published bound of a round, for 2 ≤ α ≤ high:
//
//	all records   streams·α·c·e^ε₀/N_r,                       high = N_r/(32·ε₀·e^ε₀)
//	batches       streams·13·γ²·α·ρ,  ρ = c·e^ε₀/N_r,         high = ln(1/γ)/(4ρ), halved where one batch feeds two streams
//
// Conditions: ε₀ ≥ 1; for batches γ ≤ 0.1, ρ ≤ 0.1 (2ρ for a shared batch), c ≥ 16·ε₀·ln(1/γ). The
// sampling theorem for the joint mechanism of a shared batch, with 2ρ, has the streams' sum as its
// figure but half of the orders; the source adds up the streams as if their batches were
// independent.
//
// Sources: Feldman, McMillan and Talwar, Stronger Privacy Amplification by Shuffling (2023); Bun,
// Dwork, Rothblum and Steinke (2018).
func (r Round) paper() (linear, error) {
	if r.Epsilon < 1 {
		return linear{}, fmt.Errorf("mode %s, local epsilon %.4g: %w", Paper, r.Epsilon, errLocalEpsilon)
	}
	rho := paperConstant * math.Exp(r.Epsilon) / float64(r.Reports) * (1 + num.Margin)
	l := linear{slope: float64(r.Streams) * rho * (1 + num.Margin), low: 2}
	if r.rate() == 1 {
		l.high = float64(r.Reports) / (32 * r.Epsilon * math.Exp(r.Epsilon)) * (1 - num.Margin)
	} else {
		log := -math.Log(r.Rate)
		joint := float64(r.together())
		switch {
		case r.Rate > 0.1:
			return linear{}, fmt.Errorf("mode %s, rate %g: %w", Paper, r.Rate, errRate)
		case rho*joint > 0.1:
			return linear{}, fmt.Errorf("mode %s, rho %.4g: %w", Paper, rho*joint, errRho)
		case paperConstant < 16*r.Epsilon*log:
			return linear{}, fmt.Errorf("mode %s: %w", Paper, errConstant)
		}
		l.slope *= 13 * r.Rate * r.Rate * (1 + num.Margin)
		l.high = log / (4 * rho * joint) * (1 - num.Margin)
	}
	if l.high < l.low {
		return linear{}, fmt.Errorf("mode %s, orders from 2 to %.4g: %w", Paper, l.high, errOrders)
	}
	return l, nil
}
