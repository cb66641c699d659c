package release

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/votes"
)

// noYes is the plan of a table for three labels: always no, always yes, and always no, whatever the votes are.
func noYes(t testing.TB, k int) Plan {
	t.Helper()
	s := must.Get(answers.NewSystem(t.Context(), answers.Problem{K: k, Classes: 2, Affected: 1, Answers: 8, Epsilon: 1,
		Delta: 1e-9, Named: true, Labels: 3}))(t)
	var masses []uint64
	for _, yes := range []uint64{0, plurality.One, 0} {
		for range k + 1 {
			masses = append(masses, plurality.One-yes, yes)
		}
	}
	c := must.Get(answers.Certify(t.Context(), s, masses, game.Options{}))(t)
	table := must.Get(answers.NewTable(t.Context(), c, answers.Prior{Objective: plurality.Objective{Accuracy: .75},
		Yes: []float64{.1, .9, .2}}, answers.Law{Name: answers.ChainLaw, Order: 2, Moment: 1}, nil))(t)
	return must.Get(Table{Answers: table}.Plan(accountant.ReplaceOne))(t)
}

// A file has the answers of each label by its own table, again after the charge was reread, and a question is charged as
// before.
func TestFilesOfLabelTables(t *testing.T) {
	l, book := questions(t, 2)
	plan := noYes(t, 3)
	l.Plan = func(context.Context, int, int) (Plan, error) { return plan, nil }
	s := must.Get(l.Run(t.Context()))(t)
	if s.Queries != 6 || s.Charged != 4 {
		t.Errorf("%d labels charged as %d", s.Queries, s.Charged)
	}
	check := func(what string) {
		t.Helper()
		content := string(must.Get(os.ReadFile(l.Output.Path))(t))
		for i, line := range strings.Split(strings.TrimSpace(content), "\n")[1:] {
			if line != fmt.Sprintf("%c,0,1,0", 'a'+i) {
				t.Errorf("%s: a question's labels are %s", what, line)
			}
		}
	}
	check("the first release")
	l.Plan = func(context.Context, int, int) (Plan, error) { return Plan{}, errors.New("nothing is planned again") }
	must.Get(month(l, "april").Run(t.Context()))(t)
	check("a release by the kept table")
	checkQuotas(t, "two releases", book, 1, 8)
}

// A table of labels answers no questions of another number of labels, and none of one: it is refused before anything is
// charged.
func TestLabelTablesAreOfTheirLabels(t *testing.T) {
	l, book := questions(t, 2)
	before := len(must.Get(book.History(t.Context()))(t))
	plan := noYes(t, 3)
	l.Plan = func(context.Context, int, int) (Plan, error) { return plan, nil }
	l.Read.Labels = []string{"cat", "dog", "bird", "fish"}
	l.Stated.Several = nil
	var usage *UsageError
	if _, err := l.Run(t.Context()); !errors.As(err, &usage) || !strings.Contains(err.Error(), "each of 3 labels") {
		t.Errorf("four labels by three tables: %v", err)
	}
	if _, err := plan.WithSeveral(ensemble.Several{}); !errors.As(err, &usage) {
		t.Errorf("one label by three tables: %v", err)
	}
	for _, labels := range []int{2, 4} {
		if _, err := plan.WithSeveral(ensemble.Several{Labels: labels}); !errors.As(err, &usage) {
			t.Errorf("%d labels by three tables: %v", labels, err)
		}
	}
	if _, err := plan.WithSeveral(ensemble.Several{Labels: 3, YesFrom: "2", Teachers: 3}); !errors.As(err, &usage) ||
		!strings.Contains(err.Error(), "the share of yes of each label") {
		t.Errorf("a threshold by tables for shares of the majority: %v", err)
	}
	if _, err := plan.bill(Charge{}, Totals{}); !errors.As(err, &usage) || !strings.Contains(err.Error(), "each of 3 labels") {
		t.Errorf("a bill for no labels: %v", err)
	}
	if n := len(must.Get(book.History(t.Context()))(t)); n != before {
		t.Errorf("%d entries after %d", n, before)
	}
}

// On line, each label that is asked is answered by its own table, whichever others are asked beside it.
func TestOnlineLabelTables(t *testing.T) {
	book := newLedger(t, 1e4)
	plan := must.Get(noYes(t, 3).ForLabels(8, new(0.0)))(t)
	o := openOnline(t, OnlineOptions{Plan: plan, Several: ensemble.Several{Labels: 3, MostYes: 1}, Stated: saidOf(plan),
		Missing: votes.MissingNo, Charge: Charge{Ledger: book.Path(), AcceptWeak: true, Slack: new(0.0)},
		Key: filepath.Join(t.TempDir(), "key")})
	for i, x := range []struct{ asked, want []int }{{nil, []int{0, 1, 0}}, {[]int{1}, []int{1}}, {[]int{2, 1}, []int{1, 0}}, {[]int{0}, []int{0}}} {
		a := must.Get(o.Answer(t.Context(), Query{ID: fmt.Sprint("q", i), Sets: [][]int{{0}, {1, 0}, {}}, Asked: x.asked}))(t)
		if fmt.Sprint(a.Classes) != fmt.Sprint(x.want) {
			t.Errorf("labels %v are answered %v, want %v", x.asked, a.Classes, x.want)
		}
	}
}
