package cli

import (
	"context"
	"io"

	"github.com/darrm/darrm/internal/readfile"
	"github.com/darrm/darrm/release"
)

// Open opens an input of at most limit bytes: a file, or stdin for "-". A file must be a regular
// one, and reading ends when ctx does: a terminal or a pipe may keep a reader of stdin waiting for
// ever.
func (a *App) Open(ctx context.Context, path string, limit int64) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(readfile.Limit(ctx, a.Stdin(ctx), "stdin", limit)), nil
	}
	f, err := readfile.Open(ctx, path, limit)
	if err != nil {
		return nil, &release.InputError{Err: err}
	}
	return f, nil
}

// Stdin returns standard input as a reader that ends with ctx.
func (a *App) Stdin(ctx context.Context) io.Reader { return &input{ctx: ctx, r: a.In} }

// input is a reader that fails when its context is done.
type input struct {
	ctx context.Context
	r   io.Reader
	buf [64 << 10]byte // not the caller's: a read that was given up may still write to it
}

func (in *input) Read(p []byte) (int, error) {
	if err := in.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := Interruptibly(in.ctx, func() (int, error) {
		return in.r.Read(in.buf[:min(len(p), len(in.buf))])
	})
	return copy(p, in.buf[:n]), err
}

// Interruptibly returns the results of f, or ctx.Err() as soon as ctx is done. f is then left
// behind, blocked in the system; the program is about to end.
func Interruptibly[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	}
}
