package ensemble

import (
	"errors"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/noisymax"
)

// Noise of labels is charged for all of them, refuses more, and is made again from its parameters alone,
// unless they state too little noise.
func TestNoiseOfAnswers(t *testing.T) {
	s := Setting{K: 40, Classes: 3, Affected: 1, Neighbours: accountant.ReplaceOne, Missing: true}
	all := accountant.Cost{Epsilon: 2, Delta: 1e-5}
	m, err := NoiseOfAnswers(t.Context(), s, all, 5)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Together(); m.Name() != LabelNoise || got.Cost != all || got.Most != 5 || m.AnswersTable() != nil {
		t.Errorf("%s: %+v", m.Name(), got)
	}
	if total, err := m.Answers(5, 0).Total(); err != nil || total.Cost != all {
		t.Errorf("five labels cost %v: %v", total.Cost, err)
	}
	if _, err := m.Answers(6, 0).Total(); err == nil {
		t.Error("six labels have a price")
	}
	again, err := LabelNoiseOf(t.Context(), s, all, m.Parameters())
	if err != nil || again.Parameters() != m.Parameters() || again.Figures() != m.Figures() {
		t.Errorf("made again from %q: %v, %v", m.Parameters(), again.Parameters(), err)
	}
	if class, err := m.Simulate(1, "query", []int{10, 20, 5}); err != nil || class < 0 || class > 2 {
		t.Errorf("answers %d: %v", class, err)
	}
	for _, parameters := range []string{"σ = 1, up to 5 labels", strings.Replace(m.Parameters(), "up to 5", "up to 9", 1)} {
		if _, err := LabelNoiseOf(t.Context(), s, all, parameters); !errors.Is(err, ErrTooLittleNoise) {
			t.Errorf("%q is taken: %v", parameters, err)
		}
	}
	if _, err := LabelNoiseOf(t.Context(), s, all, m.Parameters()+" and more"); err == nil {
		t.Error("other words are taken")
	}
	s.Affected = 2
	if _, err := NoiseOfAnswers(t.Context(), s, all, 5); !errors.Is(err, noisymax.ErrReach) {
		t.Errorf("two votes of three classes: %v", err)
	}
}
