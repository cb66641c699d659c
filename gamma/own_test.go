package gamma

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/testing/must"
)

func TestFromGiven(t *testing.T) {
	const unit = 0x1p-53
	for name, c := range map[string]struct {
		k      int
		values []float64
		want   []float64
		change float64 // at most, and not by far
	}{
		"all of K = 3":       {3, []float64{1, 0.5, 0.5, 1}, []float64{1, 0.5, 0.5, 1}, 0},
		"left of the middle": {3, []float64{1, 0.5}, []float64{1, 0.5, 0.5, 1}, 0},
		"an even K":          {4, []float64{1, 0.5}, []float64{1, 0.5, 0, 0.5, 1}, 0},
		"all of K = 4":       {4, []float64{1, 0.5, 0, 0.5, 1}, []float64{1, 0.5, 0, 0.5, 1}, 0},
		"one teacher":        {1, []float64{0.25}, []float64{0.25, 0.25}, 0},
		"a fraction of a unit": {1, []float64{0x1p-52 + 0x1p-54}, []float64{0x1p-52, 0x1p-52},
			0x1p-54},
		"the smaller one counts": {1, []float64{0.5, 0.5 - 1e-10}, []float64{0.5 - 1e-10, 0.5 - 1e-10},
			1e-10},
		"outside by rounding": {3, []float64{1 + 0x1p-52, -1e-17}, []float64{1, 0, 0, 1}, 0x1p-52},
		"less than a unit":    {1, []float64{1e-20}, []float64{0, 0}, 1e-20},
	} {
		f, change, err := FromGiven(c.k, c.values)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for l, v := range f.Values() {
			if math.Abs(v-c.want[l]) >= unit {
				t.Errorf("%s: gamma(%d) = %v, want %v", name, l, v, c.want[l])
			}
		}
		if change < c.change*(1-1e-6) || change > c.change*(1+1e-6)+unit*min(1, c.change*1e99) {
			t.Errorf("%s: changed by %v, want %v", name, change, c.change)
		}
	}
}

// Values that differ between the labels are a function by their names, each as it is; within the tolerance they are one
// of labels that are alike.
func TestFromGivenByName(t *testing.T) {
	for _, values := range [][]float64{{1, 0.5, 0.5, 0.5, 1}, {1, 0.5, -0.5, 0.9}, {0.5, 0.5 - 1.1e-9}} {
		f, change, err := FromGiven(len(values)-1, values)
		if err != nil || f.Symmetric() || change > 0x1p-53 {
			t.Errorf("%v: %v, changed by %v, %v", values, f, change, err)
		}
		for l, v := range values {
			if math.Abs(f.At(l)-v) > 0x1p-53 {
				t.Errorf("%v: gamma(%d) = %v", values, l, f.At(l))
			}
		}
	}
	if f, _, err := FromGiven(3, []float64{1, 0.5, 0.5 + 1e-10, 1}); err != nil || !f.Symmetric() || f.At(2) != 0.5 {
		t.Errorf("within the tolerance: %v, %v", f, err)
	}
}

func TestFromGivenRefuses(t *testing.T) {
	for want, c := range map[string]struct {
		k      int
		values []float64
	}{
		"gamma has 3 values, but K = 3 needs 4, or the first 2": {3, []float64{1, 1, 1}},
		"gamma(1) = NaN":           {3, []float64{1, math.NaN()}},
		"gamma(2) = NaN":           {3, []float64{1, 0, math.NaN(), 1}},
		"gamma(0) = -0.1":          {3, []float64{-0.1, 0}},
		"gamma(1) = -2e-09":        {3, []float64{1, -2e-9}},
		"gamma(0) = 1.5":           {3, []float64{1.5, 0}},
		"gamma(3) = -1.1":          {3, []float64{1, 0.5, 0.5, -1.1}},
		"number of teachers K = 0": {0, []float64{1}},
	} {
		if _, _, err := FromGiven(c.k, c.values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", c.values, err, want)
		}
	}
}

// hockeyStick is δ(ε) of f by the definition, where teachers promise nothing and a record reaches
// t: vote counts l and l' with |l-l'| ≤ t are neighbours.
func hockeyStick(f Func, t int, epsilon float64) float64 {
	k, worst := f.K(), 0.0
	for l := range k + 1 {
		for other := max(0, l-t); other <= min(k, l+t); other++ {
			for _, sign := range []float64{1, -1} {
				p, q := (1+sign*f.Phi()[l])/2, (1+sign*f.Phi()[other])/2
				worst = max(worst, p-math.Exp(epsilon)*q)
			}
		}
	}
	return worst
}

func drawFunc(t *rapid.T) (f Func, reach int) {
	k := rapid.IntRange(1, 9).Draw(t, "K")
	free := rapid.SliceOfN(rapid.Float64Range(0, 1), (k+1)/2, (k+1)/2).Draw(t, "gamma")
	f, _, err := FromGiven(k, free)
	if err != nil {
		t.Fatal(err)
	}
	return f, rapid.IntRange(1, k).Draw(t, "t")
}

// The δ that is proved is the least one, by the definition, and never below it.
func TestCertifyDeltaByTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, reach := drawFunc(t)
		p := constraints.Problem{K: f.K(), Epsilon: math.Inf(1), Affected: reach,
			TotalEpsilon: rapid.Float64Range(0.01, 4).Draw(t, "epsilon"), Delta: 0.5}
		want := hockeyStick(f, reach, p.TotalEpsilon)
		c, err := CertifyDelta(context.Background(), p, f)
		if err != nil {
			if want > 1-1e-9 {
				return
			}
			t.Fatal(err)
		}
		got := c.Problem().Delta
		if !c.Func().Equal(f) || got < want-1e-14 || got > want+1e-11 {
			t.Fatalf("δ = %v, want %v", got, want)
		}
	})
}

