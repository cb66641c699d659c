package num

import (
	"math"
	"testing"
)

// The score interval has the values of its formula.
func TestWilson(t *testing.T) {
	for _, tt := range []struct{ share, n, low, high float64 }{
		{0.5, 100, 0.4038315303659957, 0.5961684696340044}, {0.9, 10, 0.5958499732047616, 0.9821237869049271}, {0, 20, 0, 0.16112515805281938},
	} {
		if low, high := Wilson(tt.share, tt.n); math.Abs(low-tt.low) > 1e-9 || math.Abs(high-tt.high) > 1e-9 {
			t.Errorf("%v of %v: [%v, %v], want [%v, %v]", tt.share, tt.n, low, high, tt.low, tt.high)
		}
	}
}
