package votes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// source is one file, or stdin, or a reader of the caller.
type source struct {
	name        string // for messages
	path        string // "" for a reader
	format      Format
	compression Compression
	reader      io.Reader // stdin, or the caller's
	size        int64     // of a regular file, else -1

	read atomic.Int64 // bytes of size that are behind

	mu     sync.Mutex
	closed bool
	file   *os.File
	spool  *tempFile
	closer io.Closer // file; nil for a reader
}

// decode opens the source and its decoder.
func (s *source) decode(ctx context.Context, opts *Options, classes *classList, pool *batchPool) (decoder, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	info := &fileInfo{name: s.name, opts: opts, classes: classes, layout: opts.Layout, idColumn: -1}
	switch s.format {
	case FormatNPY:
		return openNPY(ctx, info, s, pool)
	case FormatNPZ:
		return openNPZ(ctx, info, s, pool)
	}
	if info.layout == LayoutTeachers {
		return nil, info.errorf("the layout teachers is for arrays (npy, npz): a row of a %s file is a query", s.format)
	}
	if info.layout == LayoutDefault {
		info.layout = LayoutWide
	}
	if s.format == FormatParquet {
		return openParquet(ctx, info, s, pool)
	}
	r, err := s.stream(info)
	if err != nil {
		return nil, err
	}
	switch s.format {
	case FormatTSV:
		return openCSV(info, r, '\t', pool)
	case FormatJSONL:
		return openJSONL(info, r, pool)
	}
	return openCSV(info, r, ',', pool)
}

// open opens a file. The files of a stream are opened one after the other, so
// that there can be many.
func (s *source) open() error {
	if s.reader != nil {
		return nil
	}
	f, err := os.Open(s.path)
	if err != nil {
		return pathError(err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a directory, not a file", s.name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed && err == nil {
		err = fs.ErrClosed
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	s.file, s.closer, s.reader = f, f, f
	return nil
}

// close may be called at any time, and again.
func (s *source) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	if s.file != nil {
		errs = append(errs, s.file.Close())
	}
	if s.spool != nil {
		errs = append(errs, s.spool.Close())
	}
	return errors.Join(errs...)
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
	if s.file != nil && s.size >= 0 && s.compression == CompressionNone {
		return s.file, s.size, nil
	}
	r, err := s.stream(info)
	if err != nil {
		return nil, 0, err
	}
	// What is not of the format is refused before it is copied.
	head := make([]byte, 4)
	n, err := readFull(r, head)
	if err != nil && err != io.EOF {
		return nil, 0, info.sourceError(err, 0)
	}
	if rule := s.format.beginning(head[:n]); n == len(head) && rule != "" {
		return nil, 0, info.errorf("%s", rule)
	}
	f, size, err := spool(ctx, io.MultiReader(bytes.NewReader(head[:n]), r), info.opts)
	if err != nil {
		return nil, 0, info.arrayError(err, "")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, 0, errors.Join(fs.ErrClosed, f.Close())
	}
	s.spool = f
	return f, size, nil
}

// beginning says what is wrong with the first four bytes of a file that must be sought
// in, if anything.
func (f Format) beginning(head []byte) string {
	switch magic := string(head); {
	case f == FormatParquet && magic == "PARE":
		return "the Parquet file is encrypted"
	case f == FormatParquet && magic != "PAR1":
		return fmt.Sprintf("the file does not begin as a Parquet file does: %s, want \"PAR1\"", quote(magic))
	case f == FormatNPZ && magic != "PK\x03\x04":
		return fmt.Sprintf("not an archive of arrays as numpy.savez writes it: it begins with %s", quote(magic))
	}
	return ""
}

// spool copies r to a temporary file, if it is not too long.
func spool(ctx context.Context, r io.Reader, opts *Options) (*tempFile, int64, error) {
	f, err := newTempFile(opts.TempDir)
	if err != nil {
		return nil, 0, err
	}
	limit := opts.spoolBytes
	if limit == 0 {
		limit = MaxSpoolBytes
	}
	n, err := io.Copy(f, io.LimitReader(contextReader{ctx, r}, limit+1))
	if err == nil && n > limit {
		err = rulef("a temporary file of more than %d bytes is needed to read it: read it from a file, without compression, not from a stream", limit)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, n, nil
}

// tempFile is a file that only this process can reach: its name is removed at
// once, so the votes in it go when it is closed, however the process ends. Where
// an open file's name cannot be removed, Close does it.
type tempFile struct {
	*os.File
	name string // still to be removed
}

func newTempFile(dir string) (*tempFile, error) {
	f, err := os.CreateTemp(dir, "darrm-") // with permissions 0600
	if err != nil {
		return nil, fmt.Errorf("create temporary file: %w", err)
	}
	if runtime.GOOS == "windows" {
		return &tempFile{f, f.Name()}, nil
	}
	// An error is reported, not ignored: private data would stay behind.
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("remove temporary file's name: %w", err), f.Close())
	}
	return &tempFile{f, ""}, nil
}

func (f *tempFile) Close() error {
	err := f.File.Close()
	if f.name != "" {
		err = errors.Join(err, os.Remove(f.name))
		f.name = ""
	}
	return err
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
