package release

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/darrm/darrm/ledger"
)

func shareOf(t *testing.T, epsilon float64) *ledger.Budget {
	t.Helper()
	b, err := ledger.NewBudget(epsilon, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	return &b
}

// Three servers of one ledger, asked at once for more than a client's share: what it has spent is
// its share exactly, each part of it has an answer, and what is refused costs nothing. Others are
// not held up by it, and what was answered is answered for ever, after a start too. All three kinds
// of teachers, but that answers of frozen ones cost nothing each, so that a share of them limits
// nothing; a share of a table for many answers is in answers (TestShareInAnswers).
func TestShareOfThreeServers(t *testing.T) {
	const n = 5
	for name, w := range ways(t) {
		if name == "frozen" || name == "together" {
			continue
		}
		first, options := newOnline(t, w.plan, w.charge, 1e3)
		servers := []*Online{first, openOnline(t, options), openOnline(t, options)}
		share := shareOf(t, w.cost(n))
		ask := func(server *Online, id, client string, share *ledger.Budget) error {
			_, err := server.Answer(t.Context(), Query{ID: id, ReplayKey: myKey, Votes: w.votes,
				Client: client, Share: share})
			return err
		}
		var (
			all sync.WaitGroup
			mu  sync.Mutex
			got = map[string]bool{}
		)
		for i := range 6 * n {
			all.Go(func() {
				id := fmt.Sprint("a", i)
				err := ask(servers[i%3], id, "alice", share)
				var refused *ledger.ShareError
				switch {
				case err == nil:
					mu.Lock()
					got[id] = true
					mu.Unlock()
				case !errors.As(err, &refused) || refused.Client != "alice":
					t.Errorf("%s: %s: %v", name, id, err)
				}
			})
			all.Go(func() {
				if err := ask(servers[i%3], fmt.Sprint("b", i), "bob", nil); err != nil {
					t.Errorf("%s: bob: %v", name, err)
				}
			})
		}
		all.Wait()
		if len(got) != n {
			t.Errorf("%s: %d answers of a share of %d", name, len(got), n)
		}
		spent := first.Unit().Times(n + 6*n)
		for _, server := range append(servers, openOnline(t, options)) {
			var refused *ledger.ShareError
			if err := ask(server, "one more", "alice", share); !errors.As(err, &refused) ||
				refused.Spent != first.Unit().Times(n) {
				t.Errorf("%s: beyond the share: %v", name, err)
			}
			for id := range got {
				if err := ask(server, id, "alice", share); err != nil {
					t.Errorf("%s: %s again: %v", name, id, err)
				}
			}
			if by, err := server.SpentBy(t.Context(), "alice"); err != nil || by != first.Unit().Times(n) {
				t.Errorf("%s: spent by alice: %v, %v", name, by, err)
			}
			if now, err := server.State(t.Context()); err != nil || now.Spent != spent {
				t.Errorf("%s: spent: %v, %v, want %v", name, now.Spent, err, spent)
			}
		}
		// A larger share, as a new configuration has it, allows what it has more.
		if err := ask(first, "one more", "alice", shareOf(t, w.cost(n+1))); err != nil {
			t.Error(err)
		}
	}
}

// What frozen teachers were trained for is of no client: whoever asks first names himself in his
// answer alone, and others are answered after him.
func TestTrainingIsOfNoClient(t *testing.T) {
	w := ways(t)["frozen"]
	o, options := newOnline(t, w.plan, w.charge, 1e3)
	for i, client := range []string{"alice", "bob", ""} {
		mustAnswer(t, openOnline(t, options), Query{ID: fmt.Sprint(i), Votes: w.votes, Client: client})
		if spent, err := o.SpentBy(t.Context(), client); err != nil || spent != (ledger.Cost{}) {
			t.Errorf("%q has spent %v, %v", client, spent, err)
		}
	}
	checkSpent(t, o.book, w.cost(3))
}

// A charge that was not answered, since its server was killed, is of the share, and its answer is
// there for whoever asks again.
func TestShareCountsWhatWasNotAnswered(t *testing.T) {
	w := ways(t)["none"]
	o, options := newOnline(t, w.plan, w.charge, 1e3)
	q := func(id string) Query {
		return Query{ID: id, ReplayKey: myKey, Votes: w.votes, Client: "alice",
			Share: shareOf(t, w.cost(2))}
	}
	tr, _, err := o.transaction(o.book, q("1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Bill.Pay(t.Context(), o.book, false); err != nil {
		t.Fatal(err)
	}
	other := openOnline(t, options)
	mustAnswer(t, other, q("2"))
	if a, err := other.Answer(t.Context(), q("3")); a != nil || !errors.Is(err, ledger.ErrShare) {
		t.Errorf("beyond the share: %+v, %v", a, err)
	}
	if a := mustAnswer(t, other, q("1")); !a.Replayed {
		t.Errorf("%+v", a)
	}
	checkSpent(t, o.book, w.cost(2))
}
