package main

import (
	"context"
	"fmt"
	"io"
	"os"
)

// open opens an input file, or stdin for "-". Opening and reading end when ctx
// does: a terminal or a pipe may keep a reader waiting for ever.
func (a *app) open(ctx context.Context, path string) (io.ReadCloser, error) {
	if path == "-" {
		return &input{ctx: ctx, r: io.NopCloser(a.in)}, nil
	}
	f, err := interruptibly(ctx, func() (*os.File, error) { return os.Open(path) })
	if err != nil {
		return nil, inputError{err}
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, inputError{fmt.Errorf("%s is a directory, not a file", path)}
	}
	return &input{ctx: ctx, r: f}, nil
}

// input is a reader that fails when its context is done.
type input struct {
	ctx context.Context
	r   io.ReadCloser
	buf [64 << 10]byte // not the caller's: a read that was given up may still write to it
}

func (in *input) Read(p []byte) (int, error) {
	if err := in.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := interruptibly(in.ctx, func() (int, error) { return in.r.Read(in.buf[:min(len(p), len(in.buf))]) })
	return copy(p, in.buf[:n]), err
}

func (in *input) Close() error { return in.r.Close() }

// interruptibly returns what f does, or ctx.Err() as soon as ctx is done. f is
// then left behind, blocked in the system; the program is about to end.
func interruptibly[T any](ctx context.Context, f func() (T, error)) (T, error) {
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
