package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/darrm/darrm/internal/testing/raced"
)

func TestChargeUntilExceeded(t *testing.T) {
	l := create(t, 1, 1e-5)
	unit := mustCost(t, 0.3, 1e-6)
	for i := range 3 {
		r := mustCharge(t, l, Request{Relation: ReplaceOne, ID: fmt.Sprint(i), Count: 1, Unit: unit})
		if err := r.Redeem(); err != nil {
			t.Fatal(err)
		}
	}
	before := readFiles(t, l.Path())
	_, err := l.Charge(t.Context(), Request{Relation: ReplaceOne, ID: "3", Count: 1, Unit: unit})
	var exceeded *ExceededError
	if !errors.As(err, &exceeded) || !errors.Is(err, ErrExceeded) {
		t.Fatalf("a fourth 0.3 of 1: %v", err)
	}
	if exceeded.Spent != unit.Times(3) || exceeded.Asked != unit || exceeded.Budget != l.Budget() {
		t.Errorf("%+v", exceeded)
	}
	if want := "privacy budget exceeded: the charge asks for (ε, δ) = (0.3, 1e-6), (0.9, 3e-6) of " +
		"(1, 1e-5) is spent"; err.Error() != want {
		t.Errorf("%v", err)
	}
	if !reflect.DeepEqual(readFiles(t, l.Path()), before) {
		t.Error("a refused charge wrote to the files")
	}
	// What is left can be spent to the last unit, and then nothing.
	left, err := l.Remaining(t.Context())
	if err != nil || left.String() != "(0.1, 7e-6)" {
		t.Fatalf("%v remains, %v", left, err)
	}
	mustCharge(t, l, Request{Relation: ReplaceOne, ID: "rest", Count: 1, Unit: left})
	mustSpend(t, l, l.Budget().Cost())
	for _, c := range []Cost{mustCost(t, 1e-12, 0), mustCost(t, 0, 1e-24)} {
		if _, err := l.Charge(t.Context(), Request{Relation: ReplaceOne, ID: "more", Count: 1,
			Unit: c}); !errors.Is(err, ErrExceeded) {
			t.Errorf("%v beyond the whole budget: %v", c, err)
		}
	}
}

// The smallest positive costs that a float64 can hold are one unit each, and none is left
// when the budget is spent.
func TestSmallestCost(t *testing.T) {
	for _, unit := range []Cost{mustCost(t, 5e-324, 0), mustCost(t, 0, 5e-324)} {
		if want := mustCost(t, 1e-12, 0); unit != want && unit != mustCost(t, 0, 1e-24) {
			t.Errorf("%v", unit)
		}
		l := create(t, 2e-12, 2e-24)
		mustCharge(t, l, Request{Relation: ReplaceOne, ID: "all", Count: 2, Unit: unit})
		for _, count := range []uint64{1, math.MaxUint64} {
			if _, err := l.Charge(t.Context(), Request{Relation: ReplaceOne, ID: "more", Count: count,
				Unit: unit}); !errors.Is(err, ErrExceeded) {
				t.Errorf("%d more of %v: %v", count, unit, err)
			}
		}
		mustSpend(t, l, unit.Times(2))
	}
}

// Basic composition: a group of n costs n times one, also where the product
// overflows, and δ counts on its own.
func TestCountMatters(t *testing.T) {
	l := create(t, 1, 1e-5)
	unit := mustCost(t, 0.01, 0)
	mustCharge(t, l, Request{Relation: ReplaceOne, ID: "60", Count: 60, Unit: unit})
	mustSpend(t, l, mustCost(t, 0.6, 0))
	for _, r := range []Request{
		{Relation: ReplaceOne, ID: "41", Count: 41, Unit: unit},
		{Relation: ReplaceOne, ID: "max", Count: math.MaxUint64, Unit: unit},
		// 2¹¹⁹ · 2⁶⁴
		{Relation: ReplaceOne, ID: "overflow", Count: math.MaxUint64,
			Unit: Cost{epsilon: amount{1 << 55, 0}}},
		// 2⁹⁶ · 2³² = 2¹²⁸
		{Relation: ReplaceOne, ID: "wraps to 0", Count: 1 << 32, Unit: Cost{epsilon: amount{1 << 32, 0}}},
		{Relation: ReplaceOne, ID: "delta", Count: 11, Unit: mustCost(t, 0, 1e-6)},
	} {
		if _, err := l.Charge(t.Context(), r); !errors.Is(err, ErrExceeded) {
			t.Errorf("%s: %v", r.ID, err)
		}
	}
	mustCharge(t, l, Request{Relation: ReplaceOne, ID: "40", Count: 40, Unit: unit})
	mustSpend(t, l, mustCost(t, 1, 0))
}

