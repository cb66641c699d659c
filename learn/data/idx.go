package data

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

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/readfile"
)

// An IDX file, in which MNIST and its relatives are published, holds unsigned bytes in one
// dimension (labels) or three (images), plain or gzipped:
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

// Images are n pictures of one size.
type Images struct {
	N, Rows, Columns int
	Pixels           []byte // N·Rows·Columns values, row by row
}

// Image returns picture i, sharing memory. It panics unless 0 ≤ i < N.
func (m Images) Image(i int) []byte {
	size := m.Rows * m.Columns
	return m.Pixels[i*size : (i+1)*size : (i+1)*size]
}

// LabelledImages are pictures with their labels.
type LabelledImages struct {
	Images
	Labels []byte // one per picture
}

// readImages reads a file of images.
func readImages(r io.Reader) (Images, error) {
	sizes, values, err := readIDX(r, 3)
	if err != nil {
		return Images{}, err
	}
	return Images{sizes[0], sizes[1], sizes[2], values}, nil
}

// readLabels reads a file of labels.
func readLabels(r io.Reader) ([]byte, error) {
	_, values, err := readIDX(r, 1)
	return values, err
}

// ReadLabelledImages reads the part called name, "train" or "t10k", from the folder dir, where the
// files have the names under which they are published, with or without .gz:
//
//	name-images-idx3-ubyte, name-labels-idx1-ubyte
func ReadLabelledImages(ctx context.Context, dir, name string) (LabelledImages, error) {
	var s LabelledImages
	err := openIDX(ctx, dir, name+"-images-idx3-ubyte", func(r io.Reader) (err error) {
		s.Images, err = readImages(r)
		return err
	})
	if err != nil {
		return LabelledImages{}, err
	}
	err = openIDX(ctx, dir, name+"-labels-idx1-ubyte", func(r io.Reader) (err error) {
		s.Labels, err = readLabels(r)
		return err
	})
	if err != nil {
		return LabelledImages{}, err
	}
	if len(s.Labels) != s.N {
		return LabelledImages{}, fmt.Errorf("%s: %d labels for %d images of part %q", dir, len(s.Labels),
			s.N, name)
	}
	return s, nil
}

// FindIDX returns the path of the file called name in dir, or of name.gz.
func FindIDX(dir, name string) (string, error) {
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

func openIDX(ctx context.Context, dir, name string, f func(io.Reader) error) error {
	path, err := FindIDX(dir, name)
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

// readIDX returns the sizes and the values of a file with that many dimensions.
func readIDX(r io.Reader, dimensions int) (sizes []int, values []byte, err error) {
	in := bufio.NewReader(given(r))
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
		return nil, nil, fmt.Errorf("begins with %#02x %#02x, but an IDX file begins with two zeros",
			head[0], head[1])
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
		// total ≤ maxValues = 2²⁸ before and size < 2³²: the product fits.
		if total *= size; total > maxValues {
			return nil, nil, fmt.Errorf("more than %d values", maxValues)
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

// ReadIDX reads images in the IDX format, plain or gzipped, as records: one for each
// image, its pixels row by row over 255. Every image is a record, whatever its label: how
// many there are is public, and would not be if labels chose them.
//
// labels is a file of one label for each image, or nil for records without responses. The
// response is the label, a number from 0 to 255; with positive given it is 1 for the
// labels in it and 0 for all others.
func ReadIDX(images, labels io.Reader, positive []int) (*Records, error) {
	if labels == nil && positive != nil {
		return nil, check.Want("positive labels", positive, "left out where there are no labels")
	}
	response := make([]float64, 256)
	for l := range response {
		if positive == nil {
			response[l] = float64(l)
		}
	}
	for _, l := range positive {
		if l < 0 || l > 255 || response[l] != 0 {
			return nil, check.Want("positive label", l, "between 0 and 255, and given once")
		}
		response[l] = 1
	}
	m, err := readImages(images)
	if err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	if m.N == 0 {
		return nil, errors.New("no records")
	}
	var y []float64
	if labels != nil {
		all, err := readLabels(labels)
		if err != nil {
			return nil, fmt.Errorf("labels: %w", err)
		}
		if len(all) != m.N {
			return nil, fmt.Errorf("%d labels for %d images", len(all), m.N)
		}
		y = make([]float64, m.N)
		for i, l := range all {
			y[i] = response[l]
		}
	}
	x := make([]float64, len(m.Pixels))
	for i, v := range m.Pixels {
		x[i] = float64(v) / 255
	}
	return NewRecords(m.N, m.Rows*m.Columns, x, y)
}
