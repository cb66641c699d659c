package solve

import (
	"testing"

	"github.com/darrm/darrm/gamma"
)

// The counterexamples of docs/errata.md that are about the optimum.

// Section 3.7 claims that for m > 1 the optimum has the highest probability of the majority over
// the support, and from that, that its error is the lowest. Its error is; its γ is not everywhere
// the highest.
func TestErratumHighestProbability(t *testing.T) {
	for _, c := range []struct {
		m, l int
		want float64
	}{{3, 1, 0.977696}, {5, 2, 0.9963}} {
		table := optimal(t, problem(t, 11, float64(c.m), 0.1, 1e-5), Options{})
		sub, err := gamma.Subsampling(11, c.m)
		if err != nil {
			t.Fatal(err)
		}
		if got := table.Func().At(c.l); got < c.want-1e-4 || got > c.want+1e-4 || got >= sub.At(c.l) {
			t.Errorf("m = %d: γ_opt(%d) = %g, γ_Sub(%d) = %g", c.m, c.l, got, c.l, sub.At(c.l))
		}
		if e := table.Error(sub); table.ExpectedError >= e {
			t.Errorf("m = %d: the error of γ_opt is %g, of γ_Sub %g", c.m, table.ExpectedError, e)
		}
	}
}

// Lemma 3.4.2 and Figure 3.2 have subsampling as optimal at m = 1. It is for small ε. At
// K = 11, ε = 1, without δ, there is a better function by the source's own objective.
func TestErratumSubsamplingAtLargeEpsilon(t *testing.T) {
	table := optimal(t, problem(t, 11, 1, 1, 0), Options{})
	sub, err := gamma.Subsampling(11, 1)
	if err != nil {
		t.Fatal(err)
	}
	if e := table.Error(sub); !(table.ExpectedError < e-1e-3) {
		t.Errorf("the error of γ_opt is %g, of γ_Sub %g", table.ExpectedError, e)
	}
}
