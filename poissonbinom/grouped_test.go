package poissonbinom

import (
	"math"
	"math/big"
	"strings"
	"testing"
)

func TestGroupCheck(t *testing.T) {
	for _, c := range []struct {
		g    Group
		want string // part of the error; empty for none
	}{
		{Prob(0), ""},
		{Prob(1).Times(7), ""},
		{Prob(0.3).Times(0), ""},
		{Group{P: 1, Q: 1e-20, N: 1}, ""},
		{Prob(math.NaN()), "P = NaN"},
		{Prob(-0.5), "P = -0.5"},
		{Prob(1.5), "P = 1.5"},
		{Group{P: 0.5, Q: math.NaN(), N: 1}, "Q = NaN"},
		{Group{P: 0, Q: 1.25, N: 1}, "Q = 1.25"},
		{Group{P: 0.5, Q: 0.5 + 1e-14, N: 1}, "must sum to 1"},
		{Group{N: 1}, "must sum to 1"},
		{Prob(0.5).Times(-3), "N = -3"},
	} {
		err := c.g.Check()
		if c.want == "" && err != nil || c.want != "" &&
			(err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: error %v, want %q", c.g, err, c.want)
		}
		if err != nil {
			mustPanic(t, "GroupedPMF of an invalid group", func() { GroupedPMF([]Group{c.g}, nil) })
		}
	}
}

// A complement below the precision of P is not lost.
func TestGroupedPMFComplement(t *testing.T) {
	for _, n := range []int{3, binomialThreshold} {
		pmf := GroupedPMF([]Group{{P: 1, Q: 1e-20, N: n}}, nil)
		if want := float64(n) * 1e-20; math.Abs(pmf[n-1]-want) > 1e-15*want {
			t.Errorf("n = %d: Pr[one zero] = %g, want %g", n, pmf[n-1], want)
		}
	}
}

func TestGroupedPMFExact(t *testing.T) {
	groups := []Group{
		Prob(0.3).Times(9), Prob(1).Times(4), Prob(0).Times(5), Prob(0.52).Times(binomialThreshold),
		Prob(1e-5).Times(30),
	}
	var list []float64
	for _, g := range groups {
		for range g.N {
			list = append(list, g.P)
		}
	}
	dst := make([]float64, len(list)+10)
	pmf := GroupedPMF(groups, dst)
	if &pmf[0] != &dst[0] || len(pmf) != len(list)+1 {
		t.Errorf("dst not used, or length %d", len(pmf))
	}
	exact := bigPMF(list)
	rel, _ := PMFError(len(list))
	units, judged := worstRelative(pmf, exact, 1e-290)
	t.Logf("worst relative error %.1f u over %d elements, bound %.0f u", units, judged, rel/unit)
	if units*unit > rel || judged < 200 {
		t.Errorf("relative error %g over %d elements, bound %g", units*unit, judged, rel)
	}
	for l, e := range exact {
		if e.Cmp(big.NewFloat(1e-290)) < 0 && pmf[l] > 2e-290 {
			t.Errorf("element %d is %g, want below 1e-290", l, pmf[l])
		}
	}
	if allocs := testing.AllocsPerRun(20, func() { GroupedPMF(groups, dst) }); allocs != 0 {
		t.Errorf("GroupedPMF into dst allocates %g times", allocs)
	}
	if got := GroupedPMF(nil, nil); len(got) != 1 || got[0] != 1 {
		t.Errorf("no groups: %v, want [1]", got)
	}
}
