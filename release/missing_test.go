package release

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/votes"
)

// mayBeNone is loud for votes that may be none.
func mayBeNone(t testing.TB) Plan {
	t.Helper()
	return must.Get(NewPlan(must.Get(ensemble.PermuteAndFlip(ensemble.Setting{K: 3, Classes: 2,
		Affected: 1, Neighbours: accountant.ReplaceOne, Missing: true}, 200))(t)))(t)
}

// A vote that is none stays none: nothing is drawn in its place, and a query without votes is
// answered.
func TestVotesThatAreNoneStayNone(t *testing.T) {
	const text = "t1,t2,t3\n1,NA,NA\nNA,NA,NA\n0,0,1\n"
	b := batch(t, text, votes.Options{Missing: votes.MissingAbstain})
	before := slices.Clone(b.Counts)
	got, err := newReading(nil, nil).answer(t.Context(), mayBeNone(t).Mechanism(),
		randsrc.SystemCoins(), b)
	if err != nil || len(got) != 3 || got[0] != 1 || got[2] != 0 || !slices.Equal(b.Counts, before) {
		t.Errorf("%v, %v: %v, before %v", got, err, b.Counts, before)
	}
}

// The way that missing votes are read and the mechanism's proof must be of one kind, in a file and
// on line.
func TestMissingVotesNeedTheirMechanism(t *testing.T) {
	plans := map[bool]Plan{true: mayBeNone(t), false: must.Get(NewPlan(loud(t)))(t)}
	for takes, plan := range plans {
		for _, missing := range []votes.MissingPolicy{votes.MissingError, votes.MissingCoin,
			votes.MissingAbstain} {
			ok := missing == votes.MissingError || takes == (missing == votes.MissingAbstain)
			l, _, _ := newLabels(t, 1)
			l.Read.Missing, l.Charge.AcceptWeak = missing, true
			l.Plan = func(context.Context, int, int) (Plan, error) { return plan, nil }
			_, err := l.Run(t.Context())
			var usage *UsageError
			if ok != (err == nil) || err != nil && !errors.As(err, &usage) {
				t.Errorf("file, takes none: %t, %v: %v", takes, missing, err)
			}
			if !takes && missing == votes.MissingAbstain && !errors.Is(err, ensemble.ErrMissing) {
				t.Errorf("the mechanism does not refuse by name: %v", err)
			}
			_, options := newOnline(t, plan, Charge{}, 1e3)
			options.Missing = missing
			if _, err := OpenOnline(t.Context(), options); ok != (err == nil) {
				t.Errorf("on line, takes none: %t, %v: %v", takes, missing, err)
			}
		}
	}
}

// On line, votes and counts of fewer than K votes are taken where votes may be none, and nowhere
// else. The two kinds of a mechanism share no coins and no ids.
func TestOnlineVotesThatMayBeNone(t *testing.T) {
	_, options := newOnline(t, mayBeNone(t), Charge{}, 1e4)
	options.Missing = votes.MissingAbstain
	o := openOnline(t, options)
	for id, q := range map[string]Query{"a": {Votes: []int{1, -1, -1}}, "b": {Counts: []int{0, 1}},
		"c": {Counts: []int{0, 3}}, "d": {Votes: []int{1, -1, 1}}} {
		q.ID = id
		if a := mustAnswer(t, o, q); a.Class != 1 {
			t.Errorf("%+v: %+v", q, a)
		}
	}
	if _, err := o.Answer(t.Context(), Query{ID: "e", Counts: []int{2, 2}}); err == nil {
		t.Error("4 votes of 3 teachers")
	}
	plain, _ := newOnline(t, must.Get(NewPlan(loud(t)))(t), Charge{}, 1e4)
	for id, q := range map[string]Query{"f": {Votes: []int{1, -1, -1}}, "g": {Counts: []int{0, 1}}} {
		q.ID = id
		if a, err := plain.Answer(t.Context(), q); err == nil {
			t.Errorf("%+v: %+v", q, a)
		}
	}
	if o.scope == plain.scope {
		t.Error("mechanisms of two proofs share their coins")
	}
	other := must.Get(NewPlan(must.Get(ensemble.PermuteAndFlip(ensemble.Setting{K: 3, Classes: 2,
		Affected: 1, Neighbours: accountant.ReplaceOne}, 200))(t)))(t)
	if slices.EqualFunc(scopeOf("l", mayBeNone(t)).parts(), scopeOf("l", other).parts(),
		func(a, b []byte) bool { return string(a) == string(b) }) {
		t.Error("one key gives both kinds the same coins")
	}
	bill := must.Get(mayBeNone(t).WithQueries(1).Bill(Charge{Ledger: "l", RequestID: "a"}))(t)
	if !strings.Contains(string(bill.release.Event), `"missing":true`) {
		t.Errorf("the entry does not say so: %s", bill.release.Event)
	}
}

// Rows of single votes tell neither which queries there are nor how many teachers: a release states
// both, and answers every query, also one that nobody voted on.
func TestLongVotesNeedTheirQueries(t *testing.T) {
	for name, tt := range map[string]struct {
		ids []string
		k   int
		ok  bool
	}{"both": {[]string{"q1", "q2", "q3"}, 3, true}, "no ids": {nil, 3, false},
		"no K": {[]string{"q1", "q2", "q3"}, 0, false}} {
		l, _, _ := newLabels(t, 1)
		if err := os.WriteFile(l.Votes[0], []byte("id,teacher,vote\nq1,a,1\nq3,b,1\nq1,c,1\n"),
			0o600); err != nil {
			t.Fatal(err)
		}
		l.Read = votes.Options{Layout: votes.LayoutLong, QueryIDs: tt.ids, K: tt.k,
			Missing: votes.MissingAbstain}
		l.Plan = func(context.Context, int, int) (Plan, error) { return mayBeNone(t), nil }
		l.Charge.AcceptWeak = true
		s, err := l.Run(t.Context())
		var usage *UsageError
		if tt.ok != (err == nil) || !tt.ok && !errors.As(err, &usage) {
			t.Errorf("%s: %v", name, err)
		}
		if tt.ok && s.Queries != 3 {
			t.Errorf("%s: %d queries", name, s.Queries)
		}
		if out, _ := os.ReadFile(l.Output.Path); tt.ok && !strings.Contains(string(out), "\nq2,") {
			t.Errorf("%s: the query without a vote is not there: %s", name, out)
		}
	}
}
