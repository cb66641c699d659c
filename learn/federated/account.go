package federated

import (
	"errors"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
)

// Account names a way to price reports.
type Account string

// The accounts.
const (
	// Unshuffled counts no shuffler: each report is ε₀-DP by itself, whatever the server does.
	Unshuffled Account = "unshuffled"
)

// account prices all reports of a run.
type account struct {
	p    *plan
	name Account
}

func (p *plan) newAccount(name Account) (*account, error) {
	if err := check.Among([]Account{"", Unshuffled})("account", name); err != nil {
		return nil, err
	}
	return &account{p, name}, nil
}

func (a *account) String() string { return string(a.name) }

// reports returns the event of all reports with ε₀.
func (a *account) reports(epsilon float64) (accountant.Event, error) {
	if a.name != Unshuffled {
		return nil, errors.New("shuffled reports are not priced yet: state the account unshuffled")
	}
	s := a.p.streams()
	return accountant.Compose(accountant.Charge{Event: accountant.RandomizedResponse{Epsilon: epsilon, Neighbours: accountant.ReplaceOne}, Count: s[0] + s[1]})
}

// localEvent sets σ where it is to be what the target needs.
func (p *Plan) localEvent() (accountant.Event, error) {
	return nil, errors.New("shuffled reports are not priced yet: state the account unshuffled")
}
