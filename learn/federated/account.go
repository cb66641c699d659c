package federated

import (
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/federated/amplification"
	"github.com/darrm/darrm/learn/train"
)

// Account names the way reports are priced: a mode of package amplification, by its divergences, or
// Unshuffled. "" is the best proof: privacy losses for full gradients without local steps
// (amplification.Round.Losses), otherwise the divergences of the best mode.
type Account string

// Unshuffled counts no shuffler: each report is ε₀-DP by itself, whoever sees it.
const Unshuffled Account = "unshuffled"

// account prices all reports of a run.
type account struct {
	p    *plan
	name Account
}

func (p *plan) newAccount(name Account) (*account, error) {
	known := []Account{"", Unshuffled}
	for _, m := range amplification.Modes() {
		known = append(known, Account(m))
	}
	if !slices.Contains(known, name) {
		return nil, check.Wantf("account", fmt.Sprintf("%q", name), "among %q", known)
	}
	return &account{p, name}, nil
}

func (a *account) String() string {
	switch {
	case a.name == Unshuffled:
		return "priced without a shuffler"
	case a.name == "":
		return "priced by the best proof"
	}
	return "priced by mode " + string(a.name)
}

// round returns a round with ε₀, and how many rounds of the run are like it.
func (a *account) round(first bool, epsilon float64) (amplification.Round, int) {
	p := a.p
	r, count := 0, 1
	streams := 1
	if !first {
		r, count = 1, p.Rounds-1
		if p.weight(1) < 1 {
			streams = 2
		}
	}
	return amplification.Round{Mode: amplification.Mode(a.name), Streams: streams,
		Reports: p.honest(r), Epsilon: epsilon, OneBit: p.reportKind.oneBit(), Rate: p.rate(r)}, count
}

// byLosses reports whether reports are priced by their privacy losses, which costs less than the
// divergences of any mode: in every round all records take part, and no mode is stated.
func (a *account) byLosses() bool {
	for _, first := range []bool{true, false} {
		if round, count := a.round(first, 1); count > 0 && round.Rate < 1 {
			return false
		}
	}
	return a.name == ""
}

// reports returns the event of all reports with ε₀, to be priced by method.
func (a *account) reports(epsilon float64, method accountant.Method) (accountant.Event, error) {
	if a.name == Unshuffled {
		s := a.p.streams()
		return accountant.Compose(accountant.Charge{Event: accountant.RandomizedResponse{Epsilon: epsilon,
			Neighbours: accountant.ReplaceOne}, Count: s[gradients] + s[differences]})
	}
	var charges []accountant.Charge
	for _, first := range []bool{true, false} {
		round, count := a.round(first, epsilon)
		if count == 0 {
			continue
		}
		event := round.Event
		if method == accountant.MethodPLD {
			event = round.Losses
		}
		e, err := event()
		if err != nil {
			return nil, err
		}
		charges = append(charges, accountant.Charge{Event: e, Count: count})
	}
	return accountant.Compose(charges...)
}

// localEvent returns the event of all local phases for a record, and sets σ. Each silo has at most
// ⌈R/M⌉ phases of H-1 steps that touch its records. Where σ is not stated, the phases by themselves
// cost ε/√2 of the target. Costs of this kind add up nearly in squares, so about as much is left
// for the server.
func (p *Plan) localEvent() (accountant.Event, error) {
	phases := func(sigma float64) (accountant.Event, error) {
		// The smallest silo's records come up most often.
		step, err := amplification.LocalStep{Noise: sigma, Batch: p.Local.Batch,
			Records: p.smallest}.Event()
		if err != nil {
			return nil, err
		}
		return accountant.Compose(accountant.Charge{Event: step, Count: (p.Local.Steps - 1) * p.turns()})
	}
	if p.sigma = p.Local.Noise; p.sigma == 0 {
		half := accountant.Cost{Epsilon: p.Target.Epsilon / math.Sqrt2, Delta: p.Target.Delta}
		// of the multiplier σB/2
		toSigma := func(inverse float64) float64 { return 2 / (float64(p.Local.Batch) * inverse) }
		inverse, err := calibrate(p.price.Method+": local phase", half, accountant.MethodRDP,
			func(x float64) (accountant.Event, error) { return phases(toSigma(x)) })
		if err != nil {
			return nil, err
		}
		p.sigma = toSigma(inverse)
	}
	return phases(p.sigma)
}

// calibrate returns the largest parameter whose event costs at most ε by the method: of costs that
// grow with it.
func calibrate(name string, target accountant.Cost, method accountant.Method,
	event func(x float64) (accountant.Event, error)) (float64, error) {
	x, _, err := amplification.Calibrate(target, func(x float64) (float64, error) {
		e, err := event(x)
		if err != nil {
			return 0, err
		}
		if method == accountant.MethodRDP { // as the rows of Compare
			epsilon, _, err := amplification.Epsilon(target.Delta, amplification.Improved,
				accountant.Charge{Event: e, Count: 1})
			return epsilon, err
		}
		best, err := train.LeastEpsilon(e, accountant.ReplaceOne, target.Delta, method)
		return best.Cost.Epsilon, err
	})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return x, nil
}

// compose returns events that happen once each; nil is none.
func compose(events ...accountant.Event) (accountant.Event, error) {
	var charges []accountant.Charge
	for _, e := range events {
		if e != nil {
			charges = append(charges, accountant.Charge{Event: e, Count: 1})
		}
	}
	return accountant.Compose(charges...)
}
