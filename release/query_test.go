package release

import (
	"errors"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
)

// Where there are as many teachers as classes, one list of numbers can be votes and can be counts.
// The two are different queries: one id has no answer to both, and they share no coins.
func TestOnlineVotesAreNoCounts(t *testing.T) {
	s := ensemble.Setting{K: 3, Classes: 3, Affected: 1, Neighbours: accountant.ReplaceOne}
	m, err := ensemble.PermuteAndFlip(s, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	o, _ := newOnline(t, must.Get(NewPlan(m))(t), Charge{},
		1e3)
	list := []int{0, 2, 1}
	votes, counts := Query{ID: "a", ReplayKey: myKey, Votes: list},
		Query{ID: "a", ReplayKey: myKey, Counts: list}
	rows := map[string]Query{}
	for _, q := range []Query{votes, counts, {Votes: []int{0, 1, 2}}, {Counts: []int{0, 1, 2}},
		{Counts: []int{3, 0, 0}}, {Votes: []int{0, -1, 1}}} {
		if other, ok := rows[string(q.row())]; ok {
			t.Errorf("%+v and %+v have the same row", q, other)
		}
		rows[string(q.row())] = q
	}
	mustAnswer(t, o, votes)
	if a, err := o.Answer(t.Context(), counts); a != nil || !errors.Is(err, ledger.ErrConflict) {
		t.Errorf("counts under the id of votes: %+v, %v", a, err)
	}
}
