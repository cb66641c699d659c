package amplification

import (
	"cmp"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/memo"
	"github.com/darrm/darrm/internal/num"
)

// Round is one round of shuffled reports. What is not stated is the worst case.
type Round struct {
	Mode Mode // how it is accounted for; "" is the best certified mode
	// reports that a record sends: 1, or 2 in streams with permutations and seeds of their own
	Streams int
	// honest reports of each stream that were released, N_r ≥ 1; of unequal streams the fewer
	Reports int
	Epsilon float64 // ε₀ of one report, in (0, 32]
	OneBit  bool    // reports are report.OneBit's; otherwise any ε₀-private ones
	// γ = B/n in (0, 1], the largest of all silos; 0, unstated, is 1: all records take part
	Rate float64
	// ApartBatches gives each stream a batch of its own. Otherwise one batch feeds both.
	ApartBatches bool
}

func (r Round) check() error {
	rate := r.rate()
	return cmp.Or(
		r.Mode.check(),
		check.Whole("streams of a round", r.Streams, 1, 2),
		check.Whole("honest reports of a stream", r.Reports, 1, math.MaxInt32),
		check.Probability("sampling rate", rate),
		check.UpTo("local epsilon", r.Epsilon, 32),
	)
}

// rate returns γ, 1 where it is not stated.
func (r Round) rate() float64 { return cmp.Or(r.Rate, 1) }

// together returns the number of streams that one batch feeds.
func (r Round) together() int {
	if r.ApartBatches {
		return 1
	}
	return r.Streams
}

func (r Round) blanket() blanket { return newBlanket(r.Reports, r.Epsilon, r.OneBit) }

// mode returns the mode that accounts for the round.
func (r Round) mode() Mode {
	switch {
	case r.Mode != "":
		return r.Mode
	case r.rate() == 1:
		return Exact
	case r.OneBit:
		return Ternary
	}
	return TCDP
}

// applies returns an error if the mode does not cover rounds like this.
func (r Round) applies() error {
	m := r.mode()
	switch {
	case m == Exact && r.rate() < 1:
		return fmt.Errorf("mode %s, sampling rate %g: %w", m, r.Rate, errSampled)
	case (m == Ternary || m == Numeric) && !r.OneBit:
		return fmt.Errorf("mode %s: %w", m, ErrReports)
	case m == Numeric && r.together() > 1:
		return fmt.Errorf("mode %s, one batch for two streams, whose costs do not add: %w", m,
			errUnproved)
	}
	return nil
}

// RDP returns an upper bound on the Rényi divergence of order α that the round allows in its mode,
// rounded up. Exact and Numeric take any α > 1, Ternary integers from 2 to 256, Paper and TCDP
// their theorems' orders. It is ErrInapplicable where the mode proves nothing; Numeric's figure is
// no proof.
//
// Cost: milliseconds for 10⁴ reports, half a second for 10⁶; Ternary a hundred times that.
func (r Round) RDP(alpha float64) (float64, error) {
	if err := cmp.Or(r.check(), check.Order(alpha), r.applies()); err != nil {
		return 0, err
	}
	all := float64(r.Streams)
	switch r.mode() {
	case Exact:
		return all * exactRDP(r.blanket(), r.Epsilon, []float64{alpha})[0], nil
	case Numeric:
		mean := r.blanket().logMeans([]functional{believed{alpha, 1 - 2*r.rate()}})[0]
		return all * (num.LogOnePlus(mean) / (alpha - 1)), nil
	case Ternary:
		if alpha != math.Floor(alpha) || alpha > maxTernary {
			return 0, check.Wantf("order", alpha, "an integer from 2 to %d in mode %s", maxTernary, Ternary)
		}
		return r.ternary(int(alpha))(int(alpha)), nil
	}
	l, err := r.linear()
	if err != nil {
		return 0, err
	}
	if alpha < l.low || alpha > l.high {
		return 0, check.Wantf("order", alpha, "from %g to %.6g in mode %s", l.low, l.high, r.mode())
	}
	return l.slope * alpha * (1 + num.Margin), nil
}

func (r Round) linear() (linear, error) {
	if r.mode() == Paper {
		return r.paper()
	}
	return r.tcdp()
}

// ternary returns the divergence at integer orders up to top.
func (r Round) ternary(top int) func(alpha int) float64 {
	joint := r.together() == 2
	logs := logMoments(r.blanket(), r.Epsilon, top, joint)
	return func(alpha int) float64 {
		rho := ternaryRDP(logs, r.rate(), alpha)
		if !joint {
			rho *= float64(r.Streams)
		}
		// Batches never cost more than all records: P and Q share the part without the record.
		return min(rho, float64(r.Streams)*r.Epsilon)
	}
}

// Delta returns δ(ε) of one stream in which all records take part, rounded up. It is for a single
// round; rounds are composed by their Events.
func (r Round) Delta(epsilon float64) (float64, error) {
	r.Mode = Exact
	if err := cmp.Or(r.check(), check.Epsilon("epsilon", epsilon), r.applies()); err != nil {
		return 0, err
	}
	if r.Streams != 1 {
		return 0, check.Want("streams of a round", r.Streams, "1: compose the events of two")
	}
	return exactDeltas(r.blanket(), r.Epsilon, -700, []float64{epsilon})[0], nil
}

