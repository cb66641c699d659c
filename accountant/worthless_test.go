package accountant

import (
	"math"
	"strings"
	"testing"
)

// Every threshold from both sides, one float64 apart where the threshold is one.
func TestWorthless(t *testing.T) {
	below := func(x float64) float64 { return math.Nextafter(x, 0) }
	for _, tt := range []struct {
		total   Cost
		records int
		want    string // in the reason; "" if the total is worth something
	}{
		{Cost{0, 0}, 0, ""},
		{Cost{1, 1e-6}, 0, ""},
		{Cost{1, 1e-6}, 999_999, ""},
		{Cost{1, 1e-6}, 1_000_000, "1/1000000"},
		{Cost{1, below(1e-6)}, 1_000_000, ""},
		{Cost{1, 0.001}, 1000, "1/1000"}, // the decimal, not the float64 below or above it
		{Cost{1, 1.0 / 3}, 3, "0.01"},
		{Cost{1, below(0.01)}, 0, ""},
		{Cost{1, 0.01}, 0, "0.01"},
		{Cost{1, 0.01}, 2, "0.01"},
		{Cost{below(20), 0}, 1000, ""},
		{Cost{20, 0}, 1000, "ε = 20"},
		{Cost{233, 1e-7}, 0, "ε = 233"},
		{Cost{1.5e6, 1}, 0, "δ = 1 "},
		{Cost{0, 1}, 1, "δ = 1 "},
		{Cost{math.NaN(), 0}, 0, "ε = NaN"},
		{Cost{0, math.NaN()}, 5, "δ = NaN"},
		{Cost{math.Inf(1), 0}, 0, "ε = +Inf"},
	} {
		reason, worthless := Worthless(tt.total, tt.records)
		if worthless != (tt.want != "") || !strings.Contains(reason, tt.want) || strings.Contains(reason, "\n") || (reason == "") == worthless {
			t.Errorf("%v of %d records: %v, %q", tt.total, tt.records, worthless, reason)
		}
	}
}
