package charge

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ledger"
)

// Bill is what a ledger is asked for.
type Bill struct {
	Training *ledger.Request // of frozen teachers, charged once; nil of others
	Release  ledger.Request
}

// Bill works out what the release is charged: the same terms and totals give the same
// bytes. The terms are taken as checked, the totals as those of the terms' slack.
func (r Release) Bill(t Terms, totals Totals) (*Bill, error) {
	p, per := r.Problem, Cost(r.Answers.PerAnswer())
	event := Event{
		Mechanism: r.Answers.Name(), Queries: r.Queries, K: p.K, Affected: p.Affected, Teachers: t.Teachers, Ensemble: t.Ensemble,
		PerAnswer: &per, Slack: t.Slack, Key: t.Key, Rule: totals.Fresh.Rule,
	}
	if t.Teachers == "" {
		event.Teachers = "promise nothing"
	}
	b := &Bill{}
	if t.Ensemble != "" {
		event.Rule = "post-processing of the teachers"
		// The training is paid for once, so for any number of answers.
		frozen, err := Frozen(p, r.Answers.PerAnswer())
		if err != nil {
			return nil, err
		}
		training, err := r.newRequest(TeachersPrefix+t.Ensemble, frozen.Cost, Event{
			Mechanism: "training", K: p.K, Affected: p.Affected, Teachers: t.Teachers, Ensemble: t.Ensemble,
			PerTeacher: &Cost{p.Epsilon, p.TeacherDelta}, Rule: frozen.Rule,
		})
		if err != nil {
			return nil, err
		}
		b.Training = &training
	}
	var err error
	if b.Release, err = r.newRequest(t.RequestID, totals.Fresh.Cost, event); err != nil {
		return nil, err
	}
	if b.Training != nil {
		b.Release.Unit, b.Release.PaidBy = ledger.Cost{}, b.Training.ID
	}
	return b, nil
}

// Relation is a neighbouring relation as the ledger names it; "" for none, which it refuses.
func Relation(r accountant.Relation) ledger.Relation {
	switch r {
	case accountant.ReplaceOne:
		return ledger.ReplaceOne
	case accountant.AddOrRemoveOne:
		return ledger.AddOrRemoveOne
	}
	return ""
}

func (r Release) newRequest(id string, cost accountant.Cost, event Event) (ledger.Request, error) {
	unit, err := ledger.NewCost(cost.Epsilon, cost.Delta)
	if err != nil {
		return ledger.Request{}, err
	}
	b, err := json.Marshal(event)
	return ledger.Request{ID: id, Count: 1, Unit: unit, Relation: Relation(r.Answers.Setting().Neighbours), Event: b}, err
}

// Check says whether the bill would be paid, without paying it, and how much that would
// spend. The errors are those of [ledger.Ledger.Check], but for what [Again] says.
func (b *Bill) Check(ctx context.Context, l *ledger.Ledger) (ledger.Cost, error) {
	if b.Training != nil {
		err := l.Check(ctx, *b.Training)
		if err == nil { // and then the answers have somebody who paid
			free := b.Release
			free.Unit, free.PaidBy = b.Training.Unit, ""
			return b.Training.Unit, l.Check(ctx, free)
		}
		if !errors.Is(err, ledger.ErrReplayed) {
			return ledger.Cost{}, err
		}
	}
	return b.Release.Unit, Again(l.Check(ctx, b.Release), b.Release, coins)
}

// Pay charges the ledger and returns a receipt that is used up: drawing may begin. The
// training of frozen teachers comes first, and one that was paid before is not paid again: a
// crash in between leaves it paid and nothing released. After an error nothing may be
// drawn. The errors are those of [ledger.Ledger.Charge], but for what [Again] says; what
// resumed means, of answers with the coins of the key that the terms name, [Once] says.
func (b *Bill) Pay(ctx context.Context, l *ledger.Ledger, resumed bool) (*ledger.Receipt, error) {
	if b.Training != nil {
		// An id that is used for something else is known before the training is paid.
		if _, err := b.Check(ctx, l); errors.Is(err, ledger.ErrConflict) {
			return nil, err
		}
		receipt, err := l.Charge(ctx, *b.Training)
		switch {
		case errors.Is(err, ledger.ErrReplayed): // paid before
		case err != nil:
			return nil, err
		default:
			if err := receipt.Redeem(); err != nil {
				return nil, err
			}
		}
	}
	return Once(ctx, l, b.Release, coins, resumed)
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
