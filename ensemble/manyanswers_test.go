package ensemble

import (
	"errors"
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/ensemble/labellaw"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/plurality/answers/solve"
)

func answersOf(t testing.TB, p answers.Problem) *answers.Certified {
	t.Helper()
	return must.Get(solve.Best(t.Context(), p, answers.DefaultPrior(p), solve.Options{
		Law: answers.NormalLaw, Price: game.Options{Step: 1}}))(t).Certified
}

// The draw has exactly the law of the table, for all votes.
func TestManyAnswersDrawIsExact(t *testing.T) {
	raced.Sequential(t)
	for _, p := range []answers.Problem{
		{K: 5, Classes: 2, Affected: 1, Answers: 7, Epsilon: 2, Delta: 1e-3},
		{K: 4, Classes: 3, Affected: 2, Answers: 3, Epsilon: 2, Delta: 1e-3, Abstain: true},
		{K: 5, Classes: 2, Affected: 1, Answers: 7, Epsilon: 2, Delta: 1e-3, Missing: true},
		{K: 3, Classes: 3, Affected: 1, Answers: 3, Epsilon: 2, Delta: 1e-3, Missing: true},
	} {
		c := answersOf(t, p)
		m := must.Get(ManyAnswers(c, accountant.ReplaceOne))(t)
		votesIn(m.Setting(), func(counts []int) {
			groups := must.Get(c.Masses(counts))(t)
			byVotes, at := map[int]uint64{}, 0
			for v := p.K; v >= 0; v-- {
				for _, n := range counts {
					if n == v {
						byVotes[v] = groups[at]
						at++
						break
					}
				}
			}
			if p.Abstain {
				byVotes[plurality.Abstained] = groups[at]
			}
			law := must.Get(m.Probabilities(counts))(t)
			alike := map[int]int{}
			for _, n := range counts {
				alike[n]++
			}
			for class, n := range counts {
				want := float64(byVotes[n]) / (1 << 53) / float64(alike[n])
				if math.Abs(law[class]-want) > 1e-15 {
					t.Errorf("%v: class %d has the probability %v, want %v", counts, class, law[class], want)
				}
			}
			if err := checkPluralityDraw(m, drawCounts,
				map[string]map[int]uint64{descending(counts): byVotes}, counts); err != nil {
				t.Errorf("%+v: %v", p, err)
			}
		})
	}
}

// The price is charged once for up to Q answers, whatever their number, and there is none for more.
func TestManyAnswersAreChargedOnce(t *testing.T) {
	p := answers.Problem{K: 5, Classes: 2, Affected: 2, Answers: 7, Epsilon: 2, Delta: 1e-3}
	m := must.Get(ManyAnswers(answersOf(t, p), accountant.AddOrRemoveOne))(t)
	want := accountant.Cost{Epsilon: 2, Delta: 1e-3}
	if m.Together() != (Together{want, 7}) || m.PerAnswer() != want ||
		m.Setting() != (Setting{K: 5, Classes: 2, Affected: 2, Neighbours: accountant.AddOrRemoveOne}) {
		t.Errorf("%+v, %v, %+v", m.Together(), m.PerAnswer(), m.Setting())
	}
	for q := 1; q <= 7; q++ {
		got := must.Get(m.Answers(q, 0).Total())(t)
		if got.Cost != want || got.Rule != "the price of up to 7 answers together" {
			t.Errorf("%d answers: %+v", q, got)
		}
	}
	var bad *check.Error
	if total, err := m.Answers(8, 0).Total(); !errors.As(err, &bad) || bad.Name != "queries" {
		t.Errorf("8 answers of 7: %+v, %v", total, err)
	}
	r := m.Answers(3, 0)
	r.PerAnswer = accountant.Cost{Epsilon: 0.1}
	if _, err := r.Total(); !errors.As(err, &bad) || bad.Name != "cost of one answer" {
		t.Errorf("two prices: %v", err)
	}
	r = m.Answers(3, 0)
	r.Delta = 1e-4
	if total, err := r.Total(); !errors.Is(err, accountant.ErrDeltaTooSmall) {
		t.Errorf("at a smaller delta: %+v, %v", total, err)
	}
	s := must.Get(NewStatement(t.Context(), StatementOptions{Problem: m.Problem(), Answer: m.Event(),
		PerAnswer: m.PerAnswer(), Together: m.Together(), Queries: []int{1, 7, 8}}))(t)
	if len(s.Fresh) != 3 || *s.Fresh[0].Epsilon != 2 || *s.Fresh[1].Epsilon != 2 ||
		s.Fresh[2].Epsilon != nil || s.Fresh[1].Delta != 1e-3 || s.Warnings != nil {
		t.Errorf("%+v", s)
	}
	for _, c := range []*answers.Certified{nil, {}} {
		if _, err := ManyAnswers(c, accountant.ReplaceOne); err == nil {
			t.Error("no table makes a mechanism")
		}
	}
}

