package release

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/ledger"
)

// A Transaction is one release: charged, drawn and published once, in this order, as the
// package comment says. [Labels] and [Model] make one; a pipeline that draws its answers
// elsewhere makes its own. It is for one goroutine.
type Transaction struct {
	// Ledger is charged Bill. Both are nil where nobody accounts for the release.
	Ledger *ledger.Ledger
	Bill   *Bill
	Output Output
	// Force replaces what is at Output, and never what the ledger knows as a request's result.
	Force bool
	// Draw draws the result, which it is called for only when it is paid for, with the
	// receipt, nil where nothing is charged. encode gives the result that is published; it is
	// called more than once and gives the same bytes each time. An answer of [Online] is drawn
	// with its charge instead: the package comment has that order.
	Draw func(ctx context.Context, paid *ledger.Receipt) (encode func(io.Writer) error, err error)

	secret *secret // nil where the release cannot be resumed
	// repeats is true if Draw gives the same result whenever and wherever the request is asked
	// again, so that one that was paid for is given again.
	repeats bool
	// keyed is true if the coins of Draw were kept before. Draw is then called without a receipt
	// when the ledger admits the charge, and charge and digest are one commit.
	keyed bool
	paid  ledger.Replay // with a Charge where an earlier try paid
}

// An Output is where a result is published.
type Output interface {
	// Check finds out, before anything is paid for, whether a result can be written. charged states
	// that it will be paid for.
	Check(charged bool) error
	// Open opens the result that is there.
	Open(context.Context) (io.ReadCloser, error)
	// Write lets a result be seen whole, or not at all.
	Write(ctx context.Context, encode func(io.Writer) error) error
}

// An Outcome records the steps that a transaction completed.
type Outcome struct {
	// Receipt is of the charge of this try or, where that paid, of an earlier one; nil where
	// nothing was charged. It is used up.
	Receipt *ledger.Receipt
	// Before is true if the request was released before, and the output has its result, unchanged:
	// nothing was charged or drawn.
	Before bool
	// Digest is of what was published; zero where nothing was.
	Digest ledger.Digest
	// After has the ledger's totals with this charge, as of the write that noted the digest; zero
	// where nothing was charged or published.
	After ledger.State
	// Simulated is true if the ledger is one for tests: nothing was released.
	Simulated bool
}

// Done reports whether the output has the result.
func (o Outcome) Done() bool { return o.Before || o.Digest != ledger.Digest{} }

// Again reports whether the votes were answered before: then a charge of the draw pays for this
// answer and all later ones.
func (o Outcome) Again() bool { return o.Receipt != nil && repeated(o.Receipt) }

// Run does the release. After an error nothing new can be seen, unless the outcome is done:
// then only the secret could not be removed. The errors of the charge are those of
// [Bill.Pay].
func (t *Transaction) Run(ctx context.Context) (out Outcome, err error) {
	t = handle.Made(t)
	if err = t.check(); err != nil {
		return out, err
	}
	out.Simulated = t.simulated()
	if err = t.guard(ctx); err != nil {
		return out, err
	}
	now := t.drawnWithCharge(ctx)
	if out.Receipt, out.Before, err = t.charge(ctx, now); err != nil {
		return out, err
	}
	if out.Before {
		return out, nil
	}
	if now.stored() { // only now may the result leave
		if err := t.show(context.WithoutCancel(ctx), out.Receipt, now.encode, now.digest); err != nil {
			return out, err
		}
		out.Digest, out.After = now.digest, now.after
		return out, nil
	}
	encode, err := t.Draw(ctx, out.Receipt)
	if err != nil {
		return out, t.unreleased(out.Receipt, err)
	}
	if out.Digest, out.After, err = t.publish(ctx, out.Receipt, encode); err != nil {
		return out, err
	}
	return out, t.secret.forget()
}

// simulated reports whether the ledger is one for tests.
func (t *Transaction) simulated() bool { return t.Ledger != nil && t.Ledger.Simulated() }

// check refuses a transaction without what it needs, before anything is done.
func (t *Transaction) check() error {
	switch {
	case t.Output == nil || t.Draw == nil:
		return usagef("output and draw must be given")
	case (t.Ledger == nil) != (t.Bill == nil):
		return usagef("ledger and bill go together")
	case t.Bill != nil && t.Bill.release.Event == nil:
		return usagef("bill must be one that Plan.Bill made")
	}
	return nil
}

// charge pays for the release, unless its output cannot be written. before is true if the output
// has it already: then there is nothing to write and nothing to pay.
func (t *Transaction) charge(ctx context.Context, now *drawn) (
	receipt *ledger.Receipt, before bool, err error) {
	err = t.Output.Check(t.Bill != nil)
	if err == nil {
		err = t.secret.make()
	}
	if t.Bill == nil {
		return nil, false, err
	}
	asked, unpaid := err, err != nil // by what the ledger says of the request
	if err != nil {
		_, asked = t.Bill.Check(ctx, t.Ledger)
	} else {
		t.paid, err = t.Bill.pay(ctx, t.Ledger, t.repeats || t.secret.isResumed(), now)
		receipt = t.paid.Receipt
		asked, unpaid = err, errors.Is(err, ledger.ErrRefused) || isWeak(err)
	}
	switch before := t.released(ctx, asked); {
	case before == nil:
	case before.Receipt != nil:
		return nil, true, t.secret.forget()
	default: // it had other coins: a secret that was there is of another release
		return nil, true, t.secret.giveUp()
	}
	if unpaid {
		err = errors.Join(err, t.secret.giveUp()) // nothing was paid with it, so nothing goes on
	}
	return receipt, false, err
}

