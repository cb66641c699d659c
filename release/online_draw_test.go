package release

import (
	"fmt"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
)

// What is drawn, and not the digest in the ledger alone, is of one ledger, one mechanism, one key
// and these votes: 200 queries never agree where any of these is another, and always where all are
// the same. Independent answers agree by accident with a probability of at most 0.9^200 < 1e-9.
func TestOnlineDrawsAreOfOneQuery(t *testing.T) {
	w := ways(t)["none"]
	base, options := newOnline(t, w.plan, w.charge, 1e3)
	elsewhere := options
	elsewhere.Charge.Ledger = newLedger(t, 1e3).Path()
	rekeyed := options
	rekeyed.Key += "2"
	weaker := options
	g, err := ensemble.LNMax(ensemble.Setting{K: 10, Classes: 3, Affected: 1,
		Neighbours: accountant.ReplaceOne}, 0.49)
	if err != nil {
		t.Fatal(err)
	}
	weaker.Plan = must.Get(NewPlan(g))(t)

	votes := []int{0, 0, 0, 0, 1, 1, 1, 2, 2, 2}
	draw := func(o *Online, q Query) int {
		tr, a, err := o.transaction(o.book, q)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tr.Draw(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		return a.Class
	}
	for name, c := range map[string]struct {
		o    *Online
		q    Query
		same bool
	}{
		"the same": {openOnline(t, options), Query{ReplayKey: myKey, Votes: votes}, true},
		// whom the ledger refuses
		"client":     {base, Query{ReplayKey: myKey, Votes: votes, Client: "x"}, true},
		"replay key": {base, Query{ReplayKey: otherKey, Votes: votes}, false},
		"ledger":     {openOnline(t, elsewhere), Query{ReplayKey: myKey, Votes: votes}, false},
		"key":        {openOnline(t, rekeyed), Query{ReplayKey: myKey, Votes: votes}, false},
		"mechanism":  {openOnline(t, weaker), Query{ReplayKey: myKey, Votes: votes}, false},
		"one vote": {base, Query{ReplayKey: myKey, Votes: []int{0, 0, 0, 0, 1, 1, 1, 2, 2, 1}},
			false},
		"order of teachers": {base, Query{ReplayKey: myKey, Votes: []int{2, 0, 0, 0, 1, 1, 1, 2, 2, 0}},
			false},
		"form": {base, Query{ReplayKey: myKey, Counts: []int{4, 3, 3}}, false},
	} {
		const n = 200
		agree := 0
		for i := range n {
			c.q.ID = fmt.Sprint(i)
			if draw(base, Query{ID: c.q.ID, ReplayKey: myKey, Votes: votes}) == draw(c.o, c.q) {
				agree++
			}
		}
		if c.same != (agree == n) {
			t.Errorf("%s: %d of %d agree", name, agree, n)
		}
	}
}
