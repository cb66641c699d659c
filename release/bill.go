package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/ledger"
)

// Bill holds the requests to a ledger that pay for a release. It is immutable and safe for
// concurrent use.
type Bill struct {
	// training is the charge of frozen teachers, a run whose answers are released one by one, or all
	// answers of a table, charged once; nil of others.
	training *ledger.Request
	// release is charged by itself, or, where training is there, at no cost.
	release ledger.Request
	// draw pays for every answer but the first to fresh teachers' votes: it is charged once,
	// when they are answered again. nil of others.
	draw *ledger.Request
	// again is release where draw pays for it.
	again ledger.Request
	// covered is true where training is known to be charged as it is here, so that the release
	// alone is left to be charged.
	covered bool
	// payer is the charge that labels are taken of, where that is known; "" where settle looks for it.
	payer string
	// own is true where training, of labels, is charged for this release whatever others are open, and
	// again where that was asked for.
	own bool
	// table is kept beside the ledger before anything is charged; nil for none.
	table *keptTable
	// coins is the field of the release's event that names the source of its coins. It
	// distinguishes one draw of them from another.
	coins string
}

// Bill works out what the answers are charged, by Totals of the charge's slack: the same charge
// gives the same bytes. The errors are those of [Charge.Check] and [Plan.Totals].
func (plan Plan) Bill(c Charge) (*Bill, error) {
	totals, err := plan.Totals(c.Slack)
	if err != nil {
		return nil, err
	}
	if err := c.Check(plan.promise()); err != nil {
		return nil, err
	}
	return plan.bill(c, totals)
}

// bill is Bill of a charge that was checked, with its totals.
func (plan Plan) bill(c Charge, totals Totals) (*Bill, error) {
	if err := plan.checkShare(c); err != nil {
		return nil, err
	}
	if own := plan.mechanism.LabelTables(); own != 0 && own != plan.several.Labels { // before anything is paid for
		return nil, usagef("the table has masses for each of %d labels of a question, and no labels are stated", own)
	}
	p, per := plan.mechanism.Setting(), plan.mechanism.PerAnswer()
	c.relation = p.Neighbours
	event := Event{
		Mechanism: plan.mechanism.Name(), Queries: plan.charged(), K: plan.several.TeachersOf(p.K), Affected: p.Affected,
		Teachers:  string(c.Teachers),
		PerAnswer: &per, Slack: totals.Slack, Key: c.Key, Rule: totals.Fresh.Rule, Online: c.online,
		AcceptWeak: c.AcceptWeak, Budget: c.budget, Missing: p.Missing,
		Same: slices.Sorted(slices.Values(spellings(c.Same))), Labels: c.labels,
	}
	if plan.several != (ensemble.Several{}) {
		event.Several = &plan.several
	}
	if !c.online && !c.bare {
		plan.name(&event)
		event.Stated = c.stated
	}
	if (!c.fresh() || c.Votes != nil) && c.Query != (ledger.Digest{}) { // a draw has its own, but not
		event.Votes = c.Query.String() // of the order of a batch's rows
	}
	switch {
	case c.Teachers == "":
		event.Teachers = "promise nothing"
	case c.fresh():
		event.PerTeacher = plan.perTeacher() // another answer to these votes must say the same
	}
	if c.online && plan.queries == 1 {
		event.Slack = 0 // one answer composes nothing
	}
	b := &Bill{coins: "key"}
	if !c.bare && (!c.online || plan.Together().Most > 0) {
		b.table = plan.keptTable()
	}
	var err error
	draw := c.draw()
	switch {
	case plan.Together().Most > 0:
		return b, plan.billLabels(b, c, event)
	case c.Teachers == ensemble.FrozenTeachers:
		event.Rule, event.Slack = "post-processing of the teachers", 0 // nothing composes
		if b.training, err = plan.trainingRequest(c); err != nil {
			return nil, err
		}
		if b.release, err = c.paidRequest(event, b.training.ID); err != nil {
			return nil, err
		}
		return b.judged(c.strength()), nil
	case draw != nil:
		if b.draw, err = plan.drawRequest(c, *draw, totals.Again); err != nil {
			return nil, err
		}
		again := event
		again.Rule, again.Slack = "post-processing of the teachers' votes", 0
		if b.again, err = c.paidRequest(again, b.draw.ID); err != nil {
			return nil, err
		}
		b.again.Draw = draw
	}
	if b.release, err = c.request(c.RequestID, totals.Fresh.Cost, event); err != nil {
		return nil, err
	}
	b.release.Draw = draw
	return b.judged(c.strength()), nil
}

// checkShare refuses a client's share that bounds nothing: answers that are paid for together cost
// nothing each, and others have no number that could run out.
func (plan Plan) checkShare(c Charge) error {
	switch together := plan.Together().Most > 0; {
	case together && c.Share != nil:
		return &UsageError{check.Want("share", *c.Share,
			"left out where one charge pays for many labels, which cost nothing each: state a share in answers")}
	case !together && c.AnswersShare != nil:
		return &UsageError{check.Want("share in answers", *c.AnswersShare,
			"left out unless one charge pays for many labels: state a share of the budget")}
	}
	return nil
}

