package answers

import (
	"math"
	"testing"

	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality"
)

// Without δ each of Q answers keeps a Qth of ε, exactly; events say nothing at smaller factors. Such tables are of more
// than two classes that are told apart.
func TestPure(t *testing.T) {
	p := Problem{K: 3, Classes: 3, Affected: 1, Answers: 4, Epsilon: 2, Named: true}
	each := math.Exp(.5)
	for i, b := range p.EventDeltas([]float64{1, each * (1 - 1e-12), each * (1 + 1e-12), each * 2}) {
		if want := float64((3 - i) / 2); b != want {
			t.Errorf("the bound of factor %d is %v, want %v", i, b, want)
		}
	}
	s := must.Get(NewSystem(t.Context(), p))(t)
	masses := func(ratio float64) []uint64 {
		p := make([]float64, s.space.Variables())
		for h := range s.space.Histograms() {
			first, _ := s.space.Range(h)
			sum := 0.0
			for c, v := range s.space.Histogram(h) {
				p[first+c] = math.Exp(ratio * float64(v))
				sum += p[first+c]
			}
			for c := range 3 {
				p[first+c] /= sum
			}
		}
		return s.space.Masses(p)
	}
	if _, err := CertifyEach(t.Context(), s, masses(.24), game.Each{Epsilon: .5}); err != nil {
		t.Errorf("the exponential mechanism: %v", err)
	}
	for name, f := range map[string]func() (*Certified, error){
		"another ratio": func() (*Certified, error) { return CertifyEach(t.Context(), s, masses(.6), game.Each{Epsilon: .5}) },
		"more than each": func() (*Certified, error) {
			return CertifyEach(t.Context(), s, masses(.24), game.Each{Epsilon: .5000001})
		},
		"a δ of its own": func() (*Certified, error) {
			return CertifyEach(t.Context(), s, masses(.24), game.Each{Epsilon: .5, Delta: 1e-300})
		},
		"a game on a lattice": func() (*Certified, error) { return Certify(t.Context(), s, masses(.6), game.Options{}) },
	} {
		if c, err := f(); err == nil {
			t.Errorf("%s is certified: %+v", name, c.Certificate())
		}
	}
	for _, bad := range []Problem{{K: 3, Classes: 2, Affected: 1, Answers: 4, Epsilon: 2, Named: true},
		{K: 3, Classes: 3, Affected: 1, Answers: 4, Epsilon: 2}} {
		if bad.Validate() == nil || bad.Pure() {
			t.Errorf("%+v is valid", bad)
		}
	}
	if (Prior{Objective: plurality.Objective{Accuracy: .6}}).Validate(p) != nil {
		t.Error("a prior of it is refused")
	}
}
