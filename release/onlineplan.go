package release

import (
	"context"

	"github.com/darrm/darrm/ledger"
)

// plan sets the plan within the budget of all labels: that of the ledger's charge of the same
// statement, the oldest with labels left, or a new one. Where all labels of all such charges are
// taken, the mechanism is that of one of them: it repeats its answers, and draws no new one.
func (o *Online) plan(ctx context.Context) error {
	n := o.options.Statement
	switch {
	case n == nil || n.Labels < 1:
		return usagef("a budget of all labels is for a number of them: give %s", pQueries)
	case o.options.Plan.mechanism != nil:
		return usagef("plan and within exclude each other")
	case o.options.Charge.Ledger == "":
		return usagef("answers on line need a ledger: give %s", pLedger)
	}
	book := o.options.Book
	if book == nil {
		var err error
		if book, err = o.options.Charge.Open(ctx); err != nil {
			return err
		}
	}
	stated, budget := *n, o.options.Budget.Cost
	stated.Rest, stated.Budget = o.options.Budget.restName(), &budget
	all, err := book.Quotas(ctx)
	if err != nil {
		return err
	}
	open, most := enoughLeft(all, 1, func(_ *ledger.QuotaUse, event *Event) bool {
		return event.Stated != nil && stated.differs(event.Stated) == ""
	})
	if open == nil {
		open = most
	}
	if open != nil {
		event, _ := paidEvent(&open.Charge)
		o.options.Charge.stated = event.Stated
		o.options.Plan, err = paidPlan(ctx, book, &open.Charge, event, book.Relation())
		return err
	}
	if o.options.Budget.rest() {
		rest, err := o.options.Budget.left(ctx, book)
		if err != nil {
			return err
		}
		budget = o.options.Budget.resolve(rest)
	}
	plan, slack, err := o.options.Within(ctx, budget)
	if err != nil {
		return err
	}
	o.options.Charge.stated = &stated
	o.options.Plan, err = plan.ForLabels(stated.Labels, &slack)
	return err
}
