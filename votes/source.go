package votes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	"github.com/darrm/darrm/internal/readfile"
	"github.com/darrm/darrm/internal/tempfile"
)

// source is one file, or stdin, or a reader of the caller.
type source struct {
	name        string // for messages
	path        string // "" for a reader
	format      Format
	compression Compression
	reader      io.Reader   // the file, stdin, or the caller's
	at          io.ReaderAt // the file, read at any place; nil for a reader
	kept        *keptFile   // what the path held, nil where it is read itself
	size        int64       // of a regular file, or of what is kept; else -1

	read atomic.Int64 // bytes of size that are behind

	mu      sync.Mutex
	closed  bool
	closers []io.Closer
}

// openFile is a file with its decoder.
type openFile struct {
	*source
	info  *fileInfo
	first task // the first rows, which have been read
	rest  decoder
}

func (f *openFile) next() (task, error) {
	if t := f.first; t != nil {
		f.first = nil
		return t, nil
	}
	return f.rest.next()
}

// decode opens the source and reads its first rows, which tell with LayoutCounts
// how many teachers there are.
func (s *source) decode(ctx context.Context, opts *Options, classes *classList) (*openFile, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	info := &fileInfo{name: s.name, opts: opts, classes: classes, sets: opts.sets, layout: opts.Layout}
	d, err := s.format.row().open(ctx, info, s)
	if err != nil {
		return nil, err
	}
	t, err := d.next()
	if err != nil {
		return nil, err
	}
	b := new(Batch)
	b.reset(info)
	if err = t(b); err != nil && b.Len() == 0 {
		return nil, err
	}
	b.K = info.k
	return &openFile{s, info, func(into *Batch) error {
		b.pool, into.pool = into.pool, nil
		*into = *b
		return err
	}, d}, nil
}

// open opens a file. The files of a stream are opened one after the other, so
// that there can be many.
func (s *source) open() error {
	if s.kept != nil {
		s.at, s.size = s.kept, s.kept.size
		s.reader = io.NewSectionReader(s.kept, 0, s.size)
	}
	if s.reader != nil {
		return nil
	}
	f, err := os.Open(s.path)
	if err != nil {
		return pathError(err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return errors.Join(fmt.Errorf("%s is a directory, not a file", s.name), f.Close())
	}
	if err := s.closeLater(f); err != nil {
		return err
	}
	s.at, s.reader = f, f
	return nil
}

// closeLater remembers what must be closed with the source.
func (s *source) closeLater(c io.Closer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.Join(fs.ErrClosed, c.Close())
	}
	s.closers = append(s.closers, c)
	return nil
}

// close may be called at any time, and again.
func (s *source) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, c := range s.closers {
		errs = append(errs, c.Close())
	}
	s.closed, s.closers = true, nil
	return errors.Join(errs...)
}

// plain reports whether the source can be read at any place.
func (s *source) plain() bool {
	return s.at != nil && s.size >= 0 && s.compression == CompressionNone
}

// progress estimates how much is read of a file that is no stream.
func (s *source) progress(rows, of int64) {
	if s.size >= 0 {
		s.read.Store(int64(float64(s.size) * float64(rows) / float64(of)))
	}
}

// stream returns the decompressed bytes from the beginning.
func (s *source) stream(info *fileInfo) (io.Reader, error) {
	raw := &countingReader{r: s.reader, n: &s.read}
	return decompress(info, raw, s.compression)
}

// countingReader counts bytes and remembers the error that ended it.
type countingReader struct {
	r   io.Reader
	n   *atomic.Int64
	err error
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	if err != nil {
		c.err = err
	}
	return n, err
}

// seekable returns the source for reading at any place, and its size. What is
// no plain file is copied to a temporary one first. ctx ends the copying.
func (s *source) seekable(ctx context.Context, info *fileInfo) (io.ReaderAt, int64, error) {
	if s.plain() {
		return s.at, s.size, nil
	}
	r, err := s.stream(info)
	if err != nil {
		return nil, 0, err
	}
	// What is not of the format is refused before it is copied.
	head := make([]byte, 4)
	n, err := readfile.Full(r, head)
	if err != nil && err != io.EOF {
		return nil, 0, info.sourceError(err, 0)
	}
	if rule := s.format.row().start(head[:n]); n == len(head) && rule != "" {
		return nil, 0, info.errorf("%s", rule)
	}
	at, size, err := s.spool(ctx, info, io.MultiReader(bytes.NewReader(head[:n]), r))
	if err != nil {
		return nil, 0, info.arrayError(err, "")
	}
	return at, size, nil
}

// spool copies r to a temporary file, if it is not too long.
func (s *source) spool(ctx context.Context, info *fileInfo, r io.Reader) (*tempfile.File, int64, error) {
	f, err := newSpool(info.opts.TempDir)
	if err != nil {
		return nil, 0, err
	}
	if err := s.closeLater(f); err != nil {
		return nil, 0, err
	}
	n, err := copySpool(ctx, f, r, info.opts)
	return f, n, err
}

// contextReader fails when its context is done.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
