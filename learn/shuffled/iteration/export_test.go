package iteration

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
)

// ZCDP returns the ρ for which the event is ρ-zCDP in its mode, rounded up: RDP is at most
// α·ρ for every order. It is also √(2ρ)-Gaussian differentially private
// (docs/training.md, Theorem 1). The mixtures have no such ρ: ErrUnsupported.
// Best has the smallest of the modes that have one and hold.
func (e Steps) ZCDP() (float64, error) {
	if err := e.check(); err != nil {
		return 0, err
	}
	modes, err := e.certified()
	if err != nil {
		return 0, err
	}
	least := math.NaN()
	for _, c := range modes {
		if rho := c.rho(c.m); pureRho(c.mode()) && !(rho >= least) {
			least = rho
		}
	}
	if math.IsNaN(least) {
		return 0, fmt.Errorf("zCDP in mode %s: %w", e.mode(), accountant.ErrUnsupported)
	}
	return least, nil
}
