package loss

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/testing/must"
)

func pairOf(t *testing.T, name string) Pair {
	t.Helper()
	return must.Get(ParsePair(name))(t)
}

// T2: values and slopes at five margins.
func TestPairVectors(t *testing.T) {
	margins := []float64{-2, -.5, 0, .5, 2}
	for name, want := range map[string][]float64{
		"hinge":  {3, -1, 1.5, -1, 1, -1, .5, -1, 0, 0},
		"square": {9, -6, 2.25, -3, 1, -2, .25, -1, 1, 2},
		"logistic": {
			2.1269280110, -.8807970780, .9740769842, -.6224593312, .6931471806, -.5,
			.4740769842, -.3775406688, .1269280110, -.1192029220,
		},
		"loglink": {
			.7758034926, -.1849560865, .3874556190, -.2925605071, .25, -.25,
			.1425369566, -.1774469173, .0142093366, -.0250310843,
		},
	} {
		p := pairOf(t, name)
		for i, s := range margins {
			if v, d := p.Value(s), p.Slope(s); math.Abs(v-want[2*i]) > 1e-10 ||
				math.Abs(d-want[2*i+1]) > 1e-10 {
				t.Errorf("%s at %g: %.10f, slope %.10f", name, s, v, d)
			}
			const h = 1e-5
			if slope := (p.Value(s+h) - p.Value(s-h)) / (2 * h); math.Abs(slope-p.Slope(s)) > 1e-6 {
				t.Errorf("%s at %g: slope %g, differences %g", name, s, p.Slope(s), slope)
			}
		}
	}
}

// What accounts rest on: gradients within Lipschitz, changes of them within Smoothness, slopes
// of one sign where Falling says so, and each bound reached to a hundredth.
func TestPairBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range append(PairNames(), "hinge:ordered") {
		p := pairOf(t, name)
		const radius, model = 1.5, 2.0
		l, smooth := p.Lipschitz(radius, model), p.Smoothness(radius)
		gradient := func(w, x, x2 []float64) []float64 {
			u := floats.SubTo(make([]float64, 2), x, x2)
			floats.Scale(p.Slope(floats.Dot(w, u)), u)
			return u
		}
		vector := func(length float64) []float64 {
			angle, r := rng.Float64()*2*math.Pi, length*math.Sqrt(rng.Float64())
			return []float64{r * math.Cos(angle), r * math.Sin(angle)}
		}
		longest, bend := 0.0, 0.0
		for range 20_000 {
			w, v, x := vector(model), vector(model), vector(radius)
			x2 := []float64{-x[0], -x[1]}
			if rng.IntN(2) == 0 {
				x2 = vector(radius)
			}
			g, h := gradient(w, x, x2), gradient(v, x, x2)
			longest = max(longest, floats.Norm(g, 2))
			bend = max(bend, floats.Distance(g, h, 2)/floats.Distance(w, v, 2))
			if p.Falling() && p.Slope(6*rng.NormFloat64()) > 0 {
				t.Fatalf("%s rises", name)
			}
		}
		if longest > l || longest < 0.95*l {
			t.Errorf("%s: gradients up to %g, Lipschitz %g", name, longest, l)
		}
		if bend > smooth || !math.IsInf(smooth, 1) && bend < 0.9*smooth {
			t.Errorf("%s: changes up to %g, smoothness %g", name, bend, smooth)
		}
		if want := name != "loglink"; p.Convex() != want {
			t.Errorf("%s: convex %v", name, p.Convex())
		}
	}
	// The table of spec section 1.1, per unit of ‖x-x′‖.
	for name, want := range map[string][2]float64{"hinge": {1, math.Inf(1)}, "logistic": {1, .25},
		"loglink": {0.2962962963, 0.1540585701}, "square": {math.Inf(1), 2}} {
		p := pairOf(t, name)
		if l, s := p.Lipschitz(.5, math.Inf(1)), p.Smoothness(.5); l != want[0] &&
			math.Abs(l-want[0]) > 1e-9 || s != want[1] && math.Abs(s-want[1]) > 1e-9 {
			t.Errorf("%s: %.10f, %.10f", name, l, s)
		}
	}
}

func TestPairSigns(t *testing.T) {
	for name, want := range map[string][4]float64{"hinge": {0, -1, 1, 0},
		"hinge:ordered": {0, 0, 1, 0}} {
		p := pairOf(t, name)
		if got := [4]float64{p.Sign(0, 0), p.Sign(0, 1), p.Sign(1, 0), p.Sign(1, 1)}; got != want {
			t.Errorf("%s: %v", name, got)
		}
		if p.Name() != name {
			t.Errorf("%s is named %s", name, p.Name())
		}
		if p.Check(0) != nil || p.Check(1) != nil || p.Check(-1) == nil || p.Check(math.NaN()) == nil {
			t.Errorf("%s takes other classes than 0 and 1", name)
		}
	}
	for _, name := range []string{"", "l2", "hinge:", "hinge:reversed", ":ordered"} {
		if _, err := ParsePair(name); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
	if (Pair{}).Name() != "" {
		t.Error("the zero Pair has a name")
	}
}

// The envelope is smooth, falls, and is below by at most 1/(2β).
func TestSmoothedPair(t *testing.T) {
	p := pairOf(t, "hinge:ordered")
	e, err := p.Smoothed(4)
	if err != nil {
		t.Fatal(err)
	}
	if !e.Falling() || e.Orientation() != Ordered || e.Smoothness(.5) > 4.0000001 ||
		e.Slopes(math.Inf(1)) != 1 {
		t.Errorf("%v %v %v", e.Falling(), e.Smoothness(.5), e.Slopes(1))
	}
	for s := -2.0; s < 2; s += 0.01 {
		if gap := p.Value(s) - e.Value(s); gap < -1e-15 || gap > 1./8+1e-15 {
			t.Errorf("at %g the envelope is %g below", s, gap)
		}
	}
	if _, err := pairOf(t, "loglink").Smoothed(1); err == nil {
		t.Error("a loss that is not convex is smoothed")
	}
	if pairOf(t, "square").Falling() {
		t.Error("the square falls")
	}
}

// Whatever is taken has a name that is taken for the same.
func FuzzParsePair(f *testing.F) {
	for _, name := range append(PairNames(), "hinge:ordered", "hinge:symmetric", "x:y", ":") {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		p, err := ParsePair(name)
		if err != nil {
			return
		}
		if again, err := ParsePair(p.Name()); err != nil || again != p {
			t.Errorf("%q is named %q, which is %v (%v)", name, p.Name(), again, err)
		}
	})
}
