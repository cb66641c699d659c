package iteration

import (
	"slices"
	"testing"
)

// The best is compared with every mode by every conversion, each pair once; a stated mode or
// conversion is the only one.
func TestWays(t *testing.T) {
	all := Ways(Best, "")
	for _, m := range Modes() {
		if !slices.ContainsFunc(all, func(w Way) bool { return w.Mode == m }) {
			t.Errorf("no way by %s", m)
		}
	}
	if n := len(all); n != 2+2+3*3 || slices.Contains(all, Way{Paper, ConversionExact}) ||
		!slices.Contains(all, Way{GaussianExact, ""}) {
		t.Errorf("%d ways: %v", n, all)
	}
	if got := Ways(Paper, ""); !slices.Equal(got,
		[]Way{{Paper, ConversionClassical}, {Paper, ConversionImproved}}) {
		t.Errorf("paper: %v", got)
	}
	if got := Ways(CrossEpoch, ConversionExact); !slices.Equal(got,
		[]Way{{CrossEpoch, ConversionExact}}) {
		t.Errorf("stated: %v", got)
	}
}
