package release

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/ledger"
)

// Quote states the cost of a release before it is made.
type Quote struct {
	Summary
	// Charge is the cost that the ledger would be charged. Remaining is the budget left before it.
	// Both are nil without a ledger.
	Charge, Remaining *ledger.Cost
}

// NewQuote returns the quote of a release. Ledger and bill are nil where nobody accounts for it. It
// charges nothing. The errors are those of [Bill.Check].
func NewQuote(ctx context.Context, s Summary, l *ledger.Ledger, b *Bill) (*Quote, error) {
	return newQuote(ctx, s, l, b, false)
}

// newQuote is NewQuote, where resumed means that a charge that was made is not made again.
func newQuote(ctx context.Context, s Summary, l *ledger.Ledger, b *Bill,
	resumed bool) (*Quote, error) {
	q := &Quote{Summary: s}
	if b == nil {
		return q, nil
	}
	charge, err := b.Check(ctx, l)
	switch {
	case resumed && paidFor(err):
		charge = ledger.Cost{} // it would be finished
	case err != nil:
		return nil, err
	}
	if q.Again, err = b.repeats(ctx, l); err != nil {
		return nil, err
	}
	if q.Again {
		q.PaidBy = b.draw.ID
	}
	remaining, err := l.Remaining(ctx)
	if err != nil {
		return nil, err
	}
	q.Charge, q.Remaining = &charge, &remaining
	return q, nil
}

// Rows returns the quote as a table for people: what, ε, δ.
func (q *Quote) Rows() (rows [][]string) {
	q = handle.Made(q)
	add := func(title string, c accountant.Cost) {
		rows = append(rows, []string{title, num.Outward(c.Epsilon, 6, true),
			num.Outward(c.Delta, 6, true)})
	}
	switch {
	case q.Together.Most > 0: // the one price that there is
		add(fmt.Sprintf("up to %d labels", q.Together.Most), q.PerAnswer)
	case q.Totals.Frozen == nil:
		add("one label", q.PerAnswer)
		add(fmt.Sprintf("all %d", q.Queries), q.Totals.Fresh.Cost)
	default:
		add("one label", q.PerAnswer)
		if q.Teachers != ensemble.FrozenTeachers {
			add(fmt.Sprintf("all %d, fresh teachers", q.Queries), q.Totals.Fresh.Cost)
			add("the same votes again, fresh", q.Totals.Again.Cost)
		}
		if q.Teachers != ensemble.FreshTeachers {
			add(fmt.Sprintf("all %d, frozen teachers", q.Queries), q.Totals.Frozen.Cost)
		}
	}
	if q.Charge != nil {
		rows = append(rows, NewAmount(*q.Charge).Row("the ledger would be charged", true),
			NewAmount(*q.Remaining).Row("of which remains now", false))
	}
	return rows
}

// Row shows six digits of an amount, which JSON has in full: what was spent is rounded up, what
// remains down.
func (x Amount) Row(title string, up bool) []string {
	return []string{title, sixDigits(x.Epsilon.String(), up), sixDigits(x.Delta.String(), up)}
}

func sixDigits(decimal string, up bool) string {
	x, err := strconv.ParseFloat(decimal, 64)
	exact, ok := new(big.Rat).SetString(decimal)
	if err != nil || !ok {
		return decimal
	}
	// x is not quite the decimal, and may lie on the wrong side of it.
	switch order := num.Decimal(x).Cmp(exact); {
	case up && order < 0:
		x = math.Nextafter(x, math.Inf(1))
	case !up && order > 0:
		x = math.Nextafter(x, 0)
	}
	return num.Outward(x, 6, up)
}
