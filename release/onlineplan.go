package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/darrm/darrm/ledger"
)

// plan sets the plan of a statement. Labels that one charge pays for have the plan of the oldest charge of the same
// statement with labels left; where none has any, that of one of them, which repeats its answers and draws
// no new one. Other labels have the plan of earlier answers. Without either, the plan is the one that was given.
func (o *Online) plan(ctx context.Context) error {
	if o.options.Charge.Ledger == "" {
		return usagef("answers on line need a ledger: give %s", pLedger)
	}
	if o.options.Book == nil {
		book, err := o.options.Charge.Open(ctx)
		if err != nil {
			return err
		}
		o.options.Book = book
	}
	stated := o.options.Statement
	if stated.Labels < 1 {
		return o.planEach(ctx, stated)
	}
	open, event, err := openCharge(ctx, o.options.Book, stated)
	switch {
	case err != nil:
		return err
	case open != nil:
		o.options.Charge.stated = event.Stated
		o.options.Plan, err = paidPlan(ctx, o.options.Book, &open.Charge, event, o.options.Book.Relation())
		return err
	}
	o.options.Charge.stated = stated
	if err := o.options.Plan.check(); err != nil {
		return err
	}
	n := stated.Labels * stated.several().PerQuestion(o.options.Plan.mechanism.Setting().Affected)
	if o.options.Plan.Together().Most != n {
		o.options.Plan, err = o.options.Plan.ForLabels(n, o.options.Charge.Slack)
	}
	return err
}

// planEach sets the plan of answers that pay for themselves. Such an answer does not name its table:
// its keyed digest binds it. The ledger keeps the name under the statement's instead, once for all
// answers, so that whoever states the same later answers by the same table and plans nothing.
func (o *Online) planEach(ctx context.Context, stated *Statement) error {
	kept, found, err := o.keptPlan(ctx, stated)
	if found || err != nil {
		o.options.Plan = kept
		return err
	}
	if plan := o.options.Plan; plan.check() != nil || !plan.tabled() {
		return nil // what has no table is calibrated from what is stated
	}
	return o.keepName(ctx, stated)
}

// keepName keeps the table of the plan, and its name under the statement's. Of two servers that keep a
// name at once both take the first.
func (o *Online) keepName(ctx context.Context, stated *Statement) error {
	book, plan := o.options.Book, o.options.Plan
	setting, per := plan.mechanism.Setting(), plan.mechanism.PerAnswer()
	event := Event{Mechanism: plan.mechanism.Name(), K: stated.several().TeachersOf(setting.K), Affected: setting.Affected,
		PerAnswer: &per, Stated: stated, Online: true, Several: stated.Several}
	plan.name(&event)
	content, err := json.Marshal(event)
	if err != nil {
		return err
	}
	if err := plan.keptTable().keep(ctx, book); err != nil {
		return err
	}
	if err := book.Keep(ctx, stated.digest(), content); err != nil {
		return &LedgerError{fmt.Errorf("the name of the table that is to answer could not be kept beside "+
			"the ledger: %w", err)}
	}
	kept, found, err := o.keptPlan(ctx, stated)
	if err == nil && found && kept.tableDigest() != plan.tableDigest() { // of another server, a moment ago
		o.options.Plan = kept
	}
	return err
}

// keepGiven keeps a table that was handed in: so one comes back that is lost beside the ledger. A store
// that may keep none is no error, since no answer of a table that is at hand needs it.
func (o *Online) keepGiven(ctx context.Context) error {
	if o.options.Statement != nil || !o.options.Plan.tabled() {
		return nil
	}
	if err := o.options.Plan.keptTable().keep(ctx, o.book); !errors.Is(err, ledger.ErrKept) {
		return err
	}
	return nil
}

// keptPlan is [keptPlan] of the ledger, and keeps what the operator states.
func (o *Online) keptPlan(ctx context.Context, stated *Statement) (plan Plan, found bool, err error) {
	plan, found, err = keptPlan(ctx, o.options.Book, stated)
	if found {
		err = Match(o.options.Stated, plan.mechanism.Problem(), "the table that is kept beside the ledger")
	}
	return plan, found && err == nil, err
}
