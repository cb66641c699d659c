package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/votes"
)

// restOf is a release of three labels for 0.9 within what a ledger of ε = 1 has left, and the
// budgets that were planned for.
func restOf(t *testing.T) (l planning, book *ledger.Ledger, planned *[]accountant.Cost) {
	t.Helper()
	l, dir, book := newLabels(t, 1)
	mechanism := l.Plan
	planned = new([]accountant.Cost)
	l.Plan, l.Charge = nil, paidBy(book, "a")
	l.Charge.Slack = nil
	l.Checkpoint = filepath.Join(dir, "key")
	l.Budget = &LabelBudget{Epsilon: Part{Rest: true}, Delta: Part{Number: 1e-3}}
	l.Within = func(ctx context.Context, budget accountant.Cost, k, classes, _ int) (Plan, float64, error) {
		*planned = append(*planned, budget)
		p, err := mechanism(ctx, k, classes)
		return p, 0, err
	}
	return l, book, planned
}

func spend(t *testing.T, book *ledger.Ledger, id string, epsilon float64) {
	t.Helper()
	must.Get(book.Charge(t.Context(), ledger.Request{ID: id, Count: 1,
		Unit: must.Get(ledger.NewCost(epsilon, 0))(t), Relation: ledger.ReplaceOne}))(t)
}

// The rest is resolved before the charge and stands in its event, where the same request finds it
// when it is run again, whatever is left by then.
func TestRestIsKeptInTheEvent(t *testing.T) {
	l, book, planned := restOf(t)
	spend(t, book, "before", 0.05)
	if _, err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := accountant.Cost{Epsilon: 0.95, Delta: 1e-3}
	var event Event
	found := must.Get(book.Find(t.Context(), "a"))(t)
	if err := json.Unmarshal(found.Event, &event); err != nil || *event.Budget != want {
		t.Errorf("%s, %v", found.Event, err)
	}
	s, err := l.Run(t.Context())
	if err != nil || !s.Before || len(*planned) != 2 || (*planned)[0] != want || (*planned)[1] != want {
		t.Errorf("%+v, %v: planned for %v", s, err, *planned)
	}
	if got := must.Get(l.Budget.Left(t.Context(), book.Path()))(t); got.Epsilon > 0.05 {
		t.Errorf("%v is left", got)
	}
}

// A release that was begun and not charged finds its budget in the checkpoint: another would answer
// by another mechanism. Where it is not there any more, the charge is refused.
func TestRestIsKeptInTheCheckpoint(t *testing.T) {
	l, book, planned := restOf(t)
	coins := must.Get(openCoins(t.Context(), l.Checkpoint, owner{book.ID(), "a"}))(t)
	coins.budget = &accountant.Cost{Epsilon: 0.925, Delta: 1e-3}
	coins.pin = make([]byte, 32)
	if err := coins.make(); err != nil {
		t.Fatal(err)
	}
	var input *InputError
	if _, err := l.Run(t.Context()); !errors.As(err, &input) { // the pin is of other votes
		t.Error(err)
	}
	if want := *coins.budget; len(*planned) != 1 || (*planned)[0] != want {
		t.Errorf("planned for %v", *planned)
	}
	if n := len(must.Get(book.History(t.Context()))(t)); n != 0 {
		t.Errorf("%d entries", n)
	}
}

// The checkpoint of a release that was interrupted has the budget that it was planned for.
func TestCheckpointTakesTheRest(t *testing.T) {
	l, book, planned := restOf(t)
	broken := errors.New("broken")
	l.Each = func(*votes.Batch, []int) error { return broken }
	if _, err := l.Run(t.Context()); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	coins := must.Get(openCoins(t.Context(), l.Checkpoint, owner{book.ID(), "a"}))(t)
	if coins.budget == nil || *coins.budget != (*planned)[0] {
		t.Errorf("%v, planned for %v", coins.budget, *planned)
	}
}

// Who spends of the rest between the plan and the charge has it: the release is refused.
func TestRestThatIsGone(t *testing.T) {
	l, book, _ := restOf(t)
	plan := l.Within
	l.Within = func(ctx context.Context, b accountant.Cost, k, classes, n int) (Plan, float64, error) {
		spend(t, book, "meanwhile", 0.2)
		return plan(ctx, b, k, classes, n)
	}
	if s, err := l.Run(t.Context()); s != nil || !errors.Is(err, ledger.ErrExceeded) {
		t.Errorf("%+v, %v", s, err)
	}
	l.Within = plan
	spend(t, book, "all", 0.8)
	if s, err := l.Run(t.Context()); s != nil || !errors.Is(err, ledger.ErrExceeded) {
		t.Errorf("of nothing: %+v, %v", s, err)
	}
	if left, err := l.Budget.Left(t.Context(), book.Path()); !errors.Is(err, ledger.ErrExceeded) {
		t.Errorf("of nothing, %v is left, %v", left, err)
	}
	l.Charge, l.Checkpoint = Charge{}, ""
	if s, err := l.Run(t.Context()); s != nil || !isUsage(err) {
		t.Errorf("without a ledger: %+v, %v", s, err)
	}
	if _, err := (LabelBudget{Epsilon: Part{Number: 2}}).Left(t.Context(), book.Path()); !isUsage(err) {
		t.Errorf("more than is left: %v", err)
	}
}

// The rest is the whole of what is left, to the last 10⁻¹², whatever was spent before and however
// little is left: the charge fits, and what then remains buys nothing.
func TestRestIsAllThatIsLeft(t *testing.T) {
	coins := rand.New(rand.NewPCG(1, 2))
	for i := range 20 {
		l, book, _ := restOf(t)
		left := 0.1
		if i%2 == 0 {
			left = math.Pow(10, -1-11*coins.Float64()) // down to 10⁻¹²
		}
		for k := range 3 {
			spend(t, book, fmt.Sprint("before ", k), (1-left)/3*(1-1e-3*coins.Float64()*left))
		}
		before := must.Get(book.Remaining(t.Context()))(t)
		l.Budget = &LabelBudget{Epsilon: Part{Rest: true}}
		l.Votes, l.Checkpoint = []string{filepath.Join(t.TempDir(), "one.csv")}, ""
		if err := os.WriteFile(l.Votes[0], []byte("t1,t2,t3\n1,1,0\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		l.Charge.Teachers = ""
		l.Within = func(_ context.Context, b accountant.Cost, k, classes, _ int) (Plan, float64, error) {
			m, err := ensemble.Calibrated("permute-and-flip", ensemble.Setting{K: k, Classes: classes, Affected: 1,
				Neighbours: accountant.ReplaceOne}, accountant.Cost{Epsilon: b.Epsilon},
				ensemble.Check{Ratio: ensemble.CheckRatio})
			if err != nil {
				return Plan{}, 0, err
			}
			p, err := NewPlan(m)
			return p, 0, err
		}
		_, err := l.Run(t.Context())
		if err != nil {
			t.Fatalf("of %v: %v", before, err)
		}
		after := must.Get(book.Remaining(t.Context()))(t)
		if e, _ := after.Floor(); e > 1e-12*left {
			t.Errorf("of %v there is %v left", before, e)
		}
	}
}
