package ensemble

import (
	"errors"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
)

// noYesCoin returns the table of three labels: always no, always yes, and a fair coin, whatever the votes are. It costs
// nothing.
func noYesCoin(t testing.TB, k int) *answers.Certified {
	t.Helper()
	s := must.Get(answers.NewSystem(t.Context(), answers.Problem{K: k, Classes: 2, Affected: 1, Answers: 60, Epsilon: 1,
		Delta: 1e-9, Named: true, Labels: 3}))(t)
	var masses []uint64
	for _, yes := range []uint64{0, plurality.One, plurality.One / 2} {
		for range k + 1 {
			masses = append(masses, plurality.One-yes, yes)
		}
	}
	return must.Get(answers.Certify(t.Context(), s, masses, game.Options{}))(t)
}

// Each label is answered by its own masses, and a query that does not say which label it is by none.
func TestEachLabelIsDrawnByItsTable(t *testing.T) {
	c := noYesCoin(t, 4)
	m := must.Get(ManyAnswers(c, accountant.ReplaceOne))(t)
	if m.LabelTables() != 3 || m.HashOfAll() != c.Hash() {
		t.Errorf("%d tables, named %s", m.LabelTables(), m.HashOfAll())
	}
	if class, err := m.Simulate(1, "q", []int{2, 2}); !errors.Is(err, errWhichLabel) || class >= 0 {
		t.Errorf("no label was said, and the answer is %d: %v", class, err)
	}
	if p, err := m.Probabilities([]int{2, 2}); !errors.Is(err, errWhichLabel) {
		t.Errorf("no label was said, and the law is %v: %v", p, err)
	}
	for label, want := range [][]float64{{1, 0}, {0, 1}, {.5, .5}} {
		one := must.Get(m.OfLabel(label))(t)
		if one.HashOfAll() != m.HashOfAll() || one.Together() != m.Together() || one.LabelTables() != 0 {
			t.Errorf("label %d is charged as another mechanism", label)
		}
		law := must.Get(one.Probabilities([]int{3, 1}))(t)
		if law[0] != want[0] || law[1] != want[1] {
			t.Errorf("label %d has the law %v, want %v", label, law, want)
		}
		if class := must.Get(one.Simulate(1, "q", []int{3, 1}))(t); want[class] == 0 {
			t.Errorf("label %d is answered %d", label, class)
		}
	}
	if _, err := m.OfLabel(3); err == nil {
		t.Error("there is a fourth label")
	}
	single := must.Get(ManyAnswers(must.Get(c.OfLabel(1))(t), accountant.ReplaceOne))(t)
	if must.Get(single.OfLabel(2))(t).HashOfAll() != single.HashOfAll() || single.LabelTables() != 0 {
		t.Error("one table does not answer every label")
	}
}

// Votes are scored label by label, each by its own table; votes that are not of so many labels are refused.
func TestScoresOfLabelTables(t *testing.T) {
	m := must.Get(ManyAnswers(noYesCoin(t, 4), accountant.ReplaceOne))(t)
	b := must.Get(NewBallots(4, 2))(t)
	b.Label(3)
	sets := must.Get(NewSets([]string{"cat", "dog", "owl"}))(t)
	// two questions: yes leads on no label, then on the first two
	for _, counts := range [][]int{{4, 0}, {4, 0}, {4, 0}, {1, 3}, {0, 4}, {3, 1}} {
		for _, err := range []error{b.Add(counts, NoTruth), sets.Add(counts, NoTruth)} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	// no: right, wrong; yes: wrong, right; a coin twice
	const want = (1 + 0 + 0 + 1 + .5 + .5) / 6
	s := must.Get(m.Evaluate(b))(t)
	if s.Agreement != want {
		t.Errorf("agrees in %v, want %v", s.Agreement, want)
	}
	score := must.Get(sets.Score(m))(t)
	if score.Agreement != want || score.Labels[0].Agreement != .5 || *score.Labels[0].Recall != 0 || *score.Labels[1].Recall != 1 ||
		score.Whole != 0 {
		t.Errorf("%+v", score)
	}
	other := must.Get(NewBallots(4, 2))(t)
	if err := other.Add([]int{2, 2}, NoTruth); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Evaluate(other); err == nil {
		t.Error("votes of one label are scored by three tables")
	}
	two := must.Get(NewSets([]string{"cat", "dog"}))(t)
	for range 2 {
		if err := two.Add([]int{2, 2}, NoTruth); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := two.Score(m); err == nil {
		t.Error("sets of two labels are scored by three tables")
	}
}
