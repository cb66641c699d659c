package strictjson

import (
	"context"
	"errors"
	"io"
)

// FormatError is the error for bytes that are not the file that they are read as.
type FormatError struct {
	What   string // the file, as "a noise-function table"
	Reason error
}

func (e *FormatError) Error() string { return "not " + e.What + ": " + e.Reason.Error() }

// Unwrap returns the reason.
func (e *FormatError) Unwrap() error { return e.Reason }

// Read reads a file of at most limit bytes and parses it; parse refuses one byte more. The error is
// a [*FormatError], r's, or ctx.Err().
func Read[T any](ctx context.Context, r io.Reader, what string, limit int64,
	parse func([]byte) (*T, error)) (*T, error) {
	if r == nil {
		return nil, errors.New("reader must be given, of " + what)
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	v, err := parse(data)
	return Result(ctx, what, v, err)
}

// Result is v as it was found in a file: where ctx has ended the error is ctx.Err(), and any other
// is a [*FormatError].
func Result[T any](ctx context.Context, what string, v *T, err error) (*T, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &FormatError{what, err}
	}
	return v, nil
}
