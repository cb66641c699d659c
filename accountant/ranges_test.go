package accountant_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/testing/raced"
)

// One rule decides which noise is taken, when it is charged. What is taken is not out of
// range for a method later, however much of it was charged: methods may have no figure, but
// not because of the noise of the sum.
func TestNoiseIsInRangeOnce(t *testing.T) {
	raced.Sequential(t)
	none, err := accountant.New(accountant.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	for _, sigma := range []float64{1e-4, 1.5e-4, 1e8} {
		for _, count := range []int{1, 2, 1_000_000} {
			a, err := none.Charge(accountant.Gaussian{NoiseMultiplier: sigma,
				Neighbours: accountant.ReplaceOne}, count)
			if err != nil {
				t.Fatal(err)
			}
			// The last is the largest ε that any method takes.
			for _, epsilon := range []float64{0, 1, 1e4} {
				r, err := a.AtEpsilon(epsilon, accountant.MethodGaussian, accountant.MethodZCDP,
					accountant.MethodRDP)
				if err != nil || len(r.Bounds) != 3 {
					t.Errorf("%d × σ = %g at ε = %g: %+v, %v", count, sigma, epsilon, r, err)
				}
			}
			r, err := a.AtDelta(1e-6, accountant.MethodGaussian)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Refused {
				var rule *check.Error
				if errors.As(f.Err, &rule) || !strings.Contains(f.Err.Error(), "epsilon is above") {
					t.Errorf("%d × σ = %g: %v", count, sigma, f.Err)
				}
			}
		}
	}
}
