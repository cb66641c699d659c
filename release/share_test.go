package release

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
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

// A client gets what its share allows and no more, however much is asked at once, at how many
// servers, and after how many starts; others are not held up by it. What was answered is answered
// for ever.
func TestShareIsKept(t *testing.T) {
	const n = 5
	w := ways(t)["none"]
	o, options := newOnline(t, w.plan, w.charge, 1e3)
	share := shareOf(t, w.cost(n))
	ask := func(server *Online, id, client string, share *ledger.Budget) error {
		_, err := server.Answer(t.Context(), Query{ID: id, Votes: w.votes, Client: client, Share: share})
		return err
	}
	var (
		all      sync.WaitGroup
		answered atomic.Int64
		mu       sync.Mutex
		got      = map[string]bool{}
	)
	for i := range 4 * n {
		all.Go(func() {
			id := fmt.Sprint("a", i)
			err := ask(o, id, "alice", share)
			var refused *ShareError
			switch {
			case err == nil:
				answered.Add(1)
				mu.Lock()
				got[id] = true
				mu.Unlock()
			case !errors.As(err, &refused) || refused.Charged || refused.Client != "alice":
				t.Errorf("%s: %v", id, err)
			}
		})
		all.Go(func() {
			if err := ask(o, fmt.Sprint("b", i), "bob", nil); err != nil {
				t.Errorf("bob: %v", err)
			}
		})
	}
	all.Wait()
	if answered.Load() != n {
		t.Errorf("%d answers", answered.Load())
	}
	checkSpent(t, o.book, w.cost(n+4*n))
	restarted := openOnline(t, options)
	for _, server := range []*Online{o, restarted} {
		var refused *ShareError
		if err := ask(server, "one more", "alice", share); !errors.As(err, &refused) || refused.Spent.String() != fmt.Sprintf("(%v, 0)", w.cost(n)) {
			t.Errorf("beyond the share: %v", err)
		}
		for id := range got {
			if err := ask(server, id, "alice", share); err != nil {
				t.Errorf("%s again: %v", id, err)
			}
		}
		if spent, err := server.SpentBy(t.Context(), "alice"); err != nil || spent.String() != fmt.Sprintf("(%v, 0)", w.cost(n)) {
			t.Errorf("spent by alice: %v, %v", spent, err)
		}
	}
	checkSpent(t, o.book, w.cost(n+4*n))
	// A larger share, as a new configuration has it, allows what it has more.
	if err := ask(o, "one more", "alice", shareOf(t, w.cost(n+1))); err != nil {
		t.Error(err)
	}
}

// Servers that do not know of each other's requests charge more than the share at worst, and
// answer no more: the order of the ledger's entries decides.
func TestShareOfTwoServers(t *testing.T) {
	w := ways(t)["none"]
	o, options := newOnline(t, w.plan, w.charge, 1e3)
	other := openOnline(t, options)
	share := shareOf(t, w.cost(2))
	q := func(id string) Query { return Query{ID: id, Votes: w.votes, Client: "alice", Share: share} }
	mustAnswer(t, o, q("1"))
	mustAnswer(t, other, q("2")) // o has not heard of it
	a, err := o.Answer(t.Context(), q("3"))
	var late *ShareError
	if a != nil || !errors.As(err, &late) || !late.Charged {
		t.Fatalf("%+v, %v", a, err)
	}
	checkSpent(t, o.book, w.cost(3))
	for _, server := range []*Online{o, other, openOnline(t, options)} {
		if a, err := server.Answer(t.Context(), q("3")); a != nil || !errors.As(err, &late) {
			t.Errorf("again: %+v, %v", a, err)
		}
		for _, id := range []string{"1", "2"} { // whatever came after them
			mustAnswer(t, server, q(id))
		}
	}
	// A charge that is within the share and was not answered yet is answered, though others came
	// after it.
	one := shareOf(t, w.cost(1))
	tr, _, err := o.transaction(o.book, Query{ID: "early", Votes: w.votes, Client: "bob", Share: one})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Bill.Pay(t.Context(), o.book, false); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"5", "6"} {
		_, _ = openOnline(t, options).Answer(t.Context(), Query{ID: id, Votes: w.votes, Client: "bob", Share: shareOf(t, 100)})
	}
	for _, server := range []*Online{o, openOnline(t, options)} {
		mustAnswer(t, server, Query{ID: "early", Votes: w.votes, Client: "bob", Share: one})
	}
}

// A request that is charged and not answered yet counts once: the rest of the share is there for
// others meanwhile.
func TestShareCountsOnce(t *testing.T) {
	w := ways(t)["none"]
	o, _ := newOnline(t, w.plan, w.charge, 1e3)
	q := func(id string) *Query {
		return &Query{ID: id, Votes: w.votes, Client: "alice", Share: shareOf(t, w.cost(2))}
	}
	unit := o.Unit()
	reserve := func(id string) (func(), error) { return o.shares.reserve(t.Context(), o.book, q(id), unit) }
	first, err := reserve("1")
	if err != nil {
		t.Fatal(err)
	}
	tr, _, err := o.transaction(o.book, *q("1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Bill.Pay(t.Context(), o.book, false); err != nil {
		t.Fatal(err)
	}
	if spent, err := o.SpentBy(t.Context(), "alice"); err != nil || spent != unit {
		t.Fatal(spent, err)
	}
	second, err := reserve("2")
	if err != nil {
		t.Fatalf("the rest of the share: %v", err)
	}
	for range 2 {
		var refused *ShareError
		if _, err := reserve("3"); !errors.As(err, &refused) {
			t.Errorf("beyond the share: %v", err)
		}
		first()
	}
	second() // it was not charged
	if third, err := reserve("3"); err != nil {
		t.Error(err)
	} else {
		third()
	}
	if len(o.shares.asked) != 0 || o.shares.flying["alice"] != (ledger.Cost{}) {
		t.Errorf("left: %+v", o.shares)
	}
}
