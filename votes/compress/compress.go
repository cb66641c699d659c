// Package compress lets package votes read and write files inside gzip and zstd, and read .npz
// three times as fast, in a program that imports it:
//
//	import _ "github.com/darrm/darrm/votes/compress"
package compress

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/darrm/darrm/votes/format"
)

// maxZstdWindow is the window that RFC 8878, section 3.1.1.1.2, recommends every decoder to
// support. A frame may ask for gigabytes.
const maxZstdWindow = 8 << 20

func init() {
	format.RegisterCompression(format.Compression{
		Name:      "gzip",
		NewReader: newGzip,
		NewWriter: func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		Fault: func(err error) string {
			var behind *trailingError
			if errors.As(err, &behind) {
				return behind.Error()
			}
			return notIn("gzip", err, gzip.ErrHeader)
		},
	})
	format.RegisterCompression(format.Compression{
		Name: "zstd",
		NewReader: func(r io.Reader) (io.Reader, error) {
			return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxWindow(maxZstdWindow))
		},
		NewWriter: func(w io.Writer) (io.WriteCloser, error) {
			return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
		},
		Fault: func(err error) string {
			if errors.Is(err, zstd.ErrWindowSizeExceeded) {
				return fmt.Sprintf("the zstd data need a window above %d MiB: compress them without "+
					"the options long and ultra", maxZstdWindow>>20)
			}
			return notIn("zstd", err, zstd.ErrMagicMismatch)
		},
	})
}

func init() {
	// of .npz alone, which the standard library reads too
	format.RegisterCompression(format.Compression{
		Name:      "deflate",
		NewReader: func(r io.Reader) (io.Reader, error) { return flate.NewReader(r), nil },
	})
}

func notIn(name string, err, header error) string {
	if !errors.Is(err, header) {
		return ""
	}
	return fmt.Sprintf("the data are not in %s format, or something else stands behind them: a name without its "+
		"ending is read as it is", name)
}

// members reads the members of a gzip stream one after the other, as gunzip does: zeros may fill up
// what is behind the last one.
type members struct {
	in  *bufio.Reader
	gz  *gzip.Reader
	err error // sticky
}

func newGzip(r io.Reader) (io.Reader, error) {
	in, ok := r.(*bufio.Reader)
	if !ok {
		in = bufio.NewReader(r)
	}
	gz, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	gz.Multistream(false)
	return &members{in: in, gz: gz}, nil
}

func (m *members) Read(p []byte) (int, error) {
	for m.err == nil {
		n, err := m.gz.Read(p)
		if err == io.EOF {
			err = m.next()
		}
		if m.err = err; n > 0 || len(p) == 0 {
			return n, nil // an error comes with the next call
		}
	}
	return 0, m.err
}

// next begins the next member. It returns io.EOF where there is none.
func (m *members) next() error {
	head, err := m.in.Peek(2)
	if len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b {
		if err = m.gz.Reset(m.in); err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		m.gz.Multistream(false)
		return err
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	zeros := true
	for n := int64(0); ; n++ {
		b, err := m.in.ReadByte()
		switch {
		case err == io.EOF && zeros:
			return io.EOF
		case err == io.EOF:
			return &trailingError{n}
		case err != nil:
			return err
		}
		zeros = zeros && b == 0
	}
}

// trailingError is about bytes that are of no member.
type trailingError struct{ n int64 }

func (e *trailingError) Error() string {
	if e.n == 1 {
		return "1 byte after the end of the gzip data"
	}
	return fmt.Sprintf("%d bytes after the end of the gzip data", e.n)
}
