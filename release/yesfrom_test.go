package release

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/votes"
)

// On line an answer is yes where so many teachers say yes, by a mechanism for all votes, and no other mechanism serves.
func TestYesFrom(t *testing.T) {
	of := func(from string) ensemble.Several {
		return must.Get(ensemble.Several{Labels: 3, YesFrom: from}.Of(5))(t)
	}
	sets := [][]int{{0, 1}, {0}, {0, 1}, {0}, {}} // four say yes to the first label, two to the second
	for from, want := range map[string][]int{"1": {1, 1, 0}, "2": {1, 1, 0}, "3": {1, 0, 0}, "4": {1, 0, 0}, "5": {0, 0, 0}} {
		several := of(from)
		m := must.Get(ensemble.PermuteAndFlip(ensemble.Setting{K: several.Votes(5), Classes: 2, Affected: 1,
			Neighbours: accountant.ReplaceOne}, 200))(t) // next to no noise
		plan := must.Get(NewPlan(m))(t)
		book := newLedger(t, 1e4)
		o := openOnline(t, OnlineOptions{Plan: plan, Several: several, Stated: saidOf(plan), Missing: votes.MissingNo,
			Charge: Charge{Ledger: book.Path(), AcceptWeak: true, Slack: new(0.0)}, Key: filepath.Join(t.TempDir(), "key")})
		a := must.Get(o.Answer(t.Context(), Query{ID: "q", Sets: sets}))(t)
		for l, class := range want {
			if a.Classes[l] != class {
				t.Errorf("yes from %s on: label %d is %d, want %d", from, l, a.Classes[l], class)
			}
		}
		for _, other := range []ensemble.Several{of("1"), of("5"), {Labels: 3, YesFrom: "2"}} {
			if other.Votes(5) == several.Votes(5) && other.Teachers > 0 {
				continue
			}
			if _, err := plan.WithSeveral(other); err == nil {
				t.Errorf("a mechanism for %d votes takes %+v", several.Votes(5), other)
			}
		}
	}
}

// A question that is one query is yes from so many teachers on, by the votes of each or by their counts, and the same
// votes under another threshold are another query.
func TestYesFromOfOneQuestion(t *testing.T) {
	votes := []int{1, 0, 1, 0, 0}
	rows := map[string]bool{}
	for from := 1; from <= 5; from++ {
		several := must.Get(ensemble.Several{YesFrom: strconv.Itoa(from)}.Of(5))(t)
		m := must.Get(ensemble.PermuteAndFlip(ensemble.Setting{K: several.Votes(5), Classes: 2, Affected: 1,
			Neighbours: accountant.ReplaceOne}, 200))(t) // next to no noise
		plan := must.Get(NewPlan(m))(t)
		o := openOnline(t, OnlineOptions{Plan: plan, Several: several, Stated: saidOf(plan),
			Charge: Charge{Ledger: newLedger(t, 1e4).Path(), AcceptWeak: true, Slack: new(0.0)}, Key: filepath.Join(t.TempDir(), "key")})
		for id, q := range map[string]Query{"votes": {ID: "a", Votes: votes}, "counts": {ID: "b", Counts: []int{3, 2}}} {
			a := must.Get(o.Answer(t.Context(), q))(t)
			if yes := from <= 2; (a.Class == 1) != yes {
				t.Errorf("yes from %d on: two of five by %s are %d", from, id, a.Class)
			}
		}
		rows[string(must.Get(o.read(&Query{ID: "a", Votes: votes}))(t).row)] = true
		for _, q := range []Query{{ID: "c", Votes: append(votes, 1)}, {ID: "c", Counts: []int{several.Votes(5) - 2, 2}}} {
			if _, err := o.read(&q); err == nil && several.Votes(5) > 5 {
				t.Errorf("yes from %d on: %+v is taken", from, q)
			}
		}
	}
	if len(rows) != 5 {
		t.Errorf("%d digests of five thresholds", len(rows))
	}
	of := must.Get(ensemble.Several{YesFrom: "2"}.Of(5))(t)
	three := must.Get(ensemble.PermuteAndFlip(ensemble.Setting{K: of.Votes(5), Classes: 3, Affected: 1, Neighbours: accountant.ReplaceOne}, 1))(t)
	if _, err := must.Get(NewPlan(three))(t).WithSeveral(of); err == nil {
		t.Error("three classes have a yes")
	}
	event := Event{Mechanism: "m", Queries: 3, K: 5, PerAnswer: &accountant.Cost{Epsilon: 1}, Several: &of}
	if text := Describe(must.Get(json.Marshal(event))(t)); !strings.HasSuffix(text, "3 labels by m, each (1, 0)-DP, yes from 2 of 5 teachers on") {
		t.Error(text)
	}
}

// A charge states the threshold and the teachers. The same statement takes what is left of it, and another threshold
// does not.
func TestYesFromIsTakenAgain(t *testing.T) {
	l, book := questions(t, 2)
	l.Read.YesFrom = "1" // of three: two public votes for yes
	plan := func(votes int, epsilon float64) func(context.Context, int, int) (Plan, error) {
		return func(context.Context, int, int) (Plan, error) {
			m, err := ensemble.PermuteAndFlip(ensemble.Setting{K: votes, Classes: 2, Affected: 1, Neighbours: accountant.ReplaceOne}, epsilon)
			if err != nil {
				return Plan{}, err
			}
			return NewPlan(m)
		}
	}
	l.Plan = plan(5, .1)
	must.Get(l.Run(t.Context()))(t)
	entry := must.Get(book.Find(t.Context(), "march"))(t)
	var event Event
	if err := json.Unmarshal(entry.Event, &event); err != nil || event.K != 3 || event.Several.YesFrom != "1" || event.Several.Teachers != 3 {
		t.Fatalf("%s, %v", entry.Event, err)
	}
	l.Charge.RequestID, l.Output.Path = "april", strings.Replace(l.Output.Path, "march", "april", 1)
	l.Plan = plan(5, .2) // what was charged is made again
	s := must.Get(l.Run(t.Context()))(t)
	if s.Charge.Left != 0 || s.Several.From() != 1 {
		t.Errorf("%+v", s.Charge)
	}
	checkQuotas(t, "two releases", book, .8, 8)
	l.Charge.RequestID, l.Output.Path = "may", strings.Replace(l.Output.Path, "april", "may", 1)
	l.Read.YesFrom, l.Plan = "2", plan(3, .1)
	must.Get(l.Run(t.Context()))(t)
	checkQuotas(t, "another threshold pays again", book, 1.6, 8, 4)
}