func (plan Plan) perTeacher() *accountant.Cost {
	return new(plan.mechanism.Teachers())
}

// trainingRequest is the charge of frozen teachers. It is paid once, so for any number of answers.
func (plan Plan) trainingRequest(c Charge) (*ledger.Request, error) {
	frozen, err := plan.frozen()
	if err != nil {
		return nil, err
	}
	return plan.onceRequest(c, teachersPrefix+c.Ensemble, frozen, Event{Mechanism: trainingMechanism})
}

// onceRequest is a charge of teachers' own privacy that is made once, for whoever asks.
func (plan Plan) onceRequest(c Charge, id string, total ensemble.Total, event Event) (*ledger.Request, error) {
	p := plan.mechanism.Setting()
	event.K, event.Affected, event.Teachers = plan.several.TeachersOf(p.K), p.Affected, string(c.Teachers)
	event.PerTeacher, event.Rule = plan.perTeacher(), total.Rule
	c.Client, c.Share = "", nil
	r, err := c.request(id, total.Cost, event)
	return &r, err
}

// drawRequest is the charge for every further answer to a draw. What many answers to the
// same votes tell is a function of the votes: each teacher answered each query once, so the
// teachers' own promises compose, and no number of answers costs more.
func (plan Plan) drawRequest(c Charge, draw ledger.Draw,
	again *ensemble.Total) (*ledger.Request, error) {
	id := coverID(c.Ensemble, draw.Name)
	if len(id) > ledger.MaxID {
		return nil, check.Wantf("names of ensemble and draw", fmt.Sprintf("%q, %q", c.Ensemble, draw.Name),
			"at most %d bytes long together, where a colon and a percent sign count as three",
			ledger.MaxID-len(drawPrefix)-1)
	}
	request, err := plan.onceRequest(c, id, *again, Event{Mechanism: drawMechanism, Queries: plan.queries})
	draw.Covers = true
	request.Draw = &draw
	return request, err
}

// coverID is the id of the charge that covers a draw. No two draws have one: colons within the
// names are escaped, so that the one between them marks the end of the ensemble.
func coverID(ensemble, name string) string {
	escape := strings.NewReplacer("%", "%25", ":", "%3A").Replace
	if ensemble == "" {
		return drawPrefix + escape(name)
	}
	return drawPrefix + escape(ensemble) + ":" + escape(name)
}

// request is the charge of a cost for the teachers of c.
func (c Charge) request(id string, cost accountant.Cost, event Event) (ledger.Request, error) {
	r, err := c.paidRequest(event, "")
	if err == nil {
		r.ID = id
		r.Unit, err = ledger.NewCost(cost.Epsilon, cost.Delta)
	}
	return r, err
}

// costing is the charge of a cost for what has neither teachers nor a payer.
func costing(id string, cost accountant.Cost, event any, relation accountant.Relation) (ledger.Request, error) {
	unit, err := ledger.NewCost(cost.Epsilon, cost.Delta)
	if err != nil {
		return ledger.Request{}, err
	}
	text, err := json.Marshal(event)
	return ledger.Request{ID: id, Count: 1, Unit: unit, Event: text, Relation: relation}, err
}

// paidRequest is the release's own entry where another charge pays for it.
func (c Charge) paidRequest(event Event, payer string) (ledger.Request, error) {
	b, err := json.Marshal(event)
	return ledger.Request{
		ID: c.RequestID, Count: 1, PaidBy: payer, Client: c.Client, Share: c.Share, Event: b,
		Relation: c.relation,
		Ensemble: c.Ensemble, EnsembleDigest: c.EnsembleDigest,
	}, err
}

// settle returns what is to be charged as the ledger stands: payer, which may be charged
// already, is nil where the release pays for itself. Fresh teachers' votes are paid for as
// votes when somebody has answered them before.
func (b *Bill) settle(ctx context.Context, l *ledger.Ledger) (
	payer *ledger.Request, release ledger.Request, err error) {
	switch {
	case b.labels():
		return b.settleLabels(ctx, l)
	case b.covered:
		return nil, b.release, nil
	case b.draw == nil:
		return b.training, b.release, nil
	}
	first, _, err := l.Drawn(ctx, b.release.Ensemble, b.release.Draw.Name)
	if err != nil || first == nil || first.ID == b.release.ID {
		return nil, b.release, err
	}
	// The votes come first: where they are others too, that is what is wrong.
	if first.Draw.Votes == b.release.Draw.Votes && !samePromise(first.Event, b.draw.Event) {
		return nil, ledger.Request{}, drawConflict(b.draw.Draw, &ledger.ConflictError{
			ID: first.ID, Seq: first.Seq, What: "promise of the teachers",
			Earlier: &ledger.Replay{Charge: *first},
		})
	}
	return b.draw, b.again, nil
}

