package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/ledger"
)

// Answered is the answer to a query.
type Answered struct {
	ID    string
	Class int // or ensemble.Abstained, as it is where questions have several labels
	// Asked are the labels that were asked of a question with several, and Classes the answer to each: 0 for
	// no, 1 for yes, or ensemble.Abstained. nil of others.
	Asked, Classes []int
	// Replayed is true if the request was charged before: nothing was spent now.
	Replayed bool
	// Simulated is true if the ledger is one for tests: nothing was released.
	Simulated bool
	Charge    ledger.Entry // of this answer
	// After has the ledger's totals, as of the commit of the answer or, where it was charged
	// before, as of now.
	After ledger.State
	// InLedger is the time that the charge took, without the draws through this handle that it waited
	// for ([ledger.Ledger.Clock]): unlike the whole it does not depend on their votes. Draws of other
	// servers are in it as any wait for the ledger's lock, some microseconds each.
	InLedger time.Duration
}

// Answer answers a query that is paid for, now or before. A query out of its ranges is an
// [InputError], then nothing is charged.
// Other errors are those of [Transaction.Run]: what is charged then is answered when the same
// query comes again.
func (o *Online) Answer(ctx context.Context, q Query) (*Answered, error) {
	o = o.made()
	book, err := o.ledger(ctx)
	if err != nil {
		return nil, err
	}
	t, a, err := o.transaction(book, q)
	if err != nil {
		return nil, err
	}
	start := book.Clock()
	out, err := o.run(ctx, t)
	a.InLedger += book.Clock() - start
	if err != nil {
		return nil, err
	}
	a.Replayed, a.Charge, a.After = t.paid.Charge.Seq != 0, out.Receipt.Entry(), out.After
	return a, nil
}

// run runs the transaction of an answer or a batch.
func (o *Online) run(ctx context.Context, t *Transaction) (Outcome, error) {
	out, err := t.Run(ctx)
	o.noteFailure(t.Ledger, err)
	if !out.Done() {
		return out, o.failed(t.Bill.release.ID, err)
	}
	o.paid(out.Receipt)
	return out, nil
}

// sealed is the Draw of a transaction whose votes have a keyed digest. What the ledger knows of the result begins
// with a line of its kind.
func (o *Online) sealed(kind string, digest ledger.Digest, draw func(context.Context) (any, error)) func(context.Context,
	*ledger.Receipt) (func(io.Writer) error, error) {
	return func(ctx context.Context, _ *ledger.Receipt) (func(io.Writer) error, error) {
		drawn, err := draw(ctx)
		if err != nil {
			return nil, err
		}
		// With the seal, which nobody knows, the digest in the ledger does not tell the answer.
		seal := o.key.digest("answer", digest[:])
		return func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s\n%x\n%d\n", kind, seal, drawn)
			return err
		}, nil
	}
}

// coins come from the service key, for this ledger and mechanism.
func (o *Online) coins() randsrc.Coins { return randsrc.KeyedCoins(o.key.Key, string(o.scope[:])) }

// transaction is the release of one answer, which a will be.
func (o *Online) transaction(book *ledger.Ledger,
	q Query) (t *Transaction, a *Answered, err error) {
	if err := shared(q.ID); err != nil {
		return nil, nil, &InputError{err}
	}
	cast, err := o.read(&q)
	if err != nil {
		return nil, nil, err
	}
	replay, err := q.replayKey()
	if err != nil {
		return nil, nil, err
	}
	digest := o.key.digest("votes", o.scope[:], []byte(q.ID), replay, cast.row)
	b, err := o.bill(&q, digest)
	if err != nil {
		return nil, nil, err
	}
	a = &Answered{ID: q.ID, Class: ensemble.Abstained, Asked: cast.asked, Simulated: book.Simulated()}
	t = &Transaction{Ledger: book, Bill: b, Output: nowhere{}, repeats: q.ReplayKey != "", keyed: true}
	t.Draw = o.sealed("darrm answer 1", digest, func(context.Context) (any, error) {
		// The coins depend on the votes too: should the ledger be lost that keeps other votes
		// from the same id, its answers share no coins.
		start := book.Clock()
		classes, err := cast.draw(o.options.Plan.mechanism, o.coins(), digest[:])
		a.InLedger -= book.Clock() - start // of a replay; with a charge the clock stands still
		switch {
		case err != nil:
			return nil, err
		case cast.asked == nil:
			a.Class = classes[0]
			return a.Class, nil
		}
		a.Classes = classes
		return classes, nil
	})
	return t, a, nil
}

// conflictOf turns the ledger's errors about an id that was used before into a [usedError].
func conflictOf(id string, err error) error {
	var conflict *ledger.ConflictError
	if errors.As(err, &conflict) && conflict.ID == id || errors.Is(err, ledger.ErrReplayed) ||
		errors.Is(err, ledger.ErrDraw) || errors.Is(err, ledger.ErrDrawn) {
		return &usedError{id, err}
	}
	return err
}

// usedError is the error for an id that was used before. It hides which field differs, which the
// ledger's error names: an asker who learns that all is the same but the client, or the replay key,
// has guessed the votes.
type usedError struct {
	id    string
	cause error
}

func (e *usedError) Error() string {
	return fmt.Sprintf("request id %q was used before; it is answered again only to its first "+
		"client, with the replay key, votes, mechanism and service key of the first time", e.id)
}

func (e *usedError) Unwrap() error { return e.cause }

// bill is the charge of one query with the keyed digest of its votes.
func (o *Online) bill(q *Query, digest ledger.Digest) (*Bill, error) {
	c := o.options.Charge
	c.RequestID, c.Query, c.Client, c.Share, c.Key = q.ID, digest, q.Client, q.Share, o.keyName
	c.AnswersShare = q.AnswersShare
	c.online = true
	b, err := o.options.Plan.bill(c, o.totals)
	if err != nil {
		return nil, err
	}
	b.draw = nil // a request id is its draw, which nobody else answers
	o.known(b)
	return b, nil
}

// nowhere is the output of an answer that is returned to its asker and stored nowhere.
type nowhere struct{}

func (nowhere) Check(bool) error { return nil }

func (nowhere) Open(context.Context) (io.ReadCloser, error) { return nil, fs.ErrNotExist }

func (nowhere) Write(_ context.Context, encode func(io.Writer) error) error {
	return encode(io.Discard)
}
