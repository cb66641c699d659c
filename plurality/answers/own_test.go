package answers

import (
	"math"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
)

// The smallest δ and ε of masses are those of the definition, over every two histograms one vote apart.
func TestOwn(t *testing.T) {
	p := Problem{K: 3, Classes: 3, Affected: 1, Answers: 1, Epsilon: .3, Named: true, Delta: .5}
	s := must.Get(NewSystem(t.Context(), p))(t)
	law := make([]float64, s.space.Variables())
	for h := range s.space.Histograms() {
		first, _ := s.space.Range(h)
		sum := 0.0
		for c, v := range s.space.Histogram(h) {
			law[first+c] = math.Exp(.4*float64(v)) + float64(c*h%3)
			sum += law[first+c]
		}
		for c := range 3 {
			law[first+c] /= sum
		}
	}
	masses := s.space.Masses(law)
	lost := func(epsilon float64) (most float64) {
		for h := range s.space.Histograms() {
			for g := range s.space.Histograms() {
				moved, sum := 0, 0.0
				for c, v := range s.space.Histogram(g) {
					moved += max(0, v-s.space.Histogram(h)[c])
					a, b := law[3*h+c], law[3*g+c]
					sum += max(0, a-math.Exp(epsilon)*b)
				}
				if moved == 1 {
					most = max(most, sum)
				}
			}
		}
		return most
	}
	c := must.Get(CertifyDelta(t.Context(), p, masses))(t)
	if got, want := c.Problem().Delta, lost(.3); c.Problem().Epsilon != .3 || math.Abs(got-want) > 1e-11 {
		t.Errorf("δ = %v, want %v", got, want)
	}
	for _, delta := range []float64{0, .01, .1} {
		p.Delta = delta
		c := must.Get(CertifyEpsilon(t.Context(), p, masses))(t)
		if q := c.Problem(); math.Abs(q.Delta-delta) > 1e-15 || lost(q.Epsilon) > delta+1e-9 || lost(q.Epsilon-1e-6) < delta {
			t.Errorf("δ = %v: ε = %v, which loses %v, and a little less %v", delta, q.Epsilon, lost(q.Epsilon), lost(q.Epsilon-1e-6))
		}
	}
	masses[0], masses[1], masses[2] = masses[0]+masses[1]+masses[2], 0, 0
	p.Delta = 0
	if _, err := CertifyEpsilon(t.Context(), p, masses); err == nil {
		t.Error("a class that is never answered by one histogram keeps an ε")
	}
	p.Answers, p.Delta = 2, .5
	if _, err := CertifyDelta(t.Context(), p, masses); err == nil {
		t.Error("two answers are certified")
	}
}
