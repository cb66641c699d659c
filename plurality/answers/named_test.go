package answers

import "testing"

// Whether labels tell something does not depend on the unit of costs, and a class that is answered once in
// thousands of its labels tells nothing.
func TestTellsByWhatPluralityWouldGain(t *testing.T) {
	for _, x := range []struct {
		value, constant, perfect float64
		want                     bool
	}{
		{0.9, 0.8, 1, true}, {0.8, 0.8, 1, false}, {0.80001, 0.8, 1, false}, {0.801, 0.8, 1, true},
		{-0.2, -0.5, 0, true}, {-0.2e-9, -0.5e-9, 0, true}, {-0.2e6, -0.5e6, 0, true},
		{-0.4999e-9, -0.5e-9, 0, false}, {-0.4999e6, -0.5e6, 0, false}, {0, 0, 0, false},
	} {
		b := ByClass{ConstantValue: x.constant, Perfect: x.perfect}
		if got := b.Tells(x.value); got != x.want {
			t.Errorf("%+v: %v", x, got)
		}
	}
}
