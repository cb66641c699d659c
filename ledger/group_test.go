package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// together runs calls so that they wait in this order for one commit.
func together(l *Ledger, calls ...func()) {
	<-l.turn
	var all sync.WaitGroup
	for i, call := range calls {
		all.Go(call)
		for { // until it waits
			l.queue.mu.Lock()
			n := len(l.queue.jobs)
			l.queue.mu.Unlock()
			if n > i {
				break
			}
			time.Sleep(50 * time.Microsecond)
		}
	}
	l.turn <- struct{}{}
	all.Wait()
}

// chargeTogether returns what each of the calls gets.
func chargeTogether(t testing.TB, l *Ledger, calls ...[]Request) ([][]*Receipt, []error) {
	receipts, errs := make([][]*Receipt, len(calls)), make([]error, len(calls))
	list := make([]func(), len(calls))
	for i, requests := range calls {
		list[i] = func() { receipts[i], errs[i] = l.ChargeAll(t.Context(), requests) }
	}
	together(l, list...)
	return receipts, errs
}

// Calls that wait together are one commit, each admitted or refused by itself and in order.
func TestGroup(t *testing.T) {
	l := create(t, 3, 0)
	three := Request{Relation: ReplaceOne, ID: "three", Count: 3, Unit: unitOfOne}
	receipts, errs := chargeTogether(t, l,
		[]Request{plainRequest(0)}, []Request{three}, []Request{plainRequest(1), three},
		[]Request{plainRequest(1)}, []Request{plainRequest(2)}, []Request{plainRequest(3)})
	for i, want := range []error{nil, ErrExceeded, ErrExceeded, nil, nil, ErrExceeded} {
		if !errors.Is(errs[i], want) || (want == nil) != (len(receipts[i]) == 1) {
			t.Errorf("call %d: %v, %d receipts; want %v", i, errs[i], len(receipts[i]), want)
			continue
		}
		if want == nil {
			if e := receipts[i][0].Entry(); e.Commit != 1 || receipts[i][0].Redeem() != nil {
				t.Errorf("call %d: commit %d", i, e.Commit)
			}
		}
	}
	var exceeded *ExceededError
	if !errors.As(errs[5], &exceeded) || exceeded.Spent != unitOfOne.Times(3) {
		t.Errorf("%v does not say what the group spends", errs[5])
	}
	mustSpend(t, l, unitOfOne.Times(3))
	again, err := Open(t.Context(), l.Path())
	if err != nil {
		t.Fatal(err)
	}
	mustSpend(t, again, unitOfOne.Times(3))
}

