package accountant_test

import (
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
)

// Batches of fixed size: numbers that were computed apart, what all records cost at rate 1 at most,
// and refusals.
func TestFixedBatchRDP(t *testing.T) {
	for _, v := range []struct {
		rate, noise float64
		want        [4]float64 // α = 2, 4, 8, 16
	}{
		{0.01, 2, [4]float64{1.1360371e-4, 2.3281422e-4, 4.8839304e-4, 1.0699522e-3}},
		{0.05, 4, [4]float64{6.447367e-4, 1.6937181e-3, 5.0919444e-3, 1.6726515e-2}},
	} {
		for i, want := range v.want {
			got, err := accountant.FixedBatchRDP(v.noise, v.rate, 2<<i)
			if err != nil || math.Abs(got/want-1) > 1e-7 {
				t.Errorf("%+v, order %d: %g, %v", v, 2<<i, got, err)
			}
			whole, err := accountant.FixedBatchRDP(v.noise, 1, 2<<i)
			if err != nil || whole > float64(int(2)<<i)/(2*v.noise*v.noise)*(1+1e-8) || whole < got {
				t.Errorf("%+v, all records: %g, %v", v, whole, err)
			}
		}
	}
	if got, err := accountant.FixedBatchRDP(0, 0.1, 2); err != nil || !math.IsInf(got, 1) {
		t.Errorf("without noise %g, %v", got, err)
	}
	for _, v := range []struct {
		noise, rate float64
		alpha       int
	}{{-1, 0.1, 2}, {math.NaN(), 0.1, 2}, {1, 0, 2}, {1, 1.1, 2}, {1, math.NaN(), 2}, {1, 0.1, 1},
		{1, 0.1, 513}} {
		if _, err := accountant.FixedBatchRDP(v.noise, v.rate, v.alpha); err == nil {
			t.Errorf("%+v accepted", v)
		}
	}
}
