package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/darrm/darrm/votes"
)

// reread reads files of votes a second time: once to count and check them, once to
// answer. Stdin is kept in a temporary file in between, which has no name.
type reread struct {
	paths []string
	stdin io.Reader
	spool *os.File
}

// first opens the votes for the first of two times.
func (t *reread) first(ctx context.Context, a *app, f *readFlags) (*votes.Reader, error) {
	if slices.Contains(t.paths, "-") {
		spool, err := os.CreateTemp("", ".darrm-*")
		if err != nil {
			return nil, outputError{err}
		}
		t.spool = spool
		// Without a name nothing is left behind, however the program ends.
		if err := os.Remove(spool.Name()); err != nil {
			return nil, outputError{err}
		}
		if _, err := io.Copy(spool, &input{ctx: ctx, r: io.NopCloser(t.stdin)}); err != nil {
			return nil, inputFailure(ctx, err)
		}
		if err := t.rewind(); err != nil {
			return nil, err
		}
	}
	return f.open(ctx, t.source(), t.paths)
}

// open opens the votes, again if first did before.
func (t *reread) open(ctx context.Context, a *app, f *readFlags) (*votes.Reader, error) {
	if err := t.rewind(); err != nil {
		return nil, err
	}
	return f.open(ctx, t.source(), t.paths)
}

func (t *reread) rewind() error {
	if t.spool == nil {
		return nil
	}
	if _, err := t.spool.Seek(0, io.SeekStart); err != nil {
		return outputError{err}
	}
	return nil
}

func (t *reread) source() io.Reader {
	if t.spool != nil {
		return t.spool
	}
	return t.stdin
}

func (t *reread) close() error {
	if t.spool == nil {
		return nil
	}
	err := t.spool.Close()
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
