package release

import (
	"errors"
	"testing"

	"github.com/darrm/darrm/ledger"
)

// A client that asks under another's id hears the same whether or not it guessed the votes.
func TestConflictsTellNoVotes(t *testing.T) {
	for name, w := range ways(t) {
		o, options := newOnline(t, w.plan, w.charge, 1e3)
		alice := Query{ID: "a", Votes: w.votes, Client: "alice"}
		mustAnswer(t, o, alice)
		var said []string
		for _, server := range []*Online{o, openOnline(t, options)} {
			for _, guess := range []Query{
				{ID: "a", Votes: w.votes, Client: "bob"}, {ID: "a", Votes: w.more, Client: "bob"}, {ID: "a", Votes: w.votes},
				{ID: "a", Counts: countsOf(w.votes, w.plan.Mechanism.Setting().Classes), Client: "bob"}, {ID: "a", Votes: w.more, Client: "alice"},
				{ID: "a", Votes: w.votes, Client: "bob", Share: shareOf(t, 100)}, {ID: "a", Votes: w.more, Client: "bob", Share: shareOf(t, 100)},
			} {
				a, err := server.Answer(t.Context(), guess)
				if a != nil || !errors.Is(err, ledger.ErrRefused) {
					t.Fatalf("%s: %+v, %v", name, a, err)
				}
				if said = append(said, err.Error()); err.Error() != said[0] {
					t.Errorf("%s: %q, then %q", name, said[0], err)
				}
			}
		}
		if a := mustAnswer(t, o, alice); !a.Replayed {
			t.Errorf("%s: not replayed", name)
		}
	}
}
