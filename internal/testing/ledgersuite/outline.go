package ledgersuite

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/darrm/darrm/ledger"
)

// An outline is of the whole ledger: its latest charges are the last of the history, who paid for
// them stands there, and its course has sums that were true, from the first to the last, some
// hundred of them. It is the same from the handle that charged, from one that followed, and from
// one that was opened later.
func outline(t *testing.T, newLocation func(t *testing.T) string) {
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 1))
		location := newLocation(t)
		l := Create(t, location, 100)
		follower := must(ledger.Open(t.Context(), location))(t)
		for c := range random.IntN(9) {
			var requests []ledger.Request
			for i := range 1 + random.IntN(4) {
				r := Request(fmt.Sprintf("%d.%d", c, i))
				r.Ensemble = "e"
				if c > 0 && random.IntN(2) == 0 {
					r.PaidBy, r.Unit = "0.0", ledger.Cost{}
				}
				requests = append(requests, r)
			}
			receipts, err := l.ChargeAll(t.Context(), requests)
			if err != nil {
				t.Fatal(err)
			}
			if random.IntN(2) == 0 {
				if _, err := l.RecordResult(t.Context(), receipts[0], ledger.Digest{1}); err != nil {
					t.Fatal(err)
				}
			}
			if random.IntN(4) == 0 {
				mustOutline(t, follower, 2)
			}
		}
		later := must(ledger.Open(t.Context(), location))(t)
		for n := range 6 {
			got := mustOutline(t, l, n)
			for name, other := range map[string]*ledger.Ledger{"followed": follower, "opened": later} {
				if o := mustOutline(t, other, n); !reflect.DeepEqual(o, got) {
					t.Fatalf("seed %d, %s: %+v, charged: %+v", seed, name, o, got)
				}
			}
			checkOutline(t, l, got, n)
		}
	}
}

func mustOutline(t testing.TB, l *ledger.Ledger, n int) ledger.Outline {
	t.Helper()
	o, err := l.Outline(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// checkOutline compares an outline with the history.
func checkOutline(t testing.TB, l *ledger.Ledger, got ledger.Outline, n int) {
	t.Helper()
	entries, err := l.History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var charges []ledger.Entry
	var spent ledger.Cost
	sums := map[uint64]ledger.Step{}
	for _, e := range entries {
		if e.Kind == ledger.KindCharge {
			charges = append(charges, e)
		}
		spent = spent.Plus(e.Total())
		sums[e.Seq] = ledger.Step{Seq: e.Seq, Time: e.Time, Spent: spent}
	}
	latest := charges[max(0, len(charges)-n):]
	if got.Charges != uint64(len(charges)) || got.Spent != spent || len(latest) != len(got.Latest) ||
		len(latest) > 0 && !reflect.DeepEqual(got.Latest, latest) {
		t.Fatalf("%d charges, %v spent, latest %+v; want %d, %v, %+v", got.Charges, got.Spent, got.Latest,
			len(charges), spent, latest)
	}
	paid := false
	for _, e := range latest {
		paid = paid || e.PaidBy != "" && latest[0].Seq > 1
	}
	if paid != (len(got.Payers) == 1) || paid && got.Payers[0].ID != "0.0" || len(got.Payers) > 1 {
		t.Fatalf("payers %+v of %+v", got.Payers, latest)
	}
	for i, s := range got.Course {
		if s != sums[s.Seq] || i > 0 && s.Seq <= got.Course[i-1].Seq {
			t.Fatalf("step %d is %+v, want %+v", i, s, sums[s.Seq])
		}
	}
	if n := len(got.Course); len(charges) > 0 &&
		(n == 0 || got.Course[n-1].Spent != spent || entries[got.Course[0].Seq-1].Commit != 1) {
		t.Fatalf("the course is %+v", got.Course)
	}
}
