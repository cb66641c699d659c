package release

import "context"

// Ready returns nil if a query that the budget allows could be charged now. A budget that is spent
// is no error: what was answered is answered again. Errors and cost are those of
// [ledger.Ledger.Ready].
func (o *Online) Ready(ctx context.Context) error {
	o = o.made()
	book, err := o.ledger(ctx)
	if err != nil {
		return err
	}
	err = book.Ready(ctx)
	o.noteFailure(book, err)
	return err
}
