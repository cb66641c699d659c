package release

import (
	"context"
	"fmt"

	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/votes"
)

// choose sets the plan of so many teachers and classes: that of an earlier charge, or a new one.
func (r *labelRun) choose(ctx context.Context, teachers, classes int) error {
	r.Charge.stated = r.statement(teachers, classes)
	if found, err := r.paidBefore(ctx); found || err != nil {
		return err
	}
	if r.Within == nil {
		planned, err := r.Plan(ctx, teachers, classes)
		if err != nil || r.Queries == 0 {
			r.planned = planned
			return err
		}
		r.planned, err = planned.ForLabels(r.Queries, r.Charge.Slack)
		return err
	}
	budget, err := r.budget(ctx)
	if err != nil {
		return err
	}
	labels := r.counted.queries
	if r.Queries > 0 {
		labels = r.Queries
	}
	if labels < r.counted.queries {
		return tooMany(r.counted.queries, labels)
	}
	planned, slack, err := r.Within(ctx, budget, teachers, classes, labels)
	if err != nil {
		return err
	}
	if r.Queries > 0 && planned.mechanism != nil && (!planned.promise() ||
		labels != r.counted.queries && r.Charge.fresh()) {
		if planned, err = planned.ForLabels(labels, &slack); err != nil {
			return err
		}
	}
	if r.Charge.stated != nil {
		r.Charge.stated.Budget = &budget
	}
	r.use(planned, Event{Budget: &budget, Slack: slack})
	return nil
}

// use takes a plan with what its budget's event states.
func (r *labelRun) use(plan Plan, event Event) {
	r.planned = plan
	if r.Within == nil {
		return
	}
	r.Charge.Slack, r.Charge.budget = &event.Slack, event.Budget
	if r.coins != nil {
		r.coins.budget = event.Budget
	}
	if plan.mechanism != nil && !plan.promise() {
		// All that is of teachers' own privacy goes with it.
		r.Charge.Teachers, r.Charge.Ensemble, r.Charge.EnsembleDigest = "", "", ""
		r.Charge.Draw, r.Charge.VotesCastAnew = "", false
	}
}

// statement completes what was stated by what the votes say; nil where nothing was.
func (r *labelRun) statement(teachers, classes int) *Statement {
	if r.Stated == nil {
		return nil
	}
	s := *r.Stated
	s.K, s.Classes, s.Labels = teachers, classes, r.Queries
	s.Missing = r.Read.Missing == votes.MissingAbstain
	if s.Affected == AllTeachers {
		s.Affected = teachers
	}
	if r.Within != nil {
		s.Rest = r.Budget.restName()
		budget := r.Budget.Cost // what is the rest is compared by Rest alone
		s.Budget = &budget
	}
	return &s
}

// restName says what of a budget is the ledger's rest.
func (b LabelBudget) restName() string {
	switch {
	case b.RestEpsilon && b.RestDelta:
		return "ε, δ"
	case b.RestEpsilon:
		return "ε"
	case b.RestDelta:
		return "δ"
	}
	return ""
}

// paidBefore takes the plan of the charge of the same request, or of an open one of the same
// statement: what was paid for is not planned again. It compares all that was stated.
func (r *labelRun) paidBefore(ctx context.Context) (found bool, err error) {
	book := r.transaction.Ledger
	if book == nil {
		return false, nil
	}
	earlier, err := book.Find(ctx, r.Charge.RequestID)
	if err != nil {
		return false, err
	}
	if earlier != nil {
		return r.askedBefore(ctx, book, earlier)
	}
	stated := r.Charge.stated
	if stated.own() || r.Charge.NewCharge || r.counted == nil {
		return false, nil
	}
	all, err := book.Quotas(ctx)
	if err != nil {
		return false, err
	}
	n := uint64(r.counted.queries)
	open, most := enoughLeft(all, n, func(_ *ledger.QuotaUse, event *Event) bool {
		return event.Stated != nil && stated.differs(event.Stated) == ""
	})
	if open == nil && most != nil {
		return false, tooFew(ctx, book, most, n)
	}
	if open == nil {
		return false, nil
	}
	event, _ := paidEvent(&open.Charge)
	return true, r.take(ctx, book, &open.Charge, event)
}

// askedBefore takes the plan of a request's own charge. An entry without a statement is of a
// release that had none: it is planned, and the ledger compares what is charged.
func (r *labelRun) askedBefore(ctx context.Context, book *ledger.Ledger,
	earlier *ledger.Entry) (found bool, err error) {
	was, label := labelEvent(earlier)
	if !label {
		return false, nil
	}
	r.Charge.bare = was.Table == "" && was.Parameters == ""
	stated := r.Charge.stated
	switch {
	case was.Stated == nil:
		r.Charge.stated = nil
		return false, nil
	case stated == nil: // the table itself is given
		r.Charge.stated, r.Charge.budget = was.Stated, was.Budget
		if r.Charge.Slack == nil && earlier.Quota == nil {
			r.Charge.Slack = &was.Slack
		}
		return false, nil
	}
	if differs := stated.differs(was.Stated); differs != "" {
		return false, fmt.Errorf("%w: request %q is entry %d, which was charged for another %s",
			ledger.ErrConflict, earlier.ID, earlier.Seq, differs)
	}
	payer := earlier
	if earlier.Quota != nil && earlier.PaidBy != "" {
		if payer, err = book.Find(ctx, earlier.PaidBy); err != nil {
			return false, err
		}
	}
	event, ok := paidEvent(payer)
	if !ok {
		return false, nil
	}
	event.Stated = was.Stated
	return true, r.take(ctx, book, payer, event)
}

// take takes the plan of a charge.
func (r *labelRun) take(ctx context.Context, book *ledger.Ledger, e *ledger.Entry,
	event Event) error {
	var plan Plan
	var err error
	if r.Within == nil && event.Table == "" { // it is calibrated from what was stated
		plan, err = r.Plan(ctx, event.K, event.Stated.Classes)
		if err == nil && event.Answers > 0 {
			plan, err = plan.ForLabels(event.Answers, &event.Slack)
		}
	} else {
		plan, err = paidPlan(ctx, book, e, event, book.Relation())
	}
	if err != nil {
		return err
	}
	if event.Stated.Budget != nil {
		event.Budget = event.Stated.Budget
		r.Charge.stated.Budget = event.Budget
	}
	r.use(plan, event)
	return nil
}
