package plan

import (
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
)

// The first choice is marked, whichever does best on the votes; each row has the plan's figures, and
// what the plan refuses is refused. A plan by votes is not compared.
func TestCompareMarksTheFirstChoice(t *testing.T) {
	r := Request{Stated: ensemble.Stated{K: 9, Classes: 2, Affected: new(1), Neighbours: accountant.ReplaceOne},
		Budget: accountant.Cost{Epsilon: 2.5, Delta: 1e-5}, Queries: 12}
	p, err := New(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	p.Refused = append(p.Refused, Refusal{"left out", ensemble.ErrMissing})
	b, err := ensemble.NewBallots(9, 2)
	if err != nil {
		t.Fatal(err)
	}
	for range 12 { // on a lead of one the second choice does better
		if err := b.Add([]int{4, 5}, ensemble.NoTruth); err != nil {
			t.Fatal(err)
		}
	}
	c, err := p.Compare(t.Context(), r, b)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Rows) != len(p.Choices)+1 || c.Answers != 12 || c.Target != r.Budget {
		t.Fatalf("%d rows for %d choices, %d answers within %v", len(c.Rows), len(p.Choices), c.Answers, c.Target)
	}
	for i, choice := range p.Choices {
		row := c.Rows[i]
		want, err := choice.Mechanism.Evaluate(b)
		if err != nil {
			t.Fatal(err)
		}
		if row.Name != choice.Name || row.Title != choice.Title() || row.Score != want || *row.Planned !=
			(ensemble.Planned{Total: choice.Total, Expected: choice.Agreement.Expected,
				Worth: choice.Worth.Labels, Chosen: i == 0}) || choice.Worth.Labels <= 0 {
			t.Errorf("choice %d is %s, and its row %+v", i, choice.Title(), row)
		}
	}
	if c.Rows[1].Score.Agreement <= c.Rows[0].Score.Agreement {
		t.Error("the first choice is the best on these votes: nothing tells that the prior chose it")
	}
	if last := c.Rows[len(c.Rows)-1]; last.Name != "left out" || last.Refused == nil {
		t.Errorf("what was refused is %+v", last)
	}

	if r.Votes, err = NewSample(9, 2); err == nil {
		err = r.Votes.Add([]int{4, 5})
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Compare(t.Context(), r, b); err == nil {
		t.Error("a plan by votes is compared on votes")
	}
}

// Given mechanisms are scored by what all their labels cost, and refused where they cost more than the budget or are for
// others.
func TestCompareGivenMechanisms(t *testing.T) {
	r := Request{Stated: ensemble.Stated{K: 9, Classes: 2, Affected: new(1), Neighbours: accountant.ReplaceOne},
		Budget: accountant.Cost{Epsilon: 2.5, Delta: 1e-5}, Queries: 12}
	p := must.Get(New(t.Context(), r))(t)
	b := must.Get(ensemble.NewBallots(9, 2))(t)
	if err := b.Add([]int{4, 5}, ensemble.NoTruth); err != nil {
		t.Fatal(err)
	}
	flip := func(k, affected int, epsilon float64) *ensemble.Mechanism {
		return must.Get(ensemble.PermuteAndFlip(ensemble.Setting{K: k, Classes: 2, Affected: affected,
			Neighbours: accountant.ReplaceOne}, epsilon))(t)
	}
	var given []Given
	for _, c := range p.Choices {
		given = append(given, Given{"mine", c.Mechanism})
	}
	serve := len(given)
	given = append(given, Given{"dear", flip(9, 1, 2)}, Given{"smaller", flip(7, 1, .01)}, Given{"none", nil})
	c := must.Get(p.Compare(t.Context(), r, b, given...))(t)
	rows := c.Rows[len(c.Rows)-len(given):]
	for i, row := range rows {
		if i >= serve {
			if row.Refused == nil {
				t.Errorf("%s is compared: %+v", row.Title, row.Planned)
			}
			continue
		}
		own := *c.Rows[i].Planned
		if own.Chosen = false; row.Refused != nil || row.Title != "mine" || *row.Planned != own || row.Score != c.Rows[i].Score {
			t.Errorf("%s as given: %+v %v, as chosen: %+v", c.Rows[i].Title, row.Planned, row.Refused, own)
		}
	}
	r.Affected = new(2)
	p = must.Get(New(t.Context(), r))(t)
	c = must.Get(p.Compare(t.Context(), r, b, Given{"one", flip(9, 1, .001)}, Given{"two", flip(9, 2, .001)}))(t)
	if rows := c.Rows[len(c.Rows)-2:]; rows[0].Refused == nil || rows[1].Refused != nil {
		t.Errorf("of a record that reaches two: %v, %v", rows[0].Refused, rows[1].Refused)
	}
}
