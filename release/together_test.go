package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/plurality/answers/solve"
	"github.com/darrm/darrm/votes"
)

// together is a plan of up to so many answers of 3 teachers for 2 classes, which cost (2, 1e-3).
func together(t testing.TB, most int) Plan {
	t.Helper()
	p := answers.Problem{K: 3, Classes: 2, Affected: 1, Answers: most, Epsilon: 2, Delta: 1e-3}
	table := must.Get(solve.Best(t.Context(), p, answers.DefaultPrior(p),
		solve.Options{Law: answers.NormalLaw, Price: game.Options{Step: 1}}))(t)
	return must.Get(Table{Answers: table}.Plan(accountant.ReplaceOne))(t)
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var threeVotes = []int{1, 0, 1}

// quotaOf returns how many answers of the plan's table were taken.
func quotaOf(t testing.TB, l *ledger.Ledger, plan Plan) *ledger.QuotaUse {
	t.Helper()
	return must.Get(l.Quota(t.Context(), answersPrefix+plan.mechanism.AnswersTable().Hash(), ""))(t)
}

// Of three servers on one ledger, asked at once for more than the table has, exactly Q queries have
// an answer. All of them cost what the table costs, once. What was answered has the same label at
// every server and after every start and takes nothing; what was refused is refused for ever.
func TestQuotaOfThreeServers(t *testing.T) {
	const most = 9
	plan := together(t, most)
	first, options := newOnline(t, plan, Charge{}, 1e3)
	servers := []*Online{first, openOnline(t, options), openOnline(t, options)}
	var (
		all    sync.WaitGroup
		mu     sync.Mutex
		labels = map[string]string{}
		left   = map[string]bool{}
	)
	for i := range 4 * most {
		all.Go(func() {
			id := fmt.Sprint("q", i)
			a, err := servers[i%3].Answer(t.Context(), Query{ID: id, ReplayKey: myKey, Votes: threeVotes})
			mu.Lock()
			defer mu.Unlock()
			var over *ledger.QuotaError
			switch {
			case err == nil:
				labels[id] = fmt.Sprint(a.Class)
			case errors.As(err, &over) && errors.Is(err, ledger.ErrAnswers):
				left[id] = true
			default:
				t.Errorf("%s: %v", id, err)
			}
		})
	}
	all.Wait()
	if len(labels) != most || len(left) != 3*most {
		t.Fatalf("%d answers and %d refusals of %d", len(labels), len(left), 4*most)
	}
	book := must.Get(ledger.Open(t.Context(), options.Charge.Ledger))(t)
	if use := quotaOf(t, book, plan); use.Taken != most || use.Charge.Total() != first.Unit() {
		t.Errorf("%+v, want %d answers for %v", use, most, first.Unit())
	}
	// The price holds whoever asks, so that it is nobody's consent to spend more than is worth
	// anything.
	var event Event
	found := must.Get(book.Find(t.Context(), answersPrefix+plan.mechanism.AnswersTable().Hash()))(t)
	if err := json.Unmarshal(found.Event, &event); err != nil || event.AcceptWeak ||
		!options.Charge.AcceptWeak {
		t.Errorf("%s, %v", found.Event, err)
	}
	spent := must.Get(book.State(t.Context()))(t).Spent
	if epsilon, delta := spent.Ceil(); epsilon != 2 || delta != 1e-3 {
		t.Errorf("the answers cost (%v, %v)", epsilon, delta)
	}
	for i, server := range append(servers, openOnline(t, options)) {
		for id, want := range labels {
			a := mustAnswer(t, server, Query{ID: id, ReplayKey: myKey, Votes: threeVotes})
			if fmt.Sprint(a.Class) != want {
				t.Errorf("server %d: %s has the label %d, had %s", i, id, a.Class, want)
			}
		}
		for id := range left {
			var over *ledger.QuotaError
			if _, err := server.Answer(t.Context(), Query{ID: id, ReplayKey: myKey, Votes: threeVotes}); !errors.
				As(err, &over) {
				t.Errorf("server %d: %s: %v", i, id, err)
			}
		}
	}
	if use := quotaOf(t, book, plan); use.Taken != most {
		t.Errorf("replays took %d answers", use.Taken-most)
	}
}

// A file of n queries takes n answers of the same quota that a server takes from, all of them or
// none, and once; the file that wants one more than is left is refused, is told what is left, and
// leaves nothing.
func TestQuotaOfFilesAndServers(t *testing.T) {
	const rows = 3 // of someVotes
	plan := together(t, 2*rows+1)
	l, dir, book := newLabels(t, 1e3)
	l.Plan = func(context.Context, int, int) (Plan, error) { return plan, nil }
	l.Charge = Charge{Ledger: book.Path(), RequestID: "march"}
	if n := strings.Count(someVotes, "\n"); n != rows+1 {
		t.Fatalf("%d rows", n)
	}
	must.Get(l.Run(t.Context()))(t)
	if use := quotaOf(t, book, plan); use.Taken != rows {
		t.Errorf("%d answers were taken for %d rows", use.Taken, rows)
	}
	must.Get(l.Run(t.Context()))(t) // released before
	server := openOnline(t, OnlineOptions{Plan: plan, Stated: saidOf(plan),
		Charge: Charge{Ledger: book.Path()}, Key: filepath.Join(dir, "key")})
	for i := range 2 {
		mustAnswer(t, server, Query{ID: fmt.Sprint("on line ", i), ReplayKey: myKey, Votes: threeVotes})
	}
	more := l
	more.Charge.RequestID, more.Output.Path = "more", filepath.Join(dir, "more.csv")
	_, err := more.Run(t.Context())
	var over *ledger.QuotaError
	if !errors.As(err, &over) || !strings.Contains(err.Error(), "2 labels are left") {
		t.Errorf("%d rows of 2 answers: %v", rows, err)
	}
	if _, err := os.Stat(more.Output.Path); !os.IsNotExist(err) {
		t.Errorf("labels that nothing paid for: %v", err)
	}
	if use := quotaOf(t, book, plan); use.Taken != rows+2 {
		t.Errorf("%d answers were taken, want %d", use.Taken, rows+2)
	}
	// Without a ledger the table's number bounds what one run releases.
	few := together(t, rows-1)
	alone := l
	alone.Charge, alone.Output.Path = Charge{}, filepath.Join(dir, "alone.csv")
	alone.Plan = func(context.Context, int, int) (Plan, error) { return few, nil }
	if _, err := alone.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "at most 2") {
		t.Errorf("%d rows of a table for 2: %v", rows, err)
	}
	if _, err := os.Stat(alone.Output.Path); !os.IsNotExist(err) {
		t.Errorf("labels beyond the table's number: %v", err)
	}
}

