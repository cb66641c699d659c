package release

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/ledger"
)

// Ledger returns the ledger, opened again where a failure made it unusable.
func (o *Online) Ledger(ctx context.Context) (*ledger.Ledger, error) {
	book, err := o.made().ledger(ctx)
	return handle.Copy(book), err
}

func (o *Online) ledger(ctx context.Context) (*ledger.Ledger, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.book == nil {
		return nil, errNotOpened
	}
	if o.broken == nil {
		return o.book, nil
	}
	if time.Since(o.tried) < time.Second { // it is read whole each time
		return nil, fmt.Errorf("%w (%w)", ledger.ErrBroken, o.broken)
	}
	// An older copy would have forgotten what was spent, and another ledger has other coins.
	book, err := o.book.Reopen(ctx)
	o.tried = time.Now()
	if err != nil {
		return nil, err
	}
	o.book, o.broken = book, nil
	return book, nil
}

var errNotOpened = errors.New("answers on line that nobody opened: use OpenOnline")

// noteFailure remembers that the handle cannot be used any more.
func (o *Online) noteFailure(book *ledger.Ledger, err error) {
	if !errors.Is(err, ledger.ErrBroken) && !errors.Is(err, ledger.ErrWrite) &&
		!errors.Is(err, ledger.ErrDamaged) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.book == book && o.broken == nil {
		o.broken = err
	}
}

// SpentBy returns what a client spent, by the ledger's entries.
func (o *Online) SpentBy(ctx context.Context, client string) (cost ledger.Cost, err error) {
	err = o.made().ask(ctx, func(book *ledger.Ledger) (err error) {
		cost, err = book.SpentBy(ctx, client)
		return err
	})
	return cost, err
}

// ask asks the ledger, and remembers a failure after which it must be opened again.
func (o *Online) ask(ctx context.Context, fn func(*ledger.Ledger) error) error {
	book, err := o.ledger(ctx)
	if err == nil {
		err = fn(book)
		o.noteFailure(book, err)
	}
	return err
}

// Taken returns how many labels the charges of the mechanism pay for, how many of these were taken,
// delivered or not, and how many labels the client took of all charges of the ledger; 0 where
// each answer is charged by itself.
func (o *Online) Taken(ctx context.Context, client string) (labels, all, byClient uint64,
	err error) {
	o = o.made()
	if o.options.Plan.Together().Most == 0 {
		return 0, 0, 0, nil
	}
	book, err := o.ledger(ctx)
	if err != nil {
		return 0, 0, 0, err
	}
	quotas, err := book.Quotas(ctx)
	table := o.options.Plan.digest()
	for _, use := range quotas {
		if use.Charge.Quota.Table == table {
			labels, all = labels+use.Charge.Quota.Answers, all+use.Taken
		}
	}
	if labels == 0 { // nothing was asked for yet
		labels = uint64(o.options.Plan.Together().Most)
	}
	if err == nil {
		byClient, err = book.TakenBy(ctx, client)
	}
	o.noteFailure(book, err)
	return labels, all, byClient, err
}

// State returns the ledger's state, by a look that began after the call. Calls that wait share
// one: each answer asks, and looks wait for each other and for charges.
func (o *Online) State(ctx context.Context) (ledger.State, error) {
	o = o.made()
	look := o.looks.DoChan("", func() (any, error) {
		o.looking.Lock()
		defer o.looking.Unlock()
		o.looks.Forget("") // who comes from now on needs a later look
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
		defer cancel()
		var state ledger.State
		err := o.ask(ctx, func(book *ledger.Ledger) (err error) {
			state, err = book.State(ctx)
			return err
		})
		return state, err
	})
	select {
	case r := <-look:
		return r.Val.(ledger.State), r.Err
	case <-ctx.Done():
		return ledger.State{}, ctx.Err()
	}
}

// lookTime bounds a look that several wait for, each as long as it likes.
const lookTime = time.Minute

// Ready returns nil if a query that the budget allows could be charged now. A budget that is spent
// is no error: what was answered is answered again. Errors and cost are those of
// [ledger.Ledger.Ready].
func (o *Online) Ready(ctx context.Context) error {
	return o.made().ask(ctx, func(book *ledger.Ledger) error { return book.Ready(ctx) })
}

// Usable returns what can still be charged in a state of the ledger: what the ledger has left or,
// unless a total that protects nobody is accepted, what is left below such a total, whichever is
// less. It is rounded down.
func (o *Online) Usable(now ledger.State) ledger.Cost {
	s := o.made().options.Charge.strength()
	if s.accept {
		return now.Remaining
	}
	most := ensemble.MostWorth(s.records)
	limit, err := ledger.NewBudget(most.Epsilon, most.Delta)
	if err != nil {
		return ledger.Cost{} // the limit is one of a ledger, which has no smaller amounts
	}
	return Least(now.Remaining, limit.Cost().Minus(now.Spent))
}

// Least returns the smaller ε and the smaller δ of two costs.
func Least(a, b ledger.Cost) ledger.Cost { return a.Minus(a.Minus(b)) }