// One request asked twice at the same time is charged once, and the second asker gets a replay
// of what is on disk. So are results, also where the same digest comes twice.
func TestGroupReplay(t *testing.T) {
	l := create(t, 10, 0)
	other := plainRequest(0)
	other.Count = 2
	receipts, errs := chargeTogether(t, l, []Request{plainRequest(0)}, []Request{plainRequest(0)},
		[]Request{other}, []Request{plainRequest(1)})
	var replayed *ReplayedError
	if errs[0] != nil || !errors.As(errs[1], &replayed) || !errors.Is(errs[2], ErrConflict) ||
		errs[3] != nil {
		t.Fatal(errs)
	}
	first := receipts[0][0]
	if got := replayed.Replays[0].Charge; got.Hash != first.Entry().Hash || got.Seq != 1 ||
		replayed.Replays[0].Receipt.Redeem() == nil {
		t.Errorf("replay of %+v", got)
	}
	mustSpend(t, l, unitOfOne.Times(2))
	var results [4]error
	record := func(i int, d Digest) func() {
		return func() { _, results[i] = l.RecordResult(t.Context(), first, d) }
	}
	var replay error
	together(l, record(0, Digest{1}), record(1, Digest{1}), func() {
		_, replay = l.Charge(t.Context(), plainRequest(0))
	}, record(2, Digest{2}), record(3, Digest{1}))
	if results[0] != nil || results[1] != nil || !errors.Is(results[2], ErrConflict) ||
		results[3] != nil {
		t.Error(results)
	}
	if !errors.As(replay, &replayed) || replayed.Replays[0].Result == nil ||
		*replayed.Replays[0].Result != (Digest{1}) {
		t.Errorf("the replay does not know the result that was recorded before it: %v", replay)
	}
	if entries, err := l.History(t.Context()); err != nil || len(entries) != 3 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

// Whoever gives up before a commit takes his request is not charged, and keeps nobody else from
// being charged. Whoever gives up while it is written learns what came of it.
func TestGroupGivesUp(t *testing.T) {
	l := create(t, 10, 0)
	waits, stop := context.WithCancel(t.Context())
	written, stopWritten := context.WithCancel(t.Context())
	var early, late, stays error
	var entries []*Entry
	gone := make(chan struct{})
	together(l,
		func() { _, stays = l.Charge(t.Context(), plainRequest(1)) },
		func() {
			requests, err := checkAll([]Request{plainRequest(2)})
			if err != nil {
				t.Error(err)
			}
			entries, _, late = l.submit(written, []string{requests[0].ID}, func(s *session) ([]*Entry, error) {
				stopWritten()
				time.Sleep(time.Millisecond) // for the caller to notice
				return s.admit(requests)
			})
		},
		func() {
			defer close(gone)
			go stop()
			<-waits.Done()
			_, early = l.Charge(waits, plainRequest(0))
			// what together waits for
			l.submit(t.Context(), nil, func(*session) ([]*Entry, error) { return nil, nil })
		})
	<-gone
	if !errors.Is(early, context.Canceled) || stays != nil || late != nil || len(entries) != 1 {
		t.Errorf("%v, %v, %v, %d entries", early, stays, late, len(entries))
	}
	mustSpend(t, l, unitOfOne.Times(2))
}

// A commit that fails leaves nobody with a receipt, nor with a refusal that rests on it.
func TestGroupFails(t *testing.T) {
	l := create(t, 1, 0)
	old := readFiles(t, l.Path())
	receipts, errs := make([]*Receipt, 4), make([]error, 4)
	charge := func(i int, r Request) func() {
		return func() { receipts[i], errs[i] = l.Charge(t.Context(), r) }
	}
	together(l,
		charge(0, Request{Relation: ReplaceOne, ID: "too much", Count: 2, Unit: unitOfOne}),
		charge(1, plainRequest(1)), charge(2, plainRequest(2)),
		func() { // the file is replaced before the commit is written
			l.submit(t.Context(), nil, func(*session) ([]*Entry, error) {
				return nil, errors.Join(os.WriteFile(l.Path()+".copy", old.db, 0o600),
					os.Rename(l.Path()+".copy", l.Path()))
			})
		},
		charge(3, plainRequest(3)))
	if !errors.Is(errs[0], ErrExceeded) {
		t.Errorf("what could never be charged: %v", errs[0])
	}
	for i := 1; i < 4; i++ {
		if !errors.Is(errs[i], ErrWrite) || errors.Is(errs[i], ErrExceeded) || receipts[i] != nil {
			t.Errorf("call %d: %v", i, errs[i])
		}
	}
	if _, err := l.Charge(t.Context(), plainRequest(4)); !errors.Is(err, ErrBroken) {
		t.Error(err)
	}
}

// More than one commit holds are several.
func TestGroupIsBounded(t *testing.T) {
	l := create(t, 1e6, 0)
	var calls [][]Request
	for i := range 3 {
		requests := make([]Request, MaxRequests/2)
		for j := range requests {
			requests[j] = plainRequest(i*len(requests) + j)
		}
		calls = append(calls, requests)
	}
	receipts, errs := chargeTogether(t, l, calls...)
	for i := range calls {
		if errs[i] != nil || receipts[i][0].Entry().Commit != uint64(i/2+1) {
			t.Errorf("call %d: %v", i, errs[i])
		}
	}
}

// Calls that wait together get what they get one after the other, whatever they ask.
func TestGroupIsASequence(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		one, many := createInMemory(t, r, 50e-12, 50e-24), createInMemory(t, r, 50e-12, 50e-24)
		m := &model{}
		for range rapid.IntRange(1, 4).Draw(r, "groups") {
			calls := make([][]Request, rapid.IntRange(1, 12).Draw(r, "calls"))
			for i := range calls {
				for range rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(r, "requests") {
					calls[i] = append(calls[i], m.request(r))
				}
				if rapid.Bool().Draw(r, "cheap") {
					for j := range calls[i] {
						calls[i][j].Count = 1
					}
				}
				m.order = append(m.order, calls[i]...) // as payers, admitted or not
			}
			// What is no request at all does not wait.
			valid := calls[:0]
			for _, c := range calls {
				if _, err := checkAll(c); err == nil {
					valid = append(valid, c)
				}
			}
			_, errs := chargeTogether(t, many, valid...)
			for i, c := range valid {
				_, err := one.ChargeAll(t.Context(), c)
				if kindOf(err) != kindOf(errs[i]) {
					r.Fatalf("call %d: one by one %v, together %v", i, err, errs[i])
				}
			}
			a, err1 := one.State(t.Context())
			b, err2 := many.State(t.Context())
			if err1 != nil || err2 != nil || a.Spent != b.Spent || a.Head.Seq != b.Head.Seq {
				r.Fatalf("one by one %+v (%v), together %+v (%v)", a, err1, b, err2)
			}
		}
		x, _ := one.History(t.Context())
		y, err := many.History(t.Context())
		if err != nil || len(x) != len(y) {
			r.Fatalf("%d entries one by one, %d together, %v", len(x), len(y), err)
		}
		for i := range x {
			for _, e := range []*Entry{&x[i], &y[i]} {
				e.Commit, e.Time, e.Previous, e.Hash = 0, time.Time{}, Digest{}, Digest{}
			}
			if !reflect.DeepEqual(x[i], y[i]) {
				r.Fatalf("entry %d: %+v one by one, %+v together", i+1, x[i], y[i])
			}
		}
	})
}

