package accountant

import (
	"math"
	"testing"
)

// A mixture of one part has that part's masses, those beyond its grid among them: below it they stand at its
// first point.
func TestMixtureOfOnePart(t *testing.T) {
	const step = 1e-2
	for _, sigma := range []float64{0.5, 2, 30} {
		part := normalLoss{sigma, 1, false}
		want, err := part.discretise(step)
		if err != nil {
			t.Fatal(err)
		}
		got, err := mixtureLoss{parts: []mixturePart{{1, part}}}.discretise(step)
		if err != nil || got.first != want.first || len(got.mass) != len(want.mass) {
			t.Fatalf("σ = %v: %d masses from %d, want %d from %d: %v", sigma, len(got.mass), got.first, len(want.mass),
				want.first, err)
		}
		for i, w := range want.mass {
			if math.Abs(got.mass[i]-w) > 1e-6*w {
				t.Fatalf("σ = %v: mass %d of %d is %v, want %v", sigma, i, len(got.mass), got.mass[i], w)
			}
		}
	}
}
