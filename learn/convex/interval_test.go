package convex

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/learn/loss"
)

// The published proximal points on M = [-1,1], and the example of the specification: near the end
// nothing draws further, and beyond it the slope stays within L0, where β(m-u) is 2.
func TestIntervalVectors(t *testing.T) {
	m := Interval{-1, 1}
	for _, kind := range []OracleKind{Fast, Bisection, PaperBisections} {
		o := must.Get(newOracle(loss.Absolute{}, kind, m, 4, 1, 1, 1e-9))(t)
		for at, want := range map[float64]float64{-1: -0.75, 0.3: 0.55, 0.9: 0.95, 1: 0.95} {
			must.Near(t, fmt.Sprint(kind, " prox at ", at), at-o.Slope(at, 0.95)/4, want, 1e-7)
		}
		if s := o.Slope(1, 3); math.Abs(s) > 1e-8 {
			t.Errorf("%s: a slope of %g at the end", kind, s)
		}
		for _, beyond := range []float64{1.5, 2, 1e9} {
			if s := o.Slope(beyond, 0.95); math.Abs(s-o.Slope(1, 0.95)) > 1e-9 || math.Abs(s) > 1 {
				t.Errorf("%s: a slope of %g at %g", kind, s, beyond)
			}
		}
	}
}

// Slopes over an interval against a search of its points: they are those of the envelope there,
// stay within L0, and neither fall nor rise faster than β.
func TestIntervalEnvelope(t *testing.T) {
	if raced.Enabled {
		t.Skip("calculates in order")
	}
	rng := rand.New(rand.NewPCG(3, 6))
	for range 300 {
		link := []loss.Link{loss.Absolute{}, loss.Hinge{}, loss.Logit{}}[rng.IntN(3)]
		low := -2 * rng.Float64()
		m := Interval{low, low + 0.2 + 3*rng.Float64()}
		if rng.IntN(4) == 0 {
			m.High = math.Inf(1)
		}
		beta, y := 0.3+8*rng.Float64(), float64(rng.IntN(2))
		o := must.Get(newOracle(link, Fast, m, beta, 1, 1, 1e-9))(t)
		slow := must.Get(newOracle(link, Bisection, m, beta, 1, 1, 1e-9))(t)
		before := math.NaN() // nothing before
		const grid = 0.05
		for z := -4.0; z < 4; z += grid {
			at := max(m.Low, min(m.High, z))
			best, least := 0.0, math.Inf(1)
			for u := m.Low; u <= min(m.High, 8); u += 0.002 {
				if v := link.Value(u, y) + beta/2*(u-at)*(u-at); v < least {
					best, least = u, v
				}
			}
			s := o.Slope(z, y)
			if math.Abs(s-beta*(at-best)) > beta*0.003 || math.Abs(s-slow.Slope(z, y)) > 1e-8 {
				t.Fatalf("%s on %v, β = %g, z = %g, y = %g: slope %g, by a search %g, by bisection %g",
					link.Name(), m, beta, z, y, s, beta*(at-best), slow.Slope(z, y))
			}
			if math.Abs(s) > 1 || s < before-1e-12 || s > before+beta*grid*(1+1e-9) {
				t.Fatalf("%s on %v: slope %g after %g", link.Name(), m, s, before)
			}
			before = s
		}
	}
}

// A method on an interval is priced as ever, learns, and has no bound; others refuse it.
func TestIntervalMethods(t *testing.T) {
	m := Interval{-0.5, 0.5}
	o := Options{Setting: setting(), Set: lp(t, 2, 2, 1), Parameters: Parameters{Interval: m}}
	method := must.Get(New("phased-sgd", o))(t)
	p := must.Get(method.Plan(8, 2))(t)
	if p.Bound() != nil {
		t.Error("a bound on an interval")
	}
	free := must.Get(must.Get(New("phased-sgd", Options{Setting: setting(), Set: o.Set}))(t).Plan(8, 2))(t)
	a, b := traintest.Trained(t, p, traceRecords(t)), traintest.Trained(t, free, traceRecords(t))
	if a.Digest == b.Digest || a.Cost != b.Cost {
		t.Error("the interval does not go into the digest, or into the price")
	}
	o.Set = l1(t, 2, 1)
	if _, err := must.Get(New("frank-wolfe", o))(t).Plan(64, 2); err != nil {
		t.Error(err)
	}
	if _, err := New("poly-sfw", o); err == nil {
		t.Error("poly-sfw takes an interval")
	}
	for _, text := range []string{"", "1", "1:0", "a:b", ":", "1:1", "NaN:2"} {
		if i, err := ParseInterval(text); err == nil {
			t.Errorf("%q is read as %v", text, i)
		}
	}
	if i := must.Get(ParseInterval("0:"))(t); i.Low != 0 || !math.IsInf(i.High, 1) {
		t.Error(i)
	}
	if i := must.Get(ParseInterval(m.String()))(t); i != m {
		t.Error(i)
	}
}