// The ε that is proved is the least one of ten digits, by the definition, and never below it.
func TestCertifyEpsilonByTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, reach := drawFunc(t)
		p := constraints.Problem{K: f.K(), Epsilon: math.Inf(1), Affected: reach,
			Delta: rapid.SampledFrom([]float64{0, 1e-6, 1e-3, 0.3}).Draw(t, "delta")}
		c, err := CertifyEpsilon(context.Background(), p, f)
		var violation *ViolationError
		if errors.As(err, &violation) {
			// at ε = 14 the search's rounding errors are 1e-8
			if at := hockeyStick(f, reach, 14); at < p.Delta-1e-7 {
				t.Fatalf("not proved, but δ(14) = %v: %v", at, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		epsilon := c.Problem().TotalEpsilon
		if got := hockeyStick(f, reach, epsilon); !c.Func().Equal(f) || got > p.Delta+1e-14 {
			t.Fatalf("δ(%v) = %v", epsilon, got)
		}
		// A little less is too little. Rounding errors of the search are about 1e-14 of e^ε.
		less := epsilon*(1-1e-8) - 1e-12*math.Exp(epsilon)/max(p.Delta, 1e-2) - 2*leastEpsilon
		if less > 0 && hockeyStick(f, reach, less) <= p.Delta {
			t.Fatalf("ε = %v, but %v would do", epsilon, less)
		}
	})
}

// Of private teachers, Δ among their promise: what is proved is certified, and hardly less would
// be.
func TestCertifyOfPrivateTeachers(t *testing.T) {
	ctx := context.Background()
	for name, p := range map[string]constraints.Problem{
		"pure":        {K: 11, TotalEpsilon: 0.2, Epsilon: 0.1, Affected: 11},
		"approximate": {K: 11, TotalEpsilon: 0.2, Epsilon: 0.1, TeacherDelta: 1e-4, Affected: 11},
		"below ε":     {K: 11, TotalEpsilon: 0.05, Epsilon: 0.1, TeacherDelta: 1e-4, Affected: 3},
	} {
		f := must.Get(Subsampling(11, 5))(t)
		c := must.Get(CertifyDelta(ctx, p, f))(t)
		got := c.Problem()
		if p.Delta = got.Delta; got != p || !c.Func().Equal(f) || got.Delta < 1e-4 {
			t.Errorf("%s: %+v", name, got)
		}
		p.Delta -= 1e-9
		if _, err := Certify(ctx, p, f); !errors.As(err, new(*ViolationError)) {
			t.Errorf("%s: δ = %v is not the least: %v", name, got.Delta, err)
		}
		p.Delta = 2e-3
		c = must.Get(CertifyEpsilon(ctx, p, f))(t)
		p.TotalEpsilon = c.Problem().TotalEpsilon
		if c.Problem() != p || p.M != 0 {
			t.Errorf("%s: %+v", name, c.Problem())
		}
		p.TotalEpsilon *= 1 - 1e-8
		if _, err := Certify(ctx, p, f); !errors.As(err, new(*ViolationError)) {
			t.Errorf("%s: ε = %v is not the least: %v", name, c.Problem().TotalEpsilon, err)
		}
	}
}

func TestCertifyOwnRefuses(t *testing.T) {
	ctx, one := context.Background(), must.Get(Constant(5, 1))(t)
	p := constraints.Problem{K: 5, TotalEpsilon: 1, Epsilon: math.Inf(1), Affected: 1}
	for want, certify := range map[string]func() (*Certified, error){
		"no delta below 1 is proved at epsilon = 1: gamma is not certified": func() (*Certified, error) {
			return CertifyDelta(ctx, p, one)
		},
		"no epsilon up to 700 is proved at delta = 0: gamma is not certified": func() (*Certified,
			error) {
			return CertifyEpsilon(ctx, p, one)
		},
		"gamma's number of teachers = 5": func() (*Certified, error) {
			p := p
			p.K = 7
			return CertifyEpsilon(ctx, p, one)
		},
		"label epsilon": func() (*Certified, error) {
			p := p
			p.TotalEpsilon = -1
			return CertifyDelta(ctx, p, one)
		},
		"context canceled": func() (*Certified, error) {
			return CertifyEpsilon(must.EndAfter(3, context.Canceled), p, one)
		},
	} {
		if c, err := certify(); c != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v, want %q", c, err, want)
		}
	}
}

// A constant c = tanh(ε/2) is randomised response, whose ε is known.
func TestCertifyEpsilonOfRandomisedResponse(t *testing.T) {
	for _, k := range []int{1, 5, 51} {
		for _, epsilon := range []float64{1e-4, 0.5, 1, 5} {
			f := must.Get(Constant(k, math.Tanh(epsilon/2)))(t)
			p := constraints.Problem{K: k, Epsilon: math.Inf(1), Affected: 1}
			c := must.Get(CertifyEpsilon(context.Background(), p, f))(t)
			got, most := c.Problem().TotalEpsilon, epsilon*(1+1e-9)+1e-12*math.Exp(epsilon)
			if got < epsilon*(1-1e-12) || got > most {
				t.Errorf("K = %d: ε = %v, want %v", k, got, epsilon)
			}
		}
	}
	f := must.Get(Constant(3, 0))(t)
	c := must.Get(CertifyEpsilon(context.Background(), constraints.Problem{K: 3, Epsilon: math.Inf(1),
		Affected: 3}, f))(t)
	if got := c.Problem().TotalEpsilon; got > leastEpsilon || slices.Max(c.Func().Values()) != 0 {
		t.Errorf("coins have ε = %v", got)
	}
}