func TestBatchIsAllOrNothing(t *testing.T) {
	l := create(t, 1, 0)
	unit := mustCost(t, 0.4, 0)
	_, err := l.ChargeAll(t.Context(), []Request{{Relation: ReplaceOne, ID: "a", Count: 1, Unit: unit},
		{Relation: ReplaceOne, ID: "b", Count: 1, Unit: unit},
		{Relation: ReplaceOne, ID: "c", Count: 1, Unit: unit}})
	if !errors.Is(err, ErrExceeded) {
		t.Fatalf("1.2 of 1: %v", err)
	}
	mustSpend(t, l, Cost{})
	receipts, err := l.ChargeAll(t.Context(),
		[]Request{{Relation: ReplaceOne, ID: "a", Count: 1, Unit: unit},
			{Relation: ReplaceOne, ID: "b", Count: 1, Unit: unit}})
	if err != nil || len(receipts) != 2 || receipts[1].Entry().ID != "b" ||
		receipts[1].Entry().Commit != 1 {
		t.Fatalf("%v, %v", receipts, err)
	}
	_, err = l.ChargeAll(t.Context(), []Request{{Relation: ReplaceOne, ID: "c", Count: 1,
		Unit: mustCost(t, 0.1, 0)}, {Relation: ReplaceOne, ID: "b", Count: 1, Unit: unit}})
	var replayed *ReplayedError
	if !errors.As(err, &replayed) || len(replayed.Replays) != 1 ||
		replayed.Replays[0].Charge.ID != "b" {
		t.Fatalf("one old, one new: %v", err)
	}
	mustSpend(t, l, unit.Times(2))
}

