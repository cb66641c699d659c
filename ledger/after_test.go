package ledger

import (
	"fmt"
	"reflect"
	"regexp"
	"testing"
)

// After gives, piece by piece and through any handle, what History gives at once.
func TestAfterFollowsTheHistory(t *testing.T) {
	l := create(t, 1e6, 0)
	other, err := Open(t.Context(), l.Path())
	if err != nil {
		t.Fatal(err)
	}
	if other.ID() != l.ID() || !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(l.ID()) {
		t.Errorf("IDs %q and %q", l.ID(), other.ID())
	}
	var got []Entry
	follow := func() (pieces int) {
		for {
			more, err := other.After(t.Context(), uint64(len(got)))
			if err != nil {
				t.Fatal(err)
			}
			if len(more) == 0 {
				return pieces
			}
			got, pieces = append(got, more...), pieces+1
		}
	}
	check := func() {
		t.Helper()
		want, err := l.History(t.Context())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%d entries, want %d: %v", len(got), len(want), err)
		}
	}
	if follow(); len(got) != 0 {
		t.Fatal("entries in a new ledger")
	}
	var many []Request
	for i := range MaxRequests {
		many = append(many, Request{ID: fmt.Sprint("r", i), Count: 1, Unit: mustCost(t, 1e-3, 0),
			Relation: ReplaceOne})
	}
	receipts, err := l.ChargeAll(t.Context(), many)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.RecordResult(t.Context(), receipts[7], Digest{1}); err != nil {
		t.Fatal(err)
	}
	if pieces := follow(); pieces != 2 {
		t.Errorf("%d pieces", pieces)
	}
	check()
	if _, err := l.Charge(t.Context(), Request{ID: "last", Count: 2, Unit: mustCost(t, 1e-3, 0),
		Relation: ReplaceOne}); err != nil {
		t.Fatal(err)
	}
	follow()
	check()
	if beyond, err := l.After(t.Context(), 1e6); err != nil || beyond != nil {
		t.Errorf("beyond the end: %v, %v", beyond, err)
	}
}
