package ledger

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/check"
)

// opening is a charge for so many answers of the table that a byte names.
func opening(id string, table byte, answers uint64) Request {
	return Request{Relation: ReplaceOne, ID: id, Count: 1, Unit: unitOfOne,
		Quota: &Quota{Table: Digest{table}, Answers: answers}}
}

// taking takes n answers of the table.
func taking(payer, id string, table byte, n uint64) Request {
	return Request{Relation: ReplaceOne, ID: id, Count: n, PaidBy: payer,
		Quota: &Quota{Table: Digest{table}}}
}

// by is the request of a client with a share of the quota.
func by(client string, share uint64, r Request) Request {
	q := *r.Quota
	q.Share, r.Client, r.Quota = &share, client, &q
	return r
}

// mustUse compares the state of a quota, as every handle sees it.
func mustUse(t *testing.T, id, client string, taken, byClient uint64, handles ...*Ledger) {
	t.Helper()
	for i, l := range handles {
		use, err := l.Quota(t.Context(), id, client)
		if err != nil || use == nil || use.Charge.ID != id || use.Taken != taken ||
			use.ByClient != byClient || use.Left() != use.Charge.Quota.Answers-taken {
			t.Fatalf("handle %d: %+v, %v; want %d taken, %d by %q", i, use, err, taken, byClient, client)
		}
	}
}

// Exactly the answers that were paid for are taken: by files of several and by single answers, in
// one call, in one commit, through several handles, and after the ledger is opened again. What is
// refused takes nothing, and the error has the number that is left.
func TestQuota(t *testing.T) {
	l := create(t, 10, 0)
	other, err := Open(t.Context(), l.Path())
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		l     *Ledger
		calls []Request
		want  error
		taken uint64
	}{
		{l, []Request{opening("q", 1, 10), taking("q", "a", 1, 3)}, nil, 3},
		{other, []Request{taking("q", "a", 1, 3)}, ErrReplayed, 3},
		{other, []Request{taking("q", "b", 1, 8)}, ErrAnswers, 3},
		{other, []Request{taking("q", "b", 1, math.MaxUint64)}, ErrAnswers, 3},
		{l, []Request{taking("q", "b", 1, 4), taking("q", "c", 1, 4)}, ErrAnswers, 3},
		{other, []Request{taking("q", "b", 1, 4), taking("q", "c", 1, 1)}, nil, 8},
		{l, []Request{taking("q", "d", 2, 1)}, ErrUnpaid, 8},
		{l, []Request{opening("q", 1, 10)}, ErrReplayed, 8},
		{l, []Request{opening("q", 1, 11)}, ErrConflict, 8},
		{l, []Request{opening("q", 2, 10)}, ErrConflict, 8},
		{l, []Request{taking("q", "a", 1, 1)}, ErrConflict, 8},
		{other, []Request{taking("q", "d", 1, 2)}, nil, 10},
		{l, []Request{taking("q", "e", 1, 1)}, ErrAnswers, 10},
		{other, []Request{taking("q", "d", 1, 2)}, ErrReplayed, 10},
		{l, []Request{opening("another", 1, 1), taking("another", "e", 1, 1)}, nil, 10},
	} {
		_, err := c.l.ChargeAll(t.Context(), c.calls)
		if !errors.Is(err, c.want) {
			t.Errorf("%d: %v, want %v", i, err, c.want)
		}
		var left *QuotaError
		if errors.As(err, &left) != (c.want == ErrAnswers) || left != nil &&
			(left.Left()+left.Taken != 10 || left.Taken < c.taken || left.PaidBy != "q" ||
				left.Answers != 10 || left.Asked != c.calls[len(c.calls)-1].Count ||
				!strings.Contains(err.Error(), fmt.Sprintf("%d are left", left.Left())) ||
				!errors.Is(err, ErrRefused)) {
			t.Errorf("%d: %+v: %v", i, left, err)
		}
		later, err := Open(t.Context(), l.Path())
		if err != nil {
			t.Fatal(err)
		}
		mustUse(t, "q", "", c.taken, 0, l, other, later)
	}
	mustSpend(t, l, unitOfOne.Times(2))
	for _, id := range []string{"a", "nothing", ""} {
		if use, err := l.Quota(t.Context(), id, ""); use != nil || err != nil {
			t.Errorf("%q: %+v, %v", id, use, err)
		}
	}
	entries, err := l.History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	taken := uint64(0)
	for i := range entries {
		if taken += entries[i].Takes(); entries[i].PaidBy != "" && entries[i].Total() != (Cost{}) {
			t.Errorf("%+v costs something", entries[i])
		}
	}
	if taken != 11 {
		t.Errorf("%d answers in the history", taken)
	}
}