// Another table of the same promise is another charge: two tables under one would cost more than
// either.
func TestEachTableHasItsCharge(t *testing.T) {
	one, options := newOnline(t, together(t, 5), Charge{}, 1e3)
	options.Plan = together(t, 6)
	other := openOnline(t, options)
	mustAnswer(t, one, Query{ID: "a", ReplayKey: myKey, Votes: threeVotes})
	mustAnswer(t, other, Query{ID: "b", ReplayKey: myKey, Votes: threeVotes})
	book := must.Get(ledger.Open(t.Context(), options.Charge.Ledger))(t)
	if epsilon, delta := must.Get(book.State(t.Context()))(t).Spent.Ceil(); epsilon != 4 ||
		delta != 2e-3 {
		t.Errorf("two tables cost (%v, %v)", epsilon, delta)
	}
	if _, err := other.Answer(t.Context(), Query{ID: "a", ReplayKey: myKey,
		Votes: threeVotes}); !errors.Is(err, ledger.ErrConflict) {
		t.Errorf("an answered query by another table: %v", err)
	}
}

// A client's share is in answers. A share of the budget would bound nothing, and the other way
// round.
func TestShareInAnswers(t *testing.T) {
	plan := together(t, 9)
	o, options := newOnline(t, plan, Charge{}, 1e3)
	ask := func(id, client string, share uint64) error {
		_, err := o.Answer(t.Context(), Query{ID: id, ReplayKey: myKey, Votes: threeVotes, Client: client,
			AnswersShare: &share})
		return err
	}
	for i := range 3 {
		noError(t, ask(fmt.Sprint("a", i), "alice", 3))
	}
	var over *ledger.QuotaError
	if err := ask("a3", "alice", 3); !errors.As(err, &over) || !errors.Is(err, ledger.ErrShare) ||
		over.Client != "alice" {
		t.Errorf("beyond the share: %v", err)
	}
	noError(t, ask("b", "bob", 1))
	noError(t, ask("a0", "alice", 3)) // again
	book := must.Get(ledger.Open(t.Context(), options.Charge.Ledger))(t)
	if use := quotaOf(t, book, plan); use.Charge.Client != "" || use.Taken != 4 {
		t.Errorf("%+v: the price is nobody's own", use)
	}
	if labels, all, hers, err := o.Taken(t.Context(), "alice"); labels != 9 || all != 4 || hers != 3 ||
		err != nil {
		t.Errorf("%d of %d taken, %d by alice, %v", all, labels, hers, err)
	}
	fresh, _ := newOnline(t, together(t, 5), Charge{}, 1e3)
	if labels, all, hers, err := fresh.Taken(t.Context(), "alice"); labels != 5 || all != 0 || hers != 0 ||
		err != nil {
		t.Errorf("%d of %d taken, %d by alice, %v of nothing", all, labels, hers, err)
	}
	var usage *UsageError
	if _, err := o.Answer(t.Context(), Query{ID: "c", ReplayKey: myKey, Votes: threeVotes, Client: "eve",
		Share: shareOf(t, 1)}); !errors.As(err, &usage) {
		t.Errorf("a share of the budget: %v", err)
	}
	w := ways(t)["none"]
	each, _ := newOnline(t, w.plan, w.charge, 1e3)
	if _, err := each.Answer(t.Context(), Query{ID: "c", ReplayKey: myKey, Votes: w.votes,
		Client: "eve", AnswersShare: new(uint64)}); !errors.As(err, &usage) {
		t.Errorf("a share in answers that are paid one by one: %v", err)
	}
}

