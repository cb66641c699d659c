package votes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// Open opens files as one stream, in the order given. A path is a file's, or "-"
// for stdin, or a pattern as in [filepath.Glob] that matches at least one file;
// a pattern's files come in lexical order. The same file twice is an error,
// because its queries would be answered twice. All files must agree on K, on
// whether they have ids and labels, and on the names of the columns of votes.
//
// The beginning of the first file is read before Open returns, so that K is known
// and a file that cannot be read at all is reported at once. The context ends the
// reading. The Reader must be closed.
func Open(ctx context.Context, opts Options, paths ...string) (*Reader, error) {
	return openPaths(ctx, opts, paths, nil)
}

// openPaths is Open where some of the paths are kept.
func openPaths(ctx context.Context, opts Options, paths []string,
	kept map[string]*keptFile) (*Reader, error) {
	opts, classes, err := opts.resolve()
	if err != nil {
		return nil, err
	}
	names, err := expand(paths)
	if err != nil {
		return nil, err
	}
	var files []*source
	seen := make(map[string]string)
	for _, name := range names {
		f := &source{name: shownName(name), path: name, size: -1}
		if f.format, f.compression, err = byName(name, opts.Format, opts.Compression); err != nil {
			return nil, err
		}
		key := name
		if name == "-" {
			f.name, f.path = "stdin", ""
			if f.kept = kept[name]; f.kept == nil {
				f.reader = stdinOf(&opts)
			}
		} else if f.kept = kept[name]; f.kept == nil {
			info, err := os.Stat(name)
			if err != nil {
				return nil, pathError(err)
			}
			if info.Mode().IsRegular() {
				f.size = info.Size()
			}
		}
		if name != "-" {
			if key, err = identity(name); err != nil {
				return nil, err
			}
		}
		if f.kept != nil {
			f.size = f.kept.size
		}
		if other, ok := seen[key]; ok {
			return nil, fmt.Errorf("%s and %s are the same file: its queries would be answered twice",
				strconv.Quote(other), strconv.Quote(name))
		}
		seen[key] = name
		files = append(files, f)
	}
	return start(ctx, opts, classes, files)
}

// stdinOf returns the reader for the path "-".
func stdinOf(o *Options) io.Reader {
	if o.Stdin != nil {
		return o.Stdin
	}
	return os.Stdin
}

// NewReader reads one stream, whose format defaults to CSV. opts.Name is its name
// for messages. The stream is not closed.
func NewReader(ctx context.Context, r io.Reader, opts Options) (*Reader, error) {
	opts, classes, err := opts.resolve()
	if err != nil {
		return nil, err
	}
	f := &source{name: opts.Name, reader: r, size: -1}
	if f.format, f.compression, err = byName("-", opts.Format, opts.Compression); err != nil {
		return nil, err
	}
	return start(ctx, opts, classes, []*source{f})
}

// resolve checks the options and fills in the defaults.
func (o Options) resolve() (Options, *classList, error) {
	if o.Name == "" {
		o.Name = "votes"
	}
	o.Name = shownName(o.Name)
	same := o.Same
	if len(o.Labels) > 0 {
		same = nil // they are spellings of labels
	}
	err := o.check()
	var classes *classList
	if err == nil {
		classes, err = newClassList(o.Classes, same)
	}
	if err == nil {
		o.sets, err = newLabelSet(&o)
	}
	if err != nil {
		return o, nil, &OptionsError{o.Name, err}
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return o, classes, nil
}

// expand replaces patterns by the files that they match. A path that exists is
// no pattern, whatever its characters.
func expand(paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, errors.New("no file of votes")
	}
	var out []string
	for _, p := range paths {
		if p == "-" || !strings.ContainsAny(p, `*?[`) {
			out = append(out, p)
			continue
		}
		if _, err := os.Lstat(p); err == nil {
			out = append(out, p)
			continue
		}
		names, err := filepath.Glob(p)
		if err != nil {
			return nil, fmt.Errorf("pattern %s: %w", strconv.Quote(p), err)
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("pattern %s matches no file: %w", strconv.Quote(p), os.ErrNotExist)
		}
		out = append(out, names...)
	}
	return out, nil
}

// identity returns the same text for all paths of a file, hard links excepted.
func identity(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	return abs, nil // such as /dev/fd/63
}
