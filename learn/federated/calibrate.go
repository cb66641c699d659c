package federated

import (
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/federated/amplification"
)

// cost returns ε of an event at δ, by Rényi divergences: shuffled reports have no other proof.
func cost(e accountant.Event, delta float64) (accountant.Cost, error) {
	a, err := accountant.New(accountant.ReplaceOne)
	if err == nil {
		a, err = a.Charge(e, 1)
	}
	if err != nil {
		return accountant.Cost{}, err
	}
	report, err := a.AtDelta(delta, accountant.MethodRDP)
	if err != nil {
		return accountant.Cost{}, err
	}
	best, ok := report.Best()
	if !ok {
		return best.Cost, fmt.Errorf("no rule prices %v", e)
	}
	return best.Cost, nil
}

// calibrate returns the largest parameter whose event costs at most ε: of costs that grow with it.
func calibrate(name string, target accountant.Cost, event func(x float64) (accountant.Event, error)) (float64, error) {
	x, _, err := amplification.Calibrate(target, amplification.Improved, func(x float64) ([]accountant.Charge, error) {
		e, err := event(x)
		return []accountant.Charge{{Event: e, Count: 1}}, err
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
