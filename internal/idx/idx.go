// Package idx reads the IDX files in which MNIST and its relatives are published:
// unsigned bytes in one dimension (labels) or three (images), plain or gzipped.
//
// # The format
//
//	bytes   what                            here
//	0, 1    0                               must be 0
//	2       type of the values              0x08, unsigned byte; no other is read
//	3       d, number of dimensions         1 for labels, 3 for images
//	4d      sizes, 32 bits, big-endian      n, or n, rows, columns
//	rest    values, last index fastest      as many as the sizes say, and then the end
//
// Everything is strict: a file that is too short, too long, too large or of another kind
// is an error, and nothing is returned. Source: LeCun, Cortes and Burges, The MNIST
// Database of Handwritten Digits.
package idx

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/darrm/darrm/internal/readfile"
)

// MaxValues bounds what a file may hold: 256 MiB, five times MNIST's training images.
// It keeps a short file that claims to be large, or a small gzip of a large one, from
// taking all memory.
const MaxValues = 1 << 28

// Images are n pictures of one size.
type Images struct {
	N, Rows, Columns int
	Pixels           []byte // N·Rows·Columns values, row by row
}

// MaxBytes is the most that is read of a file, packed or not: what does not compress grows
// by less than a thousandth.
const MaxBytes = MaxValues + MaxValues/512

// Image returns picture i, sharing memory. It panics unless 0 ≤ i < N.
func (m Images) Image(i int) []byte {
	size := m.Rows * m.Columns
	return m.Pixels[i*size : (i+1)*size : (i+1)*size]
}

// Set is labelled pictures.
type Set struct {
	Images
	Labels []byte // one per picture
}

// ReadImages reads a file of images.
func ReadImages(r io.Reader) (Images, error) {
	sizes, values, err := read(r, 3)
	if err != nil {
		return Images{}, err
	}
	return Images{sizes[0], sizes[1], sizes[2], values}, nil
}

// ReadLabels reads a file of labels.
func ReadLabels(r io.Reader) ([]byte, error) {
	_, values, err := read(r, 1)
	return values, err
}

// ReadSet reads the part called name, "train" or "t10k", from the folder dir, where the
// files have the names under which they are published, with or without .gz:
//
//	name-images-idx3-ubyte, name-labels-idx1-ubyte
func ReadSet(ctx context.Context, dir, name string) (Set, error) {
	var s Set
	err := open(ctx, dir, name+"-images-idx3-ubyte", func(r io.Reader) (err error) {
		s.Images, err = ReadImages(r)
		return err
	})
	if err != nil {
		return Set{}, err
	}
	err = open(ctx, dir, name+"-labels-idx1-ubyte", func(r io.Reader) (err error) {
		s.Labels, err = ReadLabels(r)
		return err
	})
	if err != nil {
		return Set{}, err
	}
	if len(s.Labels) != s.N {
		return Set{}, fmt.Errorf("%s: %d labels for %d images of part %q", dir, len(s.Labels), s.N, name)
	}
	return s, nil
}

// Find returns the path of the file called name in dir, or of name.gz.
func Find(dir, name string) (string, error) {
	plain := filepath.Join(dir, name)
	for _, path := range []string{plain, plain + ".gz"} {
		info, err := os.Stat(path)
		switch {
		case err == nil && info.Mode().IsRegular():
			return path, nil
		case err == nil:
			return "", fmt.Errorf("%s is not a regular file", path)
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
	}
	return "", fmt.Errorf("neither %s nor %s.gz: %w", plain, plain, fs.ErrNotExist)
}

func open(ctx context.Context, dir, name string, f func(io.Reader) error) error {
	path, err := Find(dir, name)
	if err != nil {
		return err
	}
	file, err := readfile.Open(ctx, path, MaxBytes)
	if err != nil {
		return err
	}
	defer file.Close() // only read from
	if err := f(file); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// read returns the sizes and the values of a file with that many dimensions.
func read(r io.Reader, dimensions int) (sizes []int, values []byte, err error) {
	in := bufio.NewReader(r)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, nil, fmt.Errorf("gzip: %w", err)
		}
		in = bufio.NewReader(z)
	}
	head := make([]byte, 4+4*dimensions)
	if n, err := io.ReadFull(in, head); err != nil {
		return nil, nil, short("header", n, len(head), err)
	}
	if head[0] != 0 || head[1] != 0 {
		return nil, nil, fmt.Errorf("begins with %#02x %#02x, but an IDX file begins with two zeros", head[0], head[1])
	}
	if head[2] != 0x08 {
		return nil, nil, fmt.Errorf("values of type %#02x, but it must be 0x08, unsigned byte", head[2])
	}
	if int(head[3]) != dimensions {
		return nil, nil, fmt.Errorf("%d dimensions, but it must have %d", head[3], dimensions)
	}
	total := int64(1)
	for i := range dimensions {
		size := int64(binary.BigEndian.Uint32(head[4+4*i:]))
		if i > 0 && size == 0 {
			return nil, nil, fmt.Errorf("size %d is 0", i+1)
		}
		// total ≤ MaxValues = 2²⁸ before and size < 2³²: the product fits.
		if total *= size; total > MaxValues {
			return nil, nil, fmt.Errorf("more than %d values", MaxValues)
		}
		sizes = append(sizes, int(size))
	}
	// Read before it is allocated: the sizes are only a claim.
	var body bytes.Buffer
	n, err := io.Copy(&body, io.LimitReader(in, total))
	if err == nil && n < total {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, nil, short("values", int(n), int(total), err)
	}
	switch _, err := in.ReadByte(); {
	case err == nil:
		return nil, nil, fmt.Errorf("goes on after its %d values", total)
	case err != io.EOF: // for gzip, this is where the checksum is compared
		return nil, nil, err
	}
	return sizes, body.Bytes(), nil
}

func short(what string, have, want int, err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%s: %d of %d bytes: %w", what, have, want, err)
}
