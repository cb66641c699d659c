package solve_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/plurality/answers/solve"
)

// Each label has the table that is best for its share of yes, all under one law and one price: better than one table
// for the mean share, and hardly worse than a table of its own with a budget of its own.
func TestEachLabelHasItsTable(t *testing.T) {
	ctx := t.Context()
	right := plurality.Objective{Accuracy: .75}
	for _, q := range []int{40} {
		p := answers.Problem{K: 7, Classes: 2, Affected: 1, Answers: q, Epsilon: 3, Delta: 1e-5, Named: true, Labels: 3}
		prior := answers.Prior{Objective: right, Yes: []float64{.05, .4, .05}}
		got := must.Get(solve.Best(ctx, p, prior, solve.Options{}))(t)
		if got.UpperBound < got.Value || got.UpperBound > got.Value+.05 {
			t.Errorf("%d answers: value %v, bound %v", q, got.Value, got.UpperBound)
		}
		one := p
		one.Labels = 0
		mean := must.Get(solve.Best(ctx, one, answers.Prior{Objective: right, Shares: prior.MeanShares()}, solve.Options{}))(t)
		if got.Value < mean.Value+.003 {
			t.Errorf("%d answers: a table for each label is worth %v, one for all %v", q, got.Value, mean.Value)
		}
		alone := 0.0
		for label, yes := range prior.Yes {
			own := must.Get(solve.Best(ctx, one, answers.Prior{Objective: right, Shares: plurality.Shares{1 - yes, yes}}, solve.Options{}))(t)
			alone += own.Value / 3
			if of := must.Get(got.OfLabel(ctx, label))(t); math.Abs(of.Value-own.Value) > .01 {
				t.Errorf("%d answers, label %d: worth %v, of a table of its own %v", q, label, of.Value, own.Value)
			}
		}
		if got.Value < alone-.004 || got.Value > alone+.002 {
			t.Errorf("%d answers: worth %v, tables with a budget each %v", q, got.Value, alone)
		}
	}
}

// A label that tells nothing takes nothing from the others: with it the tables of the others are worth as much as
// without, where as many answers are charged.
func TestLabelThatTellsNothingTakesNothing(t *testing.T) {
	ctx := t.Context()
	solved := func(yes ...float64) (table *answers.Table, each []float64) {
		p := answers.Problem{K: 5, Classes: 2, Affected: 1, Answers: 6, Epsilon: 1, Delta: 1e-5, Named: true, Labels: len(yes)}
		table = must.Get(solve.Best(ctx, p, answers.Prior{Objective: plurality.Objective{Accuracy: .75}, Yes: yes}, solve.Options{}))(t)
		for label := range yes {
			each = append(each, must.Get(table.OfLabel(ctx, label))(t).Value)
		}
		return table, each
	}
	_, without := solved(.3, .4)
	table, with := solved(.3, .001, .4)
	rare := must.Get(table.OfLabel(ctx, 1))(t)
	if by := must.Get(rare.ByClass(ctx))(t); by.Tells(rare.Value) {
		t.Fatalf("the label of share .001 tells: %v of %v", rare.Value, by.ConstantValue)
	}
	for label, got := range []float64{with[0], with[2]} {
		if math.Abs(got-without[label]) > 1e-4 {
			t.Errorf("label %d is worth %v beside a label that tells nothing, without it %v", label, got, without[label])
		}
	}
}

// Labels with one share have one table's masses, each.
func TestLabelsOfOneShare(t *testing.T) {
	p := answers.Problem{K: 5, Classes: 2, Affected: 1, Answers: 4, Epsilon: 2, Delta: 1e-4, Named: true, Labels: 2}
	prior := answers.Prior{Objective: plurality.Objective{Accuracy: .75}, Yes: []float64{.2, .2}}
	got := must.Get(solve.Best(t.Context(), p, prior, solve.Options{}))(t)
	p.Labels = 0
	alone := must.Get(solve.Best(t.Context(), p, answers.Prior{Objective: prior.Objective, Shares: plurality.Shares{.8, .2}}, solve.Options{}))(t)
	if math.Abs(got.Value-alone.Value) > 1e-4 {
		t.Errorf("worth %v, one table %v", got.Value, alone.Value)
	}
	for _, law := range []answers.Name{answers.NormalLaw, answers.ProgramLaw} {
		p.Labels = 2
		if _, err := solve.Best(t.Context(), p, prior, solve.Options{Law: law}); err == nil {
			t.Errorf("%s for labels", law)
		}
	}
}

// A cache keeps tables of other labels apart.
func TestCachedLabels(t *testing.T) {
	store := must.Get(cache.Open(t.TempDir()))(t)
	p := answers.Problem{K: 3, Classes: 2, Affected: 1, Answers: 2, Epsilon: 2, Delta: 1e-3, Named: true, Labels: 2}
	var seen []string
	for _, yes := range [][]float64{{.1, .4}, {.4, .1}, {.1, .3}, {.1, .4}} {
		r := must.Get(solve.Cached(t.Context(), store, p, answers.Prior{Objective: plurality.Objective{Accuracy: .75}, Yes: yes}, solve.Options{}))(t)
		if r.Rejected != nil || !r.Table.Prior.Equal(answers.Prior{Objective: plurality.Objective{Accuracy: .75}, Yes: yes}) {
			t.Errorf("%v: %v, for %v", yes, r.Rejected, r.Table.Prior)
		}
		var b bytes.Buffer
		if err := r.Table.Encode(&b); err != nil {
			t.Fatal(err)
		}
		seen = append(seen, b.String())
	}
	if seen[0] != seen[3] || seen[0] == seen[1] || seen[1] == seen[2] {
		t.Error("tables are mixed up")
	}
}
