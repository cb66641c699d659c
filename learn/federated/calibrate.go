package federated

import (
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/federated/amplification"
	"github.com/darrm/darrm/learn/train"
)

// calibrate returns the largest parameter whose event costs at most ε by the method: of costs that
// grow with it.
func calibrate(name string, target accountant.Cost, method accountant.Method,
	event func(x float64) (accountant.Event, error)) (float64, error) {
	x, _, err := amplification.CalibrateBy(target, func(x float64) (float64, error) {
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
