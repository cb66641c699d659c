package release

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/ledger/memory"
)

// stepped is a store in memory that tests step into: before a commit begins, and where its outcome
// is returned.
type stepped struct {
	ledger.Store
	begins  func()       // before a look that may end with a commit; nil for nothing
	commits func() error // before a commit, whose error stores nothing; nil for nothing
	outcome error        // of the next commits, which are stored
}

var steppedStores sync.Map

func init() {
	ledger.Register("stepped", func(location string) (ledger.Store, error) {
		s, ok := steppedStores.Load(location)
		if !ok {
			return nil, fs.ErrNotExist
		}
		return s.(*stepped), nil
	})
}

// newStepped makes a ledger in memory, and returns two handles of it.
func newStepped(t *testing.T, eps float64) (s *stepped, one, other *ledger.Ledger) {
	t.Helper()
	s = &stepped{Store: memory.NewStore(filepath.Join(t.TempDir(), "secret"))}
	location := "stepped://" + t.Name()
	steppedStores.Store(location, s)
	t.Cleanup(func() { steppedStores.Delete(location) })
	budget := must.Get(ledger.NewBudget(eps, 0.9))(t)
	one = must.Get(ledger.Create(t.Context(), location, budget, ledger.ReplaceOne))(t)
	return s, one, must.Get(ledger.Open(t.Context(), location))(t)
}

func (s *stepped) Begin(ctx context.Context, exclusive bool) (ledger.Tx, error) {
	if begins := s.begins; exclusive && begins != nil {
		s.begins = nil // which charges, and must not wait for itself
		begins()
	}
	tx, err := s.Store.Begin(ctx, exclusive)
	return steppedTx{tx, s}, err
}

type steppedTx struct {
	ledger.Tx
	store *stepped
}

func (t steppedTx) Commit(at int64, lines, before, after []byte) error {
	if t.store.commits != nil {
		if err := t.store.commits(); err != nil {
			return err
		}
	}
	if err := t.Tx.Commit(at, lines, before, after); err != nil {
		return err
	}
	return t.store.outcome
}

// A draw that somebody else answered between the look and the charge is paid for as votes that were
// answered before: once for all, and not refused.
func TestDrawAnsweredMeanwhile(t *testing.T) {
	r, terms := sameVotes(t)
	s, l, elsewhere := newStepped(t, 100)
	first, again := newBill(t, r, terms("a", "march", 1)), newBill(t, r, terms("b", "march", 1))
	s.begins = func() { mustPay(t, elsewhere, first) }
	receipt, err := again.Pay(t.Context(), l, false)
	if err != nil {
		t.Fatal(err)
	}
	if e := receipt.Entry(); e.ID != "b" || e.PaidBy != again.draw.ID {
		t.Errorf("%q is paid by %q, want %q", e.ID, e.PaidBy, again.draw.ID)
	}
	want := first.release.Unit.Plus(again.draw.Unit)
	if spent, err := l.Spent(t.Context()); err != nil || spent != want {
		t.Errorf("%v is spent, want %v: %v", spent, want, err)
	}
}

// A receipt that Pay returns is used up, whoever paid: nothing is drawn on it by another way.
func TestReceiptsAreUsedUp(t *testing.T) {
	r, terms := sameVotes(t)
	_, l, _ := newStepped(t, 100)
	frozen := Charge{RequestID: "c", Teachers: "frozen", Ensemble: "e"}
	for _, b := range []*Bill{
		newBill(t, r, terms("a", "march", 1)), newBill(t, r, terms("b", "march", 1)),
		newBill(t, r, frozen), newBill(t, noisy(t, 3), Charge{RequestID: "d"}),
	} {
		receipt, err := b.Pay(t.Context(), l, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := receipt.Redeem(); !errors.Is(err, ledger.ErrReceipt) {
			t.Errorf("the receipt of %q, paid by %q, is good: %v", receipt.Entry().ID,
				receipt.Entry().PaidBy, err)
		}
	}
}

// A charge of which nobody knows whether it was stored may be one that was: the secret stays, and
// the same command finishes the release with the same coins and one charge.
func TestSecretOutlivesAnOpenOutcome(t *testing.T) {
	s, l, other := newStepped(t, 100)
	folder := t.TempDir()
	path, out := filepath.Join(folder, "checkpoint"), filepath.Join(folder, "labels")
	run := func(l *ledger.Ledger) (Outcome, error) {
		c, err := openCoins(t.Context(), path, owner{})
		if err != nil {
			t.Fatal(err)
		}
		if !c.resumed {
			c.pin = make([]byte, 32)
		}
		tr := Transaction{
			Ledger: l, Bill: keyedBill(t, c.fingerprint()), Output: FileOutput{Path: out},
			Draw: text("of " + c.fingerprint()), secret: c.secret,
		}
		return tr.Run(t.Context())
	}
	s.outcome = errors.New("the connection was lost")
	if o, err := run(l); !errors.Is(err, ledger.ErrWrite) || o.Done() {
		t.Fatalf("%+v, %v", o, err)
	}
	kept := contentOf(t, path)
	if kept == "" {
		t.Fatal("the secret is gone, and the charge may be there")
	}
	s.outcome = nil
	if o, err := run(other); err != nil || !o.Done() {
		t.Fatalf("%+v, %v", o, err)
	}
	if contentOf(t, path) != "" || contentOf(t, out) == "" {
		t.Error("the release was not finished")
	}
	checkSpent(t, other, 0.9)
}
