package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// WriteOnce publishes a result at an output that has nothing. One that has the result already stays as it is, which
// before says. One that has something else is an [OutputError], and an fs.ErrExist: others may have gone on from what
// is there. name is that of the output in the error. encode gives the same bytes each time.
func WriteOnce(ctx context.Context, name string, o Output, encode func(io.Writer) error) (before bool, err error) {
	f, err := o.Open(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return false, o.Write(ctx, encode)
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
		err = OutputError{fmt.Errorf("%s, but %w", name, errOther)}
	}
	return err == nil, err
}

const errOther overwriteError = "the file exists and holds something else, which others may have gone on from: give another name, or remove it yourself"
