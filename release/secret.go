package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/readfile"
)

// A secret is the file of a release that can be resumed: it holds where all randomness of the
// release comes from. It is on disk before the release is paid for, so that a death in between
// costs nothing, and removed when the result is out: with both, anyone could compute what the
// noise hides. A nil secret is that of a release that cannot be resumed.
type secret struct {
	path    string
	resumed bool          // the file was there: the release was begun before
	made    bool          // this run made the file
	state   func() []byte // what the file is to hold
}

// openSecret returns the secret at path, nil for "", and what the file holds, of at most
// limit bytes; nil where there is none yet. A file that cannot be read is an [InputError].
func openSecret(ctx context.Context, path string, limit int64) (*secret, []byte, error) {
	if path == "" {
		return nil, nil, nil
	}
	b, err := readfile.Whole(ctx, path, limit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &secret{path: path}, nil, nil
	case err != nil:
		return nil, nil, &InputError{err}
	}
	return &secret{path: path, resumed: true}, b, nil
}

func (s *secret) isResumed() bool { return s != nil && s.resumed }

// make writes the file of a release that was not begun before. A file that came meanwhile is
// another run's, which may have paid for its release by now.
func (s *secret) make() error {
	if s == nil || s.resumed {
		return nil
	}
	switch _, err := os.Lstat(atomicfile.Target(s.path)); {
	case err == nil:
		return &OutputError{fmt.Errorf("another run made the checkpoint %s meanwhile: %w", s.path,
			fs.ErrExist)}
	case !errors.Is(err, fs.ErrNotExist):
		return &OutputError{err}
	}
	s.made = true // also where it fails halfway
	return s.save()
}

// save writes the state, which nobody else may read, also where others could read the file
// that it replaces. Links are followed.
func (s *secret) save() error {
	if s == nil {
		return nil
	}
	err := atomicfile.Replace(atomicfile.Target(s.path), 0o600, func(w io.Writer) error {
		_, err := w.Write(s.state())
		return err
	})
	if err != nil {
		return &OutputError{err}
	}
	return nil
}

// forget removes the file, links followed.
func (s *secret) forget() error {
	if s == nil {
		return nil
	}
	if err := atomicfile.Remove(s.path); err != nil {
		return &OutputError{fmt.Errorf("the secret checkpoint is still there: %w", err)}
	}
	return nil
}

// giveUp removes the file if this run made it. One that was there before may be of a release
// that is paid for.
func (s *secret) giveUp() error {
	if s == nil || !s.made {
		return nil
	}
	return s.forget()
}