// createInMemory makes a ledger for many commits on a file system without a disk, where there is
// one.
func createInMemory(t *testing.T, r *rapid.T, epsilon, delta float64) *Ledger {
	dir := "/dev/shm"
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		dir = t.TempDir()
	}
	dir, err := os.MkdirTemp(dir, "ledger-")
	if err != nil {
		t.Fatal(err)
	}
	r.Cleanup(func() { os.RemoveAll(dir) })
	budget, err := NewBudget(epsilon, delta)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Create(t.Context(), filepath.Join(dir, "ledger"), budget, ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// kindOf names the refusal that an error is.
func kindOf(err error) string {
	for _, kind := range []error{ErrExceeded, ErrReplayed, ErrConflict, ErrUnpaid, ErrRelation,
		ErrEnsemble, ErrDraw, ErrDrawn, ErrSameVotes} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	return fmt.Sprint(err)
}

// What failed before a commit took it is charged to nobody later: the asker was told that it was
// not.
func TestGroupWithdraws(t *testing.T) {
	l := create(t, 10, 0)
	away := l.Path() + ".away"
	if err := os.Rename(l.Path(), away); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Charge(t.Context(), plainRequest(0)); err == nil {
		t.Fatal("charged in no ledger")
	}
	if err := os.Rename(away, l.Path()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Charge(t.Context(), plainRequest(1)); err != nil {
		t.Fatal(err)
	}
	mustSpend(t, l, unitOfOne)
	if len(l.queue.jobs) != 0 {
		t.Errorf("%d wait", len(l.queue.jobs))
	}
}

// retrying is a store whose commits, at first, must be tried again.
type retrying struct {
	Store
	left int
}

func (s *retrying) Begin(ctx context.Context, exclusive bool) (Tx, error) {
	tx, err := s.Store.Begin(ctx, exclusive)
	return &retryingTx{tx, s}, err
}

type retryingTx struct {
	Tx
	store *retrying
}

func (t *retryingTx) Commit(at int64, lines, before, after []byte) error {
	if t.store.left > 0 {
		t.store.left--
		return ErrRetry
	}
	return t.Tx.Commit(at, lines, before, after)
}

// A commit that must be tried again, or a look on the way to it, is tried with all who wait, in
// their order: each is charged once, and hears of it once.
func TestGroupTriesAgain(t *testing.T) {
	l := create(t, 10, 0)
	l.store = &retrying{l.store, 2}
	requests := [][]Request{{plainRequest(0)}, {plainRequest(1)}, {plainRequest(0)}, {plainRequest(2)}}
	receipts, errs := chargeTogether(t, l, requests...)
	if errs[0] != nil || errs[1] != nil || !errors.Is(errs[2], ErrReplayed) || errs[3] != nil {
		t.Fatal(errs)
	}
	for i, seq := range map[int]uint64{0: 1, 1: 2, 3: 3} {
		if e := receipts[i][0].Entry(); e.Seq != seq {
			t.Errorf("call %d is entry %d, want %d", i, e.Seq, seq)
		}
	}
	mustSpend(t, l, unitOfOne.Times(3))
	looks := 0
	var first, third, between error
	together(l,
		func() { _, first = l.Charge(t.Context(), plainRequest(3)) },
		func() {
			_, _, between = l.submit(t.Context(), nil, func(*session) ([]*Entry, error) {
				if looks++; looks < 3 {
					return nil, ErrRetry
				}
				return nil, ErrConflict
			})
		},
		func() { _, third = l.Charge(t.Context(), plainRequest(4)) })
	if first != nil || third != nil || !errors.Is(between, ErrConflict) || looks != 3 {
		t.Errorf("%v, %v, %v after %d looks", first, between, third, looks)
	}
	mustSpend(t, l, unitOfOne.Times(5))
}
