package release

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/darrm/darrm/internal/tempfile"
	"github.com/darrm/darrm/votes"
)

// A reread reads files of votes as often as it is asked to: once to count and check them,
// once to answer them. Stdin is kept in a temporary file in between, which has no name.
type reread struct {
	paths []string
	stdin io.Reader
	spool *tempfile.File
}

// keepStdin reads stdin to its end, if it is among the paths, so that open can read it more
// than once. It ends with the reader that stdin is.
func (t *reread) keepStdin(ctx context.Context) error {
	if !slices.Contains(t.paths, "-") {
		return nil
	}
	spool, err := tempfile.New("")
	if err != nil {
		return &OutputError{err}
	}
	t.spool = spool
	_, err = io.Copy(spool, t.stdin)
	return Unreadable(ctx, err)
}

// open opens the votes from their beginning.
func (t *reread) open(ctx context.Context, o votes.Options) (*votes.Reader, error) {
	o.Stdin = t.stdin
	if t.spool != nil {
		if _, err := t.spool.Seek(0, io.SeekStart); err != nil {
			return nil, &OutputError{err}
		}
		o.Stdin = t.spool
	}
	r, err := votes.Open(ctx, o, t.paths...)
	return r, Unreadable(ctx, err)
}

func (t *reread) close() {
	if t.spool != nil {
		_ = t.spool.Close() // it was only read again
	}
}

// Unreadable marks an error of reading as an [InputError], but not an interruption.
func Unreadable(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return err
	}
	return &InputError{err}
}
