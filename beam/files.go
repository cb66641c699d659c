package darrmbeam

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	// Local paths; gs:// comes with the SDK's worker.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"

	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/readfile"
	"github.com/darrm/darrm/release"
)

func usagef(format string, args ...any) error {
	return &release.UsageError{Err: fmt.Errorf(format, args...)}
}

// isLocal reports whether a path is one of this machine, and not scheme://….
func isLocal(path string) bool { return !strings.Contains(path, "://") }

// join appends a name to a directory, local or not.
func join(dir, name string) string {
	if isLocal(dir) {
		return filepath.Join(dir, name)
	}
	return strings.TrimSuffix(dir, "/") + "/" + name
}

// put writes a file that is there completely or not at all, or leaves one that holds the
// same. One that holds something else is an error: the steps that write here give
// the same bytes whenever they are run again.
func put(ctx context.Context, path string, content []byte) (err error) {
	if old, err := get(ctx, path); err == nil {
		if !bytes.Equal(old, content) {
			return fmt.Errorf("%s %w", path, errOther)
		}
		return nil
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if isLocal(path) {
		return atomicfile.Replace(path, 0o600, atomicfile.Bytes(content))
	}
	w, err := create(ctx, path)
	if err != nil {
		return err
	}
	// An object appears when it is closed; after an error it must not.
	if _, err := w.Write(content); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return w.Close()
}

// get reads a whole file. Its absence is an os.ErrNotExist.
func get(ctx context.Context, path string) ([]byte, error) {
	r, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

// open opens a file for reading. Its absence is an os.ErrNotExist.
func open(ctx context.Context, path string) (io.ReadCloser, error) {
	if isLocal(path) {
		return readfile.Open(ctx, path, math.MaxInt64)
	}
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return nil, err
	}
	// Stores report a missing object in ways of their own.
	found, err := fs.List(ctx, path)
	if err == nil && len(found) == 0 {
		err = &os.PathError{Op: "open", Path: path, Err: os.ErrNotExist}
	}
	if err != nil {
		return nil, errors.Join(err, fs.Close())
	}
	r, err := fs.OpenRead(ctx, path)
	if err != nil {
		return nil, errors.Join(err, fs.Close())
	}
	return &remote[io.ReadCloser]{r, fs}, nil
}

// remote closes a file system behind a file.
type remote[T io.Closer] struct {
	file T
	fs   filesystem.Interface
}

func (r *remote[T]) Read(p []byte) (int, error)  { return any(r.file).(io.Reader).Read(p) }
func (r *remote[T]) Write(p []byte) (int, error) { return any(r.file).(io.Writer).Write(p) }
func (r *remote[T]) Close() error {
	return errors.Join(r.file.Close(), r.fs.Close())
}

func create(ctx context.Context, path string) (io.WriteCloser, error) {
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return nil, err
	}
	w, err := fs.OpenWrite(ctx, path)
	if err != nil {
		return nil, errors.Join(err, fs.Close())
	}
	return &remote[io.WriteCloser]{w, fs}, nil
}

// list returns the files of a directory whose names match a pattern, sorted.
func list(ctx context.Context, dir, pattern string) (names []string, err error) {
	if isLocal(dir) {
		entries, err := os.ReadDir(dir) // sorted; dir itself is no pattern
		for _, e := range entries {
			if ok, _ := filepath.Match(pattern, e.Name()); ok {
				names = append(names, filepath.Join(dir, e.Name()))
			}
		}
		return names, err
	}
	return glob(ctx, join(dir, pattern))
}

// glob returns the files that match a pattern, sorted.
func glob(ctx context.Context, pattern string) ([]string, error) {
	fs, err := filesystem.New(ctx, pattern)
	if err != nil {
		return nil, err
	}
	names, err := fs.List(ctx, pattern)
	sort.Strings(names)
	return names, errors.Join(err, fs.Close())
}

// remove removes a file; that it is not there is no error, but that nothing can be
// removed there is.
func remove(ctx context.Context, path string) (err error) {
	if isLocal(path) {
		if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fs.Close()) }()
	r, ok := fs.(filesystem.Remover)
	if !ok {
		return fmt.Errorf("files like %s cannot be removed: their file system has no such operation",
			path)
	}
	found, err := fs.List(ctx, path)
	if err != nil || len(found) == 0 {
		return err
	}
	return r.Remove(ctx, path)
}

// expand replaces patterns by the files that they match, in lexical order, and makes
// local paths absolute, for workers that run elsewhere. A path that exists is no pattern. The
// same file twice is an error, for the reason twice.
func expand(ctx context.Context, paths []string, what, twice string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	for _, p := range paths {
		found := []string{p}
		if p == "-" || p == "" {
			return nil, usagef("%s = %q, but they must be in files: they are read more than once", what, p)
		}
		if _, err := os.Lstat(p); strings.ContainsAny(p, "*?[") && (err != nil || !isLocal(p)) {
			var err error
			if found, err = glob(ctx, p); err != nil {
				return nil, err
			}
			if len(found) == 0 {
				return nil, fmt.Errorf("pattern %q matches no file: %w", p, os.ErrNotExist)
			}
		}
		for _, f := range found {
			key := f
			if isLocal(f) {
				abs, err := filepath.Abs(f)
				if err != nil {
					return nil, err
				}
				if key, err = filepath.EvalSymlinks(abs); err != nil {
					return nil, &release.InputError{Err: err}
				}
				f = abs
				if info, err := os.Stat(f); err == nil && !info.Mode().IsRegular() {
					return nil, &release.InputError{Err: fmt.Errorf(
						"%s is no regular file, but %s must be in files: they are read more than once", f, what)}
				}
			}
			if seen[key] {
				return nil, usagef("%s is given twice: %s", f, twice)
			}
			seen[key] = true
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		return nil, usagef("no file of %s: name them with --%s", what, what)
	}
	return out, nil
}
