package ensemble

import (
	"math"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
)

// Every threshold from both sides, one float64 apart where the threshold is one.
func TestWorthless(t *testing.T) {
	below := func(x float64) float64 { return math.Nextafter(x, 0) }
	for _, tt := range []struct {
		total   accountant.Cost
		records int
		want    string // in the reason; "" if the total is worth something
	}{
		{accountant.Cost{Epsilon: 0, Delta: 0}, 0, ""},
		{accountant.Cost{Epsilon: 1, Delta: 1e-6}, 0, ""},
		{accountant.Cost{Epsilon: 1, Delta: 1e-6}, 999_999, ""},
		{accountant.Cost{Epsilon: 1, Delta: 1e-6}, 1_000_000, "1/1000000"},
		{accountant.Cost{Epsilon: 1, Delta: below(1e-6)}, 1_000_000, ""},
		// the decimal, not the float64 below or above it
		{accountant.Cost{Epsilon: 1, Delta: 0.001}, 1000, "1/1000"},
		{accountant.Cost{Epsilon: 1, Delta: 1.0 / 3}, 3, "0.01"},
		{accountant.Cost{Epsilon: 1, Delta: below(0.01)}, 0, ""},
		{accountant.Cost{Epsilon: 1, Delta: 0.01}, 0, "0.01"},
		{accountant.Cost{Epsilon: 1, Delta: 0.01}, 2, "0.01"},
		{accountant.Cost{Epsilon: 10, Delta: 0}, 1000, ""},
		{accountant.Cost{Epsilon: math.Nextafter(10, 11), Delta: 0}, 1000, "ε = 10.0001 is above 10"},
		{accountant.Cost{Epsilon: 233, Delta: 1e-7}, 0, "ε = 233"},
		{accountant.Cost{Epsilon: 1.5e6, Delta: 1}, 0, "δ = 1 "},
		{accountant.Cost{Epsilon: 0, Delta: 1}, 1, "δ = 1 "},
		{accountant.Cost{Epsilon: math.NaN(), Delta: 0}, 0, "ε = NaN"},
		{accountant.Cost{Epsilon: 0, Delta: math.NaN()}, 5, "δ = NaN"},
		{accountant.Cost{Epsilon: math.Inf(1), Delta: 0}, 0, "ε = +Inf"},
	} {
		reason, worthless := Worthless(tt.total, tt.records)
		if worthless != (tt.want != "") || !strings.Contains(reason, tt.want) ||
			strings.Contains(reason, "\n") || (reason == "") == worthless {
			t.Errorf("%v of %d records: %v, %q", tt.total, tt.records, worthless, reason)
		}
	}
}

// The largest total that is worth something is one, and the next larger ε or δ is not.
func TestMostWorth(t *testing.T) {
	for _, records := range []int{0, 1, 3, 49, 99, 100, 101, 1000, 12345, 1 << 40} {
		most := MostWorth(records)
		if reason, worthless := Worthless(most, records); worthless || most.Epsilon != 10 {
			t.Errorf("%d records: %v: %s", records, most, reason)
		}
		for _, more := range []accountant.Cost{
			{Epsilon: math.Nextafter(most.Epsilon, 11), Delta: most.Delta},
			{Epsilon: most.Epsilon, Delta: math.Nextafter(most.Delta, 1)},
		} {
			if _, worthless := Worthless(more, records); !worthless {
				t.Errorf("%d records: %v is worth something, and more than %v", records, more, most)
			}
		}
	}
}
