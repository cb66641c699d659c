package release

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/darrm/darrm/ledger"
)

// choose sets the plan of so many teachers and classes: that of an earlier charge, or a new one.
func (r *LabelRun) choose(ctx context.Context, teachers, classes int) error {
	r.Charge.stated = r.statement(teachers, classes)
	if found, err := r.paidBefore(ctx); found || err != nil {
		return err
	}
	if r.Budget == nil {
		r.need(Need{Teachers: teachers, Classes: classes}, func(planned Plan, _ float64) (err error) {
			if r.planned = planned; r.Queries > 0 {
				r.planned, err = planned.ForQuestions(r.Queries, r.questions, r.Charge.Slack)
			}
			return err
		})
		return nil
	}
	budget, err := r.budget(ctx)
	if err != nil {
		return err
	}
	labels, each := r.counted.queries, max(1, len(r.Read.Labels))
	if r.Queries > 0 {
		labels = r.Queries * each
	}
	if labels < r.counted.queries {
		return tooMany(r.counted.queries/each, r.Queries)
	}
	r.need(Need{teachers, classes, labels, budget}, func(planned Plan, slack float64) (err error) {
		if r.Queries > 0 && planned.mechanism != nil && (!planned.promise() ||
			labels != r.counted.queries && r.Charge.fresh()) {
			n := r.questions.Answers(labels, planned.mechanism.Setting().Affected)
			if planned, err = planned.ForLabels(n, &slack); err != nil {
				return err
			}
		}
		if r.Charge.stated != nil {
			r.Charge.stated.Budget = &budget
		}
		r.take(planned, Event{Budget: &budget, Slack: slack})
		return nil
	})
	return nil
}

// need asks for a plan, and says who takes it.
func (r *LabelRun) need(n Need, use func(p Plan, slack float64) error) { r.needs, r.use = &n, use }

// take takes a plan with what its budget's event states.
func (r *LabelRun) take(plan Plan, event Event) {
	r.planned = plan
	if r.Budget == nil {
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
func (r *LabelRun) statement(teachers, classes int) *Statement {
	if r.Stated == nil {
		return nil
	}
	s := r.Stated.Of(teachers, classes, r.Queries, r.Read.Missing, r.questions)
	if r.Budget != nil {
		return s.Within(*r.Budget)
	}
	return s
}

// paidBefore takes the plan of the charge of the same request, or of an open one of the same
// statement: what was paid for is not planned again. It compares all that was stated.
func (r *LabelRun) paidBefore(ctx context.Context) (found bool, err error) {
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
	n := uint64(r.questions.Answers(r.counted.queries, stated.Affected))
	open, most, err := openCharges(ctx, book, stated, n)
	switch {
	case err != nil:
		return false, err
	case open != nil:
		event, _ := paidEvent(&open.Charge)
		return true, r.takePaid(ctx, book, &open.Charge, event)
	case most != nil:
		return false, tooFew(ctx, book, most, n)
	}
	return false, nil
}

// askedBefore takes the plan of a request's own charge. An entry without a statement is of a
// release that had none: it is planned, and the ledger compares what is charged.
func (r *LabelRun) askedBefore(ctx context.Context, book *ledger.Ledger,
	earlier *ledger.Entry) (found bool, err error) {
	was, label := labelEvent(earlier)
	if !label {
		return false, nil
	}
	if !slices.Equal(was.Labels, r.Read.Labels) {
		return false, fmt.Errorf("%w: request %q is entry %d, whose questions were charged with the labels %s in this "+
			"order: they are paid for, and a release in another order needs another request", ledger.ErrConflict, earlier.ID,
			earlier.Seq, strings.Join(was.Labels, ", "))
	}
	r.Charge.bare = was.Table == "" && was.Parameters == "" && was.Stated == nil
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
		return false, fmt.Errorf("%w: request %q is entry %d, which was stated otherwise: %s",
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
	return true, r.takePaid(ctx, book, payer, event)
}

// takePaid takes the plan of a charge. Without a table it is calibrated again from what was stated, and
// must be the same.
func (r *LabelRun) takePaid(ctx context.Context, book *ledger.Ledger, e *ledger.Entry,
	event Event) error {
	paid := func() error {
		plan, err := paidPlan(ctx, book, e, event, book.Relation())
		if err == nil {
			r.takeOf(plan, event)
		}
		return err
	}
	if r.Budget != nil || event.Table != "" {
		return paid()
	}
	r.need(Need{Teachers: event.K, Classes: event.Stated.Classes}, func(plan Plan, _ float64) (err error) {
		if event.Parameters != "" && (plan.mechanism == nil || plan.mechanism.Parameters() != event.Parameters) {
			return paid()
		}
		if event.Answers > 0 {
			plan, err = plan.ForLabels(event.Answers, &event.Slack)
		}
		if err == nil {
			r.takeOf(plan, event)
		}
		return err
	})
	return nil
}

// takeOf takes the plan of a charge's event.
func (r *LabelRun) takeOf(plan Plan, event Event) {
	if event.Stated.Budget != nil {
		event.Budget = event.Stated.Budget
		r.Charge.stated.Budget = event.Budget
	}
	r.take(plan, event)
}
