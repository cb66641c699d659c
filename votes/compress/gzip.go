package compress

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

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