// The largest quota, and a budget that no answer comes near.
func TestLargestQuota(t *testing.T) {
	l := create(t, 1, 0)
	mustCharge(t, l, opening("q", 1, math.MaxUint64))
	mustCharge(t, l, taking("q", "a", 1, math.MaxUint64-1))
	if _, err := l.Charge(t.Context(), taking("q", "b", 1, 2)); !errors.Is(err, ErrAnswers) {
		t.Error(err)
	}
	mustCharge(t, l, taking("q", "b", 1, 1))
	if _, err := l.Charge(t.Context(), taking("q", "c", 1, 1)); !errors.Is(err, ErrAnswers) {
		t.Error(err)
	}
	mustUse(t, "q", "", math.MaxUint64, 0, l)
	mustSpend(t, l, unitOfOne)
}

// Two quotas have more answers together than a number of 64 bits: who took half of that of each took
// more than any share, whichever of the charges are on disk when the last is judged.
func TestSharesDoNotWrapAround(t *testing.T) {
	const half = 1 << 63
	for before := range 3 {
		l := create(t, 10, 0)
		for i, id := range []string{"q", "r"} {
			mustCharge(t, l, opening(id, byte(i+1), math.MaxUint64))
		}
		all := []Request{by("alice", half, taking("q", "a", 1, half)), taking("r", "b", 2, half),
			by("alice", half, taking("q", "c", 1, 1))}
		all[1].Client = "alice" // who states no share here
		for _, r := range all[:before] {
			mustCharge(t, l, r)
		}
		if _, err := l.ChargeAll(t.Context(), all[before:]); !errors.Is(err, ErrShare) {
			t.Errorf("%d charges before: %v", before, err)
		}
		if n, err := l.TakenBy(t.Context(), "alice"); before == 2 && (n != math.MaxUint64 || err != nil) {
			t.Errorf("%d answers, %v", n, err)
		}
	}
}

// Calls that wait together share a commit, and each is judged after those before it.
func TestQuotaOfAGroup(t *testing.T) {
	l := create(t, 10, 0)
	mustCharge(t, l, opening("q", 1, 3))
	receipts, errs := chargeTogether(t, l, []Request{taking("q", "a", 1, 2)},
		[]Request{taking("q", "b", 1, 2)}, []Request{by("alice", 0, taking("q", "c", 1, 1))},
		[]Request{by("alice", 1, taking("q", "d", 1, 1))}, []Request{taking("q", "e", 1, 1)})
	for i, want := range []error{nil, ErrAnswers, ErrShare, nil, ErrAnswers} {
		if !errors.Is(errs[i], want) || (want == nil) != (len(receipts[i]) == 1) {
			t.Errorf("call %d: %v, want %v", i, errs[i], want)
		} else if want == nil && (receipts[i][0].Entry().Commit != 2 ||
			receipts[i][0].Redeem() != nil) {
			t.Errorf("call %d: %+v", i, receipts[i][0].Entry())
		}
	}
	mustUse(t, "q", "alice", 3, 1, l)
}