func TestReplay(t *testing.T) {
	l := create(t, 1, 0)
	r := Request{Relation: ReplaceOne, ID: "query 1", Count: 2, Unit: mustCost(t, 0.1, 0),
		Event: []byte(`{"b":1,"a":2}`)}
	receipt := mustCharge(t, l, r)
	again := r
	again.Event = []byte(` {"a":2, "b":1}`) // the same value
	got, err := l.Charge(t.Context(), again)
	var replayed *ReplayedError
	if got != nil || !errors.As(err, &replayed) || !errors.Is(err, ErrReplayed) {
		t.Fatalf("%v, %v", got, err)
	}
	if p := replayed.Replays[0]; !reflect.DeepEqual(p.Charge, receipt.Entry()) || p.Result != nil {
		t.Errorf("%+v, want %+v", p, receipt.Entry())
	}
	if _, err := l.RecordResult(t.Context(), receipt, Digest{7}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.RecordResult(t.Context(), receipt, Digest{7}); err != nil {
		t.Errorf("the same result again: %v", err)
	}
	if _, err := l.RecordResult(t.Context(), receipt, Digest{8}); !errors.Is(err, ErrConflict) {
		t.Errorf("another result: %v", err)
	}
	other, err := Open(t.Context(), l.Path())
	if err != nil {
		t.Fatal(err)
	}
	_, err = other.Charge(t.Context(), again)
	if !errors.As(err, &replayed) || replayed.Replays[0].Result == nil ||
		*replayed.Replays[0].Result != (Digest{7}) {
		t.Errorf("after reopening: %v", err)
	}
	for name, change := range map[string]func(*Request){
		"count":     func(r *Request) { r.Count = 1 },
		"unit cost": func(r *Request) { r.Unit = mustCost(t, 0.1, 1e-20) },
		"event":     func(r *Request) { r.Event = []byte(`{"a":2}`) },
	} {
		different := r
		change(&different)
		_, err := l.Charge(t.Context(), different)
		var conflict *ConflictError
		if !errors.As(err, &conflict) || !errors.Is(err, ErrConflict) || conflict.What != name ||
			conflict.Seq != 1 {
			t.Errorf("another %s: %v", name, err)
		}
	}
	mustSpend(t, l, r.total())
	if entries, err := l.History(t.Context()); err != nil || len(entries) != 2 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

// What a replay has admits no answer, neither of a charge nor of a look. It notes the
// result of the charge that was made, if that has none yet, and no other.
func TestReplayIsNoted(t *testing.T) {
	l := create(t, 1, 0)
	r := Request{Relation: ReplaceOne, ID: "a", Count: 1, Unit: mustCost(t, 0.1, 0),
		Event: []byte(`{"key":"k"}`)}
	first := mustCharge(t, l, r) // its process dies here
	replay := func(err error) Replay {
		t.Helper()
		var replayed *ReplayedError
		if !errors.As(err, &replayed) || len(replayed.Replays) != 1 {
			t.Fatalf("%v, want one replay", err)
		}
		return replayed.Replays[0]
	}
	l, err := Open(t.Context(), l.Path())
	if err != nil {
		t.Fatal(err)
	}
	_, charged := l.Charge(t.Context(), r)
	for name, err := range map[string]error{"charge": charged, "check": l.Check(t.Context(), r)} {
		receipt := replay(err).Receipt
		again := *receipt
		for _, r := range []*Receipt{receipt, &again} {
			if err := r.Redeem(); !errors.Is(err, ErrReceipt) {
				t.Errorf("%s: the receipt was redeemed: %v", name, err)
			}
		}
		if !strings.Contains(err.Error(), "no result of it is noted") {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := create(t, 1, 0)
	mustCharge(t, other, r)
	if _, err := other.RecordResult(t.Context(), replay(charged).Receipt, Digest{7}); !errors.Is(err,
		ErrReceipt) {
		t.Errorf("in another ledger: %v", err)
	}
	for _, receipt := range []*Receipt{replay(charged).Receipt, first, replay(charged).Receipt} {
		if _, err := l.RecordResult(t.Context(), receipt, Digest{7}); err != nil {
			t.Fatal(err)
		}
	}
	_, charged = l.Charge(t.Context(), r)
	if p := replay(charged); p.Result == nil || *p.Result != (Digest{7}) ||
		!strings.Contains(charged.Error(), "SHA-256 07000000…;") {
		t.Errorf("%v, noted %v", charged, p.Result)
	}
	var conflict *ConflictError
	for _, receipt := range []*Receipt{replay(charged).Receipt, first} {
		if _, err := l.RecordResult(t.Context(), receipt, Digest{8}); !errors.As(err, &conflict) ||
			conflict.What != "result" || conflict.Earlier != nil {
			t.Errorf("another result: %v", err)
		}
	}
	// A conflicting request gets no receipt, and its error carries the charge that has its id.
	r.Event = []byte(`{"key":"l"}`)
	if _, err := l.Charge(t.Context(), r); !errors.As(err, &conflict) || conflict.Earlier == nil ||
		conflict.Earlier.Receipt != nil ||
		conflict.Earlier.Charge.Hash != first.Entry().Hash || *conflict.Earlier.Result != (Digest{7}) {
		t.Errorf("another event: %v", err)
	}
	mustSpend(t, l, r.total())
	if entries, err := l.History(t.Context()); err != nil || len(entries) != 2 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

func TestReceipt(t *testing.T) {
	l := create(t, 1, 0)
	r := mustCharge(t, l, Request{Relation: ReplaceOne, ID: "a", Count: 1, Unit: mustCost(t, 0.1, 0)})
	var redeemed atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if r.Redeem() == nil {
				redeemed.Add(1)
			}
		})
	}
	wg.Wait()
	if redeemed.Load() != 1 {
		t.Errorf("redeemed %d times", redeemed.Load())
	}
	for name, r := range map[string]*Receipt{"nil": nil, "zero": {}, "used": r} {
		if err := r.Redeem(); !errors.Is(err, ErrReceipt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := l.RecordResult(t.Context(), &Receipt{}, Digest{}); !errors.Is(err, ErrReceipt) {
		t.Errorf("result for nothing: %v", err)
	}
	if _, err := create(t, 1, 0).RecordResult(t.Context(), r, Digest{}); !errors.Is(err, ErrReceipt) {
		t.Errorf("result in another ledger: %v", err)
	}
}

func TestRequestRefused(t *testing.T) {
	l := create(t, 1, 0)
	good := Request{Relation: ReplaceOne, ID: "a", Count: 1, Unit: mustCost(t, 0.1, 0)}
	for name, change := range map[string]func(*Request){
		"no id":         func(r *Request) { r.ID = "" },
		"long id":       func(r *Request) { r.ID = strings.Repeat("x", MaxID+1) },
		"control in id": func(r *Request) { r.ID = "a\nb" },
		"id not UTF-8":  func(r *Request) { r.ID = "\xff" },
		"no count":      func(r *Request) { r.Count = 0 },
		"no cost":       func(r *Request) { r.Unit = Cost{} },
		"no JSON":       func(r *Request) { r.Event = []byte("{") },
		"two keys":      func(r *Request) { r.Event = []byte(`{"a":1,"a":1}`) },
		"a large event": func(r *Request) {
			r.Event = []byte(`"` + strings.Repeat("x", MaxEvent) + `"`)
		},
		"id of NUL byte": func(r *Request) { r.ID = "\x00" },
		"DEL in id":      func(r *Request) { r.ID = "a\x7f" },
		"C1 in id":       func(r *Request) { r.ID = "a\u009b2J" },
		"text turned":    func(r *Request) { r.ID = "a\u202eb" },
		"a line in id":   func(r *Request) { r.ID = "a\u2028b" },
		"unseen in id":   func(r *Request) { r.ID = "a\u200bb" },
		"payer no id":    func(r *Request) { r.Unit, r.PaidBy = Cost{}, "a\nb" },
	} {
		r := good
		change(&r)
		if _, err := l.Charge(t.Context(), r); err == nil || errors.Is(err, ErrExceeded) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := l.ChargeAll(t.Context(), nil); err == nil {
		t.Error("no requests at all")
	}
	if _, err := l.ChargeAll(t.Context(), make([]Request, MaxRequests+1)); err == nil {
		t.Error("too many requests")
	}
	if _, err := l.ChargeAll(t.Context(), []Request{good, good}); !errors.Is(err, ErrConflict) {
		t.Errorf("one id twice: %v", err)
	}
	mustSpend(t, l, Cost{})
	mustCharge(t, l, good)
}

// The largest records, and the most of them at once, can be written and read.
func TestLargest(t *testing.T) {
	l := create(t, 1e6, 0)
	n := MaxRequests
	if raced.Enabled {
		n /= 8
	}
	requests := make([]Request, n)
	for i := range requests {
		requests[i] = Request{Relation: ReplaceOne, ID: fmt.Sprintf("%0*d", MaxID, i), Count: 1,
			Unit: mustCost(t, 1, 0)}
	}
	for i := range 10 {
		requests[7+i].Event = []byte(`"` + strings.Repeat("x", MaxEvent-2) + `"`)
	}
	if _, err := l.ChargeAll(t.Context(), requests); err != nil {
		t.Fatal(err)
	}
	mustCharge(t, l, Request{Relation: ReplaceOne, ID: "one more", Count: 1, Unit: mustCost(t, 1, 0)})
	l, err := Open(t.Context(), l.Path())
	if err != nil {
		t.Fatal(err)
	}
	mustSpend(t, l, mustCost(t, float64(n+1), 0))
	if _, err := l.Charge(t.Context(), requests[7]); !errors.Is(err, ErrReplayed) {
		t.Error(err)
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ledger")
	budget, err := NewBudget(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Create(t.Context(), path, Budget{}, ReplaceOne); err == nil {
		t.Error("zero budget")
	}
	if _, err := Create(t.Context(), filepath.Join(dir, "none", "ledger"), budget,
		ReplaceOne); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing directory: %v", err)
	}
	l, err := Create(t.Context(), path, budget, ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	mustCharge(t, l, Request{Relation: ReplaceOne, ID: "a", Count: 1, Unit: mustCost(t, 1, 0)})
	if _, err := Create(t.Context(), path, budget, ReplaceOne); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a ledger is there: %v", err)
	}
	mustSpend(t, l, mustCost(t, 1, 0))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(t.Context(), path, budget, ReplaceOne); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the anchor of a deleted ledger is there: %v", err)
	}
	if _, err := Open(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open a deleted ledger: %v", err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 2 { // anchor and secret
		t.Errorf("left behind: %v, %v", names, err)
	}
}

// Of many creators of one path one wins, and its ledger works.
func TestCreateRace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	budget, _ := NewBudget(1, 0)
	var won atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := Create(context.Background(), path, budget, ReplaceOne); err == nil {
				won.Add(1)
			} else if !errors.Is(err, fs.ErrExist) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	l, err := Open(t.Context(), path)
	if err != nil || won.Load() != 1 {
		t.Fatalf("%d won, %v", won.Load(), err)
	}
	mustCharge(t, l, Request{Relation: ReplaceOne, ID: "a", Count: 1, Unit: mustCost(t, 1, 0)})
}

// A link names the same ledger with the same anchor.
func TestSymbolicLink(t *testing.T) {
	l := create(t, 1, 0)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(l.Path(), link); err != nil {
		t.Skip(err)
	}
	other, err := Open(t.Context(), link)
	if err != nil {
		t.Fatal(err)
	}
	mustCharge(t, other, Request{Relation: ReplaceOne, ID: "a", Count: 1, Unit: mustCost(t, 0.5, 0)})
	mustSpend(t, l, mustCost(t, 0.5, 0))
}

func TestZeroLedger(t *testing.T) {
	if _, err := new(Ledger).Charge(t.Context(),
		Request{Relation: ReplaceOne, ID: "a", Count: 1, Unit: unitOfOne}); !errors.Is(err, ErrBroken) {
		t.Error(err)
	}
}

func TestWaitEndsWithContext(t *testing.T) {
	l := create(t, 1, 0)
	f, err := lock(t.Context(), l.Path(), true)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	r := Request{Relation: ReplaceOne, ID: "a", Count: 1, Unit: mustCost(t, 0.5, 0)}
	if _, err := l.Charge(ctx, r); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if _, err := Open(ctx, l.Path()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("open: %v", err)
	}
	f.Close()
	// The abandoned waits give the lock back, and the handle is good.
	mustCharge(t, l, r)
	mustSpend(t, l, r.Unit)
}

// Goroutines with handles of their own and shared ones: n=400 charges with room
// for 100.
func TestGoroutines(t *testing.T) {
	l := create(t, 1, 0)
	unit := mustCost(t, 0.01, 0)
	var paid, refused atomic.Int32
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			handle := l
			if g%2 == 1 {
				var err error
				if handle, err = Open(context.Background(), l.Path()); err != nil {
					t.Error(err)
					return
				}
			}
			for i := range 50 {
				switch r, err := handle.Charge(context.Background(),
					Request{Relation: ReplaceOne, ID: fmt.Sprintf("%d-%d", g, i), Count: 1, Unit: unit}); {
				case err == nil && r.Redeem() == nil:
					paid.Add(1)
				case errors.Is(err, ErrExceeded):
					refused.Add(1)
				default:
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if paid.Load() != 100 || refused.Load() != 300 {
		t.Errorf("%d paid, %d refused", paid.Load(), refused.Load())
	}
	if err := l.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	mustSpend(t, l, mustCost(t, 1, 0))
}
