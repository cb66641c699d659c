package release

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/ledger"
)

// Bill is what a ledger is asked for.
type Bill struct {
	// Training is that of frozen teachers, charged once; nil of others.
	Training *ledger.Request
	// Release is charged by itself, or, where Training is there, at no cost.
	Release ledger.Request
	// Draw pays for every answer but the first to fresh teachers' votes: it is charged once,
	// when they are answered again. nil of others.
	Draw *ledger.Request
	// again is Release where Draw pays for it.
	again ledger.Request
}

// Bill works out what the release is charged: the same terms and totals give the same
// bytes. The terms are taken as checked, the totals as those of the terms' slack.
func (r Release) Bill(t Terms, totals Totals) (*Bill, error) {
	p, per := r.Problem, Cost(r.Answers.PerAnswer())
	event := Event{
		Mechanism: r.Answers.Name(), Queries: r.Queries, K: p.K, Affected: p.Affected, Teachers: t.Teachers,
		PerAnswer: &per, Slack: t.Slack, Key: t.Key, Rule: totals.Fresh.Rule,
	}
	switch {
	case t.Teachers == "":
		event.Teachers = "promise nothing"
	case t.fresh():
		event.PerTeacher = &Cost{p.Epsilon, p.TeacherDelta} // another answer to these votes must say the same
	}
	b := &Bill{}
	var err error
	switch draw := t.draw(); {
	case t.Teachers == ensemble.FrozenTeachers.String():
		event.Rule, event.Slack = "post-processing of the teachers", 0 // nothing composes
		if b.Training, err = r.training(t); err != nil {
			return nil, err
		}
		b.Release, err = t.paidRequest(event, b.Training.ID)
		return b, err
	case draw != nil:
		if b.Draw, err = r.drawRequest(t, *draw, totals.Again); err != nil {
			return nil, err
		}
		again := event
		again.Rule, again.Slack = "post-processing of the teachers' votes", 0
		if b.again, err = t.paidRequest(again, b.Draw.ID); err != nil {
			return nil, err
		}
		b.again.Draw = draw
	}
	if b.Release, err = t.request(t.RequestID, totals.Fresh.Cost, event); err != nil {
		return nil, err
	}
	b.Release.Draw = t.draw()
	return b, nil
}

// training is the charge of frozen teachers. It is paid once, so for any number of answers.
func (r Release) training(t Terms) (*ledger.Request, error) {
	p := r.Problem
	frozen, err := Frozen(p)
	if err != nil {
		return nil, err
	}
	training, err := t.request(TeachersPrefix+t.Ensemble, frozen.Cost, Event{
		Mechanism: trainingMechanism, K: p.K, Affected: p.Affected, Teachers: t.Teachers,
		PerTeacher: &Cost{p.Epsilon, p.TeacherDelta}, Rule: frozen.Rule,
	})
	return &training, err
}

// drawRequest is the charge for every further answer to a draw. What many answers to the
// same votes tell is a function of the votes: each teacher answered each query once, so the
// teachers' own promises compose, and no number of answers costs more.
func (r Release) drawRequest(t Terms, draw ledger.Draw, again *ensemble.Total) (*ledger.Request, error) {
	p := r.Problem
	id := DrawPrefix + draw.Name
	if t.Ensemble != "" {
		id = DrawPrefix + t.Ensemble + ":" + draw.Name
	}
	request, err := t.request(id, again.Cost, Event{
		Mechanism: drawMechanism, Queries: r.Queries, K: p.K, Affected: p.Affected, Teachers: t.Teachers,
		PerTeacher: &Cost{p.Epsilon, p.TeacherDelta}, Rule: again.Rule,
	})
	draw.Covers = true
	request.Draw = &draw
	return &request, err
}

func (t Terms) request(id string, cost accountant.Cost, event Event) (ledger.Request, error) {
	unit, err := ledger.NewCost(cost.Epsilon, cost.Delta)
	if err != nil {
		return ledger.Request{}, err
	}
	b, err := json.Marshal(event)
	return ledger.Request{
		ID: id, Count: 1, Unit: unit, Event: b, Relation: t.Relation, Ensemble: t.Ensemble, EnsembleDigest: t.EnsembleDigest,
	}, err
}

// paidRequest is the release's own entry where another charge pays for it.
func (t Terms) paidRequest(event Event, payer string) (ledger.Request, error) {
	b, err := json.Marshal(event)
	return ledger.Request{
		ID: t.RequestID, Count: 1, PaidBy: payer, Event: b, Relation: t.Relation, Ensemble: t.Ensemble, EnsembleDigest: t.EnsembleDigest,
	}, err
}

