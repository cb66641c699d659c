package data

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/darrm/darrm/internal/readfile"
)

// ErrSameFile is the error for a file given both as private and as public.
var ErrSameFile = errors.New("a private file is given as a public one")

// Files are the files of a training: Labels and PublicLabels go with IDX images, and any but
// Private may be "", for none.
type Files struct {
	Private, Labels, Public, PublicLabels string
}

// CheckApart refuses public files that are private ones: by their path, links followed, by
// another name of the same file or, for the records, with the same content under another
// name; labels may be alike by coincidence. "-", stdin, is one file. What cannot be read is no
// error here: it is one where it is read.
//
// Single records are compared by [CheckShared]; here, images that come with other labels are
// found too. Costs the reading of what the files have in common, if they are of equal
// length.
func (f Files) CheckApart(ctx context.Context) error {
	refuse := func(a, b string) error {
		return fmt.Errorf("%w: private %s, public %s", ErrSameFile, a, b)
	}
	switch {
	case sameFile(f.Private, f.Public):
		return refuse(f.Private, f.Public)
	case sameFile(f.Labels, f.PublicLabels):
		return refuse(f.Labels, f.PublicLabels)
	case f.Public == "":
		return nil
	}
	same, err := sameContent(ctx, f.Private, f.Public)
	switch {
	case ctx.Err() != nil:
		return err
	case err == nil && same:
		return refuse(f.Private, f.Public)
	}
	return nil
}

func sameFile(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// sameContent compares two files.
func sameContent(ctx context.Context, a, b string) (bool, error) {
	if x, err := os.Stat(a); err != nil {
		return false, err
	} else if y, err := os.Stat(b); err != nil || x.Size() != y.Size() {
		return false, err
	}
	x, err := readfile.Open(ctx, a, MaxBytes)
	if err != nil {
		return false, err
	}
	defer x.Close() // only read from
	y, err := readfile.Open(ctx, b, MaxBytes)
	if err != nil {
		return false, err
	}
	defer y.Close()
	p, q := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, errX := io.ReadFull(x, p)
		m, errY := io.ReadFull(y, q)
		if !bytes.Equal(p[:n], q[:m]) {
			return false, nil
		}
		if errX != nil || errY != nil {
			end := func(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }
			if end(errX) && end(errY) {
				return true, nil
			}
			return false, errors.Join(errX, errY)
		}
	}
}
