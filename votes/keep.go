package votes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/tempfile"
	"github.com/darrm/darrm/votes/format"
)

// Kept are files that can be opened any number of times. Stdin and pipes, which can be read only
// once, are kept in temporary files, which have no name and are the owner's alone. It is for one
// goroutine at a time.
type Kept struct {
	paths []string // of patterns the files that they match
	files map[string]*keptFile
}

// keptFile is the content of a path.
type keptFile struct {
	*tempfile.File
	size int64
}

// ReadOnce reports whether a path's content is gone when it has been read: that of stdin, of pipes
// and of devices. What they hold has no name, so that no later command can be about it.
func ReadOnce(path string) bool {
	if path == "-" || strings.HasPrefix(path, "/dev/") || strings.HasPrefix(path, "/proc/") {
		return true // where /dev/stdin is a file, some systems go on where the last reader ended
	}
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// Keep reads to their ends those paths that can be read only once. The other paths are not opened.
// It ends with the context, or when Stdin's reader does. What it returns must be closed. The errors
// are those of reading, and a [*PlaceError].
func Keep(ctx context.Context, o Options, paths ...string) (*Kept, error) {
	names, err := expand(paths)
	if err != nil {
		return nil, err
	}
	k := &Kept{paths: names, files: make(map[string]*keptFile)}
	for _, name := range names {
		if k.files[name] != nil || !ReadOnce(name) {
			continue
		}
		if k.files[name], err = keep(ctx, &o, name); err != nil {
			delete(k.files, name)
			return nil, errors.Join(err, k.Close())
		}
	}
	return k, nil
}

// keep reads one path.
func keep(ctx context.Context, o *Options, path string) (*keptFile, error) {
	s := &source{name: shownName(path), path: path, size: -1}
	if path == "-" {
		s.name, s.path, s.reader = "stdin", "", stdinOf(o)
	}
	info := &fileInfo{name: s.name, opts: o, rows: true}
	f, err := newSpool(o.TempDir)
	if err != nil {
		return nil, err
	}
	// A pipe that nobody writes to is waited for, until ctx ends that.
	type result struct {
		n   int64
		err error
	}
	done := make(chan result, 1)
	go func() {
		r := result{err: s.open()}
		if r.err == nil {
			r.n, r.err = copySpool(ctx, f, s.reader, o)
		}
		done <- r
	}()
	select {
	case r := <-done:
		if err = errors.Join(r.err, s.close()); err == nil {
			return &keptFile{f, r.n}, nil
		}
	case <-ctx.Done():
		err = errors.Join(ctx.Err(), s.close())
	}
	var place *PlaceError
	if !errors.As(err, &place) && ctx.Err() == nil {
		err = info.arrayError(err, "")
	}
	return nil, errors.Join(err, f.Close())
}

// Open is [Open] of the paths.
func (k *Kept) Open(ctx context.Context, o Options) (*Reader, error) {
	k = handle.Made(k)
	return openPaths(ctx, o, k.paths, k.files)
}

// Close forgets what is kept.
func (k *Kept) Close() error {
	k = handle.Made(k)
	var errs []error
	for _, f := range k.files {
		errs = append(errs, f.Close())
	}
	k.files = nil
	return errors.Join(errs...)
}

// A PlaceError is the error of a temporary file: there is no space for the votes.
type PlaceError struct{ Err error }

func (e *PlaceError) Error() string { return fmt.Sprint(e.Err) }
func (e *PlaceError) Unwrap() error { return e.Err }

// newSpool makes a temporary file in dir.
func newSpool(dir string) (*tempfile.File, error) {
	f, err := tempfile.New(dir)
	if err != nil {
		return nil, &PlaceError{err}
	}
	return f, nil
}

// maxSpoolBytes bounds a temporary file (see Options.TempDir).
const maxSpoolBytes = 16 << 30

// copySpool copies r to a temporary file, if it is not too long.
func copySpool(ctx context.Context, f *tempfile.File, r io.Reader, o *Options) (int64, error) {
	limit := o.spoolBytes
	if limit == 0 {
		limit = maxSpoolBytes
	}
	n, err := io.Copy(spoolWriter{f}, io.LimitReader(contextReader{ctx, r}, limit+1))
	if err == nil && n > limit {
		err = format.Errorf("a temporary file of more than %d bytes is needed to read it: read it from a file, "+
			"without compression, not from a stream", limit)
	}
	return n, err
}

// spoolWriter marks errors of writing, to distinguish them from errors of reading.
type spoolWriter struct{ f *tempfile.File }

func (w spoolWriter) Write(p []byte) (int, error) {
	n, err := w.f.Write(p)
	if err != nil {
		err = &PlaceError{err}
	}
	return n, err
}