// released returns the replay of a request whose result the output has, nil if it has none;
// err is the ledger's error for the request. An output that cannot be read has nothing.
func (t *Transaction) released(ctx context.Context, err error) *ledger.Replay {
	var replayed *ledger.ReplayedError
	if !errors.As(err, &replayed) {
		return nil
	}
	f, err := t.Output.Open(ctx)
	if err != nil {
		return nil
	}
	defer f.Close()
	digest, err := digestOf(func(w io.Writer) error { _, err := io.Copy(w, f); return err })
	if err != nil {
		return nil
	}
	for _, r := range replayed.Replays {
		if r.Result != nil && *r.Result == digest {
			return &r
		}
	}
	return nil
}

// publish notes the result's digest in the ledger and lets the result be seen: the one whose digest
// was noted, and no other. An interruption comes before or has no effect: a result that is
// noted and cannot be seen is paid for and lost.
func (t *Transaction) publish(ctx context.Context, paid *ledger.Receipt,
	encode func(io.Writer) error) (_ ledger.Digest, after ledger.State, err error) {
	digest, err := digestOf(encode)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return ledger.Digest{}, after, t.unreleased(paid, err)
	}
	ctx = context.WithoutCancel(ctx)
	if paid != nil {
		if after, err = t.note(ctx, paid, digest); err != nil {
			return ledger.Digest{}, after, err
		}
	}
	if err = t.show(ctx, paid, encode, digest); err != nil {
		return ledger.Digest{}, after, err
	}
	return digest, after, nil
}

// show lets the result be seen whose digest was noted, and no other.
func (t *Transaction) show(ctx context.Context, paid *ledger.Receipt,
	encode func(io.Writer) error, noted ledger.Digest) error {
	err := t.write(ctx, func(w io.Writer) error {
		written, err := digestOf(func(digest io.Writer) error {
			return encode(io.MultiWriter(w, digest))
		})
		if err == nil && written != noted {
			err = errors.New("the result changed while it was written, and is not the one that was noted")
		}
		return err
	})
	if err != nil {
		return t.unreleased(paid, err)
	}
	return nil
}

// unreleased adds to what went wrong after a charge that there is one: whoever reads it would
// else take the budget for untouched.
func (t *Transaction) unreleased(paid *ledger.Receipt, err error) error {
	switch {
	case paid == nil:
		return err
	case t.repeats:
		return fmt.Errorf("request %q is charged, but nothing was released; the same request again is "+
			"answered: %w", paid.Entry().ID, err)
	case t.secret != nil:
		return fmt.Errorf("request %q is charged, but nothing was released; the same release "+
			"finishes it: %w", paid.Entry().ID, err)
	default:
		return fmt.Errorf("request %q is charged, but nothing was released, and nothing is given back: %w", paid.Entry().ID, err)
	}
}

func digestOf(encode func(io.Writer) error) (ledger.Digest, error) {
	h := sha256.New()
	err := encode(h)
	return ledger.Digest(h.Sum(nil)), err
}

// note keeps the digest of a result in the ledger, before the result can be seen, and returns the
// ledger's totals then.
func (t *Transaction) note(ctx context.Context, paid *ledger.Receipt,
	digest ledger.Digest) (ledger.State, error) {
	id := paid.Entry().ID
	after, err := t.Ledger.RecordResult(ctx, paid, digest)
	switch {
	case errors.Is(err, ledger.ErrConflict):
		err = fmt.Errorf("nothing was released: request %q has one result, and this is another: "+
			"finish it with what was stated when it was begun: %w", id, err)
	case err != nil:
		err = &LedgerError{fmt.Errorf("nothing was released, but request %q is charged: note its "+
			"result in the ledger: %w", id, err)}
	}
	return after, err
}

// drawn is a result that is drawn with its charge and stored by the same commit. It stays in memory
// until that is on disk, and is dropped where it is not. nil is that of a release whose result is
// drawn after the charge.
type drawn struct {
	draw   func() (encode func(io.Writer) error, err error)
	encode func(io.Writer) error
	digest ledger.Digest // that the commit stored; zero before, and where an earlier one has the charge
	after  ledger.State  // of the ledger then
}

// drawnWithCharge returns the result that is still to be drawn; nil where it is not drawn with its
// charge.
func (t *Transaction) drawnWithCharge(ctx context.Context) *drawn {
	if !t.keyed || t.Bill == nil {
		return nil
	}
	return &drawn{draw: func() (func(io.Writer) error, error) { return t.Draw(ctx, nil) }}
}

// stored reports whether the result is on disk with its charge.
func (d *drawn) stored() bool { return d != nil && d.digest != ledger.Digest{} }

// charge charges requests, with the result of the last where there is d, and returns the last one's
// receipt, which is used up. After an error nothing may be drawn, and what was drawn is dropped.
// The errors are those of [ledger.Ledger.ChargeAll], and of the draw.
func (d *drawn) charge(ctx context.Context, l *ledger.Ledger,
	requests ...ledger.Request) (*ledger.Receipt, error) {
	if d == nil {
		receipts, err := l.ChargeAll(ctx, requests)
		if err != nil {
			return nil, err
		}
		for _, receipt := range receipts {
			if err := receipt.Redeem(); err != nil {
				return nil, err
			}
		}
		return receipts[len(receipts)-1], nil
	}
	var digest ledger.Digest
	receipt, after, err := l.ChargeDrawn(ctx, requests, func() (_ ledger.Digest, err error) {
		if d.encode == nil { // the ledger may need another try
			if d.encode, err = d.draw(); err != nil {
				return digest, err
			}
		}
		digest, err = digestOf(d.encode)
		return digest, err
	})
	if err != nil {
		d.encode = nil
		return nil, err
	}
	d.digest, d.after = digest, after
	return receipt, nil
}
