package release

import (
	"context"
	"sync"
	"time"

	"github.com/darrm/darrm/ledger"
)

// BudgetView is the state of a ledger for people who look at it often: its size does not grow
// with the ledger. Like a [BudgetReport] it has no votes, no labels and no digest of votes.
type BudgetView struct {
	BudgetState
	Short    ShortBudget
	Warnings []string
	Charges  int            // that are releases, and no payment for others
	Latest   []ReportEntry  // the last charges, the newest first, at most maxLatest
	Spending []SpendingStep // in the order of the entries, at most maxSteps
	Assumed  []string       // each once, at most maxAssumed
}

// SpendingStep is what was spent after a charge, rounded up.
type SpendingStep struct {
	Time           time.Time // by the clock of the machine that charged
	Epsilon, Delta float64
}

const (
	maxLatest  = 20
	maxSteps   = 400
	maxAssumed = 40
)

// BudgetWatch follows a ledger: each look reads what was written since the last one. Its memory
// does not grow with the ledger. It is safe for concurrent use; the zero value has seen nothing.
type BudgetWatch struct {
	mu      sync.Mutex
	seq     uint64
	head    ledger.Head
	spent   ledger.Cost
	charges int
	all     int // with those that pay for others
	latest  []ReportEntry
	steps   []SpendingStep
	every   int // one step is kept of so many charges
	assumed assumptions
}

// Look returns the state of the ledger, which must be the same at every call. Errors are those of
// [ledger.Ledger.After]. Cost: that of decoding what is new; at first everything.
func (w *BudgetWatch) Look(ctx context.Context, l *ledger.Ledger) (*BudgetView, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.head == (ledger.Head{}) {
		// Before the entries: if there are none then, it is the head of none.
		var err error
		if w.head, err = l.Head(ctx); err != nil {
			return nil, err
		}
	}
	if err := each(ctx, l, w.seq, w.add); err != nil {
		return nil, err
	}
	now := NewBudgetState(l, ledger.State{Spent: w.spent, Head: w.head})
	v := &BudgetView{BudgetState: now, Short: newShortBudget(w.spent, l.Budget().Cost()), Warnings: worthless(w.spent), Charges: w.charges}
	for i := range w.latest {
		v.Latest = append(v.Latest, w.latest[len(w.latest)-1-i])
	}
	v.Spending = append(v.Spending, w.steps...)
	for _, a := range append(general(l.Relation()), w.assumed.list...) {
		v.Assumed = append(v.Assumed, a.Text)
	}
	return v, nil
}

// add takes in an entry.
func (w *BudgetWatch) add(e *ledger.Entry) bool {
	w.seq, w.head = e.Seq, ledger.Head{Seq: e.Seq, Hash: e.Hash}
	w.spent = w.spent.Plus(e.Total())
	if e.Kind != ledger.KindCharge {
		return true
	}
	if !covers(e) {
		w.charges++
	}
	if len(w.latest) == maxLatest {
		w.latest = append(w.latest[:0], w.latest[1:]...)
	}
	w.latest = append(w.latest, newReportEntry(e, ""))
	if len(w.assumed.list) < maxAssumed {
		w.assumed.of(e)
		for i := range w.assumed.list {
			w.assumed.list[i].Requests = nil // they would grow with the ledger
		}
	}
	w.step(e.Time)
	return true
}

// step keeps what was spent, of ever fewer charges: whenever the list is full every second step
// goes. The last step is always that of the last charge.
func (w *BudgetWatch) step(now time.Time) {
	epsilon, delta := w.spent.Ceil()
	s := SpendingStep{now, epsilon, delta}
	// The last step stays if it is one of those that are kept; otherwise this one takes its place.
	if n := len(w.steps); n > 0 && (w.all-1)%max(1, w.every) != 0 {
		w.steps[n-1] = s
	} else {
		w.steps = append(w.steps, s)
	}
	w.all++
	if len(w.steps) == maxSteps {
		kept := w.steps[:0]
		for i, s := range w.steps {
			if i%2 == 0 || i == maxSteps-1 {
				kept = append(kept, s)
			}
		}
		w.steps, w.every = kept, 2*max(1, w.every)
	}
}