// A share bounds the answers that its client takes of all quotas: by any handle, in one call and in
// one commit, also those taken without a share. The client's share of the budget is no part of it.
func TestQuotaShares(t *testing.T) {
	l := create(t, 10, 0)
	other, err := Open(t.Context(), l.Path())
	if err != nil {
		t.Fatal(err)
	}
	mustCharge(t, l, opening("q", 1, 20))
	mustCharge(t, l, opening("p", 1, 20))
	free := taking("q", "free", 1, 2)
	free.Client = "alice"
	for i, c := range []struct {
		l     *Ledger
		calls []Request
		want  error
		alice uint64 // of the quota q
	}{
		{l, []Request{by("alice", 0, taking("q", "a", 1, 1))}, ErrShare, 0},
		{l, []Request{by("alice", 3, taking("q", "a", 1, 4))}, ErrShare, 0},
		{l, []Request{by("alice", 3, taking("q", "a", 1, 1))}, nil, 1},
		{other, []Request{by("bob", 3, taking("q", "b", 1, 3))}, nil, 1},
		{other, []Request{by("alice", 3, taking("p", "c", 1, 3))}, ErrShare, 1},
		{other, []Request{by("alice", 4, taking("p", "c", 1, 3))}, nil, 1},
		{other, []Request{free}, nil, 3},
		{other, []Request{by("alice", 3, taking("q", "d", 1, 1))}, ErrShare, 3},
		{l, []Request{by("alice", 2, taking("q", "d", 1, 1))}, ErrShare, 3},
		{l, []Request{by("alice", 4, taking("q", "d", 1, 1)), by("alice", 4, taking("q", "e", 1, 1))},
			ErrShare, 3},
		{l, []Request{by("alice", 8, taking("q", "d", 1, 1)), by("bob", 4, taking("q", "e", 1, 1)),
			by("alice", 8, taking("q", "f", 1, 1))}, nil, 5},
		{l, []Request{by("alice", 0, taking("q", "a", 1, 1))}, ErrReplayed, 5},
		{l, []Request{by("bob", 9, taking("q", "a", 1, 1))}, ErrConflict, 5},
		{other, []Request{by("alice", 100, taking("q", "g", 1, 12))}, ErrAnswers, 5},
		{other, []Request{by("alice", 100, taking("q", "g", 1, 11))}, nil, 16},
	} {
		_, err := c.l.ChargeAll(t.Context(), c.calls)
		if !errors.Is(err, c.want) || c.want == ErrShare && errors.Is(err, ErrAnswers) {
			t.Errorf("%d: %v, want %v", i, err, c.want)
		}
		var left *QuotaError
		if c.want == ErrShare && (!errors.As(err, &left) || left.Client != "alice" ||
			left.Left() != *c.calls[0].Quota.Share-min(left.Taken, *c.calls[0].Quota.Share) ||
			!strings.Contains(err.Error(), `client "alice"`)) {
			t.Errorf("%d: %+v: %v", i, left, err)
		}
		later, err := Open(t.Context(), l.Path())
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range []*Ledger{l, other, later} {
			if use, err := l.Quota(t.Context(), "q", "alice"); err != nil || use.ByClient != c.alice {
				t.Errorf("%d: %+v, %v; want %d by alice", i, use, err, c.alice)
			}
		}
	}
	if spent, err := l.SpentBy(t.Context(), "alice"); err != nil || spent != (Cost{}) {
		t.Errorf("alice has spent %v, %v", spent, err)
	}
	mustUse(t, "q", "bob", 20, 4, l, other)
	mustUse(t, "p", "alice", 3, 3, l, other)
}

