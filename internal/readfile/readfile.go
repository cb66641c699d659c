// Package readfile opens files that are read whole: regular files, links followed, of at
// most a stated size. A path that a person typed, or that a file of somebody else names, may
// lead to /dev/zero, to a named pipe that nobody writes to, or to a file larger than the
// memory; each is an error here, and none takes time or memory.
//
// Files that are read as streams, in constant memory, need none of this.
package readfile

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Open opens the file that path leads to. The error names the path, and the size with the
// limit where that is the reason. Reading fails once ctx is done, and once the file has given
// more than limit bytes, which it does if it grows meanwhile.
func Open(ctx context.Context, path string, limit int64) (io.ReadCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// Looked at before it is opened, for opening a device or a pipe may have an effect, and
	// after, for the path may lead elsewhere by then.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := check(path, info, limit); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = check(path, info, limit)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{Limit(ctx, f, path, limit), f}, nil
}

// Whole returns the content of the file that path leads to, by the rules of [Open].
func Whole(ctx context.Context, path string, limit int64) ([]byte, error) {
	f, err := Open(ctx, path, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Limit returns a reader of what r gives, called name in errors: it fails after limit bytes
// unless r ends there, and once ctx is done.
func Limit(ctx context.Context, r io.Reader, name string, limit int64) io.Reader {
	return &limited{ctx, r, name, limit, limit}
}

type limited struct {
	ctx         context.Context
	r           io.Reader
	name        string
	limit, left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if err := l.ctx.Err(); err != nil {
		return 0, err
	}
	if l.left < 0 {
		return 0, l.tooLarge()
	}
	// One byte more than is left tells the end from what goes on.
	if int64(len(p))-1 > l.left {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return n - 1, l.tooLarge()
	}
	return n, err
}

func (l *limited) tooLarge() error {
	return fmt.Errorf("%s has more than %d bytes, the most that are read of it", l.name, l.limit)
}

func check(path string, info fs.FileInfo, limit int64) error {
	if what := kind(info.Mode()); what != "" {
		return fmt.Errorf("%s is %s, not a file", path, what)
	}
	if info.Size() > limit {
		return fmt.Errorf("%s has %d bytes, but at most %d are read of it", path, info.Size(), limit)
	}
	return nil
}

// kind names what is no regular file.
func kind(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return ""
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// Full reads until p is full or r fails. Unlike io.ReadFull it passes r's
// error on as it is: a source that breaks off with io.ErrUnexpectedEOF must not
// look like one that ends. An error can come with a full p.
func Full(r io.Reader, p []byte) (n int, err error) {
	for empty := 0; n < len(p) && err == nil; {
		var m int
		m, err = r.Read(p[n:])
		n += m
		if m > 0 {
			empty = 0
		} else if empty++; empty == 100 && err == nil {
			err = io.ErrNoProgress
		}
	}
	return n, err
}
