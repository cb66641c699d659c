package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// WriteOnce publishes a result under an unused name. Where a file holds this result already, it
// stays as it is, and before is true. A file that holds something else stays too, since others may
// use it already: then the error is an [OutputError] and an fs.ErrExist. An output with a method
// like [FileOutput.WriteNew] keeps that even for what another run writes at the same time. name is
// the output's, for the error. encode gives the same bytes each time.
func WriteOnce(ctx context.Context, name string, o Output,
	encode func(io.Writer) error) (before bool, err error) {
	if o == nil || encode == nil {
		return false, usagef("output and encode must be given")
	}
	f, err := o.Open(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		fresh, ok := o.(interface {
			WriteNew(context.Context, func(io.Writer) error) error
		})
		if !ok {
			return false, o.Write(ctx, encode)
		}
		if err = fresh.WriteNew(ctx, encode); !errors.Is(err, fs.ErrExist) {
			return false, err
		}
		f, err = o.Open(ctx) // another run was first
	}
	if err != nil {
		return false, err
	}
	there, err := digestOf(func(w io.Writer) error { _, err := io.Copy(w, f); return err })
	if err = errors.Join(err, f.Close()); err != nil {
		return false, err
	}
	result, err := digestOf(encode)
	if err == nil && result != there {
		err = &OutputError{fmt.Errorf("%s, but %w", name, errOther)}
	}
	return err == nil, err
}

var errOther = overwriteError{errors.New("the file exists and holds something else, which others may use " +
	"already: give another name, or remove it yourself")}
