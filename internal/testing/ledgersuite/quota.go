package ledgersuite

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/darrm/darrm/ledger"
)

// Opening asks for a quota of n answers of one table, which costs [Unit] once.
func Opening(id string, n uint64) ledger.Request {
	r := Request(id)
	r.Quota = &ledger.Quota{Table: ledger.Digest{1}, Answers: n}
	return r
}

// Taking asks for n answers of a quota.
func Taking(payer, id string, n uint64) ledger.Request {
	r := Request(id)
	r.Count, r.Unit, r.PaidBy = n, ledger.Cost{}, payer
	r.Quota = &ledger.Quota{Table: ledger.Digest{1}}
	return r
}

// Three handles that do not know of each other, each asked by several goroutines for more answers
// than were paid for, by two clients with a share and one without: each client with a share gets
// its share exactly, all together get what was paid for, and the handles agree on it.
func quotas(t *testing.T, newLocation func(t *testing.T) string) {
	const answers = 40
	location := newLocation(t)
	all := []*ledger.Ledger{Create(t, location, 1)}
	for range 2 {
		all = append(all, must(ledger.Open(t.Context(), location))(t))
	}
	must(all[0].Charge(t.Context(), Opening("quota", answers)))(t)
	shares := map[string]uint64{"alice": 7, "bob": 12}
	got := map[string]*atomic.Uint64{"alice": {}, "bob": {}, "": {}}
	ask := func(handle *ledger.Ledger, id, client string, n uint64) {
		r := Taking("quota", id, n)
		r.Client = client
		share, shared := shares[client]
		if shared {
			r.Quota.Share = &share
		}
		var left *ledger.QuotaError
		switch receipt, err := handle.Charge(t.Context(), r); {
		case err == nil && receipt.Redeem() == nil:
			got[client].Add(n)
		case errors.As(err, &left):
			if left.Client != "" && (left.Client != client || left.Answers != share) ||
				left.Client == "" && left.Answers != answers || left.Left() >= n || left.Asked != n ||
				errors.Is(err, ledger.ErrShare) != (left.Client != "") {
				t.Errorf("%s: %+v", id, left)
			}
		case errors.Is(err, ledger.ErrReplayed):
		default:
			t.Errorf("%s: %v", id, err)
		}
	}
	var wg sync.WaitGroup
	for g := range 6 {
		for client := range shares {
			wg.Go(func() {
				for i := range 8 { // every id is asked of two handles
					ask(all[g%3], fmt.Sprintf("%s-%d-%d", client, g/2, i), client, 1)
				}
			})
		}
	}
	wg.Wait()
	for g := range 3 {
		wg.Go(func() {
			for i := range 10 {
				ask(all[g], fmt.Sprintf("%d-%d", g, i), "", uint64(1+i%3))
			}
		})
	}
	wg.Wait()
	shares[""] = answers - 7 - 12
	for client, n := range shares {
		if got[client].Load() != n {
			t.Errorf("%q has %d answers, want %d", client, got[client].Load(), n)
		}
		for i, l := range append(all, must(ledger.Open(t.Context(), location))(t)) {
			use := must(l.Quota(t.Context(), "quota", client))(t)
			if use.Taken != answers || use.Left() != 0 || client != "" && use.ByClient != n {
				t.Errorf("%q, handle %d: %+v", client, i, use)
			}
		}
	}
	MustSpend(t, all[1], 1)
}

// Three processes ask for 30 answers each of 50 that one charge paid for: exactly 50 are answered.
func quotaOfProcesses(t *testing.T, newLocation func(t *testing.T) string) {
	location := newLocation(t)
	l := Create(t, location, 1)
	must(l.Charge(t.Context(), Opening(quotaPrefix, 50)))(t)
	var all []*process
	for i := range 3 {
		all = append(all, start(t, location, fmt.Sprint(quotaPrefix, i), 30))
	}
	s := said{}
	for _, p := range all {
		s.read(t, p.wait(t))
	}
	if len(s.released) != 50 || s.refused != 40 {
		t.Errorf("%d answered, %d refused", len(s.released), s.refused)
	}
	s.check(t, location)
	if use := must(l.Quota(t.Context(), quotaPrefix, ""))(t); use.Left() != 0 {
		t.Errorf("%+v", use)
	}
	MustSpend(t, l, 1)
}

// quotaPrefix begins the ids of a process that takes answers of the quota of that name.
const quotaPrefix = "quota:"
