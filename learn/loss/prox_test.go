package loss

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/testing/must"
)

func pinball(t testing.TB, tau float64) Pinball {
	t.Helper()
	return must.Get(NewPinball(tau))(t)
}

func insensitive(t testing.TB, e float64) Insensitive {
	t.Helper()
	return must.Get(NewInsensitive(e))(t)
}

func envelope(t testing.TB, of Proximal, beta float64) Envelope {
	t.Helper()
	return must.Get(NewEnvelope(of, beta))(t)
}

// The published vectors of the catalogue; labels -1 are 0 here.
func TestAcceptance1Envelopes(t *testing.T) {
	p9, e1 := pinball(t, 0.9), insensitive(t, 0.1)
	for _, c := range []struct {
		link                          Proximal
		m, y, beta, prox, env, derive float64
		tolerance                     float64
	}{
		{Absolute{}, 1.3, 1, 10, 1.2, 0.25, 1, 1e-12},
		{Absolute{}, 1.05, 1, 10, 1, 0.0125, 0.5, 1e-12},
		{Absolute{}, -0.2, 0.5, 4, 0.05, 0.575, -1, 1e-12},
		{Absolute{}, 0.5, 0.5, 4, 0.5, 0, 0, 1e-12},
		{Hinge{}, 0.5, 1, 10, 0.6, 0.45, -1, 1e-12},
		{Hinge{}, 0.95, 1, 10, 1, 0.0125, -0.5, 1e-12},
		{Hinge{}, 1.2, 1, 10, 1.2, 0, 0, 1e-12},
		{Hinge{}, 0.3, 0, 2, -0.2, 1.05, 1, 1e-12},
		{Hinge{}, -0.8, 0, 2, -1, 0.04, 0.4, 1e-12},
		{Hinge{}, 0, 1, 1, 1, 0.5, -1, 1e-12},
		{p9, 0, 1, 5, 0.18, 0.819, -0.9, 1e-12},
		{p9, 1.1, 1, 5, 1.08, 0.009, 0.1, 1e-12},
		{p9, 1.5, 1, 5, 1.48, 0.049, 0.1, 1e-12},
		{p9, 1.01, 1, 5, 1, 0.00025, 0.05, 1e-12},
		{e1, 1.05, 1, 10, 1.05, 0, 0, 1e-12},
		{e1, 1.15, 1, 10, 1.1, 0.0125, 0.5, 1e-12},
		{e1, 1.5, 1, 10, 1.4, 0.35, 1, 1e-12},
		{e1, 0.7, 1, 10, 0.8, 0.15, -1, 1e-12},
		{Logit{}, 0, 1, 10, 0.048780723677, 0.680952029123, -0.487807236768, 1e-9},
		{Logit{}, 2, 0, 10, 1.912865922292, 2.088549790341, 0.871340777085, 1e-9},
		{Logit{}, -1.5, 1, 2, -1.122750706171, 1.546769608534, -0.754498587657, 1e-9},
		{Square{}, 3, 1, 2, 2, 2, 2, 1e-12},
	} {
		e := envelope(t, c.link, c.beta)
		for _, v := range []struct {
			what      string
			got, want float64
		}{{"prox", c.link.Prox(c.m, c.y, c.beta), c.prox}, {"env", e.Value(c.m, c.y), c.env},
			{"slope", e.Slope(c.m, c.y), c.derive}} {
			if !(math.Abs(v.got-v.want) <= c.tolerance) {
				t.Errorf("%s(%v; %v, %v): %s = %.13g, want %.13g", c.link.Name(), c.m, c.y, c.beta, v.what,
					v.got, v.want)
			}
		}
	}
}

// proximals returns each convex link with a response for it.
func proximals(t testing.TB, rng *rand.Rand) (link Proximal, y float64) {
	links := []Proximal{Absolute{}, Hinge{}, pinball(t, 0.1+0.8*rng.Float64()),
		insensitive(t, rng.Float64()), Logit{}, Square{}}
	link = links[rng.IntN(len(links))]
	y = 4*rng.Float64() - 2
	if link.Check(0.5) != nil { // it takes labels
		y = float64(rng.IntN(2))
	}
	return link, y
}

