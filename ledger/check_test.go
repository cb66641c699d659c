package ledger_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/darrm/darrm/ledger"
)

// Check answers as a charge would, and leaves the ledger as it was.
func TestCheckChargesNothing(t *testing.T) {
	ctx := t.Context()
	budget, err := ledger.NewBudget(1, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Create(ctx, filepath.Join(t.TempDir(), "l"), budget, ledger.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	unit := func(epsilon float64) ledger.Cost {
		c, err := ledger.NewCost(epsilon, 0)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	paid := ledger.Request{Relation: ledger.ReplaceOne, ID: "a", Count: 1, Unit: unit(0.6)}
	if _, err := l.Charge(ctx, paid); err != nil {
		t.Fatal(err)
	}
	before, err := l.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		request ledger.Request
		want    error
	}{
		{ledger.Request{Relation: ledger.ReplaceOne, ID: "b", Count: 1, Unit: unit(0.4)}, nil},
		{ledger.Request{Relation: ledger.ReplaceOne, ID: "b", Count: 2, Unit: unit(0.4)},
			ledger.ErrExceeded},
		{ledger.Request{Relation: ledger.ReplaceOne, ID: "more", Count: 1, PaidBy: "a"}, nil},
		{ledger.Request{Relation: ledger.ReplaceOne, ID: "more", Count: 1, PaidBy: "nobody"},
			ledger.ErrUnpaid},
		{paid, ledger.ErrReplayed},
		{ledger.Request{Relation: ledger.ReplaceOne, ID: "a", Count: 2, Unit: unit(0.1)},
			ledger.ErrConflict},
	} {
		if err := l.Check(ctx, c.request); !errors.Is(err, c.want) {
			t.Errorf("Check(%+v) = %v, want %v", c.request, err, c.want)
		}
	}
	if after, err := l.Head(ctx); err != nil || after != before {
		t.Errorf("head %v, %v after checks, want %v as before", after, err, before)
	}
	if err := l.Check(ctx, ledger.Request{Relation: ledger.ReplaceOne, ID: "b", Count: 1,
		Unit: unit(0.4)}, ledger.Request{Relation: ledger.ReplaceOne, ID: "b", Count: 1,
		Unit: unit(0.1)}); !errors.Is(err, ledger.ErrConflict) {
		t.Errorf("one id twice: %v", err)
	}
}

// The payers of the latest charges are named once each, in their order, however their charges alternate.
func TestOutlineNamesEachPayerOnce(t *testing.T) {
	ctx := t.Context()
	budget, err := ledger.NewBudget(9, 0)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Create(ctx, filepath.Join(t.TempDir(), "l"), budget, ledger.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	unit, err := ledger.NewCost(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	charge := func(id, payer string) {
		t.Helper()
		r := ledger.Request{Relation: ledger.ReplaceOne, ID: id, Count: 1, PaidBy: payer}
		if payer == "" {
			r.Unit = unit
		}
		if _, err := l.Charge(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	charge("one", "")
	charge("two", "")
	for i, payer := range []string{"two", "one", "two", "one"} {
		charge(fmt.Sprint(i), payer)
	}
	out, err := l.Outline(ctx, 4)
	if err != nil || len(out.Latest) != 4 || out.Latest[0].ID != "0" || out.Charges != 6 {
		t.Fatalf("%+v, %v", out, err)
	}
	if len(out.Payers) != 2 || out.Payers[0].ID != "one" || out.Payers[1].ID != "two" {
		t.Errorf("payers %+v", out.Payers)
	}
	if out, err = l.Outline(ctx, 6); err != nil || len(out.Latest) != 6 || len(out.Payers) != 0 {
		t.Errorf("all are among the latest: %+v, %v", out.Payers, err)
	}
}

// What another charge paid costs nothing, is answered once, and cannot pay for
// others: only a charge that spent something can.
func TestPaidByAnotherCharge(t *testing.T) {
	ctx := t.Context()
	budget, err := ledger.NewBudget(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Create(ctx, filepath.Join(t.TempDir(), "l"), budget, ledger.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	unit, err := ledger.NewCost(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	first := ledger.Request{Relation: ledger.ReplaceOne, ID: "first", Count: 1, PaidBy: "training"}
	if _, err := l.Charge(ctx, first); !errors.Is(err, ledger.ErrUnpaid) {
		t.Fatalf("before the training was paid for: %v, want %v", err, ledger.ErrUnpaid)
	}
	if _, err := l.Charge(ctx, ledger.Request{Relation: ledger.ReplaceOne, ID: "training", Count: 1,
		Unit: unit}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Charge(ctx, ledger.Request{Relation: ledger.ReplaceOne, ID: "costly", Count: 1,
		Unit: unit, PaidBy: "training"}); err == nil {
		t.Error("a cost and somebody else who paid it: no error")
	}
	r, err := l.Charge(ctx, first)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Entry(); got.PaidBy != "training" || got.Total() != (ledger.Cost{}) {
		t.Errorf("entry %+v", got)
	}
	if _, err := l.Charge(ctx, first); !errors.Is(err, ledger.ErrReplayed) {
		t.Errorf("again: %v, want %v", err, ledger.ErrReplayed)
	}
	if _, err := l.Charge(ctx, ledger.Request{Relation: ledger.ReplaceOne, ID: "first", Count: 1,
		PaidBy: "other"}); !errors.Is(err, ledger.ErrConflict) {
		t.Errorf("paid by another: %v, want %v", err, ledger.ErrConflict)
	}
	if _, err := l.Charge(ctx, ledger.Request{Relation: ledger.ReplaceOne, ID: "second", Count: 1,
		PaidBy: "first"}); !errors.Is(err, ledger.ErrUnpaid) {
		t.Errorf("paid by what was paid for itself: %v, want %v", err, ledger.ErrUnpaid)
	}
	spent, err := l.Spent(ctx)
	if err != nil || spent != unit {
		t.Errorf("spent %v, %v, want %v", spent, err, unit)
	}
	if l, err = ledger.Open(ctx, l.Path()); err != nil {
		t.Fatal(err)
	}
	entries, err := l.History(ctx)
	if err != nil || len(entries) != 2 || entries[1].PaidBy != "training" {
		t.Errorf("history %+v, %v", entries, err)
	}
}