// settle returns what is to be charged as the ledger stands: payer, which may be charged
// already, is nil where the release pays for itself. Fresh teachers' votes are paid for as
// votes when somebody has answered them before.
func (b *Bill) settle(ctx context.Context, l *ledger.Ledger) (payer *ledger.Request, release ledger.Request, err error) {
	if b.Draw == nil {
		return b.Training, b.Release, nil
	}
	first, _, err := l.Drawn(ctx, b.Release.Ensemble, b.Release.Draw.Name)
	if err != nil || first == nil || first.ID == b.Release.ID {
		return nil, b.Release, err
	}
	// The votes come first: where they are others too, that is what is wrong.
	if first.Draw.Votes == b.Release.Draw.Votes && !samePromise(first.Event, b.Draw.Event) {
		return nil, ledger.Request{}, drawConflict(b.Draw.Draw, &ledger.ConflictError{
			ID: first.ID, Seq: first.Seq, What: "promise of the teachers", Earlier: &ledger.Replay{Charge: *first},
		})
	}
	return b.Draw, b.again, nil
}

// samePromise says whether two events are of teachers that promise the same. An event that
// does not say what they promise is of none.
func samePromise(a, b json.RawMessage) bool {
	var was, is Event
	if json.Unmarshal(a, &was) != nil || json.Unmarshal(b, &is) != nil || was.PerTeacher == nil || is.PerTeacher == nil {
		return false
	}
	return was.K == is.K && was.Affected == is.Affected && *was.PerTeacher == *is.PerTeacher
}

// Check says whether the bill would be paid, without paying it, and how much that would
// spend. The errors are those of [ledger.Ledger.Check], but for what [Again] says.
func (b *Bill) Check(ctx context.Context, l *ledger.Ledger) (ledger.Cost, error) {
	payer, release, err := b.settle(ctx, l)
	if err != nil {
		return ledger.Cost{}, err
	}
	if payer != nil {
		if err := l.Check(ctx, *payer, release); !errors.Is(err, ledger.ErrReplayed) {
			return payer.Unit, Again(payerConflict(err, payer), release, coins)
		}
	}
	return release.Unit, Again(l.Check(ctx, release), release, coins)
}

// Repeats says whether somebody answered the same draw before, as the ledger stands, so that
// its charge would pay for this release.
func (b *Bill) Repeats(ctx context.Context, l *ledger.Ledger) (bool, error) {
	payer, _, err := b.settle(ctx, l)
	return payer != nil && payer == b.Draw, err
}

// Repeated says the same of a charge that was made.
func Repeated(receipt *ledger.Receipt) bool {
	e := receipt.Entry()
	return e.Draw != nil && e.PaidBy != ""
}

// Pay charges the ledger and returns a receipt that is used up: drawing may begin. What
// covers many releases is charged with the first that needs it, in one write, and not
// again. After an error nothing may be drawn. The errors are those of
// [ledger.Ledger.Charge], but for what [Again] says; what resumed means, of answers with
// the coins of the key that the terms name, [Once] says.
func (b *Bill) Pay(ctx context.Context, l *ledger.Ledger, resumed bool) (*ledger.Receipt, error) {
	receipt, err := b.pay(ctx, l, resumed)
	if errors.Is(err, ledger.ErrDrawn) { // another process answered these votes meanwhile
		return b.pay(ctx, l, resumed)
	}
	return receipt, err
}

func (b *Bill) pay(ctx context.Context, l *ledger.Ledger, resumed bool) (*ledger.Receipt, error) {
	payer, release, err := b.settle(ctx, l)
	if err != nil {
		return nil, err
	}
	if payer == nil {
		return Once(ctx, l, release, coins, resumed)
	}
	receipts, err := l.ChargeAll(ctx, []ledger.Request{*payer, release})
	switch {
	case errors.Is(err, ledger.ErrReplayed): // the payer was charged before
		return Once(ctx, l, release, coins, resumed)
	case err != nil:
		return nil, Again(payerConflict(err, payer), release, coins)
	}
	for _, receipt := range receipts {
		if err := receipt.Redeem(); err != nil {
			return nil, err
		}
	}
	return receipts[1], nil
}

// payerConflict says what it means that the payer was charged for something else.
func payerConflict(err error, payer *ledger.Request) error {
	var conflict *ledger.ConflictError
	if !errors.As(err, &conflict) || conflict.ID != payer.ID {
		return err
	}
	if payer.Draw != nil {
		return drawConflict(payer.Draw, err)
	}
	return fmt.Errorf("ensemble %q was charged before, for teachers that promise something else (--ensemble): %w", payer.Ensemble, err)
}

func drawConflict(draw *ledger.Draw, err error) error {
	return fmt.Errorf("draw %q was answered before, for other votes or for teachers that promise something else (--draw): %w", draw.Name, err)
}

// Released reports whether the file that open opens holds what a replayed request
// released; err is the error of [Bill.Pay]. A file that cannot be read holds nothing.
func Released(err error, open func() (io.ReadCloser, error)) bool {
	var replayed *ledger.ReplayedError
	if !errors.As(err, &replayed) {
		return false
	}
	f, err := open()
	if err != nil {
		return false
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return false
	}
	digest := ledger.Digest(h.Sum(nil))
	for _, r := range replayed.Replays {
		if r.Result != nil && *r.Result == digest {
			return true
		}
	}
	return false
}
