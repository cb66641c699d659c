package plan

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality"
)

// of100 asks for labels of 100 teachers that promise nothing, of which one record reaches one.
func of100(epsilon float64, queries int) Request {
	return Request{Stated: ensemble.Stated{K: 100, Classes: 2, Affected: new(1), Neighbours: accountant.ReplaceOne},
		Budget: accountant.Cost{Epsilon: epsilon, Delta: 1e-5}, Queries: queries}
}

// Worth of tables for 100 teachers whose votes are right with probability ¾, as another program found it
// (NumPy), within what a better table adds, and never less.
func TestWorthOfTables(t *testing.T) {
	for queries, want := range map[int]float64{50: 27.959, 200: 39.312} {
		p := must.Get(New(t.Context(), of100(1, queries)))(t)
		w := p.Choices[0].Worth
		if !(w.Labels > want-1e-3 && w.Labels < 1.01*want) || math.Abs(w.Limit-44.907) > 1e-3 || w.Of != queries {
			t.Errorf("%d labels: %+v, want %v", queries, w, want)
		}
	}
}

// The largest number of labels is taken that is worth nearly as much as the best.
func TestMost(t *testing.T) {
	of := func(queries int, worth float64) Numbered {
		return Numbered{Queries: queries, Plan: &Plan{Choices: []Choice{{Worth: Worth{Labels: worth}}}}}
	}
	refused := Numbered{Queries: 1000, Refused: &InfeasibleError{}}
	for _, tt := range []struct {
		all  []Numbered
		want int
	}{
		{[]Numbered{of(50, 1), of(200, 2), of(400, 1.91), refused}, 400},
		{[]Numbered{of(50, 1), of(200, 2), of(400, 1.89)}, 200},
		{[]Numbered{of(2000, 3), of(50, 3)}, 2000},
		{[]Numbered{refused}, 0},
	} {
		got := Most(tt.all)
		if (got == nil) != (tt.want == 0) || got != nil && got.Queries != tt.want {
			t.Errorf("%+v, want %d", got, tt.want)
		}
	}
	if got := UsualNumbers(1866); !slices.Equal(got, []int{50, 200, 1000, 1866}) {
		t.Errorf("%v", got)
	}
	if got := UsualNumbers(0); !slices.Equal(got, []int{50, 200, 1000, 5000}) {
		t.Errorf("%v", got)
	}
	for _, most := range []int{1, 50} {
		if got := UsualNumbers(most); !slices.Equal(got, []int{most}) {
			t.Errorf("at most %d: %v", most, got)
		}
	}
}

// A choice for labels is by agreement and one for a student by worth: of labels that may be missing and
// are right where they are there, and of votes that tie, the two differ.
func TestRankByPurpose(t *testing.T) {
	p := Plan{Choices: []Choice{
		{Name: "agrees", Agreement: Agreement{Expected: .8}, Worth: Worth{Labels: 1, Of: 10}},
		{Name: "tells", Agreement: Agreement{Expected: .7}, Worth: Worth{Labels: 2, Of: 10}},
	}}
	if p.rank(ForLabels, false); p.Choices[0].Name != "agrees" {
		t.Errorf("for labels %s is the first", p.Choices[0].Name)
	}
	if p.rank("", false); p.Choices[0].Name != "tells" {
		t.Errorf("for a student %s is the first", p.Choices[0].Name)
	}
	r := of100(1, 10)
	r.For = "nobody"
	if _, err := New(t.Context(), r); err == nil || !strings.Contains(err.Error(), "purpose") {
		t.Errorf("a purpose that is none: %v", err)
	}
}

// A bound is one for the prior that the table was made by: beside figures of votes at hand there is none.
func TestBoundIsOfThePrior(t *testing.T) {
	r := of100(1, 50)
	r.For = ForLabels
	bound := func() float64 {
		p := must.Get(New(t.Context(), r))(t)
		for _, c := range p.Choices {
			if c.Mechanism.AnswersTable() != nil {
				return c.Bound
			}
		}
		return 0
	}
	if got := bound(); !(got > .5 && got < 1) {
		t.Errorf("by the prior the bound is %v", got)
	}
	r.Votes = must.Get(NewSample(100, 2))(t)
	if err := r.Votes.Add([]int{2, 98}); err != nil {
		t.Fatal(err)
	}
	if got := bound(); got != 1 {
		t.Errorf("by votes the bound is %v", got)
	}
}

func TestWorthSentence(t *testing.T) {
	a := Agreement{Expected: .574}
	for want, w := range map[string]Worth{
		"2,000 labels that agree in 57.40 % tell a student as much as 44.3 labels without noise; for many labels " +
			"this tends to 44.9": {Labels: 44.26, Of: 2000, Limit: 44.91},
		"one label that agrees in 57.40 % tells a student as much as 0.5 labels without noise": {Labels: .5, Of: 1},
		"20 labels without noise": {Labels: 20, Of: 20},
		"":                        {},
	} {
		if got := w.Sentence(a); strings.ReplaceAll(got, "0.50", "0.5") != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// What fewer labels cost a student stands beside the note on how many reach the wanted agreement.
func TestAdviceSaysWhatItCostsAStudent(t *testing.T) {
	r := of100(1, 300)
	r.For, r.Agreement = ForLabels, .9
	p := must.Get(New(t.Context(), r))(t)
	if p.Advice == nil || p.Advice.Queries == 0 || p.Advice.Worth.Of != p.Advice.Queries ||
		!(p.Advice.Worth.Labels > 0 && p.Advice.Worth.Labels < p.Choices[0].Worth.Labels) {
		t.Fatalf("%+v", p.Advice)
	}
	notes := strings.Join(NewReport(r, p, ReportOptions{}).Notes, "\n")
	if !strings.Contains(notes, "A student learns from them as from "+p.Advice.Worth.String()+
		" labels without noise, and from the 300 labels above as from "+p.Choices[0].Worth.String()) {
		t.Error(notes)
	}
}

// Where a candidate is left out the reason is the true one: of 50 teachers and ten classes there are too
// many pairs of neighbours to price, which no time would change.
func TestTrueReasonOfATableTooLarge(t *testing.T) {
	r := of100(3, 100)
	r.K, r.Classes = 50, 10
	unsolved := errors.New("not solved here")
	r.SolvePlurality = func(context.Context, plurality.Problem, plurality.Objective, int64) (*plurality.Table,
		error) {
		return nil, unsolved
	}
	p := must.Get(New(t.Context(), r))(t)
	for _, f := range p.Refused {
		if f.Name == ensemble.TableOfAnswers {
			if !strings.Contains(f.Err.Error(), "ordered pairs of neighbouring histograms") {
				t.Errorf("%v", f.Err)
			}
			return
		}
	}
	t.Errorf("%+v", p.Refused)
}
