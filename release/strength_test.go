package release

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
)

// weakBill is a bill of n answers at ε = 0.5 each by teachers that promise nothing.
func weakBill(t testing.TB, id string, n int, change func(*Charge)) *Bill {
	t.Helper()
	c := Charge{Ledger: "stated", RequestID: id}
	if change != nil {
		change(&c)
	}
	return must.Get(noisy(t, n).Bill(c))(t)
}

// The ledger judges what is spent in all, labels and models alike: nothing is charged above ε = 10,
// and an earlier release is replayed even so.
func TestWeakTotalsAreRefusedByTheLedger(t *testing.T) {
	l := newLedger(t, 1000)
	first := weakBill(t, "first", 19, nil)
	mustPay(t, l, first)
	var weak *WeakError
	for name, b := range map[string]*Bill{
		"labels": weakBill(t, "second", 2, nil),
		"a model": must.Get(Model{Relation: accountant.ReplaceOne, RequestID: "m", Ledger: "stated",
			Event: ModelEvent{Mechanism: "m", Method: "m"}}.bill(Training{ID: "x",
			Cost: accountant.Cost{Epsilon: 1}}))(t),
	} {
		_, err := b.Pay(t.Context(), l, false)
		var usage *UsageError
		if !errors.As(err, &weak) || !errors.As(err, &usage) || weak.Total.Epsilon != 10.5 ||
			errors.Is(err, ledger.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := b.Check(t.Context(), l); !errors.As(err, &weak) {
			t.Errorf("%s quoted: %v", name, err)
		}
	}
	mustPay(t, l, weakBill(t, "last", 1, nil)) // ε = 10 is not above it
	if _, err := first.Pay(t.Context(), l, false); !errors.Is(err, ledger.ErrReplayed) {
		t.Errorf("the first again: %v", err)
	}
	accepted := func(c *Charge) { c.AcceptWeak = true }
	mustPay(t, l, weakBill(t, "third", 2, accepted))
	var event Event
	all := must.Get(l.History(t.Context()))(t)
	if err := json.Unmarshal(all[len(all)-1].Event, &event); err != nil || !event.AcceptWeak {
		t.Errorf("%s: %v", all[len(all)-1].Event, err)
	}
	r := must.Get(NewBudgetReport(t.Context(), l))(t)
	if got := r.Releases[len(r.Releases)-1].What; !strings.Contains(got, "is accepted") {
		t.Errorf("on the page: %q", got)
	}
	if spent := must.Get(l.Spent(t.Context()))(t); spent != must.Get(ledger.NewCost(11, 0))(t) {
		t.Errorf("%v is spent", spent)
	}
}

// Of charges that come at once, no two pass where one may.
func TestWeakTotalsAreJudgedUnderTheLock(t *testing.T) {
	l := newLedger(t, 1000)
	var all sync.WaitGroup
	var paid atomic.Int32
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		b := weakBill(t, id, 6, nil)
		all.Go(func() {
			if _, err := b.Pay(t.Context(), l, false); err == nil {
				paid.Add(1)
			}
		})
	}
	all.Wait()
	if paid.Load() != 3 {
		t.Errorf("%d charges of ε = 3 passed", paid.Load())
	}
}

// δ is judged by the number of records, or by 0.01 where it is unknown.
func TestWeakDelta(t *testing.T) {
	for _, tt := range []struct {
		delta   float64
		records int
		weak    bool
	}{
		{0.0099, 0, false}, {0.01, 0, true}, {1e-3, 999, false}, {1e-3, 1000, true},
		{1e-9, 1_000_000, false},
	} {
		m := Model{Relation: accountant.ReplaceOne, RequestID: "m", Ledger: "stated",
			Records: tt.records, Event: ModelEvent{Mechanism: "m", Method: "m"}}
		training := Training{ID: "x", Cost: accountant.Cost{Epsilon: 1, Delta: tt.delta}}
		_, err := must.Get(m.bill(training))(t).Pay(t.Context(), newLedger(t, 100), false)
		if isWeak(err) != tt.weak || !tt.weak && err != nil {
			t.Errorf("δ = %v of %d records: %v", tt.delta, tt.records, err)
		}
		if err := CheckModel(training.Cost, tt.records, false); isWeak(err) != tt.weak {
			t.Errorf("checked: δ = %v of %d records: %v", tt.delta, tt.records, err)
		}
		if CheckModel(training.Cost, tt.records, true) != nil {
			t.Errorf("δ = %v of %d records is refused though accepted", tt.delta, tt.records)
		}
	}
}

// Without a ledger the release alone is judged, and leaves nothing; a simulation is not.
func TestWeakTotalsWithoutALedger(t *testing.T) {
	l, _, _ := newLabels(t, 1)
	l.Plan = func(context.Context, int, int) (Plan, error) { // three labels for ε = 12
		m, err := ensemble.LNMax(ensemble.Setting{K: 3, Classes: 2, Affected: 1,
			Neighbours: accountant.ReplaceOne}, 4)
		if err != nil {
			return Plan{}, err
		}
		return NewPlan(m)
	}
	for _, tt := range []struct {
		change func(*planning)
		weak   bool
	}{
		{func(*planning) {}, true},
		{func(l *planning) { l.Seed = new(uint64(1)) }, false},
		{func(l *planning) { l.Charge.AcceptWeak = true }, false},
	} {
		l := l
		l.Output.Path = filepath.Join(t.TempDir(), "labels.csv")
		tt.change(&l)
		_, err := l.Run(t.Context())
		if isWeak(err) != tt.weak || !tt.weak && err != nil {
			t.Errorf("%v, want weak %v", err, tt.weak)
		}
		if _, err := os.Stat(l.Output.Path); (err == nil) == tt.weak {
			t.Errorf("the output, weak %v: %v", tt.weak, err)
		}
	}
	m := Model{Event: ModelEvent{Mechanism: "m", Method: "m"}, Output: FileOutput{Stdout: io.Discard},
		Begin: func([]byte) (Training, error) {
			return Training{ID: "x", Cost: accountant.Cost{Epsilon: 11},
				Run: func(context.Context, func() error) (func(io.Writer) error, error) {
					return func(io.Writer) error { return nil }, nil
				}}, nil
		}}
	if _, err := m.Run(t.Context()); !isWeak(err) {
		t.Errorf("a model: %v", err)
	}
	m.AcceptWeak = true
	if _, err := m.Run(t.Context()); err != nil {
		t.Errorf("a model that is accepted: %v", err)
	}
}