// goldenSection returns the minimiser of a unimodal function to about 1e-8.
func goldenSection(f func(float64) float64, low, high float64) float64 {
	phi := (math.Sqrt(5) - 1) / 2
	for range 90 {
		a, b := high-phi*(high-low), low+phi*(high-low)
		if f(a) <= f(b) {
			high = b
		} else {
			low = a
		}
	}
	return low + (high-low)/2
}

// A second way: the proximal map is the minimiser that a search by values finds, and the
// slope of the envelope is β(m - prox).
func TestProxIsTheMinimiser(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 4000 {
		link, y := proximals(t, rng)
		m, beta := 6*rng.Float64()-3, math.Exp(math.Log(0.3)+rng.Float64()*math.Log(100))
		checkProx(t, link, m, y, beta)
		beta = 2.1 + 20*rng.Float64()
		if m*m > 1e-6 { // at m = 0 two minimisers are as good
			checkProx(t, PhaseRetrieval{}, m, 2*rng.Float64()-0.5, beta)
		}
	}
}

func checkProx(t *testing.T, link Proximal, m, y, beta float64) {
	t.Helper()
	h := func(u float64) float64 { return link.Value(u, y) + beta/2*(u-m)*(u-m) }
	reach := 4/beta + 8*math.Abs(m-y) + 4*math.Abs(m)
	want := goldenSection(h, m-reach, m+reach)
	got := link.Prox(m, y, beta)
	if !(h(got) <= h(want)+1e-12) || !(math.Abs(got-want) <= 1e-5) {
		t.Fatalf("%s: prox(%v; %v, %v) = %v at %v, a search finds %v at %v", link.Name(), m, y, beta, got,
			h(got), want, h(want))
	}
	if s := link.EnvelopeSlope(m, y, beta); !(math.Abs(s-beta*(m-got)) <= 1e-9*(1+math.Abs(s))) {
		t.Fatalf("%s: slope(%v; %v, %v) = %v, but beta(m-prox) = %v", link.Name(), m, y, beta, s,
			beta*(m-got))
	}
}

// What the accounts rest on: the envelope is convex, as Lipschitz as the link to the last
// bit, β-smooth, and under the link by at most L0²/(2β).
func TestAcceptance3EnvelopeProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
		link, y := proximals(t, rng)
		beta := rapid.Float64Range(0.1, 40).Draw(r, "beta")
		a, b := rapid.Float64Range(-5, 5).Draw(r, "a"), rapid.Float64Range(-5, 5).Draw(r, "b")
		if a > b {
			a, b = b, a
		}
		e := envelope(t, link, beta)
		bound := e.Lipschitz(math.Inf(1))
		sa, sb := e.Slope(a, y), e.Slope(b, y)
		if math.Abs(sa) > bound || math.Abs(sb) > bound {
			r.Fatalf("%s: slopes %v and %v above %v", e.Name(), sa, sb, bound)
		}
		if sb < sa-1e-12 || sb-sa > e.Curvature()*(b-a)+1e-12 {
			r.Fatalf("%s: slopes %v at %v and %v at %v", e.Name(), sa, a, sb, b)
		}
		if gap := link.Value(a, y) - e.Value(a, y); gap < -1e-12 || gap > bound*bound/(2*beta)+1e-12 {
			r.Fatalf("%s: gap %v", e.Name(), gap)
		}
		if mid := e.Value((a+b)/2, y); mid > (e.Value(a, y)+e.Value(b, y))/2+1e-12 {
			r.Fatalf("%s is not convex between %v and %v", e.Name(), a, b)
		}
	})
}