// Losses returns the round as an event that composes by its privacy losses, which costs less than
// by divergences: Exact's δ(ε) of one stream at up to 600 ε, once for each stream. The pair of laws
// that it is worked out for is the worst at every ε and in both directions at once, so rounds that
// are chosen adaptively compose (accountant.NewHockeyStick). It is ErrInapplicable where not all
// records take part, and for modes other than Exact.
//
// Cost: some tenths of a second for 10⁴ reports, remembered for equal rounds.
func (r Round) Losses() (accountant.Event, error) {
	if err := cmp.Or(r.check(), r.applies()); err != nil {
		return nil, err
	}
	if m := r.mode(); m != Exact {
		return nil, fmt.Errorf("mode %s has no losses: %w", m, errLosses)
	}
	streams := r.Streams
	r.Mode, r.Streams, r.Rate, r.ApartBatches = Exact, 1, 1, false
	one, err := knownLosses.Get(r, r.losses)
	if err != nil || streams == 1 {
		return one, err
	}
	return accountant.Compose(accountant.Charge{Event: one, Count: streams})
}

func (r Round) losses() (accountant.Event, error) {
	epsilons := r.epsilons()
	points := make([]accountant.HockeyStickPoint, len(epsilons))
	last := 1.0
	for i, delta := range exactDeltas(r.blanket(), r.Epsilon, tinyLoss, epsilons) {
		last = min(last, delta) // what holds at a smaller ε holds at a larger one
		points[i] = accountant.HockeyStickPoint{Epsilon: epsilons[i], Delta: last}
	}
	return accountant.NewHockeyStick(accountant.ReplaceOne, r.String(), points)
}

// epsilons are the ε of a round's losses. A loss has the deviation √(2ρ₁): the steps are a part of
// it where sums of losses come from, and grow beyond. The last one is ε₀, where δ is 0.
func (r Round) epsilons() []float64 {
	deviation := math.Sqrt(2 * leading(r.Reports, r.Epsilon))
	step := deviation / lossSteps
	out := []float64{0}
	for e := step; e < r.Epsilon*(1-1e-9) && len(out) < 600; e += step {
		out = append(out, e)
		if e > 8*deviation {
			step *= 1.05
		}
	}
	return append(out, r.Epsilon)
}

const (
	// lossSteps is the number of steps of Losses in one deviation.
	lossSteps = 24
	// tinyLoss is the logarithm of a δ that no number of rounds adds up to one that matters.
	tinyLoss = -120
)

// Event returns the round as an event for an accountant.Accountant: a Curve of its mode's
// divergences. Numeric has none.
//
// Cost: some tenths of a second for 10⁴ reports, remembered for equal rounds.
func (r Round) Event() (accountant.Event, error) {
	if err := cmp.Or(r.check(), r.applies()); err != nil {
		return nil, err
	}
	return known.Get(r, r.event)
}

func (r Round) event() (accountant.Event, error) {
	if r.mode() == Exact && r.Streams == 2 { // of which one is remembered
		r.Streams = 1
		one, err := r.Event()
		if err != nil {
			return nil, err
		}
		return accountant.Compose(accountant.Charge{Event: one, Count: 2})
	}
	orders, rho, err := r.points()
	if err != nil {
		return nil, err
	}
	return curve(r.String(), orders, rho)
}

// known and knownLosses remember events: every round of a run asks for the same one.
var known, knownLosses memo.Of[Round, accountant.Event]

// String names the theorem and the round.
func (r Round) String() string {
	text := fmt.Sprintf("%d × %d shuffled reports at epsilon %g, mode %s", r.Streams, r.Reports,
		r.Epsilon, r.mode())
	if r.rate() < 1 {
		text += fmt.Sprintf(", batches of %g", r.Rate)
	}
	return text
}

// points returns the orders of the Event and the divergences there.
func (r Round) points() (orders, rho []float64, err error) {
	switch r.mode() {
	case Numeric:
		return nil, nil, fmt.Errorf("mode %s: %w", Numeric, errUnproved)
	case Exact:
		orders = r.orders()
		return orders, exactRDP(r.blanket(), r.Epsilon, orders), nil
	case Ternary:
		at := r.ternary(maxTernary)
		for a := 2; a <= maxTernary; a += max(1, a/16) {
			orders, rho = append(orders, float64(a)), append(rho, at(a))
		}
		return orders, rho, nil
	}
	l, err := r.linear()
	if err != nil {
		return nil, nil, err
	}
	for a := max(l.low, 1.25); a < l.high; a *= 1.05 {
		orders, rho = append(orders, a), append(rho, l.slope*a*(1+num.Margin))
	}
	return append(orders, l.high), append(rho, l.slope*l.high*(1+num.Margin)), nil
}

// orders are the orders of Exact's curve: α-1 in steps of an eighth, up to about where one round is
// best converted at δ = 1e-20. Between two of them the accountant's interpolation is within 0.4 %.
func (r Round) orders() []float64 {
	high := 10 + 1.5*math.Sqrt(46/leading(r.Reports, r.Epsilon))
	var out []float64
	for x := 0.25; 1+x < high; x *= 1.125 {
		out = append(out, 1+x)
	}
	return append(out, high)
}

// curve makes an event of divergences, which must rise with the order: what is larger at a lower
// order holds there as well as at the higher one only if it is raised.
func curve(theorem string, orders, rho []float64) (accountant.Event, error) {
	points := make([]accountant.CurvePoint, len(orders))
	last := 0.0
	for i, a := range orders {
		last = max(last, rho[i])
		points[i] = accountant.CurvePoint{Alpha: a, Rho: last}
	}
	return accountant.NewCurve(accountant.ReplaceOne, theorem, points)
}