// samePromise reports whether two events state the same promise of the teachers. An event without a
// stated promise equals no other.
func samePromise(a, b json.RawMessage) bool {
	var was, is Event
	if json.Unmarshal(a, &was) != nil || json.Unmarshal(b, &is) != nil || was.PerTeacher == nil ||
		is.PerTeacher == nil {
		return false
	}
	return was.K == is.K && was.Affected == is.Affected && *was.PerTeacher == *is.PerTeacher
}

// Check returns the cost that paying the bill would spend, or the error that would refuse it. It
// pays nothing. The errors are those of [ledger.Ledger.Check], but that a release which differs
// from an earlier one in its coins alone is an [ledger.ErrReplayed].
func (b *Bill) Check(ctx context.Context, l *ledger.Ledger) (ledger.Cost, error) {
	b = handle.Made(b)
	payer, release, err := b.settle(ctx, l)
	if err != nil {
		return ledger.Cost{}, err
	}
	if payer != nil {
		if err := l.Check(ctx, *payer, release); !errors.Is(err, ledger.ErrReplayed) {
			return payer.Unit, replayed(payerConflict(err, payer), release, b.coins)
		}
	}
	return release.Unit, replayed(l.Check(ctx, release), release, b.coins)
}

// repeats reports whether the same draw was answered before, as the ledger stands, so that its
// charge would pay for this release.
func (b *Bill) repeats(ctx context.Context, l *ledger.Ledger) (bool, error) {
	payer, _, err := b.settle(ctx, l)
	return payer != nil && payer == b.draw, err
}

// repeated reports the same of a charge that was made.
func repeated(receipt *ledger.Receipt) bool {
	e := receipt.Entry()
	return e.Draw != nil && e.PaidBy != ""
}

// Pay charges the ledger and returns a receipt that is used up: drawing may begin. What
// covers many releases is charged with the first that needs it, in one write, and not
// again. After an error nothing may be drawn. The errors are those of [ledger.Ledger.Charge], but
// that a release which differs from an earlier one in its coins alone is an [ledger.ErrReplayed].
//
// resumed states that the answers will be those of an earlier try, with the coins of the key that
// the charge names. Then a release that was charged before is no error: the receipt is of that
// charge, and what is noted with it is the only result that may be published.
func (b *Bill) Pay(ctx context.Context, l *ledger.Ledger, resumed bool) (*ledger.Receipt, error) {
	b = handle.Made(b)
	paid, err := b.pay(ctx, l, resumed, nil)
	return paid.Receipt, err
}

// pay is Pay, with what is drawn with the charge. What it returns has a Charge where the release
// was charged before.
func (b *Bill) pay(ctx context.Context, l *ledger.Ledger, resumed bool,
	now *drawn) (ledger.Replay, error) {
	if !b.covered && b.payer == "" {
		if err := b.table.keep(ctx, l); err != nil {
			return ledger.Replay{}, err
		}
	}
	for try := 0; ; try++ {
		paid, err := b.payOnce(ctx, l, resumed, now)
		switch {
		case b.labels() && try < mostTries:
			if next := b.elsewhere(err); next != nil {
				b = next
				continue
			}
		case errors.Is(err, ledger.ErrDrawn) && try == 0:
			continue // another process answered these votes meanwhile
		}
		return paid, err
	}
}

func (b *Bill) payOnce(ctx context.Context, l *ledger.Ledger, resumed bool,
	now *drawn) (ledger.Replay, error) {
	payer, release, err := b.settle(ctx, l)
	if err != nil {
		return ledger.Replay{}, err
	}
	if payer == nil {
		return chargeOnce(ctx, l, release, b.coins, resumed, now)
	}
	receipt, err := now.charge(ctx, l, *payer, release)
	switch {
	case errors.Is(err, ledger.ErrReplayed): // the payer was charged before
		return chargeOnce(ctx, l, release, b.coins, resumed, now)
	case err != nil:
		return ledger.Replay{}, replayed(payerConflict(err, payer), release, b.coins)
	}
	return ledger.Replay{Receipt: receipt}, nil
}

// payerConflict adds to a conflict over the payer's id what the payer stands for. It returns other
// errors unchanged.
func payerConflict(err error, payer *ledger.Request) error {
	var conflict *ledger.ConflictError
	if !errors.As(err, &conflict) || conflict.ID != payer.ID {
		return err
	}
	switch {
	case payer.Draw != nil:
		return drawConflict(payer.Draw, err)
	case payer.Quota != nil:
		return fmt.Errorf("these labels were charged before, in another way: %w", err)
	case strings.HasPrefix(payer.ID, runPrefix):
		return fmt.Errorf("this run was charged before, for another cost: %w", err)
	}
	return check.Namedf("ensemble %q was charged before, for teachers that promise something else "+
		"(%s): %w", payer.Ensemble, pEnsemble, err)
}

func drawConflict(draw *ledger.Draw, err error) error {
	return check.Namedf("draw %q was answered before, for other votes or for teachers that promise "+
		"something else (%s): %w", draw.Name, pDraw, err)
}
