package release

import (
	"context"
	"errors"
	"io"

	"github.com/darrm/darrm/votes"
)

// A reread reads files of votes as often as it is asked to: once to count and check them,
// once to answer them.
type reread struct {
	paths []string
	stdin io.Reader
	kept  *votes.Kept // nil where they are read once
}

// keep reads what can be read once only, stdin and pipes, to its end, so that open can open it more
// than once.
func (t *reread) keep(ctx context.Context, o votes.Options) (err error) {
	o.Stdin = t.stdin
	t.kept, err = votes.Keep(ctx, o, t.paths...)
	return Unreadable(ctx, err)
}

// open opens the votes from their beginning.
func (t *reread) open(ctx context.Context, o votes.Options) (r *votes.Reader, err error) {
	if t.kept != nil {
		r, err = t.kept.Open(ctx, o)
	} else {
		o.Stdin = t.stdin
		r, err = votes.Open(ctx, o, t.paths...)
	}
	return r, Unreadable(ctx, err)
}

func (t *reread) close() {
	if t.kept != nil {
		_ = t.kept.Close() // it was only read again
	}
}

// Unreadable marks an error of reading as an [InputError], and one of the spool as an
// [OutputError]. An interruption stays what it is.
func Unreadable(ctx context.Context, err error) error {
	var place *votes.PlaceError
	switch {
	case err == nil || ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return err
	case errors.As(err, &place):
		return &OutputError{err}
	}
	return &InputError{err}
}