// The quota stands in the entry, without its share.
func TestQuotaIsInTheEntry(t *testing.T) {
	l := create(t, 10, 0)
	mustCharge(t, l, opening("q", 1, 7))
	e := mustCharge(t, l, by("alice", 5, taking("q", "a", 1, 2))).Entry()
	table := Digest{1}.String()
	for _, want := range []string{`"quota":{"table":"` + table + `","answers":7},"event":null`,
		`"count":2,"unit":{"epsilon":"0","delta":"0"},"paid_by":"q","client":"alice","quota":{"table":"` +
			table + `"},"event":null`} {
		if line := string(readFiles(t, l.Path()).db); !strings.Contains(line, want) {
			t.Errorf("no %s in %s", want, line)
		}
	}
	h, err := l.History(t.Context())
	if err != nil || !reflect.DeepEqual(h[1], e) || *e.Quota != (Quota{Table: Digest{1}}) ||
		*h[0].Quota != (Quota{Table: Digest{1}, Answers: 7}) || h[0].Takes() != 0 || e.Takes() != 2 {
		t.Errorf("%+v, %+v, %v", h, e, err)
	}
}

func TestQuotaRefused(t *testing.T) {
	l := create(t, 10, 0)
	mustCharge(t, l, opening("q", 1, 7))
	change := func(r Request, change func(*Request)) Request {
		change(&r)
		return r
	}
	drawn := func(r *Request) { r.Draw = newDraw("", "d", 1) }
	for name, r := range map[string]Request{
		"no table":              opening("a", 0, 1),
		"no table of an answer": taking("q", "a", 0, 1),
		"no answers":            opening("a", 1, 0),
		"no answers taken":      taking("q", "a", 1, 0),
		"free":                  change(opening("a", 1, 1), func(r *Request) { r.Unit = Cost{} }),
		"two charges in one":    change(opening("a", 1, 1), func(r *Request) { r.Count = 2 }),
		"a quota that is paid": change(taking("q", "a", 1, 1), func(r *Request) {
			r.Quota.Answers = 1
		}),
		"a cost of an answer":     change(taking("q", "a", 1, 1), func(r *Request) { r.Unit = unitOfOne }),
		"a share of who opens":    by("alice", 1, opening("a", 1, 1)),
		"a share of nobody":       by("", 1, taking("q", "a", 1, 1)),
		"a draw":                  change(opening("a", 1, 1), drawn),
		"a draw that is answered": change(taking("q", "a", 1, 1), drawn),
	} {
		var rule *check.Error
		if _, err := l.Charge(t.Context(), r); !errors.As(err, &rule) {
			t.Errorf("%s: %v", name, err)
		}
	}
	mustUse(t, "q", "", 0, 0, l)
	mustSpend(t, l, unitOfOne)
}

func TestQuotaIsCopied(t *testing.T) {
	r := by("alice", 1, taking("q", "a", 1, 1))
	checked, err := checkAll([]Request{r})
	if err != nil {
		t.Fatal(err)
	}
	*r.Quota.Share, r.Quota.Table = 9, Digest{9}
	if q := checked[0].Quota; *q.Share != 1 || q.Table != (Digest{1}) {
		t.Errorf("the caller changed it to %+v", q)
	}
}

// Several quotas of one table are told apart, the oldest first, and a client's share is of all.
func TestQuotas(t *testing.T) {
	l := create(t, 10, 0)
	mustCharge(t, l, opening("q", 1, 10))
	mustCharge(t, l, opening("p", 1, 5))
	three := uint64(3)
	take := func(payer, id string, n uint64) error {
		r := taking(payer, id, 1, n)
		r.Client, r.Quota.Share = "alice", &three
		_, err := l.Charge(t.Context(), r)
		return err
	}
	if err := take("q", "a", 2); err != nil {
		t.Fatal(err)
	}
	if err := take("p", "b", 2); !errors.Is(err, ErrShare) {
		t.Errorf("a share of 3, of which 2 are taken of another charge: %v", err)
	}
	if err := take("p", "c", 1); err != nil {
		t.Error(err)
	}
	all, err := l.Quotas(t.Context())
	if err != nil || len(all) != 2 || all[0].Charge.ID != "q" || all[0].Left() != 8 ||
		all[1].Charge.ID != "p" || all[1].Left() != 4 {
		t.Errorf("%+v, %v", all, err)
	}
	if n, err := l.TakenBy(t.Context(), "alice"); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
