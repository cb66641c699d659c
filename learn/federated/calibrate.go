package federated

import (
	"errors"
	"fmt"

	"github.com/darrm/darrm/accountant"
)

// fitsTarget says whether an event costs at most the target.
func (p *plan) fitsTarget(e accountant.Event, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	b, err := cost(e, p.Target.Delta)
	return err == nil && b.Cost.Epsilon <= p.Target.Epsilon, err
}

// cost returns ε of an event at δ, by Rényi divergences: shuffled reports have no other proof.
func cost(e accountant.Event, delta float64) (accountant.Bound, error) {
	a, err := accountant.New(accountant.ReplaceOne)
	if err == nil {
		a, err = a.Charge(e, 1)
	}
	if err != nil {
		return accountant.Bound{}, err
	}
	report, err := a.AtDelta(delta, accountant.MethodRDP)
	if err != nil {
		return accountant.Bound{}, err
	}
	best, ok := report.Best()
	if !ok {
		return best, fmt.Errorf("no rule prices %v", e)
	}
	return best, nil
}

func compose(events ...accountant.Event) (accountant.Event, error) {
	var charges []accountant.Charge
	for _, e := range events {
		if e != nil {
			charges = append(charges, accountant.Charge{Event: e, Count: 1})
		}
	}
	return accountant.Compose(charges...)
}

// precision is how near, relatively, a calibrated number comes to the best.
const precision = 1e-4

// least returns a number in [low, high] that fits, at most the precision above the least that does.
// Whatever fits must go on to fit above it; the result was tried and does.
func least(low, high float64, fits func(float64) (bool, error)) (float64, error) {
	if ok, err := fits(low); ok || err != nil {
		return low, err
	}
	top := low
	for {
		if top = min(2*top, high); top == low {
			return 0, errors.New("none fits")
		}
		ok, err := fits(top)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		low = top
	}
	for top > low*(1+precision) {
		mid := low + (top-low)/2
		ok, err := fits(mid)
		if err != nil {
			return 0, err
		}
		if ok {
			top = mid
		} else {
			low = mid
		}
	}
	return top, nil
}
