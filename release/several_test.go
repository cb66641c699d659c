package release

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/votes"
)

// questions is a release of the three labels of each of some questions, at 0.1 for an answer, of which a
// teacher says yes to one: a question is two answers. A charge pays for four questions.
func questions(t *testing.T, n int) (planning, *ledger.Ledger) {
	t.Helper()
	l, dir, book := newLabels(t, 5)
	file := filepath.Join(dir, "questions.csv")
	content := "query,t1,t2,t3\n" + strings.Repeat("#,cat|dog,dog,\n", n)
	for i := range n {
		content = strings.Replace(content, "#", string(rune('a'+i)), 1)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	l.Votes, l.Charge, l.Queries = []string{file}, paidBy(book, "march"), 4
	l.Charge.Teachers, l.Charge.Slack = "", nil
	l.Output.Path = filepath.Join(dir, "march.csv")
	l.Read = votes.Options{Labels: []string{"cat", "dog", "bird"}, MostYes: 1, Missing: votes.MissingNo}
	l.Stated = &Statement{Affected: 1, Neighbours: "replace", Prior: "uneven"}
	l.Plan = func(_ context.Context, k, classes int) (Plan, error) {
		m, err := ensemble.PermuteAndFlip(ensemble.Setting{K: k, Classes: classes, Affected: 1,
			Neighbours: accountant.ReplaceOne}, 0.1)
		if err != nil {
			return Plan{}, err
		}
		return NewPlan(m)
	}
	return l, book
}

// A question takes r = min(L, 2τt) of the quota, however many labels it has, and each request is about
// questions of its own. The charge states L, τ and N = r·Q.
func TestSeveralLabelsTakeOfTheQuota(t *testing.T) {
	l, book := questions(t, 2)
	s := must.Get(l.Run(t.Context()))(t)
	if s.Queries != 6 || s.Charged != 4 || s.Charge.Each != 2 || s.Charge.Labels != 8 {
		t.Errorf("%d labels charged as %d answers of %+v", s.Queries, s.Charged, s.Charge)
	}
	checkQuotas(t, "two questions", book, .8, 4)
	content := string(must.Get(os.ReadFile(l.Output.Path))(t))
	if head, _, _ := strings.Cut(content, "\n"); head != "query,cat,dog,bird" || strings.Count(content, "\n") != 3 {
		t.Errorf("the file of labels is\n%s", content)
	}
	var opens, takes Event
	entries := must.Get(book.History(t.Context()))(t)
	for _, e := range entries {
		var event Event
		switch err := json.Unmarshal(e.Event, &event); {
		case len(e.Event) == 0: // it opens the ledger
		case err != nil:
			t.Fatal(err)
		case e.ID == "march":
			takes = event
		default:
			opens = event
		}
	}
	want := ensemble.Several{Labels: 3, MostYes: 1}
	if opens.Several == nil || *opens.Several != want || opens.Answers != 8 || *opens.Stated.Several != want {
		t.Errorf("the charge is %+v", opens)
	}
	if takes.Several == nil || *takes.Several != want || takes.Queries != 4 {
		t.Errorf("the release is %+v", takes)
	}
	if text := Describe(must.Get(json.Marshal(takes))(t)); !strings.Contains(text, "3 labels each, of which a teacher says yes to at most 1") {
		t.Errorf("the entry reads %q", text)
	}
	// the same request has its labels, other requests about the same question take of the quota again
	if again := must.Get(l.Run(t.Context()))(t); !again.Before {
		t.Errorf("the same request was not there before: %+v", again)
	}
	one, _ := questions(t, 1)
	l.Votes = one.Votes
	for _, name := range []string{"april", "may"} {
		must.Get(month(l, name).Run(t.Context()))(t)
	}
	checkQuotas(t, "two requests about one question", book, .8, 8)
	if h := must.Get(NewHistory(t.Context(), book))(t); !strings.HasSuffix(h.Entries[0].What(), "; 8 of 8 answers taken, 0 left") ||
		h.Entries[0].Quota.Each != 2 {
		t.Errorf("the charge reads %q", h.Entries[0].What())
	}
	var left *LeftError
	if _, err := month(l, "june").Run(t.Context()); !errors.As(err, &left) || left.Asked != 2 ||
		!strings.Contains(err.Error(), "0 answers are left") {
		t.Errorf("a question beyond the last is answered: %v", err)
	}
}

// What is truncated otherwise is stated otherwise: a request keeps its τ, and another charge pays for another.
func TestSeveralLabelsAreStated(t *testing.T) {
	l, book := questions(t, 2)
	must.Get(l.Run(t.Context()))(t)
	for _, most := range []int{0, 2} {
		l.Read.MostYes = most
		if _, err := l.Run(t.Context()); !errors.Is(err, ledger.ErrConflict) || !strings.Contains(err.Error(), "stated otherwise: most yes = 1 then") {
			t.Errorf("τ = %d under the request of τ = 1: %v", most, err)
		}
	}
	l.Read.MostYes = 2 // r = 3
	must.Get(month(l, "april").Run(t.Context()))(t)
	checkQuotas(t, "another τ", book, 2, 4, 6)
}

// Without a ledger the labels cost what N answers cost.
func TestSeveralLabelsWithoutALedger(t *testing.T) {
	l, _ := questions(t, 3)
	l.Charge, l.Queries, l.Stated, l.Sets = Charge{}, 0, nil, true
	s := must.Get(l.Run(t.Context()))(t)
	if e := s.Totals.Fresh.Cost.Epsilon; e < .6 || e > .6+1e-9 || s.Queries != 9 || s.Charged != 6 {
		t.Errorf("%d labels charged as %d answers cost %v", s.Queries, s.Charged, s.Totals.Fresh.Cost)
	}
	facts := ""
	for _, f := range s.Facts() {
		facts += f.Title + " " + f.Text + "\n"
	}
	if want := "questions: 3; 3 labels each, of which a teacher says yes to at most 1; a question is charged as 2 " +
		"answers, 6 in all"; !strings.Contains(facts, want) {
		t.Errorf("%s\nlacks %q", facts, want)
	}
	if content := string(must.Get(os.ReadFile(l.Output.Path))(t)); !strings.HasPrefix(content, "query,labels\n") {
		t.Errorf("sets are written as\n%s", content)
	}
}

// A promise about one label is none about several, and what is no question of several has no set.
func TestSeveralLabelsRefused(t *testing.T) {
	l, _ := questions(t, 2)
	bound := l
	p := private(t, 1e-5, 0)
	bound.Plan = func(context.Context, int, int) (Plan, error) { return p, nil }
	bound.Queries, bound.Stated, bound.Charge = 0, nil, Charge{}
	var usage *UsageError
	if _, err := bound.Run(t.Context()); !errors.As(err, &usage) || !strings.Contains(err.Error(), "presume nothing") {
		t.Errorf("private teachers: %v", err)
	}
	if _, err := p.WithSeveral(ensemble.Several{Labels: 1}); !errors.As(err, &usage) {
		t.Errorf("one label: %v", err)
	}
	sets := l
	sets.Read, sets.Sets = votes.Options{}, true
	if _, err := sets.Run(t.Context()); !errors.As(err, &usage) {
		t.Errorf("sets of one label: %v", err)
	}
	more := l
	more.Queries = 1
	if _, err := more.Run(t.Context()); err == nil {
		t.Error("more questions than a charge pays for")
	}
}
