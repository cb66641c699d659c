package convex

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/loss"
)

func newTestOracle(t testing.TB, link loss.Link, kind OracleKind, beta, bound,
	alpha float64) oracle {
	t.Helper()
	return must.Get(newOracle(link, kind, Interval{}, beta, bound, 1, alpha))(t)
}

// The published step counts and iterates of the bisection; u = m - slope/β.
func TestAcceptance2OracleVectors(t *testing.T) {
	for _, c := range []struct {
		n             float64
		alpha         float64
		paper, direct int
	}{{1024, 9.765625e-5, 31, 15}, {4096, 2.034505e-5, 36, 17}} {
		alpha := 1 / (c.n * math.Log2(c.n))
		must.Near(t, "alpha", alpha, c.alpha, 1e-6)
		if got := newTestOracle(t, loss.Hinge{}, PaperBisections, 1, 1, alpha).Steps(); got != c.paper {
			t.Errorf("n = %v: %d steps, the source has %d", c.n, got, c.paper)
		}
		if got := newTestOracle(t, loss.Hinge{}, Bisection, 1, 1, alpha).Steps(); got != c.direct {
			t.Errorf("n = %v: %d steps, want %d", c.n, got, c.direct)
		}
	}
	for _, c := range []struct {
		link          loss.Link
		m, y, beta, u float64
	}{
		{loss.Absolute{}, 1.3, 1, 10, 1.1999938965},
		{loss.Hinge{}, 0.5, 1, 10, 0.6000061035},
		{loss.Hinge{}, 0.3, 0, 2, -0.2000305176},
		{loss.Logit{}, 0, 1, 10, 0.0487854004},
	} {
		// The published iterate is not clipped to L0 and may be past it by α.
		o := newTestOracle(t, c.link, Bisection, c.beta, 1, 9.765625e-5)
		got := c.m - o.Slope(c.m, c.y)/c.beta
		if clipped := math.Abs(c.beta*(c.m-c.u)) > 1; math.Abs(got-c.u) > 1e-9 && !clipped {
			t.Errorf("%s: u = %.10f, want %.10f", c.link.Name(), got, c.u)
		}
		exact := c.link.(loss.Proximal).EnvelopeSlope(c.m, c.y, c.beta)
		if off := math.Abs(o.Slope(c.m, c.y) - exact); off > o.Alpha() {
			t.Errorf("%s: off by %g", c.link.Name(), off)
		}
		if off := math.Abs(newTestOracle(t, c.link, PaperBisections, c.beta, 1, 9.765625e-5).Slope(c.m,
			c.y) - exact); off > 1e-9 {
			t.Errorf("%s: the source's count is off by %g", c.link.Name(), off)
		}
	}
}

// Both counts are within α of the closed form, also where slopes are clipped, and no slope is
// beyond the bound.
func TestAcceptance2OracleAccuracy(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	pinball, _ := loss.NewPinball(0.3)
	insensitive, _ := loss.NewInsensitive(0.2)
	links := []loss.Link{loss.Absolute{}, loss.Hinge{}, pinball, insensitive, loss.Logit{},
		loss.Square{}}
	for range 20000 {
		link := links[rng.IntN(len(links))]
		m, y := 6*rng.Float64()-3, float64(rng.IntN(2))
		beta := math.Exp(math.Log(0.3) + rng.Float64()*math.Log(100))
		bound := min(link.Lipschitz(math.Inf(1)), 0.2+2*rng.Float64()) // clipped, more often than not
		alpha := bound * math.Exp(-2-8*rng.Float64())
		exact := newTestOracle(t, link, Fast, beta, bound, alpha).Slope(m, y)
		for _, kind := range []OracleKind{Bisection, PaperBisections} {
			o := newTestOracle(t, link, kind, beta, bound, alpha)
			got := o.Slope(m, y)
			if math.Abs(got-exact) > alpha || math.Abs(got) > bound {
				t.Fatalf("%s %s: slope(%v; %v, %v) = %v, exact %v, alpha %v, bound %v", link.Name(), kind, m, y,
					beta, got, exact, alpha, bound)
			}
		}
	}
}

// printedOracle is the source's bisection as printed: the comparison turned round, no β/2, and
// of all midpoints the best.
func printedOracle(link loss.Link, m, y, beta float64, steps int) float64 {
	a, b := m-2/beta, m+2/beta
	h := func(u float64) float64 { return link.Value(u, y) + (u-m)*(u-m) }
	best := m
	for range steps {
		u := (a + b) / 2
		if h(u) < h(best) {
			best = u
		}
		if h((a+u)/2) >= h((u+b)/2) {
			b = u
		} else {
			a = u
		}
	}
	return beta * (m - best)
}

// Why it is not the printed one: that goes the wrong way from m, finds nothing better, and
// returns the gradient 0 where the right one is -1.
func TestAcceptance2PrintedOracleDoesNotLearn(t *testing.T) {
	for _, c := range []struct {
		link loss.Proximal
		m, y float64
	}{{loss.Hinge{}, 0.5, 1}, {loss.Hinge{}, 0.95, 1}, {loss.Absolute{}, 1.3, 1},
		{loss.Logit{}, 0, 1}} {
		if got := printedOracle(c.link, c.m, c.y, 10, 31); got != 0 {
			t.Errorf("%s at %v: the printed slope is %v, want 0", c.link.Name(), c.m, got)
		}
		if exact := newTestOracle(t, c.link, "", 10, 1, 1e-4).Slope(c.m, c.y); math.Abs(exact) < 0.4 {
			t.Errorf("%s at %v: slope %v", c.link.Name(), c.m, exact)
		}
	}
}

func TestOracleRefuses(t *testing.T) {
	if o := newTestOracle(t, loss.Hinge{}, "", 4, 1, 1e-3); o.Alpha() != 0 || o.Steps() != 0 {
		t.Error("the closed form is counted as inexact")
	}
	if _, err := newOracle(loss.PhaseRetrieval{}, "", Interval{}, 4, 1, 1, 1e-3); err == nil {
		t.Error("a link that is not convex")
	}
	smoothed, _ := loss.NewEnvelope(loss.Hinge{}, 3)
	if o, err := newOracle(smoothed, "", Interval{}, 4, 1, 1, 1e-3); err != nil || o.Steps() == 0 {
		t.Error("a link without closed form is not bisected", err)
	}
	if _, err := newOracle(smoothed, Fast, Interval{}, 4, 1, 1, 1e-3); err == nil {
		t.Error("fast for a link without closed form")
	}
	if _, err := newOracle(loss.Hinge{}, "newton", Interval{}, 4, 1, 1, 1e-3); err == nil {
		t.Error("an oracle of no kind")
	}
	for _, v := range []float64{0, math.NaN(), math.Inf(1)} {
		if _, err := newOracle(loss.Hinge{}, "", Interval{}, v, 1, 1, 1e-3); err == nil {
			t.Error("beta", v)
		}
		if _, err := newOracle(loss.Hinge{}, "", Interval{}, 4, 1, 1, v); err == nil {
			t.Error("alpha", v)
		}
	}
}
