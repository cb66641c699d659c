package release

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/ledger"
)

// FindPaid returns the plan that the ledger has for a statement, judged again, and the δ′ that its labels'
// composition spends. Where one charge pays for many labels, it is the plan of the oldest open charge, else of the
// charge with the most labels left. Where each label has a price, it is the plan of answers on line, else
// of the oldest release. found is false without such a charge: then a plan has to be made. A release
// decides again, by the same rule, when it runs.
//
// The statement must have K, Classes, Affected and, of labels that one charge pays for, Labels and
// Budget. A table that is named and cannot be used is an error. Cost: one passage through the ledger.
func FindPaid(ctx context.Context, book *ledger.Ledger, s Statement) (p Plan, slack float64, found bool,
	err error) {
	if book == nil {
		return Plan{}, 0, false, usagef("a ledger must be given")
	}
	stated := handle.Deep(&s)
	if !stated.own() {
		open, event, err := openCharge(ctx, book, stated)
		if open == nil || err != nil {
			return Plan{}, 0, false, err
		}
		p, err = paidPlan(ctx, book, &open.Charge, event, book.Relation())
		return p, event.Slack, err == nil, err
	}
	if p, found, err = keptPlan(ctx, book, stated); found || err != nil {
		return p, 0, found, err
	}
	history, err := book.History(ctx)
	if err != nil {
		return Plan{}, 0, false, err
	}
	for i := range history {
		event, label := labelEvent(&history[i])
		if label && event.Table != "" && event.Stated != nil && stated.differs(event.Stated) == "" {
			p, err = paidPlan(ctx, book, &history[i], event, book.Relation())
			return p, event.Slack, err == nil, err
		}
	}
	return Plan{}, 0, false, nil
}

// openCharge returns the oldest charge of a statement with a question left or, where none has, the one with
// the most: its mechanism repeats its answers, and draws no new one. nil where there is none.
func openCharge(ctx context.Context, book *ledger.Ledger, stated *Statement) (*ledger.QuotaUse, Event,
	error) {
	open, most, err := openCharges(ctx, book, stated, uint64(stated.several().PerQuestion(stated.Affected)))
	if open == nil {
		open = most
	}
	if open == nil || err != nil {
		return nil, Event{}, err
	}
	event, _ := paidEvent(&open.Charge)
	return open, event, nil
}

// openCharges is [enoughLeft] of the charges of a statement.
func openCharges(ctx context.Context, book *ledger.Ledger, stated *Statement, n uint64) (enough,
	most *ledger.QuotaUse, err error) {
	all, err := book.Quotas(ctx)
	if err != nil {
		return nil, nil, err
	}
	enough, most = enoughLeft(all, n, func(_ *ledger.QuotaUse, event *Event) bool {
		return event.Stated != nil && stated.differs(event.Stated) == ""
	})
	return enough, most, nil
}

// keptPlan returns the plan whose name is kept under that of a statement. The caller compares it with
// what is stated of one answer, too: no hash of the ledger covers what is kept.
func keptPlan(ctx context.Context, book *ledger.Ledger, stated *Statement) (plan Plan, found bool,
	err error) {
	name := stated.digest()
	content, err := book.Kept(ctx, name)
	if errors.Is(err, ledger.ErrKept) {
		return Plan{}, false, nil
	}
	if err != nil {
		return Plan{}, false, err
	}
	var event Event
	if err := json.Unmarshal(content, &event); err != nil || event.Stated == nil ||
		stated.differs(event.Stated) != "" {
		return Plan{}, false, &LedgerError{check.Namedf("what is kept beside the ledger as %.8v… is not of "+
			"this statement; the table that answered takes its place (%s)", name, pTable)}
	}
	plan, err = readKept(ctx, book, "on line", event, book.Relation())
	return plan, err == nil, err
}

// digest names a statement.
func (s *Statement) digest() (d ledger.Digest) {
	text, _ := json.Marshal(s) // numbers and texts always have JSON
	_, _ = hex.Decode(d[:], []byte(named("statement of answers on line", string(text))))
	return d
}

// chargeOnce charges a release and returns a receipt that is used up: drawing may begin. The
// receipt stands alone, or with the charge of an earlier try where that paid. After
// an error nothing may be drawn. coins is the field of the event that names the source of the
// coins. It distinguishes one draw from another.
//
// resumed means that the answers will be those of an earlier try, with the coins that the event
// names. Then a release that was charged before is no error: it is paid for, and the same answers
// are no second release. They have one digest, so whatever they were drawn with, only what is noted
// with the receipt may be published. Where the event has no field coins they would be others, and
// it is refused like any replay.
//
// The errors are those of [ledger.Ledger.Charge], corrected by [replayed].
func chargeOnce(ctx context.Context, l *ledger.Ledger, r ledger.Request, coins string,
	resumed bool, now *drawn) (ledger.Replay, error) {
	receipt, err := now.charge(ctx, l, r)
	if err == nil {
		return ledger.Replay{Receipt: receipt}, nil
	}
	var earlier *ledger.ReplayedError
	if resumed && errors.As(err, &earlier) {
		if event, ok := fields(r.Event); ok && event[coins] != nil {
			return earlier.Replays[0], nil
		}
	}
	return ledger.Replay{}, replayed(err, r, coins)
}

// replayed corrects the refusal of r where its id was charged before for the same release with
// other coins. That is no conflict but a [ledger.ReplayedError], without a receipt. Other errors
// are returned unchanged. A release with coins of its own names others whenever it is asked for
// again.
func replayed(err error, r ledger.Request, coins string) error {
	var conflict *ledger.ConflictError
	if !errors.As(err, &conflict) || conflict.ID != r.ID || conflict.Earlier == nil {
		return err
	}
	if conflict.What != "event" {
		return err // it differs in what was paid for, or for whom
	}
	was, ok := fields(conflict.Earlier.Charge.Event)
	is, also := fields(r.Event)
	if !ok || !also {
		return err
	}
	delete(was, coins)
	delete(is, coins)
	if !reflect.DeepEqual(was, is) {
		return err
	}
	return &ledger.ReplayedError{Replays: []ledger.Replay{*conflict.Earlier}}
}

// paidFor reports whether a release was refused because it was paid for before, with these very
// coins. Whoever kept the coins can finish it.
func paidFor(err error) bool {
	var earlier *ledger.ReplayedError
	return errors.As(err, &earlier) && earlier.Replays[0].Receipt != nil
}

// fields are those of an event that is an object.
func fields(event json.RawMessage) (out map[string]any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(event))
	d.UseNumber() // as they were written: two that differ are two events
	return out, d.Decode(&out) == nil && out != nil
}
