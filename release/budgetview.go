package release

import (
	"context"
	"slices"
	"time"

	"github.com/darrm/darrm/ledger"
)

// BudgetView is the state of a ledger for people who look at it often: its size and its cost do not
// grow with the ledger. Like a [BudgetReport] it has no votes, no labels and no digest of votes.
type BudgetView struct {
	BudgetState
	Now      ledger.State
	Short    ShortBudget
	Warnings []string
	Charges  uint64         // all of the ledger's
	Read     uint64         // of these, how many were read, the latest
	Latest   []ReportEntry  // the last charges, the newest first, at most 20
	Spending []SpendingStep // in the order of the entries
	// by the charges that were read and who paid for them; each once, at most 40
	Assumed []string
}

// SpendingStep is the cost spent up to a time, rounded up.
type SpendingStep struct {
	Time           time.Time // by the clock of the machine that charged
	Epsilon, Delta float64
}

const (
	maxRead    = 1000
	maxLatest  = 20
	maxAssumed = 40
)

// NewBudgetView looks at a ledger. Errors and cost are those of [ledger.Ledger.Outline] for the
// latest 1000 charges.
func NewBudgetView(ctx context.Context, l *ledger.Ledger) (*BudgetView, error) {
	now, err := l.Outline(ctx, maxRead)
	if err != nil {
		return nil, err
	}
	v := &BudgetView{
		BudgetState: NewBudgetState(l, now.State), Now: now.State, Short: newShortBudget(now.Spent, l.Budget().Cost()),
		Warnings: warnings(l, now.Spent),
		Charges:  now.Charges, Read: uint64(len(now.Latest)),
	}
	for i := len(now.Latest) - 1; i >= 0 && len(v.Latest) < maxLatest; i-- {
		e := &now.Latest[i]
		taken := map[string]uint64{}
		if e.Quota != nil && e.PaidBy == "" {
			use, err := l.Quota(ctx, e.ID, "")
			if err != nil {
				return nil, err
			}
			taken[e.ID] = use.Taken
		}
		v.Latest = append(v.Latest, newReportEntry(e, "", taken))
	}
	for _, step := range now.Course {
		epsilon, delta := step.Spent.Ceil()
		v.Spending = append(v.Spending, SpendingStep{step.Time, epsilon, delta})
	}
	var assumed assumptions
	for _, e := range slices.Concat(now.Payers, now.Latest) {
		if len(assumed.list) < maxAssumed {
			assumed.of(&e)
		}
	}
	for _, a := range append(general(l.Relation()), assumed.list...) {
		v.Assumed = append(v.Assumed, a.Text)
	}
	return v, nil
}
