package federated

import (
	"fmt"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/federated/amplification"
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
		return nil, &check.Error{Name: "account", Value: fmt.Sprintf("%q", name),
			Rule: fmt.Sprintf("among %q", known)}
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
