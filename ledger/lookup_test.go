package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
)

// counting counts the readings of a store's lines.
type counting struct {
	Store
	readings int
}

func (c *counting) Begin(ctx context.Context, exclusive bool) (Tx, error) {
	tx, err := c.Store.Begin(ctx, exclusive)
	return &countingTx{tx, c}, err
}

type countingTx struct {
	Tx
	of *counting
}

func (t *countingTx) Lines(from int64) io.Reader {
	t.of.readings++
	return t.Tx.Lines(from)
}

// recordTogether notes a result for each of the receipts, in one commit where they wait together.
func recordTogether(t *testing.T, l *Ledger, receipts [][]*Receipt) ([]State, []error) {
	after, errs := make([]State, len(receipts)), make([]error, len(receipts))
	calls := make([]func(), len(receipts))
	for i, r := range receipts {
		calls[i] = func() { after[i], errs[i] = l.RecordResult(t.Context(), r[0], Digest{byte(i)}) }
	}
	together(l, calls...)
	return after, errs
}

func oneEach(n, from int) [][]Request {
	calls := make([][]Request, n)
	for i := range calls {
		calls[i] = []Request{plainRequest(from + i)}
	}
	return calls
}

// The results of a group need their charges: one reading for all of them, beside that of what is
// new, and one more for a charge that lies far from the others. Each caller gets the totals after
// the commit.
func TestGroupReadsOnce(t *testing.T) {
	l := create(t, 1000, 0)
	old, errs := chargeTogether(t, l, []Request{plainRequest(0)})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	big := plainRequest(1)
	big.Event = fmt.Appendf(nil, "%q", strings.Repeat("x", MaxEvent-100))
	bigger := big
	bigger.ID = "bigger"
	if _, err := l.ChargeAll(t.Context(), []Request{big, bigger}); err != nil {
		t.Fatal(err)
	}
	const n = 40
	receipts, errs := chargeTogether(t, l, oneEach(n, 2)...)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	store := &counting{Store: l.store}
	l.store = store
	after, errs := recordTogether(t, l, receipts)
	if store.readings != 2 || errors.Join(errs...) != nil {
		t.Errorf("%d readings for a group, %v", store.readings, errors.Join(errs...))
	}
	now, err := l.State(t.Context())
	if err != nil || now.Spent != unitOfOne.Times(n+3) || now.Head.Seq != 2*n+3 {
		t.Fatalf("%+v, %v", now, err)
	}
	for i := range after {
		if after[i] != now {
			t.Errorf("call %d: %+v, want %+v", i, after[i], now)
		}
	}
	store.readings = 0
	if _, errs := recordTogether(t, l, append(receipts, old...)); store.readings != 3 ||
		errors.Join(errs[:n]...) != nil || errs[n] != nil {
		t.Errorf("%d readings with a charge from long ago, %v", store.readings, errors.Join(errs...))
	}
	again, err := Open(t.Context(), l.Path())
	if err != nil {
		t.Fatal(err)
	}
	if entries, err := again.History(t.Context()); err != nil || len(entries) != 2*n+4 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

// More charges than one reading holds are looked up all the same: of a group, and of one call.
func TestMoreThanOneReading(t *testing.T) {
	l := create(t, 1e6, 0)
	const n = 3*readTogether + 1
	requests := make([]Request, n)
	for i := range requests {
		requests[i] = plainRequest(i)
	}
	if _, err := l.ChargeAll(t.Context(), requests); err != nil {
		t.Fatal(err)
	}
	store := &counting{Store: l.store}
	l.store = store
	for what, ask := range map[string]func() error{
		"charge": func() error { _, err := l.ChargeAll(t.Context(), requests); return err },
		"check":  func() error { return l.Check(t.Context(), requests...) },
	} {
		store.readings = 0
		var replayed *ReplayedError
		if err := ask(); !errors.As(err, &replayed) || len(replayed.Replays) != n {
			t.Fatalf("%s: %v", what, err)
		}
		for i, r := range replayed.Replays {
			if r.Charge.ID != requests[i].ID || r.Charge.Seq != uint64(i+1) {
				t.Fatalf("%s: replay %d is of entry %d, %q", what, i, r.Charge.Seq, r.Charge.ID)
			}
		}
		if store.readings != 1+4 {
			t.Errorf("%s: %d readings", what, store.readings)
		}
	}
}

// A charge that was changed on disk breaks the handle of who needs it, wherever it is in the group.
func TestChangedUnderAGroup(t *testing.T) {
	for changed := range 4 {
		l := create(t, 100, 0)
		receipts, errs := chargeTogether(t, l, oneEach(4, 0)...)
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		mustCharge(t, l, plainRequest(9))
		f := readFiles(t, l.Path())
		id := fmt.Appendf(nil, `"request %d"`, changed)
		if !bytes.Contains(f.db, id) {
			t.Fatalf("no %s in the file", id)
		}
		f.db = bytes.Replace(f.db, id, []byte(`"request 7"`), 1)
		f.write(t, l.Path())
		if _, errs := recordTogether(t, l, receipts); !errors.Is(errs[changed], ErrDamaged) &&
			!errors.Is(errs[changed], ErrBroken) {
			t.Errorf("%d: %v", changed, errs)
		}
		if after := readFiles(t, l.Path()); !bytes.Equal(after.db, f.db) {
			t.Errorf("%d: something was written", changed)
		}
	}
}

// modes notes what each look asked for.
type modes struct {
	Store
	exclusive []bool
}

func (m *modes) Begin(ctx context.Context, exclusive bool) (Tx, error) {
	m.exclusive = append(m.exclusive, exclusive)
	return m.Store.Begin(ctx, exclusive)
}

// A question waits for no other question, and needs no right to write.
func TestQuestionsShareTheLedger(t *testing.T) {
	l := create(t, 9, 0)
	mustCharge(t, l, plainRequest(0))
	store := &modes{Store: l.store}
	l.store = store
	ctx := t.Context()
	head := must.Get(l.Head(ctx))(t)
	for name, ask := range map[string]func() error{
		"check":    func() error { return l.Check(ctx, plainRequest(1)) },
		"find":     func() error { _, err := l.Find(ctx, "request 0"); return err },
		"state":    func() error { _, err := l.State(ctx); return err },
		"history":  func() error { _, err := l.History(ctx); return err },
		"verify":   func() error { return l.Verify(ctx) },
		"outline":  func() error { _, err := l.Outline(ctx, 3); return err },
		"quotas":   func() error { _, err := l.Quotas(ctx); return err },
		"answers":  func() error { _, err := l.TakenBy(ctx, "a"); return err },
		"share":    func() error { _, err := l.SpentBy(ctx, "a"); return err },
		"after":    func() error { _, err := l.After(ctx, 0); return err },
		"contains": func() error { return l.Contains(ctx, head) },
	} {
		store.exclusive = nil
		if err := ask(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(store.exclusive) != 1 || store.exclusive[0] {
			t.Errorf("%s looks %d times: exclusive %v", name, len(store.exclusive), store.exclusive)
		}
	}
	store.exclusive = nil
	mustCharge(t, l, plainRequest(1))
	if len(store.exclusive) != 1 || !store.exclusive[0] {
		t.Errorf("a charge: exclusive %v", store.exclusive)
	}
}
