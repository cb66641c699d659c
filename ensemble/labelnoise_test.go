package ensemble

import (
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/noisymax"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
)

// Noise of labels is charged for all of them, refuses more, and is named by its certificate alone.
func TestNoiseOfAnswers(t *testing.T) {
	if raced.Enabled {
		t.Skip("finds noise, which accountant/noisymax does; the prices behind it are raced in accountant/game")
	}
	all := accountant.Cost{Epsilon: 2, Delta: 1e-5}
	c := must.Get(noisymax.Best(t.Context(), noisymax.Problem{Teachers: 40, Classes: 3, Affected: 1, Missing: true,
		Answers: 5, Epsilon: all.Epsilon, Delta: all.Delta}))(t)
	m := must.Get(NoiseOfAnswers(c, accountant.ReplaceOne))(t)
	if got := m.Together(); m.Name() != LabelNoise || got.Cost != all || got.Most != 5 || m.AnswersTable() != nil ||
		!m.PricedNoise().Same(c) || m.HashOfAll() != c.Hash() || m.Parameters() != "" {
		t.Errorf("%s: %+v", m.Name(), got)
	}
	if s := m.Setting(); s != (Setting{K: 40, Classes: 3, Affected: 1, Neighbours: accountant.ReplaceOne, Missing: true}) {
		t.Errorf("it is for %+v", s)
	}
	if m.Figures() != (Figures{Answers: 5, Sigma: c.Sigma()}) {
		t.Errorf("figures %+v of σ = %v", m.Figures(), c.Sigma())
	}
	if total, err := m.Answers(5, 0).Total(); err != nil || total.Cost != all {
		t.Errorf("five labels cost %v: %v", total.Cost, err)
	}
	if _, err := m.Answers(6, 0).Total(); err == nil {
		t.Error("six labels have a price")
	}
	if class, err := m.Simulate(1, "query", []int{10, 20, 5}); err != nil || class < 0 || class > 2 {
		t.Errorf("answers %d: %v", class, err)
	}
	for _, none := range []*noisymax.Certified{nil, {}} {
		if _, err := NoiseOfAnswers(none, accountant.ReplaceOne); err == nil {
			t.Error("noise that was not certified answers")
		}
	}
	if _, err := NoiseOfAnswers(c, accountant.Relation(99)); err == nil {
		t.Error("neighbours of no relation")
	}
}

func TestOneAnswerIsSingular(t *testing.T) {
	for f, want := range map[Figures]string{
		{Answers: 1}: ", 1 answer", {Answers: 2}: ", 2 answers", {Answers: 1, Sigma: 2}: ", 1 answer, σ = 2",
	} {
		if got := f.text(9); got != want {
			t.Errorf("%+v: %q, want %q", f, got, want)
		}
	}
}
