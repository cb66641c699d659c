package release

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/darrm/darrm/ledger"
)

// Note returns what keeps the digest of a result in the ledger, to be called before the
// result can be seen (the package comment says why). It does nothing where nothing was
// paid: receipt is nil.
func Note(ctx context.Context, l *ledger.Ledger, receipt *ledger.Receipt) func(ledger.Digest) error {
	return func(d ledger.Digest) error {
		if receipt == nil {
			return nil
		}
		id := receipt.Entry().ID
		err := l.RecordResult(ctx, receipt, d)
		switch {
		case errors.Is(err, ledger.ErrConflict):
			return fmt.Errorf("nothing was released: request %q has one result, and this is another: finish it with the flags that it was begun with: %w", id, err)
		case err != nil:
			return LedgerError{fmt.Errorf("nothing was released, but request %q is charged: note its result in the ledger: %w", id, err)}
		}
		return nil
	}
}

// NoteDocument notes a result that can be encoded twice: once for its digest, before a byte
// can be seen.
func NoteDocument(note func(ledger.Digest) error, encode func(io.Writer) error) error {
	digest := sha256.New()
	if err := encode(digest); err != nil {
		return err
	}
	return note(ledger.Digest(digest.Sum(nil)))
}

// Refused says whether a charge was certainly not made.
func Refused(err error) bool {
	return errors.Is(err, ledger.ErrRefused)
}
