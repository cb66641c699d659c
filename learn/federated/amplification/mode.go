package amplification

import (
	"errors"
	"fmt"
	"math"
	"slices"

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

// Mode is a proof of what a round costs.
type Mode string

// The modes. An empty Mode is the best one that is certified for the round: Exact where all records
// take part, Ternary for batches of one-bit reports, TCDP for batches of other reports.
const (
	Exact   Mode = "exact"   // the divergence in the blanket view, summed; all records take part
	Ternary Mode = "ternary" // its series for batches, integer orders; OneBit only
	// Exact's supremum of ε_RDP(α)/α, and the sampling theorem of truncated CDP
	TCDP  Mode = "tcdp"
	Paper Mode = "paper" // the published constants, c = 1536
	// Numeric computes the believed worst case of a batch, checked by enumeration and not proved.
	// It gives figures, and no Event.
	Numeric Mode = "numeric"
)

// Modes returns all modes.
func Modes() []Mode { return []Mode{Exact, Ternary, TCDP, Paper, Numeric} }

func (m Mode) check() error {
	if m != "" && !slices.Contains(Modes(), m) {
		return fmt.Errorf("accounting mode = %q, but it must be one of %q", string(m), Modes())
	}
	return nil
}

// ErrInapplicable is the error for a mode that proves nothing of a round: a condition fails.
var ErrInapplicable = errors.New("the mode does not apply")

// Which condition of a theorem failed. Each is an ErrInapplicable.
var (
	errLocalEpsilon = condition("it needs a local epsilon of 1 or more")
	errRate         = condition("it needs a sampling rate of at most 0.1")
	errRho          = condition("it needs a divergence of at most 0.1 an order in each shuffled round")
	errConstant     = condition("its constant is too small for the local epsilon and the rate")
	errOrders       = condition("it holds at no Rényi order")
	errSampled      = condition("it is for rounds in which all records take part")
	ErrReports      = condition("it is for one-bit reports")
	errUnproved     = condition("its worst case is not proved")
	errLosses       = condition("one worst pair is proved for rounds in which all records take part")
)

func condition(rule string) error { return fmt.Errorf("%w: %s", ErrInapplicable, rule) }