// The page and the history tell how many answers were taken.
func TestHistoryCountsAnswers(t *testing.T) {
	o, options := newOnline(t, together(t, 9), Charge{}, 1e3)
	for i := range 4 {
		mustAnswer(t, o, Query{ID: fmt.Sprint(i), ReplayKey: myKey, Votes: threeVotes})
	}
	book := must.Get(ledger.Open(t.Context(), options.Charge.Ledger))(t)
	h := must.Get(NewHistory(t.Context(), book))(t)
	if q := h.Entries[0].Quota; q == nil || q.Taken != 4 || q.Answers != 9 ||
		!strings.HasSuffix(h.Entries[0].What(), "; 4 of 9 labels taken, 5 left") || h.Entries[1].Takes != 1 {
		t.Errorf("%+v, %s", h.Entries[0], h.Entries[0].What())
	}
	r := must.Get(NewBudgetReport(t.Context(), book))(t)
	if q := r.Releases[0].Quota; q == nil || *q != *h.Entries[0].Quota || !r.Releases[0].Shared ||
		!strings.Contains(r.Releases[0].What, "4 of 9 labels taken, 5 left") {
		t.Errorf("%+v", r.Releases[0])
	}
}

// A table is refused where it was made for another problem.
func TestTogetherRefused(t *testing.T) {
	plan := together(t, 4)
	two := 2
	said := saidOf(plan)
	said.Affected = &two
	if err := Match(said, plan.mechanism.Problem(), "t.json"); err == nil {
		t.Error("a table of t = 1 is taken at t = 2")
	}
	if m := plan.Mechanism(); m.Name() != ensemble.TableOfAnswers || m.Together().Most != 4 ||
		m.Together().Cost != (accountant.Cost{Epsilon: 2, Delta: 1e-3}) {
		t.Errorf("%s, %+v", m.Name(), m.Together())
	}
}

// Two tables of the same promise have other coins: the same word would be another label.
func TestScopeKnowsTheTable(t *testing.T) {
	p := answers.Problem{K: 3, Classes: 2, Affected: 1, Answers: 4, Epsilon: 2, Delta: 1e-3}
	prior := answers.DefaultPrior(p)
	scope := func(step float64) string {
		table := must.Get(solve.Best(t.Context(), p, prior,
			solve.Options{Law: answers.NormalLaw, Price: game.Options{Step: step}}))(t)
		plan := must.Get(Table{Answers: table}.Plan(accountant.ReplaceOne))(t)
		return string(scopeOf("l", plan).Table)
	}
	one, again := scope(1), scope(1)
	if one == scope(0.5) {
		t.Error("two tables have one scope")
	}
	if one != again {
		t.Error("one table has two scopes")
	}
}

// What reaches a caller who takes answers one by one ends with the table's last one, also where no
// ledger counts. A batch that is too long is the caller's fault, and a slack is refused: nothing
// composes.
func TestNoAnswerBeyondTheTable(t *testing.T) {
	plan := together(t, 2)
	l, dir, _ := newLabels(t, 1)
	l.Plan = func(context.Context, int, int) (Plan, error) { return plan, nil }
	seen := 0
	l.Each = func(_ *votes.Batch, classes []int) error {
		seen += len(classes)
		return nil
	}
	var input *InputError
	if _, err := l.Run(t.Context()); !errors.As(err, &input) || seen > 2 {
		t.Errorf("%d answers of a table for 2: %v", seen, err)
	}
	if names := namesIn(t, dir); len(names) != 1 {
		t.Errorf("left %q", names)
	}
	o, _ := newOnline(t, plan, Charge{}, 1e3)
	_, err := o.Batch(t.Context(), Batch{Name: "b", Votes: [][]int{threeVotes, threeVotes, threeVotes}})
	if !errors.As(err, &input) {
		t.Errorf("a batch of 3: %v", err)
	}
	var usage *UsageError
	if _, err := plan.WithQueries(2).Totals(new(0.1)); !errors.As(err, &usage) {
		t.Errorf("a slack: %v", err)
	}
	if totals, err := plan.WithQueries(2).Totals(nil); err != nil || totals.Slack != 0 {
		t.Errorf("%+v, %v", totals, err)
	}
}