// Each link has the properties that it states, on a grid: slopes are within Lipschitz and equal to
// finite differences, curvature and weak convexity are never too small.
func TestLinksKeepTheirWord(t *testing.T) {
	const h = 1e-4
	rng := rand.New(rand.NewPCG(3, 4))
	links := []Link{Square{}, Logit{}, Absolute{}, Hinge{}, pinball(t, 0.3), insensitive(t, 0.4),
		SquaredSigmoid{}, PhaseRetrieval{}, envelope(t, Hinge{}, 3)}
	for _, l := range links {
		worst := 0.0
		for range 20000 {
			z, y := 10*rng.Float64()-5, 4*rng.Float64()-2
			if l.Check(0.5) != nil {
				y = float64(rng.IntN(2))
			}
			s := l.Slope(z, y)
			if math.Abs(s) > l.Lipschitz(math.Abs(z)) {
				t.Fatalf("%s: slope %v at %v, beyond %v", l.Name(), s, z, l.Lipschitz(math.Abs(z)))
			}
			low, mid, high := l.Value(z-h, y), l.Value(z, y), l.Value(z+h, y)
			second := (high - 2*mid + low) / (h * h)
			if second < -l.WeakConvexity()-1e-5 {
				t.Fatalf("%s: second difference %v, but it is %v-weakly convex", l.Name(), second,
					l.WeakConvexity())
			}
			if second > l.Curvature()+1e-5 {
				t.Fatalf("%s: second difference %v above %v", l.Name(), second, l.Curvature())
			}
			worst = max(worst, math.Abs(second))
			if math.Abs(second) < 3 && math.Abs((high-low)/(2*h)-s) > 1e-3 {
				t.Fatalf("%s: slope %v at %v, y = %v, by differences %v", l.Name(), s, z, y, (high-low)/(2*h))
			}
		}
		if c := l.Curvature(); !math.IsInf(c, 1) && worst < 0.99*c {
			t.Errorf("%s: curvature %v is never near, the largest is %v", l.Name(), c, worst)
		}
	}
	if s := (SquaredSigmoid{}); !(s.Curvature() > 0.15405857012135055 &&
		s.Curvature() < 0.15405857013) {
		t.Error("squared sigmoid: curvature", s.Curvature())
	}
}

// The weakly convex proximal map of |w²-1| at β = 4, with its objective.
func TestAcceptance14PhaseRetrievalProx(t *testing.T) {
	for _, c := range [][2]float64{{0.3, 0.6}, {0.5, 1}, {0.8, 1}, {1.4, 1}, {1.8, 1.2},
		{-1.8, -1.2}} {
		if got := (PhaseRetrieval{}).Prox(c[0], 1, 4); !(math.Abs(got-c[1]) < 1e-12) {
			t.Errorf("prox(%v) = %v, want %v", c[0], got, c[1])
		}
	}
	for w, want := range map[float64]float64{0.3: 0.82, 0.8: 0.08, 1.8: 1.16} {
		u := (PhaseRetrieval{}).Prox(w, 1, 4)
		if got := (PhaseRetrieval{}).Value(u, 1) + 2*(u-w)*(u-w); !(math.Abs(got-want) < 1e-12) {
			t.Errorf("objective at %v = %v, want %v", w, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, name := range []string{"mean", "ridge", "logistic", "absolute", "hinge", "pinball:0.9",
		"insensitive:0.1", "squared-sigmoid", "phase-retrieval"} {
		if l, err := Parse(name); err != nil || l.Name() != name {
			t.Errorf("%s: %v, %v", name, l, err)
		}
	}
	for _, name := range []string{"", "pinball", "pinball:1", "pinball:NaN", "pinball:x",
		"insensitive:-1", "insensitive:+Inf", "hinge:1", "huber:1"} {
		if l, err := Parse(name); err == nil {
			t.Errorf("%q gives %v", name, l.Name())
		}
	}
}

func TestNewEnvelopeRefuses(t *testing.T) {
	for _, beta := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := NewEnvelope(Hinge{}, beta); err == nil {
			t.Errorf("beta = %v passes", beta)
		}
	}
	if _, err := NewEnvelope(PhaseRetrieval{}, 4); err == nil {
		t.Error("an envelope of a link that is not convex")
	}
}

// GLM turns what is known of the link into what is known of the loss.
func TestGLMConstants(t *testing.T) {
	hinge := GLM[Hinge]{}
	if got := hinge.Lipschitz(2, math.Inf(1)); got < 2 || got > 2.000001 {
		t.Error("Lipschitz", got)
	}
	if !math.IsInf(hinge.Smoothness(2), 1) || !hinge.Convex() {
		t.Error("hinge is convex and not smooth")
	}
	phase := GLM[PhaseRetrieval]{}
	if l, rho := phase.Lipschitz(1, 1.5), phase.WeakConvexity(1); l < 3 || l > 3.000001 || rho < 2 ||
		rho > 2.000001 || phase.Convex() || phase.ClipKeepsContraction() {
		t.Error("phase retrieval", l, rho)
	}
	var l Loss = GLM[Envelope]{envelope(t, Hinge{}, 3)}
	if linear, ok := l.(Linear); !ok || linear.Scalar().Name() != "hinge smoothed at 3" {
		t.Error("the envelope is no generalised linear loss")
	}
}
