package ledger

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/check"
)

func asked(client string, share uint64, r Request) Request {
	r.Client, r.Share = client, &Budget{unitOfOne.Times(share)}
	return r
}

// A share bounds what its client has spent: by any handle, by those before in one call and in one
// commit, by charges that stated no share, and not by others' charges. What was refused can be
// charged later, where another share is stated.
func TestShares(t *testing.T) {
	l := create(t, 100, 0)
	other, err := Open(t.Context(), l.Path())
	if err != nil {
		t.Fatal(err)
	}
	free := plainRequest(1)
	free.Client = "alice"
	two := asked("alice", 4, plainRequest(2))
	two.Count = 2
	for i, c := range []struct {
		l     *Ledger
		calls []Request
		want  error
		spent uint64 // by alice
	}{
		{l, []Request{asked("alice", 0, plainRequest(0))}, ErrShare, 0},
		{l, []Request{asked("alice", 1, plainRequest(0))}, nil, 1},
		{other, []Request{asked("bob", 1, plainRequest(10))}, nil, 1},
		{other, []Request{asked("alice", 1, plainRequest(1))}, ErrShare, 1},
		{other, []Request{free}, nil, 2},
		{l, []Request{two}, nil, 4},
		{other, []Request{asked("alice", 4, plainRequest(0))}, ErrReplayed, 4},
		{l, []Request{asked("alice", 6, plainRequest(3)), asked("alice", 6, plainRequest(4)),
			asked("alice", 6, plainRequest(5))}, ErrShare, 4},
		{l, []Request{asked("alice", 6, plainRequest(3)), asked("bob", 2, plainRequest(4)),
			asked("alice", 6, plainRequest(5))}, nil, 6},
		{l, []Request{asked("bob", 4, plainRequest(0))}, ErrConflict, 6},
		{other, []Request{asked("alice", 1000, plainRequest(6))}, nil, 7},
	} {
		_, err := c.l.ChargeAll(t.Context(), c.calls)
		if !errors.Is(err, c.want) {
			t.Errorf("%d: %v, want %v", i, err, c.want)
		}
		for _, l := range []*Ledger{l, other} {
			if spent, err := l.SpentBy(t.Context(), "alice"); err != nil ||
				spent != unitOfOne.Times(c.spent) {
				t.Errorf("%d: alice has spent %v, want %d: %v", i, spent, c.spent, err)
			}
		}
	}
	if spent, err := l.SpentBy(t.Context(), "carol"); err != nil || spent != (Cost{}) {
		t.Errorf("%v, %v", spent, err)
	}
	mustSpend(t, l, unitOfOne.Times(9))
	// Calls that share a commit.
	_, errs := chargeTogether(t, l, []Request{asked("dan", 2, plainRequest(20))},
		[]Request{asked("dan", 2, plainRequest(21))}, []Request{asked("dan", 2, plainRequest(22))})
	if errs[0] != nil || errs[1] != nil || !errors.Is(errs[2], ErrShare) {
		t.Error(errs)
	}
	if _, err := l.Charge(t.Context(), plainRequest(40)); err != nil {
		t.Fatal(err)
	}
	if spent, err := l.SpentBy(t.Context(), ""); err != nil || spent != (Cost{}) {
		t.Errorf("nobody has spent %v, %v", spent, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	<-l.turn // somebody else has it
	if _, err := l.SpentBy(ended, "alice"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	l.turn <- struct{}{}
	// Where the budget is spent and the share would allow more, the error is about the budget.
	big := asked("erin", 1000, plainRequest(30))
	big.Count = 900
	if _, err := l.Charge(t.Context(), big); !errors.Is(err, ErrExceeded) || errors.Is(err, ErrShare) {
		t.Error(err)
	}
}

// The client stands in the entry, and the share does not.
func TestClientIsInTheEntry(t *testing.T) {
	l := create(t, 100, 0)
	r := asked("ward 3", 7, plainRequest(0))
	r.Ensemble = "e"
	receipt, err := l.Charge(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	line := string(readFiles(t, l.Path()).db)
	if e := receipt.Entry(); e.Client != "ward 3" ||
		!strings.Contains(line, `},"client":"ward 3","ensemble":"e",`) ||
		strings.Contains(line, "share") {
		t.Errorf("%+v: %s", e, line)
	}
	if h, err := l.History(t.Context()); err != nil || len(h) != 1 || h[0].Client != "ward 3" {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestClientRefused(t *testing.T) {
	l := create(t, 100, 0)
	nobody, empty, long := plainRequest(0), plainRequest(0), plainRequest(0)
	nobody.Share = &Budget{unitOfOne}
	empty.Client = "a\nb"
	long.Client = strings.Repeat("a", MaxID+1)
	for _, r := range []Request{nobody, empty, long} {
		var rule *check.Error
		if _, err := l.Charge(t.Context(), r); !errors.As(err, &rule) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	mustSpend(t, l, Cost{})
}

func TestShareIsCopied(t *testing.T) {
	r := asked("alice", 1, plainRequest(0))
	checked, err := checkAll([]Request{r})
	if err != nil {
		t.Fatal(err)
	}
	*r.Share = Budget{unitOfOne.Times(2)}
	if *checked[0].Share != (Budget{unitOfOne}) {
		t.Error("the share is the caller's")
	}
}
