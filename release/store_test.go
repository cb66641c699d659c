package release

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
	"testing"

	"github.com/darrm/darrm/internal/must"
	"github.com/darrm/darrm/ledger"
)

// memory is a store of one ledger that tests step into: before a commit begins, and where its
// outcome is returned.
type memory struct {
	secret  string
	begins  func()       // before a look that may end with a commit; nil for nothing
	commits func() error // before a commit, whose error stores nothing; nil for nothing
	outcome error        // of the next commits, which are stored

	turn   sync.Mutex // of commits
	mu     sync.Mutex
	lines  []byte // nil before Create
	anchor []byte
}

var memories sync.Map

func init() {
	ledger.Register("watched", func(location string) (ledger.Store, error) {
		s, ok := memories.Load(location)
		if !ok {
			return nil, fs.ErrNotExist
		}
		return s.(*memory), nil
	})
}

// newMemory makes a ledger in memory, and returns two handles of it.
func newMemory(t *testing.T, eps float64) (s *memory, one, other *ledger.Ledger) {
	t.Helper()
	s = &memory{secret: filepath.Join(t.TempDir(), "secret")}
	location := "watched://" + t.Name()
	memories.Store(location, s)
	t.Cleanup(func() { memories.Delete(location) })
	budget := must.Get(ledger.NewBudget(eps, 0.9))(t)
	one = must.Get(ledger.Create(t.Context(), location, budget, ledger.ReplaceOne))(t)
	return s, one, must.Get(ledger.Open(t.Context(), location))(t)
}

func (s *memory) Location() string            { return "watched" }
func (s *memory) SecretPath() (string, error) { return s.secret, nil }

func (s *memory) Create(_ context.Context, first func() ([]byte, error)) (err error) {
	if s.lines != nil {
		return fs.ErrExist
	}
	s.lines, err = first()
	return err
}

func (s *memory) Begin(_ context.Context, exclusive bool) (ledger.Tx, error) {
	if exclusive {
		if begins := s.begins; begins != nil {
			s.begins = nil // which charges, and must not wait for itself
			begins()
		}
		s.turn.Lock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return &memoryTx{s, bytes.Clone(s.lines), bytes.Clone(s.anchor), exclusive}, nil
}

type memoryTx struct {
	*memory
	seen, head []byte
	exclusive  bool
}

func (t *memoryTx) Anchor() ([]byte, error)    { return t.head, nil }
func (t *memoryTx) Lines(from int64) io.Reader { return bytes.NewReader(t.seen[from:]) }
func (t *memoryTx) Sync() error                { return nil }
func (t *memoryTx) Atomic() bool               { return true }

func (t *memoryTx) Commit(at int64, lines, _, after []byte) error {
	if t.commits != nil {
		if err := t.commits(); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines, t.anchor = append(t.lines[:at:at], lines...), after
	return t.outcome
}

func (t *memoryTx) SetAnchor(anchor []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.anchor = anchor
	return nil
}

func (t *memoryTx) Close() error {
	if t.exclusive {
		t.turn.Unlock()
	}
	return nil
}

// A draw that somebody else answered between the look and the charge is paid for as votes that were
// answered before: once for all, and not refused.
func TestDrawAnsweredMeanwhile(t *testing.T) {
	r, terms := sameVotes(t)
	s, l, elsewhere := newMemory(t, 100)
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
	_, l, _ := newMemory(t, 100)
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
	s, l, other := newMemory(t, 100)
	folder := t.TempDir()
	path, out := filepath.Join(folder, "checkpoint"), filepath.Join(folder, "labels")
	run := func(l *ledger.Ledger) (Outcome, error) {
		c, err := openCoins(t.Context(), path)
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
