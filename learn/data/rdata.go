package data

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ulikunitz/xz"

	"github.com/darrm/darrm/internal/readfile"
)

// Data sets that are published for R come as files of its function save, .rda or .RData: a
// pairlist of variables in R's serialisation, as XDR and packed by gzip, bzip2 or xz. Read are data
// frames of numbers, logical values and factors, of the format's version 2, and of version 3
// as far as it has the same items. Source: R Internals, Serialization Formats.

// Frame is a data frame of R.
type Frame struct {
	Name    string // of the variable
	Rows    int
	Columns []FrameColumn
}

// FrameColumn is a column of a Frame.
type FrameColumn struct {
	Name string
	// Values are numbers; logical values are 0 or 1, and those of a factor are the numbers of its
	// levels, from 0. What is missing (NA) is NaN.
	Values []float64
	Levels []string // of a factor, nil for numbers
}

// Column returns the column of a name, nil if there is none.
func (f *Frame) Column(name string) *FrameColumn {
	for i := range f.Columns {
		if f.Columns[i].Name == name {
			return &f.Columns[i]
		}
	}
	return nil
}

// maxRData is the most that is read of a file, packed or unpacked: many times the size of what
// packages of R may hold.
const maxRData = 256 << 20

// ReadRData returns the data frames in a file of R's function save; variables of other kinds
// are left out. The error says where the file is damaged or has what is not read. Cost: at most
// 256 MiB unpacked, a few times its own size in memory, and the dictionary of an xz file.
func ReadRData(ctx context.Context, path string) ([]Frame, error) {
	file, err := readfile.Open(ctx, path, maxRData)
	if err != nil {
		return nil, err
	}
	defer file.Close() // only read from
	frames, err := readRData(ctx, file, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return frames, nil
}

func readRData(ctx context.Context, r io.Reader, name string) ([]Frame, error) {
	unpacked, err := unpack(bufio.NewReader(r))
	if err != nil {
		return nil, err
	}
	in := &rReader{in: bufio.NewReader(readfile.Limit(ctx, unpacked, name+", unpacked", maxRData))}
	frames, err := in.file()
	if err != nil {
		return nil, err
	}
	switch _, err := in.in.ReadByte(); {
	case err == nil:
		return nil, errors.New("goes on after its variables")
	case err != io.EOF: // where checksums are compared
		return nil, err
	}
	return frames, nil
}

// unpack returns what is in a packed file, or the file itself, by its first bytes.
func unpack(in *bufio.Reader) (io.Reader, error) {
	magic, _ := in.Peek(6)
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		return gzip.NewReader(in)
	case bytes.HasPrefix(magic, []byte("BZh")):
		return bzip2.NewReader(in), nil
	case bytes.HasPrefix(magic, []byte("\xfd7zXZ\x00")):
		return xz.NewReader(in)
	}
	return in, nil
}