// Votes in another order of the classes have another law by a table that tells three classes apart. A class that
// no query leads to has no recall, and the balanced agreement is the mean over the others.
func TestNamedTablesAreScoredByName(t *testing.T) {
	p := answers.Problem{K: 3, Classes: 3, Affected: 1, Answers: 1, Epsilon: 1, Delta: 1e-3, Named: true}
	table := must.Get(solve.Best(t.Context(), p, answers.Prior{Objective: plurality.Objective{Accuracy: 0.6},
		Shares: plurality.Shares{0.8, 0.15, 0.05}}, solve.Options{Price: game.Options{Step: 1}}))(t)
	m := must.Get(ManyAnswers(table.Certified, accountant.ReplaceOne))(t)
	b := must.Get(NewBallots(3, 3))(t)
	var each [2]float64 // of classes 0 and 1, where they lead
	for _, q := range [][]int{{3, 0, 0}, {0, 3, 0}, {2, 1, 0}, {1, 2, 0}} {
		if err := b.Add(q, NoTruth); err != nil {
			t.Fatal(err)
		}
		lead := 0
		if q[1] > q[0] {
			lead = 1
		}
		each[lead] += must.Get(m.Probabilities(q))(t)[lead] / 2
	}
	s, recall, err := m.evaluate(b)
	if err != nil || math.Abs(s.Agreement-(each[0]+each[1])/2) > 1e-15 || math.Abs(s.Balanced-s.Agreement) > 1e-15 || each[0]-each[1] < .05 {
		t.Errorf("%+v, %v, want %v", s, err, each)
	}
	if recall[2] != nil || math.Abs(*recall[0]-each[0]) > 1e-15 || math.Abs(*recall[1]-each[1]) > 1e-15 {
		t.Errorf("recall %v, want %v", recall, each)
	}
}

// What is known of labels that treat the classes alike is not said of others: their law, their worth, the
// bound of a comparison.
func TestNamedTablesHaveNoLawOfTheirLabels(t *testing.T) {
	raced.Sequential(t)
	p := answers.Problem{K: 5, Classes: 2, Affected: 1, Answers: 3, Epsilon: 2, Delta: 1e-3, Named: true}
	table := must.Get(solve.Best(t.Context(), p, answers.Prior{Objective: plurality.Objective{Accuracy: 0.75},
		Shares: plurality.Shares{0.9, 0.1}}, solve.Options{Price: game.Options{Step: 1}}))(t)
	m := must.Get(ManyAnswers(table.Certified, accountant.ReplaceOne))(t)
	if !m.Named() || must.Get(ManyAnswers(answersOf(t, answers.Problem{K: 5, Classes: 2, Affected: 1, Answers: 3,
		Epsilon: 2, Delta: 1e-3}), accountant.ReplaceOne))(t).Named() {
		t.Error("which tables tell the classes apart is not told")
	}
	if l, err := m.LabelLaw(t.Context(), nil, labellaw.Options{}); err == nil {
		t.Errorf("law %+v", l)
	}
	c := &Comparison{Setting: m.Setting(), UpperBound: 0.5, Queries: 1, Rows: []ComparisonRow{{Name: "x", Mechanism: m,
		Planned: &Planned{}}}}
	if c.Bound(c.Rows[0]) != 1 {
		t.Error("the bound of mechanisms that treat the classes alike is one for this one")
	}
	row := c.Report().Mechanisms[0]
	if row.Worth != nil || row.Planned.Worth != 0 || row.UpperBound != 0 {
		t.Errorf("%+v", row)
	}
	if _, rows := c.Table(); rows[2][5] != "-" {
		t.Errorf("worth %s", rows[2][5])
	}
}
