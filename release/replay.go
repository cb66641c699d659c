package release

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"

	"github.com/darrm/darrm/ledger"
)

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
