package accountant

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/darrm/darrm/internal/testing/raced"
)

// exponentialPair returns the logarithms of the laws of an exponential mechanism over scores
// and over scores that have changed.
func exponentialPair(scores, change []float64) (p, q []float64) {
	q = make([]float64, len(scores))
	for i := range q {
		q[i] = scores[i] + change[i]
	}
	law := func(s []float64) []float64 {
		total, out := logSum(s), make([]float64, len(s))
		for i := range out {
			out[i] = s[i] - total
		}
		return out
	}
	return law(scores), law(q)
}

func logSum(x []float64) float64 {
	top, s := slices.Max(x), 0.0
	for _, v := range x {
		s += math.Exp(v - top)
	}
	return top + math.Log(s)
}

// divergence returns the Rényi divergence, of logarithms.
func divergence(p, q []float64, alpha float64) float64 {
	s := make([]float64, len(p))
	for i := range p {
		s[i] = alpha*p[i] + (1-alpha)*q[i]
	}
	return logSum(s) / (alpha - 1)
}

// Rényi divergences of exponential mechanisms, with random scores and the worst two, are never
// above what the event says, and for small ε come near it. A ninth in place of an eighth is
// caught.
func TestBoundedRangeCoversExponentialMechanisms(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	closest, caught := 0.0, false
	for range 3000 {
		eps := math.Exp(rng.Float64()*8 - 5)
		n := 2 + rng.IntN(5)
		scores, change := make([]float64, n), make([]float64, n)
		for i := range scores {
			scores[i] = rng.NormFloat64() * 2
			change[i] = eps * float64(rng.IntN(2))
			if rng.IntN(3) == 0 {
				change[i] = eps * rng.Float64()
			}
		}
		p, q := exponentialPair(scores, change)
		for _, alpha := range []float64{1.01, 1.5, 2, 7, 60} {
			bound, err := RDP(BoundedRange{eps, ReplaceOne}, alpha)
			if err != nil {
				t.Fatal(err)
			}
			got := max(divergence(p, q, alpha), divergence(q, p, alpha))
			if got > bound*(1+1e-9)+1e-11 {
				t.Fatalf("ε = %g, order %g: %g above %g, scores %v, change %v", eps, alpha, got, bound, scores,
					change)
			}
			if alpha*eps < 0.1 {
				closest = max(closest, got/bound)
				caught = caught || got > bound*8/9
			}
		}
	}
	if closest < 0.97 || !caught {
		t.Errorf("the bound is at best %g reached", closest)
	}
}

// It composes to less than pure DP of its ε, and to never more: by every method.
func TestBoundedRangeComposes(t *testing.T) {
	raced.Sequential(t)
	for _, c := range []struct {
		eps float64
		k   int
	}{{0, 5}, {1e-170, 2}, {0.01, 1000}, {0.3, 1}, {0.3, 40}, {3, 10}, {500, 2}} {
		at := func(e Event) float64 {
			eps, err := mustNew(t, ReplaceOne, Charge{e, c.k}).AtDelta(1e-6, MethodBasic, MethodGeneral,
				MethodZCDP, MethodRDP)
			best, ok := eps.Best()
			if err != nil || !ok {
				t.Fatal(e, err)
			}
			return best.Cost.Epsilon
		}
		ranged, pure := at(BoundedRange{c.eps, ReplaceOne}),
			at(ApproxDP{Cost{Epsilon: c.eps}, ReplaceOne})
		if ranged > pure {
			t.Errorf("%v: %g above pure DP's %g", c, ranged, pure)
		}
		if c.k >= 40 && c.eps < 1 && ranged > 0.55*pure {
			t.Errorf("%v: %g, pure DP costs %g", c, ranged, pure)
		}
	}
	// δ of k = 12 mechanisms over two outcomes that swap sides, by the binomial law.
	const eps, k = 0.4, 12
	p := 1 / (1 + math.Exp(-eps/2))
	delta := func(epsilon float64) float64 {
		s := 0.0
		for i := range k + 1 {
			n, _ := math.Lgamma(k + 1)
			a, _ := math.Lgamma(float64(i) + 1)
			b, _ := math.Lgamma(float64(k-i) + 1)
			choose := math.Exp(n - a - b)
			s += max(0, choose*(math.Pow(p, float64(i))*math.Pow(1-p, float64(k-i))-math.Exp(epsilon)*
				math.Pow(1-p, float64(i))*math.Pow(p, float64(k-i))))
		}
		return s
	}
	for _, epsilon := range []float64{0.3, 1, 1.8} {
		r, err := mustNew(t, ReplaceOne, Charge{BoundedRange{eps, ReplaceOne}, k}).AtEpsilon(epsilon)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range r.Bounds {
			if b.Cost.Delta < delta(epsilon) {
				t.Errorf("%s at %g: δ = %g, exactly %g", b.Method, epsilon, b.Cost.Delta, delta(epsilon))
			}
		}
	}
	for _, bad := range []float64{math.NaN(), -1, math.Inf(1), 1e5} {
		if _, err := mustNew(t, ReplaceOne).Charge(BoundedRange{bad, ReplaceOne}, 1); err == nil {
			t.Errorf("ε = %v is taken", bad)
		}
	}
}
